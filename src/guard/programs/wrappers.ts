/** Programs that run another program given in their arguments: each with its real option grammar, unwrapped one layer at a time. */
import { resolvePath } from '../paths.js'
import { NOTHING, plain, UNKNOWN, unique } from '../text.js'
import { type Call, type OptionSpec, options, type Program } from './call.js'

interface Wrapper extends OptionSpec {
  /** Operands in front of the command (`timeout 5`, `chroot DIR`). */
  readonly skip?: number
  /** `NAME=value` words in front of the command set its environment. */
  readonly assigns?: boolean
  /** With one of these options the program only talks about commands or acts on a pid. */
  readonly idle?: readonly string[]
  /** An option whose value is a shell command line. */
  readonly shellOption?: readonly string[]
  /** The remaining words are joined and given to a shell (`watch`, `ssh HOST`). */
  readonly joins?: boolean
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    short: 'CDghpRrTtuU',
    long: ['close-from', 'chdir', 'group', 'host', 'prompt', 'chroot', 'role', 'command-timeout', 'type', 'user', 'other-user'],
    assigns: true,
    idle: ['l', 'v', 'k', 'K', 'V', 'list', 'validate', 'version', 'e', 'edit'],
  },
  doas: { short: 'aCu', idle: ['L'] },
  sudoedit: { idle: [] },
  run0: { short: 'ugD', long: ['user', 'group', 'chdir', 'unit', 'property', 'description', 'slice', 'setenv', 'nice', 'background'] },
  pkexec: { long: ['user'] },
  gksudo: { short: 'u' },
  kdesudo: { short: 'u' },
  nohup: {},
  nice: { short: 'n', long: ['adjustment'] },
  ionice: { short: 'cnpPu', long: ['class', 'classdata', 'pid', 'pgid', 'uid'], idle: ['p', 'P', 'u', 'pid', 'pgid', 'uid'] },
  chrt: { short: 'TPD', long: ['sched-runtime', 'sched-period', 'sched-deadline'], skip: 1, idle: ['p', 'm', 'pid', 'max'] },
  taskset: { skip: 1, idle: ['p', 'pid'] },
  timeout: { short: 'sk', long: ['signal', 'kill-after'], skip: 1 },
  stdbuf: { short: 'ioe', long: ['input', 'output', 'error'] },
  unbuffer: {},
  setsid: {},
  time: { short: 'fo', long: ['format', 'output'] },
  chroot: { long: ['userspec', 'groups'], skip: 1 },
  fakechroot: {},
  unshare: { short: 'RwSGl', long: ['root', 'wd', 'setuid', 'setgid', 'propagation', 'map-user', 'map-group', 'map-users', 'map-groups', 'setgroups', 'load-interp', 'monotonic', 'boottime'] },
  nsenter: { short: 'tSG', long: ['target', 'setuid', 'setgid'] },
  setpriv: { long: ['reuid', 'regid', 'groups', 'ruid', 'euid', 'rgid', 'egid', 'inh-caps', 'ambient-caps', 'bounding-set', 'securebits', 'pdeathsig', 'selinux-label', 'apparmor-profile'] },
  'systemd-run': {
    short: 'pEuHMtG',
    long: [
      'property',
      'setenv',
      'unit',
      'host',
      'machine',
      'description',
      'slice',
      'service-type',
      'uid',
      'gid',
      'nice',
      'working-directory',
      'on-active',
      'on-boot',
      'on-startup',
      'on-calendar',
      'timer-property',
    ],
  },
  'systemd-inhibit': { long: ['what', 'who', 'why', 'mode'] },
  'systemd-cat': { short: 'tp', long: ['identifier', 'priority'] },
  'dbus-run-session': { long: ['config-file', 'dbus-daemon'] },
  'dbus-launch': {},
  fakeroot: { short: 'lsibu', long: ['lib', 'faked'] },
  faketime: { skip: 1, short: 'f' },
  firejail: {},
  proot: { short: 'rbwqkS', long: ['rootfs', 'bind', 'cwd'] },
  strace: { short: 'eopsuEaIOPSUX', long: ['trace', 'output', 'attach'], idle: ['p', 'attach'] },
  ltrace: { short: 'eopsuanlx', idle: ['p'] },
  valgrind: {},
  rlwrap: { short: 'aAbcCfhHlLmMnopPqrRsStTVwz' },
  numactl: { short: 'NmiCp', long: ['interleave', 'membind', 'cpunodebind', 'physcpubind', 'preferred'] },
  cpulimit: { short: 'lpe', long: ['limit', 'pid', 'exe'], idle: ['p', 'e', 'pid', 'exe'] },
  cgexec: { short: 'g' },
  prlimit: { short: 'po', long: ['pid', 'output'], idle: ['p', 'pid'] },
  trickle: { short: 'udstLlNn' },
  torsocks: {},
  torify: {},
  tsocks: {},
  proxychains: { short: 'f' },
  proxychains4: { short: 'f' },
  eatmydata: {},
  nocache: {},
  chronic: {},
  ifne: {},
  catchsegv: {},
  caffeinate: { short: 'tw' },
  setarch: { skip: 1 },
  linux32: {},
  linux64: {},
  i386: {},
  x86_64: {},
  'xvfb-run': { short: 'efnps', long: ['error-file', 'auth-file', 'server-num', 'server-args'] },
  'start-stop-daemon': { short: 'xapnuNcgdrkICR', long: ['exec', 'pidfile', 'name', 'user', 'chuid', 'chdir', 'chroot', 'group', 'nicelevel'], idle: ['K', 'stop', 'status', 'T'] },
  daemonize: { short: 'acelopuE' },
  chpst: { short: 'uUbcdfmnopqrt/e' },
  setuidgid: { skip: 1 },
  'su-exec': { skip: 1 },
  gosu: { skip: 1 },
  tini: { short: 'pe' },
  'dumb-init': {},
  catatonit: {},
  choom: { short: 'np', idle: ['p'] },
  uclampset: { short: 'mMp' },
  flatpak: { skip: 99 },
  'aa-exec': { short: 'pnf', long: ['profile', 'namespace', 'file'] },
  runcon: { short: 'utrlc', skip: 1 },
  'ssh-agent': { short: 'aEtP' },
  dotenv: { short: 'fe', long: ['file'] },
  direnv: { skip: 2 },
  watchexec: { short: 'wefd', long: ['watch', 'exts', 'filter', 'ignore', 'delay-run'], joins: true },
  entr: {},
  time_: {},
  viddy: { short: 'n', joins: true },
  watch: { short: 'nqe', long: ['interval', 'equexit'], joins: true },
  dvtm: {},
  annotate: {},
  retry: { short: 'tdm' },
  sem: { short: 'j', long: ['id', 'jobs'], joins: true },
  busybox: { idle: ['list', 'list-full', 'install'] },
  toybox: {},
  coreutils: {},
  rosetta: {},
  arch: {},
  perf: { skip: 1, short: 'eoFcgpt' },
  heaptrack: {},
  samply: { skip: 1 },
  mpirun: { short: 'nHx', long: ['np', 'host'] },
  srun: { short: 'nNpctJ' },
  'git-bash': {},
  newgrp: { skip: 1 },
}

/** Runners of language tool-chains: the word after their verb is the program. */
const RUNNERS: Readonly<Record<string, { readonly verbs: readonly string[]; readonly spec?: OptionSpec }>> = {
  npx: { verbs: [''], spec: { short: 'pcw', long: ['package', 'call', 'workspace'] } },
  bunx: { verbs: [''] },
  pnpx: { verbs: [''] },
  npm: { verbs: ['exec', 'x'], spec: { short: 'pcw', long: ['package', 'call'] } },
  pnpm: { verbs: ['exec', 'dlx'] },
  yarn: { verbs: ['exec', 'dlx'] },
  bun: { verbs: ['x'] },
  uv: { verbs: ['run'], spec: { short: 'p', long: ['with', 'python', 'project', 'directory'] } },
  uvx: { verbs: [''] },
  pipx: { verbs: ['run'] },
  poetry: { verbs: ['run'] },
  pipenv: { verbs: ['run'] },
  pdm: { verbs: ['run'] },
  hatch: { verbs: ['run'] },
  conda: { verbs: ['run'], spec: { short: 'np', long: ['name', 'prefix', 'cwd'] } },
  bundle: { verbs: ['exec'] },
  rbenv: { verbs: ['exec'] },
  pyenv: { verbs: ['exec'] },
  asdf: { verbs: ['exec'] },
  mise: { verbs: ['exec', 'x'] },
  nvm: { verbs: ['exec'] },
  opam: { verbs: ['exec'] },
  stack: { verbs: ['exec'] },
  cabal: { verbs: ['exec'] },
  rustup: { verbs: ['run'] },
}

const wrap: Program = (call, name) => {
  const spec = WRAPPERS[name] ?? {}
  const given = options(call.argv.slice(1), { ...spec, stop: true })
  if (spec.idle?.some((flag) => given.flags.includes(flag))) return undefined
  let rest = given.operands.slice(spec.skip ?? 0)
  const inner = call.shell.fork()
  if (spec.assigns) rest = takeAssignments(rest, call, inner)
  const directory = name === 'sudo' || name === 'run0' ? given.get('D', 'chdir') : name === 'unshare' || name === 'nsenter' ? given.get('w', 'wd') : undefined
  if (directory !== undefined) inner.cwd = unique(inner.cwd.map((cwd) => resolvePath(directory, cwd)))
  if ((name === 'sudo' || name === 'doas') && rest.length > 0 && (given.has('s') || given.has('i', 'login', 'shell'))) return call.walker.script(rest.map(plain).join(' '), inner, call.stdin)
  const program = name === 'start-stop-daemon' ? given.get('x', 'exec', 'a') : undefined
  if (program !== undefined) rest = [program, ...rest]
  if (rest.length === 0) return name === 'busybox' || name === 'toybox' ? undefined : shellIfEmpty(call, name)
  if (spec.joins) return call.walker.script(rest.map(plain).join(' '), inner, call.stdin)
  // The namespaces of pid 1 are the machine's own, also from inside a container.
  if (name === 'nsenter' && given.get('t', 'target') === '1') return call.walker.namesakes.inside(undefined, () => call.walker.external(rest, inner, call.stdin))
  return call.walker.external(rest, inner, call.stdin)
}

/** `unshare`, `chroot DIR` or `sudo -s` without a command start a shell that reads stdin. */
function shellIfEmpty(call: Call, name: string): undefined {
  if (/^(sudo|doas|su|unshare|nsenter|chroot|fakeroot|setpriv|newgrp)$/.test(name) && call.stdin) call.walker.argv(['sh'], call.shell.fork(), call.stdin)
  return undefined
}

/** `A=1 B=2 cmd` in the arguments of env and sudo. */
function takeAssignments(words: readonly string[], call: Call, inner: Call['shell']): string[] {
  let i = 0
  for (; i < words.length; i++) {
    const text = /^([A-Za-z_]\w*)=(.*)$/s.exec(words[i] ?? '')
    if (!text) break
    inner.set(text[1] ?? '', [plain(text[2] ?? '')])
    judgeEnvironment(text[1] ?? '', plain(text[2] ?? ''), call)
  }
  return words.slice(i)
}

function judgeEnvironment(name: string, value: string, call: Call): void {
  if (name === 'BASH_ENV' || name === 'ENV') for (const text of call.walker.streams.contents(value, call.shell)) if (text !== UNKNOWN) call.walker.script(text, call.shell.fork())
  if (/^(GIT_SSH_COMMAND|GIT_EDITOR|GIT_PAGER|GIT_EXTERNAL_DIFF|GIT_SEQUENCE_EDITOR|RSYNC_RSH|EDITOR|VISUAL)$/.test(name)) call.walker.tryScript(value, call.shell)
}

const env: Program = (call) => {
  const inner = call.shell.fork()
  let words = call.argv.slice(1)
  for (let guard = 0; guard < 100; guard++) {
    const word = words[0] ?? ''
    if (word === '-' || /^(-i|-0|-v|--ignore-environment|--null|--debug|--list-signal-handling)$/.test(word)) words.shift()
    else if (word === '--') {
      words.shift()
      break
    } else if (/^(-u|--unset|-C|--chdir)$/.test(word)) words = chdir(words, 2, words[1], word, inner)
    else if (/^(--unset=|--chdir=|--block-signal|--default-signal|--ignore-signal|--argv0)/.test(word)) words = chdir(words, 1, word.slice(word.indexOf('=') + 1), word, inner)
    else if (/^-[uC]./.test(word)) words = chdir(words, 1, word.slice(2), word, inner)
    else if (word === '-a') words.splice(0, 2)
    else if (word === '-S' || word === '--split-string') words = [...splitString(words[1] ?? ''), ...words.slice(2)]
    else if (word.startsWith('--split-string=')) words = [...splitString(word.slice('--split-string='.length)), ...words.slice(1)]
    else if (/^-[iv0]*S/.test(word)) words = [...splitString(word.replace(/^-[iv0]*S/, '') || (words[1] ?? '')), ...words.slice(/^-[iv0]*S$/.test(word) ? 2 : 1)]
    else if (/^-[iv0]+[uC]/.test(word)) words.splice(0, 2)
    else if (/^-/.test(word)) words.shift()
    else break
  }
  const rest = takeAssignments(words, call, inner)
  return rest.length === 0 ? undefined : call.walker.external(rest, inner, call.stdin)
}

function chdir(words: readonly string[], drop: number, target: string | undefined, option: string, inner: Call['shell']): string[] {
  if (/C|chdir/.test(option) && target) inner.cwd = target.startsWith('/') ? [target] : inner.cwd.map((cwd) => `${cwd}/${target}`)
  return words.slice(drop)
}

/** env -S splits on blanks and knows quotes, escapes and `\_`. */
function splitString(text: string): string[] {
  const words: string[] = []
  for (const match of plain(text).matchAll(/(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|((?:[^\s"'\\]|\\.)+))+/gs)) words.push(match[0].replace(/\\_/g, ' ').replace(/["']/g, '').replace(/\\(.)/g, '$1'))
  return words
}

const command: Program = (call, name) => {
  const given = options(call.argv.slice(1), { short: name === 'exec' ? 'a' : '', stop: true })
  if (name === 'command' && given.has('v', 'V')) return given.operands.map((word) => `${word}\n`)
  if (given.operands.length === 0) return NOTHING
  return call.walker.external(given.operands, call.shell, call.stdin)
}

const runner: Program = (call, name) => {
  const { verbs, spec } = RUNNERS[name] ?? { verbs: [] }
  let words = call.argv.slice(1)
  if (!verbs.includes('')) {
    const at = words.findIndex((word) => !word.startsWith('-'))
    if (at < 0 || !verbs.includes(words[at] ?? '')) return undefined
    words = words.slice(at + 1)
  }
  const given = options(words, { ...spec, stop: true })
  const line = given.get('c', 'call')
  if (line) return call.walker.script(plain(line), call.shell.fork(), call.stdin)
  const rest = given.operands[0] === '--' ? given.operands.slice(1) : given.operands
  if (rest.length === 0) return undefined
  // A version suffix is not part of the program's name: `npx rimraf@5 /`.
  return call.walker.argv([(rest[0] ?? '').replace(/(?<=.)@[\w.^~-]+$/, ''), ...rest.slice(1)], call.shell.fork(), call.stdin)
}

/** `su -c CMD`, `script -c CMD`, `flock FILE -c CMD`, `nix-shell --run CMD`: the command line is an option's value. */
const byOption: Program = (call, name) => {
  const spec: OptionSpec =
    {
      su: { short: 'cgGsw', long: ['command', 'group', 'shell', 'session-command', 'supp-group'] },
      runuser: { short: 'cugGsw', long: ['command', 'user', 'group', 'shell', 'session-command'] },
      script: { short: 'cEoTBIOm', long: ['command', 'log-in', 'log-out', 'log-io', 'log-timing', 'echo'] },
      flock: { short: 'cwE', long: ['command', 'timeout', 'wait', 'conflict-exit-code'] },
      sg: { short: 'c' },
      'nix-shell': { short: 'pIA', long: ['run', 'command', 'packages'] },
      expect: { short: 'c' },
      nodemon: { short: 'xewi', long: ['exec', 'ext', 'watch', 'ignore'] },
      screen: { short: 'SXtTspcehR' },
    }[name] ?? {}
  const given = options(call.argv.slice(1), name === 'flock' || name === 'runuser' ? { ...spec, stop: false } : spec)
  const lines = ['c', 'command', 'run', 'session-command', 'x', 'exec'].flatMap((option) => given.all(option))
  for (const line of lines) call.walker.script(plain(line), call.shell.fork(), call.stdin)
  if (lines.length > 0) return undefined
  const strict = options(call.argv.slice(1), { ...spec, stop: true })
  const skip = name === 'flock' ? 1 : name === 'runuser' && strict.get('u', 'user') !== undefined ? 0 : name === 'sg' || name === 'su' || name === 'runuser' ? 1 : 0
  const rest = strict.operands.slice(skip)
  if (name === 'script' && rest.length > 1) return call.walker.argv(rest.slice(rest[1] === '--' ? 2 : 1), call.shell.fork(), call.stdin)
  if (name === 'script' || name === 'expect' || name === 'nix-shell' || rest.length === 0) return shellIfEmpty(call, 'su')
  if (rest[0] === '-c') return call.walker.script(plain(rest[1] ?? ''), call.shell.fork(), call.stdin)
  if (name === 'su') return call.walker.argv(['sh', ...rest], call.shell.fork(), call.stdin)
  return call.walker.argv(rest, call.shell.fork(), call.stdin)
}

/** ssh HOST words...: the words are joined and given to the far shell; ProxyCommand runs here. */
const ssh: Program = (call, name) => {
  const given = options(call.argv.slice(1), { short: 'bcDEeFIiJLlmOopQRSWwB', stop: true })
  for (const option of given.all('o')) {
    const local = /^(?:ProxyCommand|LocalCommand|KnownHostsCommand|RemoteCommand)[= ](.*)$/is.exec(plain(option))
    if (local) call.walker.script(local[1] ?? '', call.shell.fork())
  }
  const rest = name === 'sshpass' ? given.operands : given.operands.slice(1)
  if (rest.length > 0) call.walker.script(rest.map(plain).join(' '), call.shell.fork(), call.stdin)
  else if (call.stdin) for (const text of call.stdin) if (text !== UNKNOWN) call.walker.tryScript(text, call.shell)
  return undefined
}

const sshpass: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'pfdP', stop: true })
  return given.operands.length > 0 ? call.walker.argv(given.operands, call.shell.fork(), call.stdin) : undefined
}

/** gdb --args PROGRAM ...; -ex 'shell CMD', -ex '!CMD'. */
const gdb: Program = (call) => {
  const at = call.argv.findIndex((arg) => arg === '--args' || arg === '-args')
  for (const [i, arg] of call.argv.entries()) {
    const shell = /^(?:shell|!|python import os; os\.system\()\s*(.*)$/s.exec(plain(call.argv[i + 1] ?? ''))
    if (/^--?(ex|eval-command)$/.test(arg) && shell) call.walker.script(shell[1] ?? '', call.shell.fork())
  }
  return at >= 0 ? call.walker.argv(call.argv.slice(at + 1), call.shell.fork(), call.stdin) : undefined
}

/** capsh's `--` hands everything after it to bash. */
const capsh: Program = (call) => {
  const at = call.argv.findIndex((arg) => arg === '--' || arg === '==')
  return at >= 0 ? call.walker.argv(['bash', ...call.argv.slice(at + 1)], call.shell.fork(), call.stdin) : undefined
}

/** bwrap has dozens of options with one or two values; the command follows the last of them. */
const bwrap: Program = (call) => {
  const words = call.argv.slice(1)
  const dashes = words.indexOf('--')
  if (dashes >= 0) return call.walker.argv(words.slice(dashes + 1), call.shell.fork(), call.stdin)
  const two = /^--(ro-bind|bind|dev-bind|bind-try|ro-bind-try|dev-bind-try|setenv|symlink|file|bind-data|ro-bind-data|chmod)$/
  const none = /^--(unshare-.*|share-net|die-with-parent|new-session|as-pid-1|clearenv|help|version|disable-userns)$/
  let i = 0
  while (i < words.length && (words[i] ?? '').startsWith('--')) i += two.test(words[i] ?? '') ? 3 : none.test(words[i] ?? '') ? 1 : 2
  return i < words.length ? call.walker.argv(words.slice(i), call.shell.fork(), call.stdin) : undefined
}

/** xargs: the words of stdin become arguments. */
const xargs: Program = (call) => {
  const given = options(call.argv.slice(1), {
    short: 'adEILnPsJR',
    long: ['arg-file', 'delimiter', 'eof', 'replace', 'max-lines', 'max-args', 'max-procs', 'max-chars', 'process-slot-var'],
    stop: true,
  })
  const template = given.operands.length > 0 ? given.operands : ['echo']
  const file = given.get('a', 'arg-file')
  const texts = file === undefined ? (call.stdin ?? [UNKNOWN]) : call.walker.streams.contents(file, call.shell)
  const replace = given.get('I', 'J', 'replace') ?? (given.has('i') ? '{}' : undefined)
  const nul = given.has('0', 'null')
  const delimiter = given.get('d', 'delimiter')
  for (const text of texts) {
    const items = nul
      ? text.split('\0')
      : delimiter !== undefined
        ? text.split(plain(delimiter).replace('\\n', '\n').replace('\\0', '\0'))
        : replace !== undefined
          ? text.split('\n').map((line) => line.trim())
          : unquotedFields(text)
    const words = items.map((item) => item.replace(/\n$/, '')).filter((item) => item !== '')
    if (replace === undefined || replace === '') call.walker.argv([...template, ...words.slice(0, 2_000)], call.shell.fork(), NOTHING)
    else
      for (const word of unique(words.length > 0 ? words : []))
        call.walker.argv(
          template.map((part) => part.replaceAll(replace, word)),
          call.shell.fork(),
          NOTHING,
        )
  }
  return undefined
}

/** xargs' own splitting: blanks separate, quotes and backslashes protect. */
function unquotedFields(text: string): string[] {
  const words: string[] = []
  for (const match of text.matchAll(/(?:"[^"\n]*"|'[^'\n]*'|\\.|[^\s"'\\])+/gs)) words.push(match[0].replace(/["']/g, '').replace(/\\(.)/g, '$1'))
  return words
}

/** GNU parallel: a command line, then `::: arguments`, or arguments from stdin. */
const parallel: Program = (call) => {
  const at = call.argv.findIndex((arg) => /^:::?[:+]?\+?$/.test(arg))
  const head = at < 0 ? call.argv.slice(1) : call.argv.slice(1, at)
  const given = options(head, {
    short: 'jSaIdNnLlPx',
    long: ['jobs', 'sshlogin', 'arg-file', 'delay', 'timeout', 'joblog', 'tmpdir', 'results', 'retries', 'colsep', 'max-args', 'wd', 'workdir'],
    stop: true,
  })
  const template = given.operands.map(plain).join(' ')
  const items = at < 0 ? (call.stdin ?? [UNKNOWN]).flatMap((text) => text.split('\n')).filter((item) => item !== '') : call.argv.slice(at + 1).filter((arg) => !/^:::/.test(arg))
  for (const item of unique(items)) {
    const quoted = item.replace(/([^\w@%+=:,./*~\uFDD0-\uFDDF-])/g, '\\$1')
    const line = template === '' ? plain(item) : /\{[^}]*\}/.test(template) ? template.replace(/\{(?:[./#%]*|\d+)\}/g, () => quoted) : `${template} ${quoted}`
    call.walker.script(line, call.shell.fork())
  }
  return undefined
}

/** Each argument is a command line: hyperfine, concurrently. */
const eachLine: Program = (call) => {
  const given = options(call.argv.slice(1), {
    short: 'wrmMSpcnkN',
    long: ['warmup', 'runs', 'min-runs', 'max-runs', 'shell', 'names', 'prefix', 'export-json', 'export-markdown', 'prepare', 'setup', 'cleanup', 'conclude'],
  })
  for (const line of [...given.operands, ...given.all('p', 'prepare', 'setup', 'cleanup', 'conclude')]) call.walker.tryScript(plain(line), call.shell)
  return undefined
}

/** at, batch: stdin is a script for later. */
const later: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'fqt' })
  if (given.has('l', 'd', 'r', 'c')) return undefined
  const file = given.get('f')
  for (const text of file === undefined ? (call.stdin ?? []) : call.walker.streams.contents(file, call.shell)) if (text !== UNKNOWN) call.walker.script(text, call.shell.fork())
  return undefined
}

/** tmux new-session 'cmd', tmux send-keys 'cmd' Enter; screen -X stuff. */
const terminal: Program = (call, name) => {
  for (const word of call.argv.slice(1)) if (/\s/.test(word)) call.walker.tryScript(plain(word).replace(/^(exec|stuff) /, ''), call.shell)
  if (name !== 'tmux') return byOption(call, 'screen')
  const verb = call.argv.findIndex((arg) => /^(new|new-session|new-window|neww|split-window|splitw|respawn-pane|run-shell|run|if-shell)$/.test(arg))
  if (verb < 0) return undefined
  const given = options(call.argv.slice(verb + 1), { short: 'sntcFexyltL', stop: true })
  if (given.operands.length > 0) call.walker.script(given.operands.map(plain).join(' '), call.shell.fork())
  return undefined
}

/** Terminal emulators: `xterm -e CMD ...`. */
const emulator: Program = (call) => {
  const at = call.argv.findIndex((arg) => arg === '-e' || arg === '-x' || arg === '--' || arg === '--command')
  const rest = at < 0 ? [] : call.argv.slice(at + 1)
  if (rest.length === 1) call.walker.script(plain(rest[0] ?? ''), call.shell.fork())
  else if (rest.length > 1) call.walker.argv(rest, call.shell.fork(), null)
  return undefined
}

function table(names: readonly string[], program: Program): Record<string, Program> {
  return Object.fromEntries(names.map((name) => [name, program]))
}

export const WRAPPING: Readonly<Record<string, Program>> = {
  ...table(Object.keys(WRAPPERS), wrap),
  ...table(Object.keys(RUNNERS), runner),
  ...table(['su', 'runuser', 'script', 'flock', 'sg', 'nix-shell', 'expect', 'nodemon'], byOption),
  ...table(['command', 'builtin', 'exec', 'noglob', 'nocorrect', '-'], command),
  ...table(['hyperfine', 'concurrently', 'npm-run-all', 'run-p', 'run-s'], eachLine),
  ...table(['at', 'batch'], later),
  ...table(['tmux', 'screen'], terminal),
  ...table(['xterm', 'gnome-terminal', 'konsole', 'alacritty', 'kitty', 'foot', 'urxvt', 'lxterminal'], emulator),
  env,
  xargs,
  parallel,
  ssh,
  mosh: ssh,
  sshpass,
  gdb,
  lldb: gdb,
  capsh,
  bwrap,
}

/** Developer tools that run commands given in options: git, make, docker, compilers and their like. */
import { resolvePath } from '../paths.js'
import { plain, unique } from '../text.js'
import { type Call, known, options, type Program } from './call.js'

/** Keys of git's configuration whose value git runs. */
const GIT_COMMAND_KEYS =
  /^(alias\..*|core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy|hookspath)|sequence\.editor|diff\.external|.*\.(?:textconv|command|cmd|clean|smudge|process|driver|helper|tool|pager|program|receivepack|uploadpack)|pager\..*|credential\.helper)$/i

const git: Program = (call) => {
  const words = call.argv.slice(1).map(plain)
  const inner = call.shell.fork()
  const aliases = new Map<string, string>()
  let i = 0
  for (; i < words.length; i++) {
    const word = words[i] ?? ''
    const alias = word === '-c' ? /^alias\.([^=]+)=!(.*)$/s.exec(words[i + 1] ?? '') : null
    if (alias) aliases.set(alias[1] ?? '', alias[2] ?? '')
    if (word === '-C') inner.cwd = unique(inner.cwd.map((cwd) => resolvePath(words[i + 1] ?? '', cwd)))
    if (word === '-c') gitConfig(words[i + 1] ?? '', call)
    if (word.startsWith('--work-tree=')) inner.cwd = unique(inner.cwd.map((cwd) => resolvePath(word.slice('--work-tree='.length), cwd)))
    if (/^(-C|-c|--git-dir|--work-tree|--namespace|--exec-path)$/.test(word)) i++
    else if (!word.startsWith('-')) break
  }
  const environment = call.prefix?.shell ?? call.shell
  const settings = Number(environment.get('GIT_CONFIG_COUNT').values[0]) || 0
  for (let at = 0; at < Math.min(settings, 20); at++) {
    const [key, value] = [environment.get(`GIT_CONFIG_KEY_${at}`), environment.get(`GIT_CONFIG_VALUE_${at}`)].map((variable) => variable.values[0] ?? '')
    if (key && known(value)) gitConfig(`${key}=${value}`, call)
  }
  const [verb = '', ...rest] = words.slice(i)
  for (const [at, word] of rest.entries()) {
    const file = /^--output=(.*)$/s.exec(word)?.[1] ?? (word === '--output' ? rest[at + 1] : undefined)
    if (file !== undefined) call.walker.effect('overwrite', file, inner, call.argv)
  }
  // An alias that starts with `!` gets the remaining words as its parameters.
  const alias = aliases.get(verb)
  if (alias !== undefined) {
    const shell = inner.fork()
    shell.positional = rest
    call.walker.script(`${alias} "$@"`, shell)
  }
  if (verb === 'clean') {
    const given = options(rest, { short: 'e', long: ['exclude'] })
    if (!given.has('n', 'dry-run') && given.has('f', 'force') && given.has('d', 'x', 'X'))
      for (const target of given.operands.length > 0 ? given.operands : ['.']) call.walker.effect('delete-tree', target, inner, call.argv)
  } else if (verb === 'rm') {
    const given = options(rest)
    if (given.has('r') && !given.has('cached', 'n', 'dry-run')) for (const target of given.operands) call.walker.effect('delete', target, inner, call.argv)
  } else if (verb === 'bisect' && rest[0] === 'run') call.walker.argv(rest.slice(1), inner, null)
  else if (verb === 'submodule' && rest.includes('foreach'))
    call.walker.script(
      rest
        .slice(rest.indexOf('foreach') + 1)
        .filter((word) => word !== '--recursive')
        .join(' '),
      inner,
    )
  else if (
    verb === 'rebase' ||
    verb === 'difftool' ||
    verb === 'grep' ||
    verb === 'filter-branch' ||
    verb === 'fetch' ||
    verb === 'clone' ||
    verb === 'push' ||
    verb === 'pull' ||
    verb === 'ls-remote' ||
    verb === 'archive'
  ) {
    const given = options(rest, {
      short: verb === 'rebase' || verb === 'difftool' ? 'x' : verb === 'grep' ? 'O' : '',
      long: [
        'exec',
        'extcmd',
        'open-files-in-pager',
        'tree-filter',
        'index-filter',
        'msg-filter',
        'env-filter',
        'commit-filter',
        'parent-filter',
        'tag-name-filter',
        'upload-pack',
        'receive-pack',
        'config',
      ],
    })
    for (const line of [
      'x',
      'O',
      'exec',
      'extcmd',
      'open-files-in-pager',
      'tree-filter',
      'index-filter',
      'msg-filter',
      'env-filter',
      'commit-filter',
      'parent-filter',
      'tag-name-filter',
      'upload-pack',
      'receive-pack',
    ].flatMap((name) => given.all(name)))
      call.walker.tryScript(line, inner)
    for (const setting of given.all('config')) gitConfig(setting, call)
    for (const word of rest) {
      const transport = /^ext::(.*)$/s.exec(word)?.[1]
      // Words are separated by blanks; `% ` is a blank inside one.
      if (transport)
        call.walker.argv(
          (transport.match(/(?:%.|[^ %])+/gs) ?? []).map((part) => part.replace(/%(.)/gs, (_, code: string) => (/[ %]/.test(code) ? code : ''))),
          inner,
          null,
        )
    }
  } else if (verb === 'config') {
    const [key = '', value = ''] = rest.filter((word) => !word.startsWith('-') && word !== 'set')
    if (value !== '') gitConfig(`${key}=${value}`, call)
  }
  return undefined
}

function gitConfig(setting: string, call: Call): void {
  const at = setting.indexOf('=')
  const [key, value] = [setting.slice(0, at), setting.slice(at + 1)]
  if (at > 0 && GIT_COMMAND_KEYS.test(key)) call.walker.tryScript(value.replace(/^!/, ''), call.shell)
}

const make: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'fCIjlWoE', long: ['file', 'makefile', 'directory', 'eval', 'include-dir', 'old-file', 'what-if'] })
  const inner = call.shell.fork()
  for (const directory of given.all('C', 'directory')) inner.cwd = unique(inner.cwd.map((cwd) => resolvePath(directory, cwd)))
  const texts = [...given.all('E', 'eval')]
  const files = given.all('f', 'file', 'makefile')
  // Without -f it reads the Makefile beside it: known when this same command wrote it.
  if (files.length === 0) texts.push(...['GNUmakefile', 'makefile', 'Makefile'].flatMap((file) => call.walker.streams.contents(file, inner).filter(known)))
  for (const file of files) texts.push(...(file === '-' || file === '/dev/stdin' ? (call.stdin ?? []) : call.walker.streams.contents(file, call.shell)))
  if (given.has('n', 'just-print', 'dry-run', 'recon') && texts.length === 0) return undefined
  for (const text of texts) {
    const lines = plain(text)
      .replace(/\\\n\t?/g, ' ')
      .split('\n')
    const variables = makeVariables(lines, given.operands.map(plain), inner)
    for (const line of lines) {
      const recipe = /^\t[-@+]*(.*)$/.exec(line)?.[1] ?? /^[\w.%-]+\s*:[^=;]*;\s*[-@+]*(.*)$/.exec(line)?.[1]
      if (recipe)
        call.walker.tryScript(recipe.replace(/\$(?:\((\w+)\)|\{(\w+)\})/g, (whole, round?: string, curly?: string) => variables.get(round ?? curly ?? '') ?? whole).replaceAll('$$', '$'), inner)
    }
    for (const match of plain(text).matchAll(/\$\(shell ([^)]*)\)/g)) call.walker.tryScript(match[1] ?? '', inner)
  }
  for (const word of given.operands) {
    const value = /^[A-Za-z_]\w*:?=(.*)$/s.exec(plain(word))?.[1]
    const shell = value === undefined ? undefined : /\$\(shell ([^)]*)\)/.exec(value)?.[1]
    if (shell) call.walker.tryScript(shell, inner)
    // `make SHELL=...`: that program is started with each recipe.
    const program = /^\.?SHELL=(.*)$/s.exec(plain(word))?.[1]
    if (program) call.walker.tryScript(program, inner)
  }
  return undefined
}

/** What `$(NAME)` means in a makefile: the command line wins over the file, the file over the environment. */
function makeVariables(lines: readonly string[], operands: readonly string[], shell: Call['shell']): ReadonlyMap<string, string> {
  const found = new Map<string, string>([['HOME', shell.home[0] ?? '']])
  for (const line of [...lines, ...operands]) {
    const assigned = /^(?:export\s+|override\s+)*(\w+)\s*[:?+!]{0,3}=\s*(.*)$/s.exec(line)
    if (assigned) found.set(assigned[1] ?? '', assigned[2] ?? '')
  }
  return found
}

/** docker run -v HOST:INSIDE IMAGE CMD: inside paths are the host's only where a mount says so. */
const docker: Program = (call, name) => {
  const words = call.argv.slice(1)
  const at = words.findIndex((word) => /^(run|exec|create)$/.test(plain(word)))
  if (
    name !== 'docker-compose' &&
    at >= 0 &&
    words.slice(0, at).every((word) => word.startsWith('-') || /^(container|compose)$/.test(word) || !/^(build|ps|images|pull|push|volume|network|system|image)$/.test(word))
  ) {
    const given = options(words.slice(at + 1), {
      short: 'vewuphlmcan',
      long: [
        'volume',
        'env',
        'workdir',
        'user',
        'publish',
        'name',
        'mount',
        'network',
        'entrypoint',
        'hostname',
        'label',
        'memory',
        'cpus',
        'env-file',
        'platform',
        'pid',
        'ipc',
        'device',
        'cap-add',
        'security-opt',
        'restart',
        'add-host',
        'dns',
        'gpus',
        'shm-size',
        'ulimit',
        'userns',
        'runtime',
        'pull',
        'tmpfs',
        'log-driver',
        'cidfile',
        'volumes-from',
        'expose',
        'ip',
        'init-path',
        'stop-signal',
        'net',
      ],
      stop: true,
    })
    const entry = given.get('entrypoint')
    const command = [...(entry === undefined ? [] : [entry]), ...given.operands.slice(1)]
    if (command.length === 0) return undefined
    const mounts = plain(words[at] ?? '') === 'exec' ? undefined : mountsOf(given, call)
    const input = given.has('i', 'interactive') ? call.stdin : null
    call.walker.namesakes.inside(mounts, () => call.walker.argv(command, call.shell.fork(), input))
  }
  return undefined
}

function mountsOf(given: ReturnType<typeof options>, call: Call): ReadonlyMap<string, string> {
  const mounts = new Map<string, string>()
  const add = (host: string, inside: string): void => {
    const source = call.shell.cwd.map((cwd) => resolvePath(host, cwd))[0] ?? ''
    if (/^[./~\uFDD0]/.test(host)) mounts.set(resolvePath(inside, '/'), source)
  }
  for (const volume of given.all('v', 'volume')) {
    const [host, inside, mode = ''] = volume.split(':')
    if (host !== undefined && inside !== undefined && !/\bro\b/.test(mode)) add(host, inside)
  }
  for (const mount of given.all('mount')) {
    const source = /(?:source|src)=([^,]+)/.exec(mount)?.[1]
    const target = /(?:target|dst|destination)=([^,]+)/.exec(mount)?.[1]
    if (source !== undefined && target !== undefined && !/readonly|\bro\b/.test(mount)) add(source, target)
  }
  return mounts
}

/** kubectl exec POD -- CMD, nomad, fly ssh console -C: something else's machine, still nobody's wish. */
const remoteExec: Program = (call) => {
  const at = call.argv.indexOf('--')
  if (at > 0 && call.argv.slice(1, at).some((word) => /^(exec|run|ssh|debug|rsh|shell)$/.test(word))) call.walker.argv(call.argv.slice(at + 1), call.shell.fork(), call.stdin)
  const command = options(call.argv.slice(1), { short: 'C', long: ['command'] }).all('command', 'C')
  for (const line of command) call.walker.tryScript(plain(line), call.shell)
  return undefined
}

/** gcc -wrapper a,b,c runs a b c. */
const compiler: Program = (call) => {
  const at = call.argv.indexOf('-wrapper')
  if (at > 0) call.walker.argv((call.argv[at + 1] ?? '').split(','), call.shell.fork(), null)
  const given = options(call.argv.slice(1), { short: 'oxILlDUWf' })
  for (const file of given.all('o')) call.walker.effect('overwrite', file, call.shell, call.argv)
  return undefined
}

/** Options of other tools whose value is run: one row each. */
const RUNS_OPTION: Readonly<Record<string, { readonly short?: string; readonly long?: readonly string[]; readonly takes?: string }>> = {
  rg: { long: ['pre', 'hostname-bin'], takes: 'efgmtTABCMjr' },
  man: { short: 'PH', long: ['pager', 'html'] },
  tcpdump: { short: 'z', takes: 'ciwrCGWsFBEMTyZ' },
  scp: { short: 'S', takes: 'cFiJloPD' },
  sftp: { short: 'S', takes: 'bBcDFiJloPRs' },
  fzf: { long: ['preview', 'bind', 'execute'] },
  dpkg: { long: ['pre-invoke', 'post-invoke'] },
  ansible: { short: 'a', takes: 'mieulfcbKT' },
  salt: { takes: 'CGE' },
  pssh: { takes: 'hHlpotei' },
  socat: {},
  nc: { short: 'ec', takes: 'iIpqswTXxOP' },
  ncat: { short: 'ec', long: ['exec', 'sh-exec'] },
  netcat: { short: 'ec' },
  pdsh: { takes: 'wxglfutR' },
  vagrant: { short: 'c', long: ['command'] },
  adb: {},
  wsl: { short: 'e', long: ['exec'] },
  cargo: { short: 'xs', long: ['exec', 'shell', 'config'] },
  lftp: { short: 'ec' },
  hg: { long: ['config'] },
  svn: { long: ['diff-cmd', 'diff3-cmd', 'editor-cmd'] },
  restic: { long: ['password-command'] },
  borg: { long: ['rsh'] },
  mutt: { short: 'e' },
  mysql: {},
  psql: {},
  sqlite3: {},
}

const runsOption: Program = (call, name) => {
  const row = RUNS_OPTION[name] ?? {}
  const given = options(call.argv.slice(1), { short: (row.short ?? '') + (row.takes ?? ''), long: [...(row.long ?? [])], stop: name === 'adb' })
  for (const line of [...[...(row.short ?? '')].flatMap((letter) => given.all(letter)), ...(row.long ?? []).flatMap((option) => given.all(option))]) {
    if (/\s/.test(line)) call.walker.tryScript(name === 'hg' ? plain(line).replace(/^[\w.-]+=!?/, '') : plain(line), call.shell)
  }
  if (name === 'socat') {
    for (const word of given.operands) {
      const command = /^(?:EXEC|SYSTEM|SHELL):"?([^",]+)/i.exec(plain(word))?.[1]
      if (command) call.walker.tryScript(command, call.shell)
      const file = /^(?:OPEN|CREATE|FILE|GOPEN):([^,]+)/i.exec(plain(word))?.[1]
      if (file) call.walker.effect('overwrite', file, call.shell, call.argv)
    }
  }
  if (name === 'adb' && given.operands[0] === 'shell') call.walker.tryScript(given.operands.slice(1).map(plain).join(' '), call.shell)
  if (name === 'wsl') {
    const at = call.argv.findIndex((word, i) => i > 0 && !word.startsWith('-') && !/^(-d|-u|--distribution|--user|--cd)$/.test(call.argv[i - 1] ?? ''))
    if (at > 0) call.walker.tryScript(call.argv.slice(at).map(plain).join(' '), call.shell)
  }
  if (name === 'pssh' || name === 'pdsh') call.walker.tryScript(plain(given.operands[given.operands.length - 1] ?? ''), call.shell)
  if (/^(psql|mysql|sqlite3)$/.test(name)) {
    for (const text of [...call.argv.slice(1), ...(call.stdin ?? [])]) {
      const escape = /(?:^|\n)\s*(?:\\!|\.shell|\.system|system|\\sys)\s+(.+)/.exec(plain(text))?.[1]
      if (escape) call.walker.tryScript(escape, call.shell)
    }
  }
  return undefined
}

export const DEVELOPER_PROGRAMS: Readonly<Record<string, Program>> = {
  ...Object.fromEntries(Object.keys(RUNS_OPTION).map((name) => [name, runsOption])),
  git,
  hub: git,
  ...Object.fromEntries(['make', 'gmake', 'bmake'].map((name) => [name, make])),
  ...Object.fromEntries(['docker', 'podman', 'nerdctl', 'docker-compose'].map((name) => [name, docker])),
  ...Object.fromEntries(['kubectl', 'oc', 'k3s', 'fly', 'flyctl', 'gcloud', 'lxc', 'multipass'].map((name) => [name, remoteExec])),
  ...Object.fromEntries(['gcc', 'g++', 'cc', 'c++', 'clang', 'clang++'].map((name) => [name, compiler])),
}

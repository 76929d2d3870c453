/** Developer tools that run commands given in options: one row each, and the few that need more than a row. */
import { nameList } from '../../contract/quote.js'
import { hasUnknown, plain } from '../words/text.js'
import { basename, options, type OptionSpec, type Program, table } from './row/call.js'
import { judgeCode } from './code/inline.js'
import { docker, remoteExec } from './start/containers.js'
import { git } from './git.js'
import { make } from './code/make.js'
import { BUILD_FILES, buildFile, CONFIGURED, configured, just, m4, npmScripts } from './code/recipes.js'

/** gcc -wrapper a,b,c runs a b c. */
const compiler: Program = (call) => {
  const at = call.argv.indexOf('-wrapper')
  if (at > 0) call.start((call.argv[at + 1] ?? '').split(','))
  const given = options(call.args, { short: 'oxILlDUWf' })
  call.effects('overwrite', given.all('o'))
  return compiles(call, 'cc')
}

/** Text of a language that is compiled: the same command, or the next, runs what comes of it. */
const compiles: Program = (call) => {
  for (const word of call.args) {
    if (!/^-$|^\/dev\/(?:fd\/|stdin)|\.(?:c|cc|cpp|cxx|go|rs|java|swift|kts?|nim|cr|zig|d|v|hs|ml)$/.test(word))
      continue
    const texts = word === '-' ? (call.stdin ?? []) : call.contents(word)
    for (const text of texts) {
      if (hasUnknown(text)) continue
      call.walker.code(plain(text))
      judgeCode(plain(text), 'c', call)
    }
  }
}

/** `apt -o DPkg::Pre-Invoke::=CMD`. */
const apt: Program = (call) => {
  for (const option of options(call.args, { short: 'otc', long: ['option'] }).all('o', 'option'))
    call.tryMatches(option, /Invoke(?:-Success)?(?:::)?=(?:\{(?!\{))?(.*?)(?:(?<!\})\})?$/gis)
}

/** Lines that begin with `!` in what a program of the old kind reads: from its input, a file of commands, an option. */
const shellEscapes: Program = (call) => {
  const given = options(call.args, { short: 'ebcf' })
  const batch = call.texts(given.all('b', 'f'))
  for (const text of [...(call.stdin ?? []), ...batch, ...given.all('e', 'c')])
    call.tryMatches(text, /(?:^|[;&|])[ \t]*(?:!|(?:shell|local)[ \t]+)(.+)$/gm)
}

/** Options of other tools whose value is run: one row each. */
const RUNS_OPTION: Readonly<Record<string, OptionSpec & { readonly takes?: string }>> = {
  rg: { long: ['pre', 'hostname-bin'], takes: 'efgmtTABCMjr' },
  ag: { long: ['pager'] },
  man: { short: 'PH', long: ['pager', 'html'] },
  tcpdump: { short: 'z', takes: 'ciwrCGWsFBEMTyZ' },
  scp: { short: 'S', takes: 'cFiJloPD' },
  sftp: { short: 'S', takes: 'bBcDFiJloPRs' },
  sshfs: { takes: 'opF' },
  fzf: { long: ['preview', 'bind', 'execute'] },
  dpkg: { long: ['pre-invoke', 'post-invoke'] },
  ansible: { short: 'a', takes: 'mieulfcbKT' },
  salt: { takes: 'CGE' },
  pssh: { takes: 'hHlpote' },
  nc: { short: 'ec', takes: 'iIpqswTXxOP' },
  ncat: { short: 'ec', long: ['exec', 'sh-exec'] },
  netcat: { short: 'ec' },
  pdsh: { takes: 'wxglfutR' },
  vagrant: { short: 'c', long: ['command'] },
  wsl: { short: 'e', long: ['exec'] },
  cargo: { short: 'xs', long: ['exec', 'shell', 'config'] },
  lftp: { short: 'ec' },
  hg: { long: ['config'] },
  svn: { long: ['diff-cmd', 'diff3-cmd', 'editor-cmd'] },
  restic: { long: ['password-command'] },
  borg: { long: ['rsh'] },
  mutt: { short: 'e' },
  aria2c: { long: ['on-download-complete', 'on-download-error', 'on-download-start', 'on-bt-download-complete'] },
  wget: { long: ['use-askpass'] },
  go: { long: ['exec', 'toolexec', 'vettool'], singleDash: true },
  ...table(nameList('salt-call socat adb mysql mariadb duckdb clickhouse-local psql sqlite3'), {}),
}

const runsOption: Program = (call, name) => {
  const row = RUNS_OPTION[name] ?? {}
  const given = options(call.args, {
    short: (row.short ?? '') + (row.takes ?? ''),
    long: row.long ?? [],
    singleDash: row.singleDash ?? false,
    stop: /^(?:adb|p[ds]sh)$/.test(name),
  })
  for (const line of [
    ...[...(row.short ?? '')].flatMap((letter) => given.all(letter)),
    ...(row.long ?? []).flatMap((option) => given.all(option)),
  ]) {
    if (/\s/.test(line)) call.tryScript(name === 'hg' ? plain(line).replace(/^[\w.-]+=!?/, '') : plain(line))
  }
  if (name === 'socat') {
    for (const word of given.operands) {
      call.tryMatches(word, /^(?:EXEC|SYSTEM|SHELL):"?([^",]+)/gi)
      const file = /^(?:OPEN|CREATE|FILE|GOPEN):([^,]+)/i.exec(plain(word))?.[1]
      if (file) call.effect('overwrite', file)
    }
  }
  if (name === 'sftp' || name === 'lftp') shellEscapes(call, name)
  if (name === 'scp' || name === 'sftp' || name === 'sshfs')
    for (const option of given.all('o'))
      call.tryMatches(option, /^(?:ProxyCommand|LocalCommand|KnownHostsCommand|ssh_command)[= ](.*)$/gis)
  if (name === 'scp') {
    const target = given.operands.length > 1 ? given.operands[given.operands.length - 1] : undefined
    if (target !== undefined && !/^[\w.@[\]-]+:|^scp:/.test(target))
      for (const source of given.operands.slice(0, -1))
        call.effects('overwrite', [target, `${target}/${basename(source.replace(/^[^/]*:/, ''))}`])
  }
  if (name === 'adb' && given.operands[0] === 'shell') {
    const line = given.operands.slice(1).map(plain).join(' ')
    call.tryScript(line)
    // What a person keeps on a phone.
    if (/\brm\s+-\w*r\w*\s.*\/(?:sdcard|data|storage\/emulated\/0)\/?\*?(?:\s|;|$)/.test(line)) call.report('wipe-home')
  }
  if (name.startsWith('salt')) {
    const at = given.operands.findIndex((word) => /^cmd\.(?:run|shell|run_all|exec_code)$/.test(plain(word)))
    if (at >= 0) call.tryScript(plain(given.operands.slice(at + 1).join(' ')))
  }
  // `-m file -a 'path=/etc state=absent'`: a module of its own for it.
  if (name === 'ansible')
    for (const words of given.all('a'))
      if (/\bstate=absent\b/.test(words))
        call.effect('delete-tree', /\b(?:path|dest|name)=(\S+)/.exec(plain(words))?.[1] ?? '')
  if (name === 'wsl') {
    const at = call.argv.findIndex(
      (word, i) =>
        i > 0 && !word.startsWith('-') && !/^(-d|-u|--distribution|--user|--cd)$/.test(call.argv[i - 1] ?? ''),
    )
    if (at > 0) call.tryScript(call.argv.slice(at).map(plain).join(' '))
  }
  if (name === 'pssh' || name === 'pdsh') call.tryScript(given.operands.map(plain).join(' '))
  if (/^(psql|mysql|mariadb|sqlite3|duckdb|clickhouse-local)$/.test(name)) {
    const spec = { short: 'f', long: ['file', 'init', 'cmd'], singleDash: name === 'sqlite3' || name === 'duckdb' }
    const named = call.argv.flatMap((word) => /^\s*(?:\.read|\\ir?|source)\s+([^|\s]\S*)/.exec(plain(word))?.[1] ?? [])
    const files = [...options(call.args, spec).all('f', 'file', 'init'), ...named]
    const read = call.texts(files)
    for (const text of [...call.args, ...(call.stdin ?? []), ...read]) {
      // sqlite3 takes any beginning of a command's name; a pipe stands where a file could.
      for (const [, , escape, , piped, edited] of plain(text).matchAll(
        /(?:^|\n)\s*(\\!|\.sh\w*|\.sy\w*|system|\\sys)\s+(.+)|(?:^|\n)\s*(?:\\o|\.(?:once|output|import|read|excel))\s+(["']?)\|(.+?)\3(?:\s+\w+)?(?=\n|$)|\bedit\s*\([^)]*,\s*'([^']*)'/g,
      ))
        call.tryScript(escape ?? piped ?? edited ?? '')
      for (const match of plain(text).matchAll(/\b(?:FROM|TO)\s+PROGRAM\s+'((?:[^']|'')*)'/gi))
        call.tryScript((match[1] ?? '').replaceAll("''", "'"))
      // Files that the client writes by itself.
      for (const match of plain(text).matchAll(
        /(?:^|\n)\s*(?:\\o|\.output|\.once)\s+(\/\S+)|\b(?:writefile\s*\(\s*|(?:INTO\s+OUTFILE|\)\s*TO)\s+)'([^']+)'/gi,
      ))
        call.effect('overwrite', match[1] ?? match[2] ?? '')
    }
  }
}

/** `cargo clean` removes the directory that it builds in, whichever that is. */
const cargo: Program = (call, name) => {
  const given = options(call.args, { short: 'CFjpZ', long: ['target-dir', 'manifest-path', 'package'] })
  if (given.operands.find((word) => !word.startsWith('+')) === 'clean' && !given.has('n', 'dry-run'))
    call.effects('delete-tree', [given.get('target-dir') ?? call.shell.get('CARGO_TARGET_DIR').values].flat())
  configured(call, name)
  return runsOption(call, name)
}

/** `go run -exec CMD`, and the lines `//go:generate CMD` of files that this command or its session wrote. */
const go: Program = (call, name) => {
  if (call.argv[1] === 'generate')
    for (const [path, found] of call.shell.files)
      for (const text of path.endsWith('.go') ? found : []) call.tryMatches(text, /^\/\/go:generate\s+(.*)$/gm)
  compiles(call, name)
  return runsOption(call, name)
}

/** `virtualenv --clear DIR`, `uv venv --clear DIR`, `conda env remove -p DIR`: what is in the directory goes. */
const environments: Program = (call, name) => {
  const given = options(call.args, { short: 'pn', long: ['prefix', 'name', 'python'] })
  const words = given.operands.map(plain)
  const directories =
    name === 'conda' || name === 'mamba' || name === 'micromamba'
      ? words.includes('remove') && (words[0] === 'env' || given.has('all'))
        ? given.all('p', 'prefix')
        : []
      : given.has('clear')
        ? given.operands.filter((word) => plain(word) !== 'venv')
        : []
  call.effects('delete-tree', directories)
  return configured(call, name)
}

/** `rpm --eval '%(CMD)'`: a macro that a shell expands. */
const macros: Program = (call) => {
  for (const word of call.args) call.tryMatches(word, /%\((.*)\)/gs)
}

export const DEVELOPER_PROGRAMS: Readonly<Record<string, Program>> = {
  ...table(Object.keys(RUNS_OPTION), runsOption),
  ...table(CONFIGURED, configured),
  cargo,
  ...table(['git', 'hub'], git),
  ...table(['make', 'gmake', 'bmake'], make),
  ...table(['m4', 'gm4'], m4),
  just,
  ...table(['npm', 'pnpm', 'yarn', 'bun'], npmScripts),
  ...table(['docker', 'podman', 'nerdctl', 'docker-compose'], docker),
  ...table(['kubectl', 'oc', 'k3s', 'fly', 'flyctl', 'gcloud', 'lxc', 'multipass'], remoteExec),
  ...table(['gcc', 'g++', 'cc', 'c++', 'clang', 'clang++', 'tcc'], compiler),
  go,
  ...table(['rustc', 'javac', 'java', 'swift', 'swiftc', 'kotlinc', 'nim', 'crystal', 'zig', 'ocaml'], compiles),
  ...table(['apt', 'apt-get', 'aptitude'], apt),
  ...table(['rpm', 'rpmbuild', 'rpmspec'], macros),
  ...table(Object.keys(BUILD_FILES), buildFile),
  ...table(['virtualenv', 'uv', 'conda', 'mamba', 'micromamba'], environments),
  ...table(['ftp', 'telnet', 'gnuplot', 'dc'], shellEscapes),
}

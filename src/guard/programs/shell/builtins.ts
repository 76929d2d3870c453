/** Shell builtins that change what later words mean: variables, aliases, traps, code from text. */
import { nameSet } from '../../../contract/quote.js'
import { assign } from '../../words/assignments.js'
import { mayHoldCode } from '../../words/folding.js'
import { type Alternatives, ANYTHING, hasUnknown, NOTHING, plain, UNKNOWN, unique } from '../../words/text.js'
import { type Call, fieldsOf, listed, options, type Program, splitString, table } from '../row/call.js'
import { DIRECTORY_BUILTINS } from './directories.js'
import { functionsOf, NAMING_BUILTINS } from './naming.js'
import { formatted } from './printf.js'
import { subscripted } from './subscripts.js'

/** Variables whose value some program runs as a command line. */
const COMMAND_VARIABLES = nameSet(`
  PROMPT_COMMAND GIT_SSH_COMMAND GIT_EDITOR GIT_PAGER GIT_SEQUENCE_EDITOR GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS
  EDITOR VISUAL PAGER MANPAGER LESSOPEN LESSCLOSE BROWSER SUDO_EDITOR RSYNC_RSH GIT_PROXY_COMMAND CVS_RSH
  FZF_DEFAULT_COMMAND MAKEFLAGS KUBE_EDITOR FCEDIT
`)

/** Variables whose value is code, a file of code, or options that name some. */
const CODE_VARIABLES =
  /^(?:npm_config_script_shell|PERL5OPT|RUBYOPT|PERL5DB|PYTHONSTARTUP|NODE_OPTIONS|TAR_OPTIONS|LESS|PS[0-4]|(?:BASH_)?ENV)$/i

/** Whether the value of the variable will be run. */
export function isRun(name: string): boolean {
  return COMMAND_VARIABLES.has(name) || CODE_VARIABLES.test(name)
}

/** A value that will be run is judged where it is assigned. */
export function judgeVariable(name: string, values: Alternatives, call: Call): void {
  if (isRun(name)) for (const value of values) judgeValue(name, value, call)
}

function judgeValue(name: string, value: string, call: Call): void {
  if (COMMAND_VARIABLES.has(name)) call.tryScript(plain(value).replace(/^\|-?/, ''))
  if (/^npm_config_script_shell$/i.test(name) && value.includes('/')) call.startExternal([value])
  if (/^(?:PERL5OPT|RUBYOPT)$/.test(name))
    for (const [, code = ''] of plain(value).matchAll(/-e\s*(.*)/gs))
      call.startExternal([name === 'RUBYOPT' ? 'ruby' : 'perl', '-e', code])
  if (name === 'PERL5DB') call.startExternal(['perl', '-e', value])
  if (name === 'PYTHONSTARTUP') call.startExternal(['python3', value])
  if (name === 'NODE_OPTIONS') call.startExternal(['node', ...splitString(value), '-e', '0'])
  if (name === 'TAR_OPTIONS') call.startExternal(['tar', ...splitString(value)])
  // `LESS=+!CMD`: what less does first.
  if (name === 'LESS') call.tryMatches(value, /\+!(.*)/gs)
  if (/^PS[0-4]$/.test(name)) call.walker.prompt(plain(value), call.shell)
  if (name === 'BASH_ENV' || name === 'ENV') {
    const own = /^\/dev\/(?:stdin|fd\/0)$/.test(value) ? call.stdin : undefined
    for (const text of own ?? call.contents(value)) if (text !== UNKNOWN) call.script(text)
    if (value.includes('$(') || value.includes('`')) call.walker.prompt(plain(value), call.shell)
  }
}

const declare: Program = (call) => {
  const { declared = [] } = call.details
  const letters = call.argv.flatMap((word) => /^-(\w+)/.exec(word)?.[1] ?? []).join('')
  const gives = (letter: string): boolean => call.argv[0] !== 'export' && letters.includes(letter)
  for (const assignment of declared) {
    assign(assignment, call.shell, call.shell, call.walker)
    judgeVariable(assignment.name, call.shell.get(assignment.name).values, call)
    if (letters.includes('i')) call.walker.calculated(call.shell.get(assignment.name).values, call.shell)
  }
  if (gives('i')) for (const name of call.args) call.shell.integers.add(name.replace(/=.*/s, ''))
  // `export "D=/"` and `declare $x` arrive as plain words.
  for (const word of call.args) {
    // `export "$KEY=$VALUE"`: any variable may be set now.
    if (!word.startsWith('-') && hasUnknown(word.replace(/=.*/s, ''))) call.shell.hasSourced = true
    const text = /^([A-Za-z_]\w*)(\+?=)(.*)$/s.exec(word)
    // `declare 'a[$(cmd)]=1'` runs the substitution in its subscript.
    const [, name = '', value] = /^([^=]*)(?:=(.*))?$/s.exec(text ? '' : plain(word)) ?? []
    if (mayHoldCode(name)) call.walker.calculated([name], call.shell)
    if (mayHoldCode(name) && value !== undefined) call.shell.setTarget(name, [value])
    if (!text || declared.some((assignment) => assignment.name === text[1])) continue
    const before = text[2] === '+=' ? (call.shell.get(text[1] ?? '').values[0] ?? '') : ''
    call.shell.set(text[1] ?? '', [before + plain(text[3] ?? '')])
    if (call.shell.integers.has(text[1] ?? '')) call.walker.calculated([plain(text[3] ?? '')], call.shell)
  }
  if (gives('n')) {
    for (const { name } of declared) {
      const target = call.shell.get(name).values[0] ?? ''
      if (/^[A-Za-z_]\w*$/.test(target) && target !== name) call.shell.refer(name, target)
      else if (mayHoldCode(target)) call.walker.calculated([target], call.shell)
    }
  }
  const recase = gives('l') ? 'toLowerCase' : gives('u') ? 'toUpperCase' : undefined
  if (recase)
    for (const { name } of declared) {
      const recased = call.shell.get(name).values.map((value) => value[recase]())
      call.shell.set(name, recased)
    }
  if (gives('f')) return functionsOf(call.args, call.shell)
  return letters.includes('p') ? listed(call.shell, declaration) : NOTHING
}

function declaration(name: string, value: string): string {
  return `declare -- ${name}="${value.replace(/["$`\\]/g, '\\$&')}"`
}

const unset: Program = ({ argv, shell }) => {
  for (const name of argv.slice(1)) {
    if (name.startsWith('-')) continue
    if (!argv.includes('-f')) shell.unset(name)
    if (!argv.includes('-v')) shell.functions.delete(name)
  }
  return NOTHING
}

/** The fields of a line as `read` splits it. */
function readFields(line: string, ifs: string): string[] {
  if (/^\s*$/.test(ifs) && ifs !== '') return fieldsOf(line)
  const fields: string[] = ['']
  for (const char of line) {
    if (ifs.includes(char)) fields.push('')
    else fields[fields.length - 1] += char
  }
  return fields
}

/** What `read -u N` and `mapfile -u N` read. */
function inputFrom(descriptor: string | undefined, { shell, stdin }: Call): Alternatives {
  return (descriptor === undefined ? stdin : shell.files.get(`/dev/fd/${plain(descriptor)}`)) ?? ANYTHING
}

/** Sets what a builtin names; an integer's new value is an expression. */
function setNamed(target: string, values: Alternatives, { shell, walker }: Call): void {
  shell.setTarget(target, values)
  if (shell.integers.has(target)) walker.calculated(values, shell)
}

const read: Program = (call) => {
  const { argv, shell } = call
  const ifs = call.environment.get('IFS').values[0] ?? ' '
  const given = options(argv.slice(1), { short: 'adeinNptu', stop: true })
  const array = given.get('a')
  const names = given.operands.filter((name) => /^[A-Za-z_]\w*(\[.+\])?$/.test(name))
  const delimiter = given.get('d')
  const lines = unique(
    inputFrom(given.get('u'), call)
      .flatMap((text) =>
        delimiter === undefined ? text.replace(/\n$/, '').split('\n') : text.split(delimiter === '' ? '\0' : delimiter),
      )
      .slice(0, 64),
  )
  const fields = lines.map((line) => readFields(line, ifs))
  if (array) {
    shell.set(array, [fields[0]?.[0] ?? ''], fields[0] ?? [])
    if (shell.integers.has(array)) call.walker.calculated(fields[0] ?? [], shell)
  } else if (names.length === 0) shell.set('REPLY', lines)
  else {
    for (const [i, name] of names.entries()) {
      const value = (line: string, found: readonly string[]): string => {
        if (names.length === 1) return line.trim()
        if (i === names.length - 1) return found.slice(i).join(ifs.charAt(0))
        return found[i] ?? (hasUnknown(line) ? UNKNOWN : '')
      }
      setNamed(name, unique(lines.map((line, at) => value(line, fields[at] ?? []))), call)
    }
  }
  return NOTHING
}

const mapfile: Program = (call) => {
  const { argv, shell, walker } = call
  const given = options(argv.slice(1), { short: 'dnOsuCc' })
  for (const code of given.all('C')) walker.tryScript(plain(code), shell)
  const name = given.operands[0] ?? 'MAPFILE'
  const text = inputFrom(given.get('u'), call)[0] ?? ''
  const delimiter = given.get('d')
  const items = text
    .replace(/\n$/, '')
    .split(delimiter === undefined ? '\n' : plain(delimiter).charAt(0) || '\0')
    .slice(0, 1_000)
  shell.set(name, [items[0] ?? ''], items)
  if (shell.integers.has(name)) walker.calculated(items, shell)
  return NOTHING
}

const set: Program = ({ argv, shell }) => {
  for (const [i, word] of argv.entries()) {
    if (word === '--') break
    if (/^[-+][a-zA-Z]*u/.test(word) || (/^[-+][a-zA-Z]*o$/.test(word) && argv[i + 1] === 'nounset'))
      shell.isStrict = word.startsWith('-')
  }
  const at = argv.indexOf('--')
  if (at >= 0) shell.positional = argv.slice(at + 1)
  else {
    const operands = options(argv.slice(1), { short: 'o', stop: true }).operands.filter((arg) => !arg.startsWith('+'))
    if (operands.length > 0) shell.positional = operands
  }
  return argv.length === 1 ? listed(shell, (name, value) => `${name}='${value}'`) : NOTHING
}

const shift: Program = ({ argv, shell }) => {
  const count = /^\d+$/.test(argv[1] ?? '') ? Number(argv[1]) : 1
  if (shell.positionalWays) shell.positionalWays = shell.positionalWays.map((way) => way.slice(count))
  return NOTHING
}

/** The body of a trap runs later in this shell: judged now. */
const trap: Program = ({ argv, shell, walker }) => {
  const { operands, flags } = options(argv.slice(1))
  const [body = ''] = operands
  if (flags.includes('p') || flags.includes('l') || operands.length < 2 || /^-?$/.test(body)) return ANYTHING
  walker.script(plain(body), shell.fork())
  return NOTHING
}

const evaluate: Program = ({ argv, shell, walker, stdin }) => {
  const words = argv[1] === '--' ? argv.slice(2) : argv.slice(1)
  const text = words.map(plain).join(' ')
  if (text === UNKNOWN) walker.settings.observer.opaque('eval runs text that is not known here', walker, argv)
  return walker.script(text, shell, stdin)
}

/** Files whose variables are known by their names: none of them is a script's own. */
const SETS_NOTHING_ELSE =
  /(?:^|\/)(?:activate|nvm\.sh|env|\.?(?:bash|zsh)rc|\.?(?:bash_|z)?profile|bash\.bashrc|(?:os|lsb)-release|bash_completion|\.bash_(?:aliases|login))$|^\/dev\//

/** `. FILE`: runs a file in this shell, when its text is known. */
const source: Program = ({ argv, shell, walker, stdin }) => {
  const [file, ...args] = argv.slice(1).filter((arg, i) => !(i === 0 && arg === '--'))
  if (file === undefined) return NOTHING
  const texts = /^\/dev\/(stdin|fd\/0)$|^\/proc\/self\/fd\/0$/.test(file)
    ? (stdin ?? ANYTHING)
    : walker.streams.contents(file, shell)
  const before = shell.positionalWays
  if (args.length > 0) shell.positional = args
  const out = unique(
    texts.flatMap((text) =>
      text === UNKNOWN ? [UNKNOWN] : [...walker.frame(`script ${file}`, text, () => walker.script(text, shell, null))],
    ),
  )
  shell.positionalWays = before
  if (texts.includes(UNKNOWN) && !SETS_NOTHING_ELSE.test(file)) shell.hasSourced = true
  if (texts.includes(UNKNOWN)) walker.settings.observer.opaque('runs a script that is not known here', walker, argv)
  return out
}

const stop: Program = ({ walker }) => {
  walker.recursion.mayStop()
  return NOTHING
}

const printf: Program = (call) => {
  const [first, target, ...rest] = call.args
  if (first !== '-v' || target === undefined) return formatted(first === '--' ? call.argv.slice(2) : call.args)
  setNamed(plain(target), formatted(rest[0] === '--' ? rest.slice(1) : rest), call)
  return NOTHING
}

const silent: Program = () => NOTHING

export const BUILTINS: Readonly<Record<string, Program>> = {
  ...DIRECTORY_BUILTINS,
  ...NAMING_BUILTINS,
  ...table(['export', 'declare', 'typeset', 'local', 'readonly'], declare),
  unset: subscripted(unset),
  read: subscripted(read),
  ...table(['mapfile', 'readarray'], mapfile),
  set,
  shift,
  trap,
  eval: evaluate,
  ...table(['.', 'source'], source),
  ...table(['return', 'exit', 'break', 'logout'], stop),
  printf: subscripted(printf),
  ...table([':', 'true', 'false'], silent),
  ...table(['test', '['], subscripted(silent)),
  shopt: ({ argv, shell }) => {
    if (argv.includes('lastpipe')) shell.hasLastPipe = !argv.some((word) => /^-\w*u/.test(word))
    return NOTHING
  },
  // `jobs -x PROGRAM ...`, with pids in the place of jobs.
  jobs: (call) => (call.args[0] === '-x' ? call.walker.external(call.args.slice(1), call.shell, call.stdin) : NOTHING),
  ...table(['let', 'wait'], subscripted(silent)),
  ...table(['disown', 'umask', 'continue', 'ulimit', 'getopts'], silent),
}

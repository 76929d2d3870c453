/** Finds out which program an effective argv starts, and asks the tables what it does. */
import { nameSet } from '../../contract/quote.js'
import { globMatches } from '../words/glob.js'
import { resolvePath } from '../words/paths.js'
import { type Alternatives, ANYTHING, hasWildcard, isConstant, NOTHING, plain, UNKNOWN, unique } from '../words/text.js'
import { BUILTINS, judgeVariable } from './shell/builtins.js'
import { basename, type Call, COMMAND_TEXT, type Program } from './row/call.js'
import { DEVELOPER_PROGRAMS } from './developer.js'
import { FILE_PROGRAMS } from './files.js'
import { IN_PLACE_PROGRAMS } from './files/in-place.js'
import { judgeCode } from './code/inline.js'
import { INTERPRETER_PROGRAMS, interpret, interpreterName } from './code/interpreters.js'
import { MACHINE_PROGRAMS } from './machine.js'
import { PRINTING } from './printing.js'
import { runFile, SHELL_PROGRAMS } from './shell/inner.js'
import { WRAPPING } from './start/wrappers.js'

/** Later tables add to what earlier ones say; the first known output counts. */
const TABLES: readonly Readonly<Record<string, Program>>[] = [
  BUILTINS,
  SHELL_PROGRAMS,
  WRAPPING,
  FILE_PROGRAMS,
  IN_PLACE_PROGRAMS,
  MACHINE_PROGRAMS,
  INTERPRETER_PROGRAMS,
  DEVELOPER_PROGRAMS,
  PRINTING,
]

/** What each name does, by all tables; builtins and shells leave nothing to the others. */
const PROGRAMS = new Map<string, Program[]>()
const COMPLETE = new Set<string>()
for (const table of TABLES)
  for (const [name, program] of Object.entries(table)) {
    if (COMPLETE.has(name)) continue
    PROGRAMS.set(name, [...(PROGRAMS.get(name) ?? []), program])
    if (table === BUILTINS || table === SHELL_PROGRAMS) COMPLETE.add(name)
  }

/** Whether what the words of this program say makes a difference: the tables know it, or it may be anything. */
export function isKnownProgram(name: string): boolean {
  return PROGRAMS.has(name) || name.includes('/') || !isConstant(name) || interpreterName(name) !== undefined
}

/** Whether nothing is known of the program but that it reads: no word that it is given may be a command. */
export function isUnheardOf(name: string, words: readonly string[]): boolean {
  return (
    !isKnownProgram(name) &&
    !name.startsWith('mkfs.') &&
    [name, ...words].every((word) => /^[\w@%+=:,./-]+$/.test(word) && !GIVEN_AWAY.test(word))
  )
}

export function dispatch(call: Call): Alternatives {
  const head = call.argv[0] ?? ''
  if (head === '') return NOTHING
  const { external, ways = [call.argv] } = call.details
  for (const name of call.details.prefix?.names ?? []) judgeVariable(name, call.environment.get(name).values, call)
  if (head.includes(UNKNOWN) && basename(head).includes(UNKNOWN)) {
    call.walker.settings.observer.command(call.argv, call.shell, call.walker)
    call.walker.settings.observer.opaque('the program is not known here', call.walker, call.argv)
    return ANYTHING
  }
  if (hasWildcard(head)) return byPattern(call, head)
  const bare = plain(head)
  if (!bare.includes('/')) {
    if (external) return runProgram(call, bare)
    if (call.shell.functions.has(bare)) {
      const args = ways.map((argv) => argv.slice(1))
      return call.walker.call(bare, args, inPrefix(call), call.stdin)
    }
    const alias = call.shell.aliases.get(bare)
    if (alias !== undefined) return expandAlias(call, bare, alias)
    return runProgram(call, bare)
  }
  return unique(call.shell.cwd.flatMap((cwd) => [...byPath(call, resolvePath(bare, cwd))]))
}

function inPrefix(call: Call): Call['shell'] {
  for (const name of call.details.prefix?.names ?? []) call.shell.variables.set(name, call.environment.get(name))
  return call.shell
}

/**
 * An alias is text in front of the arguments; when it ends in a blank, the next word may be one
 * too. Inside its own expansion it means the command again.
 */
function expandAlias(call: Call, name: string, text: string): Alternatives {
  const before = call.shell.positionalWays
  call.shell.aliases.delete(name)
  let line = text
  let words = call.args
  for (let next; /[ \t]$/.test(line) && (next = call.shell.aliases.get(words[0] ?? '')) !== undefined;) {
    line += next
    words = words.slice(1)
  }
  call.shell.positional = words
  try {
    return call.walker.script(`${line} "$@"`, call.shell, call.stdin)
  } finally {
    call.shell.positionalWays = before
    if (!call.shell.aliases.has(name)) call.shell.aliases.set(name, text)
  }
}

/** `/???/rm`, `/bin/r?`: every program of the tables that the pattern can mean. */
function byPattern(call: Call, head: string): Alternatives {
  const pattern = basename(head)
  if (isConstant(pattern)) return runProgram(call.withArgv([pattern, ...call.args]), pattern)
  for (const name of [...PROGRAMS.keys()].filter((known) => globMatches(pattern, known)).slice(0, 40))
    runProgram(call.withArgv([name, ...call.args]), name)
  return ANYTHING
}

const SYSTEM_PROGRAMS =
  /^\/(?:usr\/(?:local\/)?)?(?:s?bin|libexec(?:\/[\w.-]+)*|games)\/[^/]+$|^\/(?:opt|snap|nix|home\/linuxbrew|usr\/lib|lib)\/.*bin\/[^/]+$|^\/(?:usr\/)?lib\/[\w./-]+$|\/node_modules\/\.bin\/[^/]+$/

function byPath(call: Call, path: string, hops = 8): Alternatives {
  const stands = hops > 0 ? call.walker.namesakes.meaning(path) : undefined
  if (stands !== undefined && stands !== path) return byPath(call.withArgv([stands, ...call.args]), stands, hops - 1)
  if (call.shell.files.has(path)) {
    call.walker.settings.observer.command(call.argv, call.shell, call.walker)
    const [text] = call.shell.files.get(path) ?? []
    const [, program = '', argument = ''] = /^#!\s*(\S+)(?:[ \t]+(\S+))?/.exec(text ?? '') ?? []
    const language = interpreterName(basename(program === '/usr/bin/env' ? argument : program))
    if (language !== undefined) return interpret(call.withArgv([language, path]), language) ?? ANYTHING
    return runFile(call, path, call.args) ?? ANYTHING
  }
  const script = /^\/etc\/(?:rc\.d\/)?init\.d\/([^/]+)$/.exec(path)?.[1]
  if (script !== undefined) return runProgram(call.withArgv(['service', script, ...call.args]), 'service')
  // `/lib64/ld-linux-x86-64.so.2 /bin/rm ...`: the loader runs its first operand.
  if (/^\/(?:usr\/)?lib\w*\/(?:[\w-]+\/)?ld-(?:linux|musl)[\w.-]*$/.test(path)) {
    const at = call.argv.findIndex((word, i) => i > 0 && !word.startsWith('-'))
    return at > 0 ? call.walker.argv(call.argv.slice(at), call.shell, call.stdin) : ANYTHING
  }
  const real = SYSTEM_PROGRAMS.test(path) ? undefined : call.walker.disk.real(path)
  if (real !== undefined && real !== path && SYSTEM_PROGRAMS.test(real)) return runProgram(call, basename(real))
  const name = basename(path)
  // A project's own `./shutdown` is not the machine's; `./rm -rf /` says what it means all the same.
  if (!SYSTEM_PROGRAMS.test(path) && Object.hasOwn(MACHINE_PROGRAMS, name)) {
    call.walker.settings.observer.command(call.argv, call.shell, call.walker)
    return ANYTHING
  }
  return runProgram(call, name, true)
}

/** `isFound`: its path is known, nothing is searched on PATH. */
function runProgram(call: Call, name: string, isFound = false): Alternatives {
  call.walker.settings.observer.command(call.argv, call.environment, call.walker)
  const written = isFound || Object.hasOwn(BUILTINS, name) ? undefined : writtenOnPath(call, name)
  if (written !== undefined) return byPath(call, written)
  const programs = PROGRAMS.get(name) ?? (name.startsWith('mkfs.') ? PROGRAMS.get('mkfs') : undefined)
  let out: Alternatives | undefined
  // What a program starts inherits the variables in front of it; a builtin changes the shell itself.
  const started = call.details.prefix && !Object.hasOwn(BUILTINS, name) ? call.withShell(call.environment) : call
  for (const program of programs ?? []) {
    const printed = program(started, name)
    if (out === undefined && printed !== undefined) out = printed as Alternatives
  }
  if (interpreterName(name) !== undefined) return (interpret(call, name) as Alternatives | undefined) ?? out ?? ANYTHING
  if (!programs) {
    const isSearched = !isFound && (call.details.external || !name.includes('/'))
    const real = isSearched ? onPath(call, name) : undefined
    if (real !== undefined) return runProgram(call.withArgv([real, ...call.args]), real)
    if (!call.details.external && call.shell.functions.has(NOT_FOUND))
      call.walker.call(NOT_FOUND, [call.argv], call.shell.fork(), call.stdin)
    unknownWrapper(call, name, isFound)
  }
  return out ?? passedOn(call)
}

/** Programs that print what another machine says, not what they were given. */
const ASKS_OTHERS = /(?:^|\/)(?:curl|wget|http|https|ssh|gpg|psql|mysql|kubectl|docker|aws|gcloud|az|gh)$/

/** What a program prints whose output is not computed: unknown text, or what it was given. */
function passedOn({ argv, shell, stdin, walker }: Call): Alternatives {
  if (!walker.isRead) return ANYTHING
  const files = shell.files.size === 0 ? [] : argv.slice(1).flatMap((word) => [...walker.streams.contents(word, shell)])
  // A secret among the words is for the program; what it reads, it may print.
  const secrets = ASKS_OTHERS.test(argv[0] ?? '')
    ? []
    : [...(stdin ?? []), ...files].filter((text) => text.includes('{{'))
  const commands = [...(stdin ?? []), ...files, ...argv.slice(1)].filter((text) => COMMAND_TEXT.test(text))
  const given = [...secrets, ...commands].slice(0, 4)
  return given.length === 0
    ? ANYTHING
    : unique([UNKNOWN, ...given.map((text) => text.replace(/^(?:\+|--?[\w-]+=)/, ''))])
}

/** The function that bash calls for a name that it does not find. */
export const NOT_FOUND = 'command_not_found_handle'

/** A name on PATH that this command has written itself. */
function writtenOnPath({ environment, shell }: Call, name: string): string | undefined {
  if (shell.files.size === 0 || name.includes('/')) return undefined
  return directoriesOf(environment.get('PATH').values[0])
    .flatMap((directory) => shell.cwd.map((cwd) => resolvePath(`${directory || '.'}/${name}`, cwd)))
    .find((path) => shell.files.has(path))
}

function directoriesOf(path = ''): string[] {
  return path.split(':').slice(0, 32)
}

/** A name on PATH that is a link to a program of the tables: `tidy -> /bin/rm`. */
function onPath({ shell, walker }: Call, name: string): string | undefined {
  const real = (path: string): string | undefined => walker.namesakes.meaning(path) ?? walker.disk.real(path)
  return knownBehind(name, shell.get('PATH').values[0], shell.cwd[0] ?? '/', real)
}

export function knownBehind(
  name: string,
  searched: string | undefined,
  cwd: string,
  realOf: (path: string) => string | undefined,
): string | undefined {
  for (const directory of directoriesOf(searched)) {
    const path = resolvePath(`${directory || '.'}/${name}`, cwd)
    const real = path.startsWith('/') ? realOf(path) : undefined
    if (real === undefined) continue
    const program = basename(real)
    return program !== name && PROGRAMS.has(program) && !/^(?:busybox|toybox|coreutils)$/.test(program)
      ? program
      : undefined
  }
  return undefined
}

/** Programs that only talk about the words they are given. */
const TALKERS = nameSet(`
  man info apropos whatis which type whereis help tldr cheat locate logger wall write notify-send say espeak cowsay
  figlet toilet banner expr jq yq xq gh glab code subl nano pico micro less more bat diff cmp comm wc md5sum sha256sum
  stat file du df test export ag ack alias dialog whiptail zenity lolcat strings shellcheck shfmt history fc ls dir
  tree exa eza lsd mail mutt sendmail telegram slack discord rustc go cargo mvn gradle bazel pytest jest vitest mocha
  tsc eslint prettier pip pip3 gem brew composer helm terraform vagrant aws az
`)

/** A destructive command after the name of a program that is not known here: most likely that program runs it. */
const GIVEN_AWAY = /^(?:\/(?:usr\/)?s?bin\/)?(?:rm|mkfs(?:\.\w+)?|dd|shred|wipefs|blkdiscard|sudo|bash|sh|rimraf)$/

/** An option that says of its value that it is run: `--exec CMD`, `--on-complete=CMD`, `-c CMD`. */
const RUN_OPTION =
  /^--?(?:[\w-]*(?:exec|cmd|command|run|hook|wrap|shell|script|complete|ssh|rsh)[\w-]*|[cexbgr]|eval\S*|batch|goal|query-goal)$/i

/** Programs that run, or type into a terminal, each text that they are given. */
const TYPISTS = nameSet('pueue byobu zellij xdotool ydotool wezterm consul multilog start-server-and-test')

/** A destructive command line, or a call that is given one: `system("rm -rf /")`. */
const GIVEN_TEXT = /^(?:[\w-]+:|["'!])?\s*(?:rm|dd|shred|wipefs|mkfs\S*|sudo|bash|sh)\s/
const GIVEN_CALL = /[({].*["'`](?:\/bin\/)?(?:rm|dd|shred|wipefs|mkfs\S*|sudo|bash|sh)["'`\s]/s

function unknownWrapper(call: Call, name: string, isFound: boolean): void {
  if (TALKERS.has(name)) return
  // A program of the project may test what it is told: `./guard --command 'rm -rf /'`.
  for (const [i, word] of isFound ? [] : call.argv.entries()) {
    const [, option, value] = /^(--?[\w-]+)[=:](.*)$/s.exec(plain(word)) ?? []
    const text = option === undefined ? plain(word) : (value ?? '')
    if (!TYPISTS.has(name) && !RUN_OPTION.test(option ?? plain(call.argv[i - 1] ?? ''))) continue
    if (GIVEN_TEXT.test(text)) call.tryScript(text.replace(/^(?:[\w-]+:|["'!])\s*/, ''))
    else if (GIVEN_CALL.test(text)) judgeCode(text, 'c', call)
  }
  const at = call.argv.findIndex((word, i) => i > 0 && GIVEN_AWAY.test(plain(word)))
  if (at > 0 && at < call.argv.length - 1) call.start(call.argv.slice(at))
}

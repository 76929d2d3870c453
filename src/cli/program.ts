/**
 * Finds the verb, reads its options, runs it, and turns whatever goes wrong into one clear message and an exit code.
 */
import { Command, CommanderError, Option } from 'commander'
import { messageOf, ShellError } from '../contract/errors.js'
import { errorToJson } from './io/json.js'
import { EXIT, UsageError, type Io } from './io/io.js'
import { detailsOf, mainHelp } from './help.js'
import { VERBS } from './verbs.js'
import type { OptionRow, OptionsOf, Verb, VerbArguments } from './verb/verb.js'
import { ownVersion } from '../os/package/file.js'
import { visible } from '../output/terminal/visible.js'

/** Runs one command line (without `node` and the script) and gives the exit code. */
export async function runCli(given: readonly string[], io0: Io): Promise<number> {
  let asJson = false
  let io = io0
  let failure: number = EXIT.error
  try {
    const { argv, at } = await takePlace(given)
    if (at !== null) io = Object.create(io0, { env: { value: { ...io0.env, CERITH_AT: at }, enumerable: true } }) as Io
    const name = argv[0]
    if (name === undefined || name === '--help' || name === '-h' || (name === 'help' && argv[1] === undefined)) {
      io.out.write(mainHelp(VERBS))
      return EXIT.ok
    }
    if (name === '--version' || name === '-V' || name === '-v' || name === 'version') {
      io.out.write(`${ownVersion()}\n`)
      return EXIT.ok
    }
    if (name === 'help') return await runCli([argv[1] as string, '--help'], io)
    const row = VERBS.find((verb) => verb.name === name)
    if (!row) {
      asJson = argv.indexOf('--json') > 0
      throw await unknownVerb(name)
    }
    const verb = await row.load()
    asJson = wantsJson(argv, verb)
    failure = verb.failure?.(argv.slice(1)) ?? failure
    const parsed = parse(verb, argv.slice(1), io)
    return parsed === null ? EXIT.ok : await verb.run(parsed, io)
  } catch (error) {
    report(error, asJson, io)
    return failure
  }
}

/**
 * `--at URL` before the verb, or as its first option: another place for everything that the verb does. An `--at` that
 * the verb has itself (`replay --at TIME`) is left to it.
 */
async function takePlace(given: readonly string[]): Promise<{ argv: readonly string[]; at: string | null }> {
  const isAt = (word = ''): boolean => /^--at(?:=|$)/.test(word)
  const isPlace = isAt(given[1]) && !(await hasOption(given[0] as string, '--at'))
  const i = isAt(given[0]) ? 0 : isPlace ? 1 : -1
  if (i < 0) return { argv: given, at: null }
  const [, inline] = /^--at=(.*)$/s.exec(given[i] as string) ?? []
  const at = inline ?? given[i + 1]
  if (!at || at.startsWith('-'))
    throw new UsageError('--at needs the address of a place', 'For example: cerith --at ssh://host run ls')
  return { argv: given.filter((_, k) => k !== i && (inline !== undefined || k !== i + 1)), at }
}

async function hasOption(name: string, flag: string): Promise<boolean> {
  const verb = await VERBS.find((row) => row.name === name)?.load()
  return verb?.options.some((row) => isNamed(row, flag)) ?? false
}

/** `-t, --timeout <MS>` is named by `-t` and `--timeout`. */
function isNamed({ flags }: OptionRow, flag: string): boolean {
  return flags.split(/[ ,]+/).includes(flag)
}

/** Null when the help was asked for and has been shown. */
function parse(verb: Verb, argv: readonly string[], io: Io): VerbArguments<OptionsOf<readonly OptionRow[]>> | null {
  const command = commandFor(verb)
  command.configureOutput({ writeOut: (text) => io.out.write(text), writeErr: () => {} }).exitOverride()
  try {
    command.parse(withValues(argv, verb), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return null
    // The parser puts its suggestion on a second line of the message; ours belongs to the hint.
    const [, message = error.message, suggestion] =
      /^(?:error: )?([^]*?)(?:\n\((Did you mean [^]*)\))?$/.exec(error.message) ?? []
    throw new UsageError(message, `${suggestion ? `${suggestion} ` : ''}See \`cerith ${verb.name} --help\`.`)
  }
  const words = command.args
  const [least, most] = verb.words
  if (words.length < least)
    throw new UsageError(`${verb.name} needs ${verb.usage}`, `See \`cerith ${verb.name} --help\`.`)
  if (words.length > most)
    throw new UsageError(
      `${verb.name} does not know what to do with ${JSON.stringify(words[most])}`,
      `Usage: cerith ${verb.name} ${verb.usage}`.trim(),
    )
  return { words, options: command.opts() }
}

/** A flag that can do without a value does not take the command for one. */
function withValues(argv: readonly string[], verb: Verb): string[] {
  const rows = verb.options.filter(({ otherwise }) => otherwise !== undefined)
  const words = [...argv]
  for (let at = 0; at < words.length && words[at] !== '--'; at++) {
    const word = words[at] as string
    const row = rows.find((each) => isNamed(each, word))
    if (row) {
      if (row.choices?.includes(words[at + 1] ?? '')) at += 1
      else words[at] = `${word}=${row.otherwise}`
    } else if (!word.startsWith('-') && verb.passThrough && !takesValue(words[at - 1] ?? '', verb)) break
  }
  return words
}

/** The parser of one verb, which also shows its help. */
function commandFor(verb: Verb): Command {
  const command = new Command(verb.name)
    .description(`${verb.about.charAt(0).toUpperCase()}${verb.about.slice(1)}.`)
    .allowExcessArguments()
    .argument('[words...]')
    .helpOption('-h, --help', 'show this help')
    .showSuggestionAfterError()
    .configureHelp({
      helpWidth: 80,
      visibleArguments: () => [],
      commandUsage: () => `cerith ${verb.name} [options] ${verb.passThrough ? '[--] ' : ''}${verb.usage}`.trim(),
    })
    .addHelpText('after', detailsOf(verb))
  if (verb.passThrough) command.passThroughOptions()
  for (const row of verb.options) command.addOption(optionFor(row))
  return command
}

function optionFor(row: OptionRow): Option {
  const option = new Option(row.flags, row.about)
  if (row.choices) option.choices(row.choices)
  const read = row.read && named(row.flags, row.read)
  if (row.many)
    option.argParser((text: string, before: unknown[] | undefined) => [...(before ?? []), read ? read(text) : text])
  else if (read) option.argParser((text: string) => read(text))
  if (row.default !== undefined) option.default(row.default)
  if (row.hidden) option.hideHelp()
  return option
}

/** A value that cannot be read is told with the option that it was given to. */
function named(flags: string, read: (text: string) => unknown): (text: string) => unknown {
  const option = /--[\w-]+/.exec(flags)?.[0] ?? flags
  return (text) => {
    try {
      return read(text)
    } catch (error) {
      if (error instanceof UsageError) throw new UsageError(`${option}: ${error.message}`, error.hint)
      throw error
    }
  }
}

/** Verbs by the names that they have in other programs; `nearest` would take `stop` for `top`. */
const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ['exec', 'run'],
  ['start', 'run --background'],
  ['list', 'ps'],
  ['ls', 'ps'],
  ['jobs', 'ps'],
  ['status', 'ps'],
  ['logs', 'read'],
  ['output', 'read'],
  ['tail', 'read --follow'],
  ['stop', 'kill'],
  ['rm', 'clean'],
  ['write', 'send'],
  ['apply', 'accept'],
  ['undo', 'discard'],
])

async function unknownVerb(name: string): Promise<UsageError> {
  const { nearest } = await import('../contract/names/nearest.js')
  const close =
    OTHER_WORDS.get(name) ??
    nearest(
      name,
      VERBS.map((verb) => verb.name),
    )
  if (name.startsWith('-')) {
    const meant = nearest(name, ['--version', '--help'])
    return new UsageError(
      `unknown option ${JSON.stringify(name)}`,
      meant
        ? `Did you mean ${meant}? Options of a verb go after it.`
        : 'Options go after the verb: cerith VERB [options]. See `cerith --help`.',
    )
  }
  return new UsageError(
    `there is no verb ${JSON.stringify(name)}`,
    close && name.trim() !== ''
      ? `Did you mean \`cerith ${close}\`? To run a command: cerith run '...'`
      : "To run a command: cerith run '...'; for the verbs: cerith --help",
  )
}

/** Looks before parsing, so that a mistake in the options is told as JSON too. */
function wantsJson(argv: readonly string[], verb: Verb): boolean {
  const before = argv.indexOf('--')
  const own = before === -1 ? argv : argv.slice(0, before)
  const first = verb.passThrough
    ? own.findIndex((word, i) => i > 0 && !word.startsWith('-') && !takesValue(own[i - 1] as string, verb))
    : -1
  return (first === -1 ? own : own.slice(0, first)).includes('--json')
}

function takesValue(flag: string, verb: Verb): boolean {
  return verb.options.some((row) => row.flags.includes('<') && isNamed(row, flag))
}

function report(error: unknown, asJson: boolean, io: Io): void {
  if (asJson) {
    io.out.write(`${JSON.stringify(errorToJson(error))}\n`)
    return
  }
  const hint = ShellError.is(error) || error instanceof UsageError ? error.hint : null
  io.err.write(visible(`cerith: ${messageOf(error)}\n${hint ? `        ${hint}\n` : ''}`))
  if (io.env['CERITH_DEBUG'] && error instanceof Error) io.err.write(`${error.stack}\n`)
}

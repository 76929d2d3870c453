/**
 * Types into a running command, from any process: text with its secrets, keys by name, the end
 * of input. What was typed is noted, its secrets are not.
 */
import { join } from 'node:path'
import { badRequest, ShellError } from '../../../contract/errors.js'
import type { SendOptions } from '../../../contract/job.js'
import { orderKeeper, writeFifo } from '../../../os/job/control.js'
import { storedSize } from '../../../os/job/output.js'
import type { StartRecord } from '../../../os/job/record.js'
import { isAlive } from '../../../os/process/proc.js'
import { askKeeper, hideInKeeper, noteInput, readInputNotes } from '../../../os/job/terminal.js'
import { hasCursorKeys, keyBytes, typedText } from '../../terminal/keys.js'
import { checkHere, endOfJob, jobStatusOf, type JobState } from '../look/info.js'
import { applicationCursorAsked } from '../../terminal/modes.js'
import type { SecretStore } from '../../services/secret-store.js'
import { checkFields, SEND_ROWS } from '../../plan/fields.js'
import { wrongValue } from '../../plan/wrong-value.js'
import { pause } from '../../../os/process/clock.js'

/** A program that does not read its input fills the FIFO: say so instead of waiting for ever. */
const PATIENCE_MS = 3_000
/**
 * The kernel keeps this much of a line that it edits; the rest of a longer line would be thrown away without a word.
 */
const LONGEST_LINE = 4_095
/** What the keyboard would have made of these keys on a terminal. */
const SIGNALS: Readonly<Record<string, number>> = { '\x03': 2, '\x1c': 3 }
const END_OF_INPUT = '\x04'

export async function sendInput(
  dir: string,
  state: JobState,
  options: SendOptions,
  secrets: SecretStore,
): Promise<void> {
  const { record, started } = state
  const { text = '', keys = [], enter = false, eof = false } = check(options)
  const end = endOfJob(state)
  if (!started || end)
    throw new ShellError(
      'NOT_RUNNING',
      `The job ${record.id} is not running (${jobStatusOf(end, started !== null)}); nothing was typed`,
      'Read its output for the reason, or start it again.',
    )
  checkHere(dir, record)
  const target: Target = { id: record.id, dir, started }
  const filled = await fill(text, secrets, target)
  const note = {
    by: options.by ?? 'agent',
    ...(keys.length > 0 ? { keys } : {}),
    ...(enter ? { enter } : {}),
    ...(eof ? { eof } : {}),
    offset: storedSize(dir, 'output.log').total,
  }
  const shown = record.pty
    ? await typeOnTerminal(target, filled, { keys, enter, eof })
    : await writeToPipe(target, record.openStdin, filled, { keys, enter, eof })
  noteInput(dir, { ...note, ...(text === '' ? {} : shown ? { text: secrets.mask(text) } : { bytes: filled.length }) })
}

interface Target {
  readonly id: string
  readonly dir: string
  readonly started: StartRecord
}

type Rest = Required<Pick<SendOptions, 'keys' | 'enter' | 'eof'>>

/** True when what is typed shows on the terminal. */
async function typeOnTerminal(target: Target, filled: Buffer, { keys, enter, eof }: Rest): Promise<boolean> {
  const answer = await askKeeper(target.dir, target.started)
  if (!answer && !isAlive(target.started.warden, target.started.wardenStart)) throw ended(target)
  // A keeper that cannot answer (a full disk) still types; without an answer nothing is noted that might be a password.
  const facts = answer?.terminal ?? { canonical: true, echo: false }
  const modes = { applicationCursor: hasCursorKeys(keys) && applicationCursorAsked(target.dir) }
  const typed = Buffer.concat([
    Buffer.from(typedText(filled.toString('latin1')), 'latin1'),
    Buffer.from(keys.map((key) => keyBytes(key, modes)).join('') + (enter ? '\r' : '')),
  ])
  if (facts.canonical) {
    const longest = Math.max(
      ...typed
        .toString('latin1')
        .split(/[\r\n]/)
        .map((line) => line.length),
    )
    if (longest > LONGEST_LINE)
      throw badRequest(
        `A line of ${longest} bytes is too long for the terminal, which takes lines of up to ${LONGEST_LINE}; ` +
          'nothing was typed',
        'Send shorter lines, pass the data in a file, or start the command with openStdin instead of pty.',
      )
  }
  const lineIsOpen = typed.length > 0 && !/[\r\n\x04]$/.test(typed.toString('latin1'))
  // In the middle of a line the key only hands over what was typed; a second one then ends the input.
  const last = eof ? END_OF_INPUT.repeat(facts.canonical && lineIsOpen ? 2 : 1) : ''
  await writeAll(target, Buffer.concat([typed, Buffer.from(last)]))
  // A terminal that edits lines but does not show them asks for a password; full-screen
  // programs draw what is typed themselves.
  return facts.echo || !facts.canonical
}

async function writeToPipe(
  target: Target,
  openStdin: boolean,
  filled: Buffer,
  { keys, enter, eof }: Rest,
): Promise<boolean> {
  const codes = keys.map((key) => keyBytes(key))
  const meaningless = keys.find((_, index) => !/^[\r\x03\x04\x1c\t\x20-\x7e]$/.test(codes[index] as string))
  if (meaningless !== undefined)
    throw badRequest(
      `Bad request: the key ${JSON.stringify(meaningless.slice(0, 40))} means nothing without a terminal`,
      'Start the command with pty: true, or send text.',
    )
  const typed = Buffer.concat([
    filled,
    Buffer.from(
      codes
        .filter((code) => SIGNALS[code] === undefined && code !== END_OF_INPUT)
        .join('')
        .replaceAll('\r', '\n') + (enter ? '\n' : ''),
    ),
  ])
  const ends = eof || codes.includes(END_OF_INPUT)
  if ((typed.length > 0 || ends) && !openStdin)
    throw badRequest(
      `The job ${target.id} was started without an open stdin`,
      'Start it with pty (or openStdin) to type into it; C-c works without.',
    )
  if (
    typed.length > 0 &&
    readInputNotes(target.dir).some((note) => note.eof || note.keys?.some((key) => keyBytes(key) === END_OF_INPUT))
  )
    throw new ShellError(
      'NOT_RUNNING',
      `The input of job ${target.id} was already ended`,
      'Start it again to send more.',
    )
  for (const code of codes) if (SIGNALS[code] !== undefined) give(target, `signal ${SIGNALS[code]}`)
  await writeAll(target, typed)
  if (ends) give(target, 'eof')
  return true
}

/** Tokens become values as late as possible; the keeper learns to hide them first, so that an echo never shows one. */
async function fill(text: string, secrets: SecretStore, target: Target): Promise<Buffer> {
  const lookup = text.includes('{{') ? await secrets.valuesFor(text) : null
  if (!lookup) return Buffer.from(text)
  const { findTokens } = await import('../../../secrets/deliver/tokens.js')
  const parts: Uint8Array[] = []
  const names = new Set<string>()
  let from = 0
  for (const token of findTokens(text)) {
    const value = lookup(token)
    if (!value) continue
    parts.push(Buffer.from(text.slice(from, token.start)), value)
    names.add(token.name)
    from = token.end
  }
  if (
    names.size > 0 &&
    !(await hideInKeeper(
      target.dir,
      target.started,
      secrets.masker.needles().filter(({ name }) => names.has(name)),
    ))
  ) {
    if (!isAlive(target.started.warden, target.started.wardenStart)) throw ended(target)
    throw new ShellError(
      'STATE_UNWRITABLE',
      `The secret was not typed: the keeper of job ${target.id} did not confirm that it hides it`,
      'Check that the disk is not full, then try again.',
    )
  }
  return Buffer.concat([...parts, Buffer.from(text.slice(from))])
}

async function writeAll(target: Target, bytes: Uint8Array): Promise<void> {
  let until = performance.now() + PATIENCE_MS
  for (let at = 0; at < bytes.length;) {
    const took = writeFifo(join(target.dir, 'stdin'), bytes.subarray(at))
    if (took === null) throw ended(target)
    at += took
    if (took > 0) until = performance.now() + PATIENCE_MS
    if (at >= bytes.length) return
    if (performance.now() > until)
      throw badRequest(
        `The job ${target.id} does not read its input; ${bytes.length - at} of ${bytes.length} bytes were not taken`,
        'Wait until it reads, then send the rest.',
      )
    if (took === 0) await pause(10)
  }
}

function give(target: Target, line: string): void {
  if (!orderKeeper(target.dir, target.started, line)) throw ended(target)
}

function check(options: SendOptions): SendOptions {
  const bad = (message: string, value: unknown): ShellError =>
    wrongValue(message, value, 'Pass text, keys (a list of names such as "C-c"), enter or eof.')
  if (typeof options !== 'object' || options === null) throw bad('input must be an object', options)
  checkFields('send', options, SEND_ROWS)
  // Every key is known before the first is pressed.
  for (const key of options.keys ?? []) keyBytes(key)
  if (!options.text && !options.keys?.length && !options.enter && !options.eof)
    throw bad('there is nothing to type', options)
  return options
}

function ended({ id }: Target): ShellError {
  return new ShellError(
    'NOT_RUNNING',
    `The job ${id} has just ended; nothing more can be typed`,
    'Read its output for the reason.',
  )
}

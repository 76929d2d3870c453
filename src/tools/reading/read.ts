/** Reads a job for a model: both streams where they are apart, whole lines through a filter, never more than fits. */
import { ShellError } from '../../contract/errors.js'
import type { Job, JobInfo, ReadResult } from '../../contract/job.js'
import { LIMITS } from '../../contract/limits.js'
import type { Outcome } from '../../contract/outcome.js'
import type { AnsiMode, BinaryMode, ProgressMode, StreamName } from '../../contract/output.js'
import { describeBinary, looksBinary, showControls } from '../../output/binary.js'
import { clipEnds, joinEnds } from '../../output/clip.js'
import { PassingTroubles, type FoundBetween } from '../../output/troubles.js'
import { cursorOf, type Position } from './cursors.js'

export interface ReadRequest {
  readonly filter?: string
  readonly maxChars?: number
}

/** How output is made into text. */
export interface OutputShape {
  readonly ansi: AnsiMode
  readonly progress: ProgressMode
  readonly binary: BinaryMode
}

type ShapedRequest = ReadRequest & OutputShape

export interface Part {
  readonly stream: StreamName
  readonly text: string
}

export interface Reading {
  readonly info: JobInfo
  readonly parts: readonly Part[]
  readonly position: Position
  /** The bytes read so far of all streams together. */
  readonly cursor: number
  /** Bytes of this range that are not in the text: no longer kept, or more than fits. */
  readonly omittedBytes: number
  readonly filtered: boolean
}

/**
 * The state is asked first: it may then be older than the text, but never say "completed" over
 * a text that lacks the end.
 */
export async function readJob(job: Job, from: Position, request: ShapedRequest): Promise<Reading> {
  const info = await job.info()
  const streams: readonly StreamName[] = info.streams === 'merged' || info.pty ? ['output'] : ['stdout', 'stderr']
  const parts: Part[] = []
  const position: Partial<Record<StreamName, number>> = {}
  let omittedBytes = 0
  for (const stream of streams) {
    const piece = await readStream(job, stream, from[stream] ?? 0, request, info)
    parts.push({ stream, text: await readable(job, stream, from[stream] ?? 0, piece.text, request, info) })
    position[stream] = piece.cursor
    omittedBytes += piece.omittedBytes
  }
  return { info, parts, position, cursor: cursorOf(position), omittedBytes, filtered: request.filter !== undefined }
}

type Piece = Pick<ReadResult, 'text' | 'cursor' | 'omittedBytes'>

/** How much of each end of a long range is looked at for the lines that say what went wrong. */
const WINDOW_BYTES = 262_144
const MOST_LOOKED_AT = 16 * 1024 * 1024

async function readStream(
  job: Job,
  stream: StreamName,
  since: number,
  request: ShapedRequest,
  { isRunning, outputFile: wholeAt }: JobInfo,
): Promise<Piece> {
  const shape = { stream, ansi: request.ansi, progress: request.progress }
  const maxChars = request.maxChars ?? LIMITS.clipChars
  const clipped = ({ text, cursor, omittedBytes }: ReadResult): Piece => {
    const ends = clipEnds(text, { maxChars, wholeAt })
    return { text: ends.text, cursor, omittedBytes: omittedBytes + ends.omittedBytes }
  }
  if (request.filter !== undefined) {
    const { filter } = request
    const maxBytes = isRunning ? await wholeLines(job, stream, since) : Number.MAX_SAFE_INTEGER
    const found = await withFilter(() => job.read({ ...shape, since, filter, maxBytes: Math.max(4, maxBytes) }))
    if (maxBytes === 0) return { text: '', cursor: since, omittedBytes: 0 }
    return clipped(found)
  }
  const first = await job.read({ ...shape, since, maxBytes: WINDOW_BYTES })
  if (first.cursor >= first.totalBytes) return clipped(first)
  const last = await job.read({
    ...shape,
    since: Math.max(first.cursor, first.totalBytes - WINDOW_BYTES),
    maxBytes: WINDOW_BYTES * 2,
  })
  const between = await troublesBetween(job, first.cursor, last.start, shape)
  const hole = Math.max(0, last.start - first.cursor)
  const joined = joinEnds(first.text, last.text, { maxChars, wholeAt, hole, between })
  return { text: joined.text, cursor: last.cursor, omittedBytes: first.omittedBytes + joined.omittedBytes }
}

/** Looks through the middle of a long range, as far as that is still kept and does not take too long. */
async function troublesBetween(
  job: Job,
  from: number,
  to: number,
  shape: { readonly stream: StreamName; readonly ansi: AnsiMode; readonly progress: ProgressMode },
): Promise<FoundBetween> {
  const passing = new PassingTroubles()
  const until = Math.min(to, from + MOST_LOOKED_AT)
  for (let since = from; since < until;) {
    const piece = await job.read({ ...shape, since, maxBytes: Math.min(WINDOW_BYTES * 4, until - since) })
    passing.push(Buffer.from(piece.text), since)
    if (piece.cursor <= since) break
    since = piece.cursor
  }
  return passing.before(to)
}

/** What binary output is, instead of the bytes; control characters as they can be read. */
async function readable(
  job: Job,
  stream: StreamName,
  since: number,
  text: string,
  { ansi, binary }: OutputShape,
  { outputFile, bytes }: JobInfo,
): Promise<string> {
  if (binary === 'keep') return text
  if (!looksBinary(text)) return ansi === 'strip' ? showControls(text) : text
  const head = await job.read({ stream, since, maxBytes: 1_024 })
  return describeBinary(head.text, { totalBytes: bytes.total, wholeAt: outputFile })
}

/**
 * Bytes from `since` to the end of the last whole line: half a line, judged now, would be
 * missed when its other half comes.
 */
async function wholeLines(job: Job, stream: StreamName, since: number): Promise<number> {
  const { totalBytes } = await job.read({ stream, since: 0, maxBytes: 4 })
  const end = await job.read({ stream, since: Math.max(since, totalBytes - LONGEST_HALF_LINE) })
  const half = end.text.slice(end.text.lastIndexOf('\n') + 1)
  // A line that long, or one that never ends, is judged as it is.
  return half.length >= LONGEST_HALF_LINE
    ? end.cursor - since
    : Math.max(0, end.cursor - Buffer.byteLength(half) - since)
}

const LONGEST_HALF_LINE = 65_536

/** The reading position after the output of a command was shown and the command went on as a job. */
export async function positionAfter(job: Job, outcome: Outcome, shape: OutputShape): Promise<Position> {
  const shown: [StreamName, string][] =
    outcome.output === null
      ? [
          ['stdout', outcome.stdout],
          ['stderr', outcome.stderr],
        ]
      : [['output', outcome.output]]
  const position: Partial<Record<StreamName, number>> = {}
  for (const [stream, text] of shown)
    position[stream] = outcome.truncated
      ? await aboutOffset(job, stream, text, outcome)
      : await offsetAfter(job, stream, text, shape, outcome.waitingForInput !== null)
  return position
}

/**
 * Stripping and masking change lengths, so the offset cannot be counted: it is searched.
 * The smallest range whose text begins with what was shown ends exactly there.
 */
async function offsetAfter(
  job: Job,
  stream: StreamName,
  text: string,
  { ansi, progress, binary }: OutputShape,
  asks: boolean,
): Promise<number> {
  // A line that has not ended may be redrawn: shown twice it does no harm. A question is not
  // redrawn; what comes next is the echo of its answer.
  const shown = progress === 'collapse' && !asks ? text.slice(0, text.lastIndexOf('\n') + 1) : text
  if (shown === '') return 0
  const upTo = async (maxBytes: number): Promise<ReadResult> => {
    const read = await job.read({ stream, since: 0, maxBytes, ansi, progress })
    return binary === 'describe' && ansi === 'strip' ? { ...read, text: showControls(read.text) } : read
  }
  let high = Buffer.byteLength(shown)
  let read = await upTo(high)
  if (read.text === shown) return read.cursor
  while (read.text.length < shown.length && read.cursor < read.totalBytes) read = await upTo((high *= 2))
  if (!read.text.startsWith(shown)) return 0
  let low = 0
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if ((await upTo(middle)).text.startsWith(shown)) high = middle
    else low = middle
  }
  return (await upTo(high)).cursor
}

/** Of a long output some of the end is rather shown twice than lost. */
async function aboutOffset(job: Job, stream: StreamName, shown: string, outcome: Outcome): Promise<number> {
  const { totalBytes } = await job.read({ stream, since: 0, maxBytes: 4 })
  return Math.max(0, Math.min(totalBytes, Buffer.byteLength(shown) + outcome.omittedBytes) - 4_096)
}

async function withFilter(read: () => Promise<ReadResult>): Promise<ReadResult> {
  try {
    return await read()
  } catch (error) {
    if (!ShellError.is(error) || error.code !== 'BAD_FILTER') throw error
    const why = error.message.replace(/^Invalid filter regex:?\s*/i, '')
    throw new ShellError('BAD_FILTER', `Invalid filter regex: ${why}`, error.hint, { cause: error })
  }
}

/**
 * Turns a range of a job's bytes into text for one reader: masked, decoded, filtered; the
 * cursor never stands inside a character or a secret.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { badRequest } from '../../../contract/errors.js'
import type { ReadOptions, ReadResult } from '../../../contract/job.js'
import type { StreamName } from '../../../contract/output.js'
import { readStored, storedSize, type OutputName } from '../../../os/job/output.js'
import { createAnsiStripper, stripAnsi } from '../../../output/terminal/ansi.js'
import { createLineFilter, type LineFilter } from '../../../output/filter.js'
import { collapseProgress, createProgressCollapser } from '../../../output/terminal/progress.js'
import { characterEnd, characterStart, decodeUtf8, joinBytes } from '../../../output/utf8.js'
import type { Masker } from '../../../secrets/mask/masker.js'
import { checkFields, READ_ROWS } from '../../plan/fields.js'
import { stripBytes, toLatin1 } from './latin1.js'

/** So much is read and shaped between two turns of the event loop. */
const BLOCK_BYTES = 1024 * 1024
/** A secret may begin before the offset that a reader asks for: so much before it is looked at too. */
const LOOK_BACK_BYTES = 4_096
const MAX_SEQUENCE = 4_096

export interface Readable {
  readonly dir: string
  readonly apart: boolean
  /** A terminal ends lines with CR LF; as plain text they end like any other. */
  readonly terminal?: boolean
}

export async function readJob(
  { dir, apart, terminal = false }: Readable,
  options: ReadOptions,
  masker: Masker | null,
): Promise<ReadResult> {
  checkFields('read', options, READ_ROWS)
  const name = fileOf(options.stream, apart)
  const since = options.since ?? 0
  const maxBytes = Math.max(4, options.maxBytes ?? Number.POSITIVE_INFINITY)
  const { before = 0, after = 0 } = options
  const filter = options.filter === undefined ? null : await createLineFilter(options.filter, { before, after })
  if (options.encoding === 'latin1' && (filter || options.progress === 'collapse'))
    throw badRequest(
      'Bad request: a filter and collapse look at text, and encoding latin1 asks for bytes',
      'Leave encoding out, or read the bytes and look at them yourself.',
    )
  const source: Source = { dir, name, options, masker, terminal }
  if (filter || options.tail !== undefined) return readAcross(source, since, maxBytes, filter)
  const piece = await readOne(source, since, maxBytes)
  // A line end that was cut in two belongs to the next read.
  const cut =
    terminal &&
    options.ansi === 'strip' &&
    piece.cursor < piece.total &&
    piece.cursor - piece.start > 1 &&
    piece.text.endsWith('\r')
      ? 1
      : 0
  const text = piece.text.slice(0, piece.text.length - cut)
  return {
    // Collapsing comes first: it needs the sequences that say which part of a line was erased.
    text: plainly(options.progress === 'collapse' ? collapseProgress(text) : text, options, terminal),
    cursor: piece.cursor - cut,
    start: piece.start,
    omittedBytes: piece.start - Math.min(since, piece.start),
    totalBytes: piece.total,
    matches: null,
  }
}

export function fileOf(stream: StreamName | undefined, apart: boolean): OutputName {
  if (stream === undefined) return 'output.log'
  if (stream === 'output' && apart)
    throw badRequest(
      'Bad request: this job keeps stdout and stderr apart',
      'Read stdout and stderr one after the other.',
    )
  if (stream === 'stderr' && !apart)
    throw badRequest('Bad request: the streams of this job were merged', 'Read output: it has both, in true order.')
  return stream === 'stderr' ? 'stderr.log' : 'output.log'
}

/** What is read, and how. */
interface Source {
  readonly dir: string
  readonly name: OutputName
  readonly options: ReadOptions
  readonly masker: Masker | null
  readonly terminal: boolean
}

interface Piece {
  readonly text: string
  readonly start: number
  readonly cursor: number
  readonly total: number
}

/** One contiguous range, in blocks. */
async function readOne(source: Source, since: number, maxBytes: number): Promise<Piece> {
  const texts: string[] = []
  let start: number | null = null
  let cursor = since
  for (let room = maxBytes; ;) {
    const part = readPart(source, cursor, Math.min(room, BLOCK_BYTES))
    // The next range lies behind a hole: it belongs to the next read.
    if (start !== null && part.start > cursor) return { text: texts.join(''), start, cursor, total: part.total }
    start ??= part.start
    texts.push(part.text)
    const taken = part.cursor - part.start
    cursor = part.cursor
    room -= taken
    if (taken === 0 || room <= 3 || cursor >= part.total)
      return { text: texts.join(''), start, cursor, total: part.total }
    await turn()
  }
}

/** Filters and "the last lines" look at the whole range, holes or not: what is gone is counted, not waited for. */
async function readAcross(
  source: Source,
  since: number,
  maxBytes: number,
  filter: LineFilter | null,
): Promise<ReadResult> {
  const { dir, name, options, terminal } = source
  let texts: string[] = []
  const keep = (text: string): void => {
    texts.push(text)
    // Of a text that streams by no more than its last lines is kept.
    if (options.tail !== undefined) texts = [lastLines(texts.join(''), options.tail)]
  }
  let start: number | null = null
  let cursor = filter || options.tail === undefined ? since : Math.max(since, tailStart(dir, name, options.tail))
  let omitted = 0
  let total = 0
  const collapser = options.progress === 'collapse' ? createProgressCollapser() : null
  for (let room = maxBytes; room > 3;) {
    const part = readPart(source, cursor, Math.min(room, BLOCK_BYTES))
    total = part.total
    omitted += part.start - Math.min(cursor, part.start)
    start ??= part.start
    const text = plainly(collapser ? collapser.push(part.text) : part.text, options, terminal)
    keep(filter ? filter.push(text) : text)
    const taken = part.cursor - part.start
    cursor = part.cursor
    room -= taken
    if (taken === 0 || cursor >= total) break
    await turn()
  }
  const rest = collapser ? plainly(collapser.flush(), options, terminal) : ''
  if (rest !== '') keep(filter ? filter.push(rest) : rest)
  if (filter) keep(filter.flush())
  return {
    text: texts.join(''),
    cursor,
    start: start ?? since,
    omittedBytes: omitted,
    totalBytes: total,
    matches: filter?.matches ?? null,
  }
}

/** At most so many bytes from one offset on, up to the next hole, ending where a character and no secret ends. */
function readPart({ dir, name, options, masker }: Source, since: number, maxBytes: number): Piece {
  const strip = options.ansi === 'strip'
  const asBytes = options.encoding === 'latin1'
  const range = readStored(dir, name, since, maxBytes)
  const { start, total } = range
  // After a hole a character may have lost its beginning.
  const skipped = range.lostBefore > 0 && !asBytes ? characterStart(range.bytes) : 0
  const isLast = range.ended && start + range.bytes.length >= total
  let bytes = range.bytes.subarray(skipped)
  if (!isLast && (strip || !asBytes)) bytes = bytes.subarray(0, characterEnd(bytes))
  if (!isLast && strip)
    bytes = bytes.subarray(0, sequenceEnd(bytes) || (range.bytes.length < maxBytes ? 0 : bytes.length))
  let end = start + skipped + bytes.length
  let masked: Uint8Array = bytes
  if (masker && bytes.length > 0) {
    const stream = masker.stream()
    const before =
      start > 0 && range.lostBefore === 0
        ? readStored(dir, name, Math.max(0, start - LOOK_BACK_BYTES), Math.min(start, LOOK_BACK_BYTES))
        : null
    const adjacent = before && before.start + before.bytes.length === start ? before.bytes : new Uint8Array(0)
    stream.push(adjacent)
    // Bytes before the offset that may begin a secret come out with the next push: raw when
    // they did not, as a label when they did.
    const open = stream.pending
    masked = stream.push(bytes)
    if (isLast) masked = joinBytes(masked, stream.flush())
    else if (stream.pending < bytes.length) end -= stream.pending
    else masked = joinBytes(masked, stream.flush())
    const held = adjacent.subarray(adjacent.length - open)
    if (open > 0 && startsWith(masked, held)) masked = masked.subarray(open)
  }
  return { text: asBytes ? toLatin1(masked) : decodeUtf8(masked), start, cursor: end, total }
}

/** Where the last lines begin, at the latest: looks back from the end, twice as far each time. */
function tailStart(dir: string, name: OutputName, lines: number): number {
  for (let back = 65_536; ; back *= 4) {
    const { total } = storedSize(dir, name)
    const from = Math.max(0, total - back)
    if (from === 0) return 0
    const { bytes, start } = readStored(dir, name, from, back)
    let seen = 0
    for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) seen += 1
    if (seen > lines || start > from || back >= BLOCK_BYTES * 64) return start
  }
}

/**
 * The length of `bytes` without a terminal sequence that has not ended yet: stripped in two
 * halves it would leave its second one.
 */
function sequenceEnd(bytes: Uint8Array): number {
  const at = bytes.lastIndexOf(0x1b)
  if (at < 0 || bytes.length - at > MAX_SEQUENCE) return bytes.length
  // A letter after a complete sequence is text; in an unfinished one it is swallowed.
  const stripper = createAnsiStripper()
  return stripper.push(`${decodeUtf8(bytes.subarray(at))}X`).endsWith('X') ? bytes.length : at
}

function lastLines(whole: string, most: number): string {
  if (most === 0) return ''
  let at = whole.endsWith('\n') ? whole.length - 1 : whole.length
  for (let lines = 0; lines < most; lines++) {
    at = at > 0 ? whole.lastIndexOf('\n', at - 1) : -1
    if (at <= 0) return at === 0 && lines + 1 >= most ? whole.slice(1) : whole
  }
  return whole.slice(at + 1)
}

function plainly(text: string, { ansi, encoding }: ReadOptions, terminal: boolean): string {
  const plain = ansi === 'strip' ? (encoding === 'latin1' ? stripBytes(text) : stripAnsi(text)) : text
  return terminal && ansi === 'strip' ? plain.replaceAll(/\r+\n/g, '\n') : plain
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return bytes.length >= prefix.length && prefix.every((byte, index) => bytes[index] === byte)
}

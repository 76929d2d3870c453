/** Reads a job for a model: both streams where they are apart, whole lines through a filter, never more than fits. */
import { ShellError } from '../contract/errors.js'
import type { Job, JobInfo, ReadResult } from '../contract/job.js'
import { LIMITS } from '../contract/limits.js'
import type { StreamName } from '../contract/output.js'
import { clipEnds, joinEnds } from '../output/clip.js'
import { cursorOf, type Position } from './cursors.js'

export interface ReadWish {
  readonly filter?: string
  readonly maxChars?: number
  readonly ansi?: 'keep' | 'strip'
}

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

/** The state is asked first: it may then be older than the text, but never say "completed" over a text that lacks the end. */
export async function readJob(job: Job, from: Position, wish: ReadWish): Promise<Reading> {
  const info = await job.info()
  const streams: readonly StreamName[] = info.streams === 'merged' || info.pty ? ['output'] : ['stdout', 'stderr']
  const parts: Part[] = []
  const position: Partial<Record<StreamName, number>> = {}
  let omittedBytes = 0
  for (const stream of streams) {
    const piece = await readStream(job, stream, from[stream] ?? 0, wish, info.outputFile)
    parts.push({ stream, text: piece.text })
    position[stream] = piece.cursor
    omittedBytes += piece.omittedBytes
  }
  return { info, parts, position, cursor: cursorOf(position), omittedBytes, filtered: wish.filter !== undefined }
}

interface Piece {
  readonly text: string
  readonly cursor: number
  readonly omittedBytes: number
}

/** How much of each end of a long range is looked at for the lines that say what went wrong. */
const WINDOW_BYTES = 262_144

async function readStream(job: Job, stream: StreamName, since: number, wish: ReadWish, wholeAt: string): Promise<Piece> {
  const shape = wish.ansi ? { stream, ansi: wish.ansi } : { stream }
  const maxChars = wish.maxChars ?? LIMITS.clipChars
  if (wish.filter !== undefined) {
    const { filter } = wish
    const found = await withFilter(() => job.read({ ...shape, since, filter }))
    const clipped = clipEnds(found.text, { maxChars, wholeAt })
    return { text: clipped.text, cursor: found.cursor, omittedBytes: found.omittedBytes + clipped.omittedBytes }
  }
  const first = await job.read({ ...shape, since, maxBytes: WINDOW_BYTES })
  if (first.cursor >= first.totalBytes) {
    const clipped = clipEnds(first.text, { maxChars, wholeAt })
    return { text: clipped.text, cursor: first.cursor, omittedBytes: first.omittedBytes + clipped.omittedBytes }
  }
  const last = await job.read({ ...shape, since: Math.max(first.cursor, first.totalBytes - WINDOW_BYTES), maxBytes: WINDOW_BYTES * 2 })
  const clipped = joinEnds(first.text, last.text, { maxChars, wholeAt, hole: Math.max(0, last.start - first.cursor) })
  return { text: clipped.text, cursor: last.cursor, omittedBytes: first.omittedBytes + clipped.omittedBytes }
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

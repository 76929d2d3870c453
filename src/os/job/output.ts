/**
 * Reads the stored output of a job by byte offset, while it grows or years later. A reader
 * changes nothing, so readers never disturb each other.
 */
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../../contract/attempt.js'
import { whileOpen } from '../files/shared-file.js'
import { readEndRecord, type EndRecord } from './record.js'

/** Which file a stream is stored in: a merged stream, a terminal and stdout share the name that people look for. */
export type OutputName = 'output.log' | 'stderr.log' | 'late.log'

export interface StoredRange {
  readonly bytes: Uint8Array
  readonly start: number
  /** Bytes between the wanted offset and `start` that are no longer kept. */
  readonly lostBefore: number
  readonly total: number
  /** Nothing will be added any more. */
  readonly ended: boolean
}

interface Piece {
  readonly start: number
  readonly size: number
  /** In this order; the first that can be opened has the bytes. */
  readonly places: readonly { readonly file: string; readonly at: number }[]
  /** Kept in the record instead of a file. */
  readonly bytes?: Uint8Array
}

interface Layout {
  readonly pieces: readonly Piece[]
  readonly total: number
}

const TRIES = 100

/**
 * One contiguous range from `since` on; what lies behind a hole comes with the next read, whose `lostBefore` counts it.
 */
export function readStored(dir: string, name: OutputName, since: number, maxBytes: number): StoredRange {
  const range = settled(dir, (end) => readLayout(layoutOf(dir, name, end), since, maxBytes, end !== null))
  return range ?? { bytes: new Uint8Array(0), start: since, lostBefore: 0, total: since, ended: false }
}

/** How many bytes there were, and how many of them are no longer kept. */
export function storedSize(dir: string, name: OutputName): { total: number; omitted: number } {
  const layout = settled(dir, (end) => layoutOf(dir, name, end)) ?? { total: 0, pieces: [] }
  return { total: layout.total, omitted: layout.total - layout.pieces.reduce((sum, { size }) => sum + size, 0) }
}

/**
 * Looks until the files stood still while it looked: segments are dropped in a flood and joined
 * at the end. The keeper records the end before it adds anything but output to a file, so a
 * look between two looks that found no record saw nothing but output.
 */
function settled<T>(dir: string, look: (end: EndRecord | null) => T): T | null {
  for (let attempt = 0; attempt < TRIES; attempt++) {
    const end = readEndRecord(dir)
    try {
      const seen = look(end)
      if (end !== null || readEndRecord(dir) === null) return seen
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || statSync(dir, { throwIfNoEntry: false }) === undefined)
        throw error
    }
  }
  return null
}

function layoutOf(dir: string, name: OutputName, end: EndRecord | null): Layout {
  const stored = end && name !== 'late.log' ? (name === 'output.log' ? end.out : end.err) : null
  if (!stored) return growingLayout(dir, name)
  const file = join(dir, name)
  const kept = stored.pieces.map(({ start, size, at }, index): Piece => {
    const joined = { file, at }
    const segment = { file: `${file}.${start}`, at: 0 }
    return { start, size, places: index === 0 && start === 0 ? [joined, segment] : [segment, joined] }
  })
  if (stored.last.length > 0)
    kept.push({ start: stored.total - stored.last.length, size: stored.last.length, places: [], bytes: stored.last })
  if (name !== 'output.log') return { pieces: kept, total: stored.total }
  // What a process left behind printed after the end of its leader: stored apart, read on from where the output ended.
  const late = growingLayout(dir, 'late.log')
  return {
    pieces: [...kept, ...late.pieces.map((piece) => ({ ...piece, start: piece.start + stored.total }))],
    total: stored.total + late.total,
  }
}

/**
 * A file that still grows: the head, and segments whose names say where they begin. Names
 * first, sizes after: what has a successor is complete.
 */
function growingLayout(dir: string, name: OutputName): Layout {
  const segments = readdirSync(dir)
    .filter((entry) => entry.startsWith(`${name}.`) && /^\d+$/.test(entry.slice(name.length + 1)))
    .map((entry) => Number(entry.slice(name.length + 1)))
    .sort((a, b) => a - b)
  const pieces: Piece[] = []
  for (const start of [null, ...segments]) {
    const file = join(dir, start === null ? name : `${name}.${start}`)
    const stat = statSync(file, { throwIfNoEntry: false })
    // The oldest go first: one that is gone by now is a hole, as it would be a moment later.
    // Without the newest the end would be unknown.
    if (!stat && start !== null && start === segments.at(-1))
      throw Object.assign(new Error('the newest segment is gone'), { code: 'ENOENT' })
    if (stat && stat.size > 0) pieces.push({ start: start ?? 0, size: stat.size, places: [{ file, at: 0 }] })
  }
  const last = pieces.at(-1)
  return { pieces, total: last ? last.start + last.size : 0 }
}

function readLayout({ pieces, total }: Layout, since: number, maxBytes: number, ended: boolean): StoredRange {
  const wanted = Math.min(Math.max(0, Math.trunc(since) || 0), total)
  let first = pieces.findIndex((piece) => piece.start + piece.size > wanted)
  if (first < 0 || maxBytes <= 0)
    return {
      bytes: new Uint8Array(0),
      start: first < 0 ? total : wanted,
      lostBefore: first < 0 ? total - wanted : 0,
      total,
      ended,
    }
  const start = Math.max(wanted, (pieces[first] as Piece).start)
  const parts: Uint8Array[] = []
  let at = start
  for (let room = maxBytes; first < pieces.length && room > 0; first++) {
    const piece = pieces[first] as Piece
    if (piece.start > at) break
    const part = readPiece(piece, at - piece.start, Math.min(room, piece.start + piece.size - at))
    parts.push(part)
    at += part.length
    room -= part.length
    if (at < piece.start + piece.size) break
  }
  return {
    bytes: parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts),
    start,
    lostBefore: start - wanted,
    total,
    ended,
  }
}

function readPiece(piece: Piece, from: number, count: number): Uint8Array {
  if (piece.bytes) return piece.bytes.subarray(from, from + count)
  for (const [index, { file, at }] of piece.places.entries()) {
    let fd: number
    try {
      fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    } catch (error) {
      if (index < piece.places.length - 1 && (error as NodeJS.ErrnoException).code === 'ENOENT') continue
      throw error
    }
    try {
      const bytes = Buffer.allocUnsafe(count)
      let have = 0
      while (have < count) {
        const got = readSync(fd, bytes, have, count - have, at + from + have)
        if (got === 0) break
        have += got
      }
      return bytes.subarray(0, have)
    } finally {
      closeSync(fd)
    }
  }
  return new Uint8Array(0)
}

/** The end of a file as text; empty when it cannot be read. */
export function lastBytes(file: string, count: number): string {
  const read = (fd: number): string => {
    const { size } = fstatSync(fd)
    const bytes = Buffer.alloc(Math.min(count, size))
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, Math.max(0, size - count)))
  }
  return attempt(() => whileOpen(file, constants.O_RDONLY | constants.O_NOFOLLOW, read), '')
}

/** The bytes between the two halves of an engine: u32 length (of what follows), one kind letter, payload. */
import { ShellError } from '../contract/errors.js'

/** A longer frame comes from no engine: the link is closed. `native/link.c` has the same limit. */
export const MAX_FRAME_BYTES = 2 * 1024 * 1024
/** A longer message is cut into pieces of this size, so that no call holds up the others for long. */
const PIECE_BYTES = 256 * 1024
/**
 * Nothing that an engine says or is asked is longer: a command may have 16 MB, and JSON escapes double them at most.
 */
const MAX_MESSAGE_BYTES = 128 * 1024 * 1024

/** Kinds, near to far and back. `+` and `.` are the pieces of a long message; beats never reach the engine. */
export const KINDS = 'HhCRAOGWXQqEBPp+.'

export function frame(kind: string, payload: Uint8Array | string): Buffer {
  const length = typeof payload === 'string' ? Buffer.byteLength(payload) : payload.length
  const bytes = Buffer.allocUnsafe(5 + length)
  bytes.writeUInt32LE(length + 1, 0)
  bytes[4] = kind.charCodeAt(0)
  if (typeof payload === 'string') bytes.write(payload, 5)
  else bytes.set(payload, 5)
  return bytes
}

let pieces = 0

/** One message as one frame, or as pieces under a number of their own and a last one that says what they make. */
export function framesOf(kind: string, payload: string): Buffer[] {
  // Most messages are short: their length in characters is enough to know it.
  if (payload.length * 3 < PIECE_BYTES) return [frame(kind, payload)]
  const bytes = Buffer.from(payload)
  if (bytes.length <= PIECE_BYTES) return [frame(kind, bytes)]
  // Before anything is sent: the other side would close the link, and the next one, for as long as it is tried.
  if (bytes.length > MAX_MESSAGE_BYTES)
    throw new ShellError(
      'BAD_REQUEST',
      `${Math.round(bytes.length / 1e6)} MB are more than one message to another place can carry (128 MB)`,
      'Nothing of it was sent. Bring it there as a file, or in parts.',
    )
  pieces = (pieces + 1) % 0xffff_ffff
  const frames: Buffer[] = []
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const isLast = at + PIECE_BYTES >= bytes.length
    const head = Buffer.alloc(isLast ? 5 : 4)
    head.writeUInt32LE(pieces, 0)
    if (isLast) head[4] = kind.charCodeAt(0)
    frames.push(frame(isLast ? '.' : '+', Buffer.concat([head, bytes.subarray(at, at + PIECE_BYTES)])))
  }
  return frames
}

/** Thrown by a reader when what came was sent by no engine; the link is closed and not opened again at once. */
export class BadFrame extends Error {}

/** Cuts a byte stream into messages. `onMessage` gets whole ones only. */
export function createReader(onMessage: (kind: string, payload: Buffer) => void): (chunk: Buffer) => void {
  let waiting: Buffer[] = []
  let held = 0
  const unfinished = new Map<number, Buffer[]>()
  let unfinishedBytes = 0

  const take = (kind: string, payload: Buffer): void => {
    if (!KINDS.includes(kind)) throw new BadFrame(`unknown kind ${JSON.stringify(kind)}`)
    if (kind !== '+' && kind !== '.') return onMessage(kind, payload)
    if (payload.length < (kind === '+' ? 4 : 5)) throw new BadFrame('a piece without a number')
    const key = payload.readUInt32LE(0)
    const parts = unfinished.get(key) ?? []
    const part = payload.subarray(kind === '+' ? 4 : 5)
    unfinishedBytes += part.length
    if (unfinishedBytes > MAX_MESSAGE_BYTES || unfinished.size > 64) throw new BadFrame('a message too long to be true')
    parts.push(part)
    if (kind === '+') return void unfinished.set(key, parts)
    unfinished.delete(key)
    for (const each of parts) unfinishedBytes -= each.length
    const whole = String.fromCharCode(payload[4] as number)
    if (!'CRHhEQq'.includes(whole)) throw new BadFrame(`pieces of ${JSON.stringify(whole)}`)
    onMessage(whole, Buffer.concat(parts))
  }

  return (chunk) => {
    let bytes = chunk
    if (held > 0) {
      waiting.push(chunk)
      held += chunk.length
      // Joined when the frame is whole: a long one that comes in small chunks is not copied for each of them.
      const first = waiting[0] as Buffer
      const head = first.length >= 4 ? first : Buffer.concat(waiting)
      if (held < 4 || held < 4 + head.readUInt32LE(0)) {
        if (head !== first) waiting = [head]
        return
      }
      bytes = Buffer.concat(waiting)
      waiting = []
      held = 0
    }
    let at = 0
    while (bytes.length - at >= 4) {
      const length = bytes.readUInt32LE(at)
      if (length < 1 || length > MAX_FRAME_BYTES + 1) throw new BadFrame(`a frame of ${length} bytes`)
      if (bytes.length - at < 4 + length) break
      take(String.fromCharCode(bytes[at + 4] as number), bytes.subarray(at + 5, at + 4 + length))
      at += 4 + length
    }
    if (at === bytes.length) return
    waiting = [Buffer.from(bytes.subarray(at))]
    held = bytes.length - at
  }
}

/** Live output: u32 call, u8 stream, f64 offset, text. */
export const STREAMS = ['stdout', 'stderr', 'output'] as const

export function outputFrame(call: number, stream: (typeof STREAMS)[number], offset: number, text: Buffer): Buffer {
  const payload = Buffer.allocUnsafe(13 + text.length)
  payload.writeUInt32LE(call, 0)
  payload[4] = STREAMS.indexOf(stream)
  payload.writeDoubleLE(offset, 5)
  payload.set(text, 13)
  return frame('O', payload)
}

export interface WireOutput {
  readonly call: number
  readonly stream: (typeof STREAMS)[number]
  readonly offset: number
  readonly bytes: Buffer
}

export function readOutput(payload: Buffer): WireOutput {
  const stream = STREAMS[payload.length < 13 ? -1 : (payload[4] as number)]
  if (!stream) throw new BadFrame('output of no stream')
  return { call: payload.readUInt32LE(0), stream, offset: payload.readDoubleLE(5), bytes: payload.subarray(13) }
}

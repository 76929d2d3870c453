/** The little language between an engine and its launcher: u32 length, one kind letter, text fields. */

/** Requests carry NUL-terminated `key=value` fields, so that values may hold newlines. */
export function encodeFrame(kind: string, fields: readonly (readonly [string, string | number])[]): Buffer {
  const payload = Buffer.from(fields.map(([key, value]) => `${key}=${value}\0`).join(''), 'utf8')
  const frame = Buffer.allocUnsafe(5 + payload.length)
  frame.writeUInt32LE(payload.length + 1, 0)
  frame[4] = kind.charCodeAt(0)
  payload.copy(frame, 5)
  return frame
}

export interface HelperEvent {
  readonly kind: string
  readonly fields: Readonly<Record<string, string>>
}

/** Cuts a byte stream into events; answers carry newline-separated fields. */
export function createFrameReader(onEvent: (event: HelperEvent) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    while (rest.length - at >= 5) {
      const length = rest.readUInt32LE(at)
      if (rest.length - at < 4 + length) break
      const fields: Record<string, string> = {}
      for (const line of rest.toString('utf8', at + 5, at + 4 + length).split('\n')) {
        const equals = line.indexOf('=')
        if (equals > 0) fields[line.slice(0, equals)] = line.slice(equals + 1)
      }
      onEvent({ kind: String.fromCharCode(rest[at + 4] as number), fields })
      at += 4 + length
    }
    rest = rest.subarray(at)
  }
}

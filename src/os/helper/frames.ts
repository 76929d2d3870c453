/** The little language between an engine and its launcher: u32 length, one kind letter, text fields. */

/** Of a request. */
export type Field = readonly [key: string, value: string | number]
export type Send = (kind: string, fields: readonly Field[]) => void

/** Requests carry NUL-terminated `key=value` fields, so that values may hold newlines. */
export function encodeFrame(kind: string, fields: readonly Field[]): Buffer {
  let text = ''
  for (const [key, value] of fields) text += `${key}=${value}\0`
  const length = Buffer.byteLength(text)
  const frame = Buffer.allocUnsafe(5 + length)
  frame.writeUInt32LE(length + 1, 0)
  frame[4] = kind.charCodeAt(0)
  frame.write(text, 5)
  return frame
}

export interface HelperEvent {
  readonly kind: string
  readonly fields: Readonly<Record<string, string>>
}

/** What the helper says, in frames and in files: a line `key=value` for each field. */
export function fieldsIn(text: string): Record<string, string> {
  const fields: Record<string, string> = {}
  for (let from = 0; from < text.length;) {
    const newline = text.indexOf('\n', from)
    const to = newline < 0 ? text.length : newline
    const equals = text.indexOf('=', from)
    if (equals > from && equals < to) fields[text.slice(from, equals)] = text.slice(equals + 1, to)
    from = to + 1
  }
  return fields
}

/** Cuts a byte stream into events. */
export function createFrameReader(onEvent: (event: HelperEvent) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    while (rest.length - at >= 5) {
      const length = rest.readUInt32LE(at)
      if (rest.length - at < 4 + length) break
      const fields = fieldsIn(rest.toString('utf8', at + 5, at + 4 + length))
      onEvent({ kind: String.fromCharCode(rest[at + 4] as number), fields })
      at += 4 + length
    }
    rest = rest.subarray(at)
  }
}

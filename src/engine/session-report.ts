/** Reads what a session's shell reports: NUL-separated fields between two marks that only we know. */

export interface Report {
  /** T: the command ended. F: it ended and left the shell as it was. E: the line it was on ended. R: ready again. D: state written. X: the agent's EXIT trap. G: the builtin of ours is there. N: it does not start this program. */
  readonly kind: 'T' | 'F' | 'E' | 'R' | 'D' | 'X' | 'G' | 'N'
  readonly number: number
  readonly fields: readonly string[]
}

export function createReportReader(nonce: string, onReport: (report: Report) => void): (chunk: Uint8Array) => void {
  const begin = `@${nonce}\0`
  const end = `${nonce}@\0`
  let kept = NOTHING
  /** Chunks are views of one shared buffer; this is the whole of it. */
  let memory = NOTHING
  const tell = (text: string): void => {
    const parts = text.split('\0')
    const kind = parts[0] as Report['kind']
    if (KINDS.includes(kind)) onReport({ kind, number: Number(parts[1]), fields: parts.slice(2, -1) })
  }
  return (chunk) => {
    // Nearly always one whole report, and nothing else.
    if (kept.length === 0 && chunk.length <= SHORT) {
      if (memory.buffer !== chunk.buffer) memory = Buffer.from(chunk.buffer)
      const text = memory.toString('utf8', chunk.byteOffset, chunk.byteOffset + chunk.length)
      if (text.startsWith(begin) && text.indexOf(end) === text.length - end.length) return tell(text.slice(begin.length, -end.length))
    }
    const bytes = kept.length > 0 ? Buffer.concat([kept, chunk]) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    let at = 0
    for (;;) {
      const from = bytes.indexOf(begin, at, 'latin1')
      if (from < 0) {
        // Something else wrote here (a DEBUG trap, a curious command): keep only what may be the beginning of a mark.
        kept = Buffer.from(bytes.subarray(Math.max(at, bytes.length - begin.length)))
        return
      }
      const to = bytes.indexOf(end, from + begin.length, 'latin1')
      if (to < 0) {
        kept = Buffer.from(bytes.subarray(from))
        return
      }
      at = to + end.length
      if (at === bytes.length) kept = NOTHING
      tell(bytes.toString('utf8', from + begin.length, to))
      if (at === bytes.length) return
    }
  }
}

const NOTHING: Buffer = Buffer.alloc(0)
const SHORT = 1_024
const KINDS = ['T', 'F', 'E', 'R', 'D', 'X', 'G', 'N']

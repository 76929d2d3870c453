/** Reads what a session's shell reports: NUL-separated fields between two marks that only we know. */

export interface Report {
  /** T: the command ended. F: it was a program, and ended. E: bash left the command before its end. R: ready again. D: state written. G: the builtin is there (number 0), or is not. N: it declines this command. */
  readonly kind: 'T' | 'F' | 'E' | 'R' | 'D' | 'G' | 'N'
  readonly number: number
  readonly fields: readonly string[]
}

/** Reads the first bytes of `memory`. */
export function createReportReader(
  memory: Uint8Array,
  nonce: string,
  onReport: (report: Report) => void,
): (length: number) => void {
  const begin = `@${nonce}\0`
  const end = `${nonce}@\0`
  const buffer = Buffer.from(memory.buffer, memory.byteOffset, memory.byteLength)
  let kept = NOTHING
  /** The last one that came alone. Most commands end like the same one before. */
  let known: { readonly bytes: Uint8Array; readonly report: Report } | null = null
  const read = (text: string): Report | null => {
    const parts = text.split('\0')
    const kind = parts[0] as Report['kind']
    return KINDS.includes(kind) ? { kind, number: Number(parts[1]), fields: parts.slice(2, -1) } : null
  }
  const isKnown = (length: number): boolean => {
    if (known?.bytes.length !== length) return false
    const { bytes } = known
    // From behind, where they differ. No call of Buffer's is as quick for so few.
    for (let at = length - 1; at >= 0; at--) if (memory[at] !== bytes[at]) return false
    return true
  }
  /** Nearly always one whole report, and nothing else. */
  const readAlone = (length: number): Report | null => {
    if (length > SHORT) return null
    const text = buffer.toString('utf8', 0, length)
    if (!text.startsWith(begin) || text.indexOf(end) !== text.length - end.length) return null
    const report = read(text.slice(begin.length, -end.length))
    if (report) known = { bytes: memory.slice(0, length), report }
    return report
  }
  return (length) => {
    if (kept.length === 0) {
      const alone = isKnown(length) ? (known?.report ?? null) : readAlone(length)
      if (alone) return onReport(alone)
    }
    const bytes = kept.length > 0 ? Buffer.concat([kept, buffer.subarray(0, length)]) : buffer.subarray(0, length)
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
      const report = read(bytes.toString('utf8', from + begin.length, to))
      if (report) onReport(report)
      if (at === bytes.length) return
    }
  }
}

const NOTHING: Buffer = Buffer.alloc(0)
const SHORT = 1_024
const KINDS = ['T', 'F', 'E', 'R', 'D', 'G', 'N']

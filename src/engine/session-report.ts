/** Reads what a session's shell reports: NUL-separated fields between two marks that only we know. */

export interface Report {
  /** T: the command ended. F: it ended and left the shell as it was. E: the line it was on ended. R: ready again. D: state written. X: the agent's EXIT trap. */
  readonly kind: 'T' | 'F' | 'E' | 'R' | 'D' | 'X'
  readonly number: number
  readonly fields: readonly string[]
}

export function createReportReader(nonce: string, onReport: (report: Report) => void): (chunk: Uint8Array) => void {
  const begin = Buffer.from(`@${nonce}\0`)
  const end = Buffer.from(`${nonce}@\0`)
  let kept: Buffer = Buffer.alloc(0)
  return (chunk) => {
    // A report nearly always comes whole: what it is read from is copied only when something is left over.
    let rest = kept.length > 0 ? Buffer.concat([kept, chunk]) : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    for (;;) {
      if (rest.length === 0) {
        kept = rest
        return
      }
      const from = rest.indexOf(begin)
      if (from < 0) {
        // Something else wrote here (a DEBUG trap, a curious command): keep only what may be the beginning of a mark.
        kept = Buffer.from(rest.subarray(Math.max(0, rest.length - begin.length)))
        return
      }
      const to = rest.indexOf(end, from + begin.length)
      if (to < 0) {
        kept = Buffer.from(rest.subarray(from))
        return
      }
      const fields = rest.toString('utf8', from + begin.length, to).split('\0')
      rest = rest.subarray(to + end.length)
      fields.pop()
      const [kind, number, ...others] = fields
      if (kind && /^[TFERDX]$/.test(kind)) onReport({ kind: kind as Report['kind'], number: Number(number), fields: others })
    }
  }
}

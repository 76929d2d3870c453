/** Reads what a session's shell reports: NUL-separated fields between two marks that only we know. */

export interface Report {
  /** T: the command ended. E: so did the line it was on. R: ready again. D: state written. X: the agent's EXIT trap. */
  readonly kind: 'T' | 'E' | 'R' | 'D' | 'X'
  readonly number: number
  readonly fields: readonly string[]
}

export function createReportReader(nonce: string, onReport: (report: Report) => void): (chunk: Uint8Array) => void {
  const begin = Buffer.from(`@${nonce}\0`)
  const end = Buffer.from(`${nonce}@\0`)
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    for (;;) {
      const from = rest.indexOf(begin)
      if (from < 0) {
        // Something else wrote here (a DEBUG trap, a curious command): keep only what may be the beginning of a mark.
        rest = rest.subarray(Math.max(0, rest.length - begin.length))
        return
      }
      const to = rest.indexOf(end, from + begin.length)
      if (to < 0) {
        rest = rest.subarray(from)
        return
      }
      const fields = rest.toString('utf8', from + begin.length, to).split('\0')
      rest = rest.subarray(to + end.length)
      fields.pop()
      const [kind, number, ...others] = fields
      if (kind && /^[TERDX]$/.test(kind)) onReport({ kind: kind as Report['kind'], number: Number(number), fields: others })
    }
  }
}

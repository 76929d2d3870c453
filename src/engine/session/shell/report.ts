/**
 * Reads what a session's shell reports: NUL-separated fields between two marks that only the
 * engine and the shell's builtin know.
 */

/**
 * The fields of each kind, behind the kind and a number. `stages` are as many as the last pipeline had. The
 * builtin, and the lines that bash reports by itself with, write them in this order (a test compares all three).
 */
export const FIELDS = {
  /** The command ended. */
  T: ['status', 'options', 'directory', 'argument', 'prompts', 'stdin', 'stages'],
  /** Bash left the command before its end. */
  E: ['status', 'options', 'directory', 'argument', 'prompts', 'stdin', 'stages'],
  /** It was a program, and ended. */
  F: ['status', 'argument', 'stages'],
  /** Ready again. */
  R: ['options', 'directory'],
  /** The state is written. */
  D: [],
  /** The builtin is there (number 0), or is not. */
  G: [],
  /** The builtin declines this command: bash does it itself (number 0), or the shell's directory is gone (1). */
  N: [],
} as const

/** How a program ended. */
export interface ProgramReport {
  readonly kind: 'F'
  readonly status: number
  /** `$_` */
  readonly argument: string
  /** `PIPESTATUS` */
  readonly stages: readonly number[]
}

/** How a command ended that may have changed its shell. */
export interface ShellReport extends Omit<ProgramReport, 'kind'> {
  readonly kind: 'T' | 'E'
  /** `$-` */
  readonly options: string
  /** `$PWD` */
  readonly directory: string
  /** Something is set that bash acts upon, or shows, at its prompt. */
  readonly prompts: boolean
  /** The shell's stdin was pointed elsewhere for good. */
  readonly ownStdin: boolean
}

export type EndReport = ProgramReport | ShellReport

export type Report = EndReport | { readonly kind: 'R' | 'D' | 'G' | 'N'; readonly number: number }

/** Null: this is no report of a session's shell. */
function reportOf([kind, number, ...fields]: readonly string[]): Report | null {
  switch (kind) {
    case 'F': {
      const [status = '', argument = '', ...stages] = fields
      return { kind, status: Number(status), argument, stages: numbers(stages, status) }
    }
    case 'T':
    case 'E': {
      const [status = '', options = '', directory = '', argument = '', prompts, stdin, ...stages] = fields
      return {
        kind,
        status: Number(status),
        options,
        directory,
        argument,
        prompts: !!prompts,
        ownStdin: !!stdin,
        stages: numbers(kind === 'T' ? stages : [], status),
      }
    }
    case 'R':
    case 'D':
    case 'G':
    case 'N':
      return { kind, number: Number(number) }
    default:
      return null
  }
}

function numbers(stages: readonly string[], status: string): number[] {
  return stages.length > 0 ? stages.map(Number) : [Number(status)]
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
  /** The last one that came alone: most commands end like the same one before. */
  let known: { readonly bytes: Uint8Array; readonly report: Report } | null = null
  const read = (text: string): Report | null => reportOf(text.split('\0').slice(0, -1))
  return (length) => {
    if (kept.length === 0 && known?.bytes.length === length && known.bytes.every((byte, at) => byte === memory[at]))
      return onReport(known.report)
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
      if (report && from === 0 && at === bytes.length) known = { bytes: Uint8Array.from(bytes), report }
      if (report) onReport(report)
      if (at === bytes.length) return
    }
  }
}

const NOTHING: Buffer = Buffer.alloc(0)

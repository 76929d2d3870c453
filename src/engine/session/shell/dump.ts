/**
 * The state of a shell on its way to the engine. The shell writes it into a pipe, never into a file: what a variable holds (a secret too)
 * stays in memory, and a dump that a kill has torn is not taken for a whole one. The last whole one is always here.
 */
import type { Pipe } from '../../../os/helper/launcher.js'
import { readPipe, type PipeReader } from '../../../os/pipe-reader.js'

/** The first word of what a shell writes down, and so part of our trap that does it. */
export const STATE_BEGINS = 'cerith-state'

/** Where a shell writes its state, and what marks it. */
export interface DumpMarks {
  readonly nonce: string
  /** The writing end of the pipe. */
  readonly state: string
}

/** When a dump was written: as the shell left, behind a command, or before the command of a number. */
export const LEAVING = 'leaving'
export const AFTER = 'after'
export function before(number: number): string {
  return `before${number}`
}

const SECTIONS: readonly (readonly [name: string, code: string])[] = [
  ['variables', 'declare -p'],
  ['functions', 'declare -f'],
  ['functionNames', 'declare -F'],
  ['aliases', 'alias -p'],
  // One write instead of one for each option. (BASHOPTS is not always true: GLOBIGNORE and POSIX mode change more than it says.)
  ['options', `printf %s "$SHELLOPTS"`],
  ['shopts', 'shopt -s -p'],
  ['umask', 'umask -p'],
  ['traps', 'trap -p'],
  ['disabled', 'enable -n'],
  ['hashed', 'hash -l'],
  ['completions', 'complete -p'],
  ['clock', `printf '%s %(%s)T' "$SECONDS" -1`],
  ['positional', `printf '%q\\n' "$#" "$@"`],
  // Not by DIRSTACK: bash would show that it has been looked at.
  ['directories', 'dirs -l -p'],
  ['cwd', 'pwd'],
]

/** Everything a successor needs, NUL-separated, by builtins only: no fork. Each part is there even if the builtin before it failed. */
export function dumpCode(marks: DumpMarks, mark: string, more: typeof SECTIONS = []): string {
  const body = [...more, ...SECTIONS].map(
    ([name, code]) => `\\builtin printf '\\0${name}\\n'; \\builtin ${code} || \\builtin :`,
  )
  return `{ \\builtin printf '${STATE_BEGINS} ${marks.nonce}'; ${body.join('; ')}; \\builtin printf '\\0end ${marks.nonce} ${mark}\\0'; } 2>/dev/null >${marks.state} || \\builtin :`
}

/** A whole dump: its sections as bytes of text (latin1), so that what is no UTF-8 survives. */
export interface Dump {
  readonly mark: string
  readonly sections: ReadonlyMap<string, string>
}

export class DumpReader {
  readonly #reader: PipeReader
  readonly #pipe: Pipe
  readonly #begin: string
  readonly #end: string
  #chunks: Buffer[] = []
  #last: { readonly bytes: Buffer; readonly mark: string } | null = null
  #parsed: Dump | null = null
  #count = 0

  constructor(pipe: Pipe, nonce: string, scratch: Uint8Array) {
    this.#pipe = pipe
    this.#begin = `${STATE_BEGINS} ${nonce}\0`
    this.#end = `\0end ${nonce} `
    this.#reader = readPipe(pipe.readEnd(), scratch, (chunk) => this.#take(chunk))
  }

  /** How many whole dumps have come. */
  get count(): number {
    this.#reader.drainNow()
    return this.#count
  }

  /** The last whole dump. */
  get last(): Dump | null {
    this.#reader.drainNow()
    if (!this.#last) return null
    return (this.#parsed ??= { mark: this.#last.mark, sections: sectionsOf(this.#last.bytes.toString('latin1')) })
  }

  close(): void {
    this.#reader.drainNow()
    this.#reader.close()
    this.#pipe.release()
  }

  #take(chunk: Uint8Array): void {
    this.#chunks.push(Buffer.from(chunk))
    // Only the end of a dump ends with NUL and is preceded by our mark.
    if (chunk.at(-1) !== 0) return
    const bytes = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks)
    this.#chunks = [bytes]
    const end = bytes.lastIndexOf(this.#end, undefined, 'latin1')
    const begin = end < 0 ? -1 : bytes.lastIndexOf(this.#begin, end, 'latin1')
    const mark = bytes.toString('latin1', end + this.#end.length, bytes.length - 1)
    if (begin < 0 || !/^\w+$/.test(mark)) return
    this.#chunks = []
    this.#count += 1
    this.#last = { bytes: bytes.subarray(begin + this.#begin.length, end), mark }
    this.#parsed = null
  }
}

/** `name\ntext`, separated by NUL. */
export function sectionsOf(text: string): ReadonlyMap<string, string> {
  const sections = new Map<string, string>()
  for (const part of text.split('\0')) {
    const at = part.indexOf('\n')
    if (at > 0) sections.set(part.slice(0, at), part.slice(at + 1))
  }
  return sections
}

/** The same as text, for a file. */
export function sectionsText(sections: ReadonlyMap<string, string>): string {
  return [...sections].map(([name, text]) => `${name}\n${text}`).join('\0')
}

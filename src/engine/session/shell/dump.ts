/**
 * The state of a shell on its way to the engine. The shell writes it into a pipe, never into a
 * file: what a variable holds (a secret too) stays in memory, and a dump that a kill has torn
 * is not taken for a whole one. The last whole one is always here.
 */
import { LEAVING, SECTIONS, STATE_BEGINS } from '../lines/dump-text.js'
import type { DumpMarks } from '../lines/marks.js'
import type { Pipe } from '../../../os/helper/launcher.js'
import { readPipe, type PipeReader } from '../../../os/files/pipe-reader.js'

/** A whole dump: its sections as bytes of text (latin1), so that what is no UTF-8 survives. */
export interface Dump {
  readonly mark: string
  readonly sections: ReadonlyMap<string, string>
}

/** More than any shell writes down: what has no end by then comes from something else. */
const LONGEST_DUMP = 256 * 1024 * 1024

export class DumpReader {
  readonly #reader: PipeReader
  readonly #pipe: Pipe
  readonly #begin: string
  readonly #marks: DumpMarks
  /** What has come since the last whole one. */
  #text = ''
  #received = 0
  /** The last whole dump that has been read. */
  last: Dump | null = null
  /** How many whole dumps have come. */
  count = 0
  #isForged = false

  constructor(pipe: Pipe, marks: DumpMarks, scratch: Uint8Array) {
    this.#pipe = pipe
    this.#marks = marks
    this.#begin = `${STATE_BEGINS} ${marks.nonce}\0`
    this.#reader = readPipe(pipe.readEnd(), scratch, (chunk) => this.#take(chunk))
  }

  /** Whether a part of one lay in the pipe: what wrote it may have been waiting for room. */
  grows(): boolean {
    const before = this.#received
    this.#reader.drainNow()
    return this.#received !== before
  }

  /** Reads what has been written by now. The event loop does so by itself, and an empty pipe is dear to ask. */
  readNow(): void {
    this.#reader.drainNow()
  }

  /**
   * Whether something that is not the shell has written here since this was asked last, as far as it has been read.
   * What it wrote was not believed.
   */
  takeForged(): boolean {
    const isForged = this.#isForged
    this.#isForged = false
    return isForged
  }

  close(): void {
    this.#reader.drainNow()
    this.#reader.close()
    this.#pipe.release()
  }

  #take(chunk: Uint8Array): void {
    this.#received += chunk.length
    this.#text += Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1')
    if (this.#text.length > LONGEST_DUMP) return this.#refuse()
    // Only the end of a dump ends with NUL and is preceded by a mark.
    if (chunk.at(-1) !== 0) return
    const text = this.#text
    const [ending, proof, mark = ''] = LAST_ENDING.exec(text.slice(-LONGEST_END)) ?? []
    if (!ending) return
    const end = text.length - ending.length
    const begin = text.lastIndexOf(this.#begin, end)
    if (begin < 0) return
    const dump = { mark, sections: sectionsOf(text.slice(begin + this.#begin.length, end)) }
    if (!this.#isOurs(proof, mark) || !isWhole(dump)) return this.#refuse()
    // Others may have come with it: whole ones of the shell's own, torn ones (they have no
    // end), and what only looks like one.
    const others = begin === 0 ? [] : text.slice(0, begin).matchAll(ENDING)
    for (const [, word, kind] of others) if (!this.#isOurs(word, kind)) this.#isForged = true
    this.#text = ''
    this.count += 1
    this.last = dump
  }

  #isOurs(proof: string | undefined, mark: string | undefined): boolean {
    return proof === (mark === LEAVING ? this.#marks.farewell : this.#marks.seal)
  }

  #refuse(): void {
    this.#isForged = true
    this.#text = ''
  }
}

const LONGEST_END = 128
const ENDING = /\0end (\w+) (\w+)\0/g
const LAST_ENDING = /\0end (\w+) (\w+)\0$/

/** Each section once, in our order: bytes that came in between from elsewhere do not pass for a part of it. */
function isWhole({ sections }: Dump): boolean {
  const names = [...sections.keys()]
  const ours = SECTIONS.map(([name]) => name)
  return sections.size > 0 && names.slice(-ours.length).join() === ours.join()
}

/** `name\ntext`, separated by NUL. Nothing when a name comes twice. */
export function sectionsOf(text: string): ReadonlyMap<string, string> {
  const sections = new Map<string, string>()
  for (const part of text.split('\0')) {
    const at = part.indexOf('\n')
    if (at <= 0) continue
    if (sections.has(part.slice(0, at))) return new Map()
    sections.set(part.slice(0, at), part.slice(at + 1))
  }
  return sections
}

/** Sections as text, for a file. */
export function sectionsText(sections: ReadonlyMap<string, string>): string {
  return [...sections].map(([name, text]) => `${name}\n${text}`).join('\0')
}

/**
 * What one call of a session prints. Captured from its first byte on, for most calls print to
 * one stream only, or to none.
 */
import type { Note } from '../../../contract/note.js'
import type { Clipped } from '../../../output/clip.js'
import type { Call } from '../../call/call.js'
import { clippedTexts, type Capture } from '../../call/capture.js'
import type { Held } from '../../../os/files/pipe-reader.js'
import type { Plan } from '../../plan/plan.js'
import type { Services } from '../../services/services.js'
import type { OwnWords, OwnWordsInStream } from '../lines/own-words.js'
import type { Sinks } from '../shell/streams.js'

const NOTHING: Clipped = { text: '', truncated: false, omittedBytes: 0 }
/** The texts of a call that printed nothing. */
export const SILENCE: Texts = { out: NOTHING, err: NOTHING }

export interface Texts {
  readonly out: Clipped
  readonly err: Clipped
}

export class CallOutput implements Sinks {
  /**
   * Set when the shell has been given the command: what comes before that is not of this call. Bash's words about the
   * session's own file are not either.
   */
  own: OwnWords | null = null
  /** Set when the command is being stopped: bash says a newline to an interrupt. */
  interrupted = false
  readonly #call: Call
  readonly #plan: Plan
  readonly #services: Services
  readonly merged: boolean
  #stdout: Capture | null = null
  #stderr: Capture | null = null
  #inOut: OwnWordsInStream | null = null
  #inErr: OwnWordsInStream | null = null

  constructor(call: Call, plan: Plan, services: Services) {
    this.#call = call
    this.#plan = plan
    this.#services = services
    this.merged = plan.request.streams === 'merged'
  }

  out(chunk: Uint8Array): Held {
    if (this.own) return this.stdout.push((this.#inOut ??= this.own.inStream()).takenOut(chunk))
  }

  err(chunk: Uint8Array): Held {
    if (this.own && !(this.interrupted && chunk.length === 1 && chunk[0] === 10))
      return (this.stderr ?? this.stdout).push((this.#inErr ??= this.own.inStream()).takenOut(chunk))
  }

  get stdout(): Capture {
    return (this.#stdout ??= this.#call.capture(this.merged ? 'output' : 'stdout', this.#plan, this.#services))
  }

  /** Null when both go to one. */
  get stderr(): Capture | null {
    return this.merged ? null : (this.#stderr ??= this.#call.capture('stderr', this.#plan, this.#services))
  }

  get isEmpty(): boolean {
    return this.#stdout === null && this.#stderr === null
  }

  /** What was held back because it could begin words of the session's own is the command's after all. */
  letGo(): void {
    if (this.#inOut) void this.stdout.push(this.#inOut.rest())
    if (this.#inErr) void (this.stderr ?? this.stdout).push(this.#inErr.rest())
  }

  end(): void {
    this.letGo()
    this.#stdout?.end()
    this.#stderr?.end()
  }

  get spillPath(): string | null {
    return this.#stdout?.spillPath ?? this.#stderr?.spillPath ?? null
  }

  /** What the files for the whole output lack. */
  get spillNotes(): readonly Note[] {
    return [this.#stdout?.spillNote, this.#stderr?.spillNote].filter((note) => note !== null && note !== undefined)
  }

  texts(): Texts {
    const { clip } = this.#plan
    if (this.#stdout && this.#stderr) {
      const { out, err } = clippedTexts(this.#stdout, this.#stderr, clip)
      return { out, err: err ?? NOTHING }
    }
    return { out: this.#stdout?.text(clip) ?? NOTHING, err: this.#stderr?.text(clip) ?? NOTHING }
  }
}

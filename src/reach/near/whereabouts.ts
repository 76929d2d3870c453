/** Which engine answers at a place, and what it means when another one does. */
import { ShellError } from '../../contract/errors.js'
import type { Note } from '../../contract/note.js'
import type { PlaceInfo } from '../../contract/place.js'
import type { Welcome } from '../messages.js'
import { duration, otherBuildText } from './texts.js'

/** Of this much of a difference a message on its way may be the reason. */
const SAME_CLOCK_MS = 2_000

/** `same` knows its calls; `forgot` has let this client go; `new` and `other` know nothing of it. */
export type Arrival = { readonly kind: 'same' } | { readonly kind: 'forgot' | 'new' | 'other'; readonly why: string }

export class Whereabouts {
  readonly #url: string
  readonly #leaseMs: number
  readonly #news: Note[]
  #isSameBuild = true
  welcome: Welcome | null = null
  /** Counts far engines: a session that was made in an earlier one is gone. */
  generation = 0
  /** What the clock here is ahead of the one there. */
  clockMs = 0
  goneWhy = ''
  /** Why the engine there is about to end, in its own words. */
  failure = ''
  /** Set when another machine answers under the same address: the next call says so and runs nothing. */
  #replaced: ShellError | null = null

  constructor(url: string, leaseMs: number, news: Note[]) {
    this.#url = url
    this.#leaseMs = leaseMs
    this.#news = news
  }

  get place(): PlaceInfo | null {
    if (!this.welcome) return null
    const { host, platform, identity, engine, pid } = this.welcome
    return { url: this.#url, host, platform, identity, engine, pid, isSameBuild: this.#isSameBuild }
  }

  arrive(given: Welcome, downMs: number, isSameBuild: boolean): Arrival {
    const before = this.welcome
    this.welcome = given
    this.#isSameBuild = isSameBuild
    if (!isSameBuild && before?.engine !== given.engine)
      this.#news.push({ code: 'place', text: otherBuildText(this.#url, this.#leaseMs) })
    const ahead = Number.isSafeInteger(given.now) ? Date.now() - (given.now as number) : 0
    this.clockMs = Math.abs(ahead) > SAME_CLOCK_MS ? ahead : 0
    if (!before || (before.engine === given.engine && given.isKnown)) return { kind: 'same' }
    const ended = this.failure === '' ? 'was ended' : `failed (${this.failure}) and was ended`
    const left = downMs >= this.#leaseMs ? `no connection for ${duration(downMs)}` : `the engine there ${ended}`
    if (before.engine !== given.engine) this.failure = ''
    if (before.engine === given.engine) return { kind: 'forgot', why: left }
    this.generation += 1
    this.goneWhy = left
    if (before.identity === given.identity) return { kind: 'new', why: left }
    this.goneWhy = 'another machine or container answers there now'
    this.#replaced = new ShellError(
      'PLACE_GONE',
      `${this.#url} is gone: ${this.goneWhy}. Sessions and jobs of the one before are lost; nothing was run.`,
      'The next call works on the new one, with empty sessions. Check that it is what you expect.',
    )
    return { kind: 'other', why: this.goneWhy }
  }

  /** Once after another machine has answered. */
  throwIfReplaced(): void {
    const error = this.#replaced
    this.#replaced = null
    if (error) throw error
  }
}

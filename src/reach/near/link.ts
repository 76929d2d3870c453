/**
 * The near end of a link: opened when it is needed, watched by beats, opened again when it is cut, for as long as there
 * may be something at its other end. What travels over it is the business of `Calls`.
 */
import { randomBytes } from 'node:crypto'
import { ShellError } from '../../contract/errors.js'
import { within } from '../../engine/services/within.js'
import type { ClientEnd } from '../../os/process/client.js'
import type { WireEnds } from '../wire.js'
import { Wire } from '../wire.js'
import { errorFromWire, isProof, parse, proofOf, WIRE_VERSION } from '../messages.js'
import type { Challenge, Hello, Welcome, WireError } from '../messages.js'

/** A client that has become a link: an engine listens at its other end. */
export interface OpenLink extends WireEnds {
  /** The digest of the code that an engine there would have now. */
  readonly build?: string
  readonly closed: Promise<ClientEnd>
  destroy(): void
  hold(isNeeded: boolean): void
}

export interface LinkSettings {
  readonly url: string
  readonly client: string
  readonly key: Buffer
  readonly beatMs: number
  readonly leaseMs: number
  /**
   * Opens the client, arrives, and gives the link; rejects with a ShellError that says why not.
   * A client that says nothing for `lookMs` is given up.
   */
  open(lookMs: number): Promise<OpenLink>
}

export interface LinkUser {
  hello(): Omit<Hello, 'proof'>
  /** A link is up; everything that is sent to `wire` from here on arrives in order. Throws to refuse it. */
  onUp(wire: Wire, welcome: Welcome, downMs: number, isSameBuild: boolean): void
  onMessage(kind: string, payload: Buffer): void
  onDown(reason: string): void
  /** Trying has ended: no link for longer than the lease, or the client says that there is nothing any more. */
  onGone(error: ShellError): void
}

const HANDSHAKE_MS = 30_000
const LAST_MS = 500
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 5_000
/**
 * A client that started while the network was down may hang long after it is back: the first ones are given up early.
 */
const FIRST_LOOK_MS = 5_000
const LONGEST_LOOK_MS = 30_000
/** A beat behind a long call is answered after it: what is sent gets time, as over a way of 128 kbit/s. */
const SLOWEST_BYTES_PER_MS = 16
/** A peer that sends what no engine sends is not called again at once. */
const BAD_PEER_PAUSE_MS = 30_000

export class Link {
  readonly #settings: LinkSettings
  readonly #user: LinkUser
  #wire: Wire | null = null
  #open: OpenLink | null = null
  #trying: Promise<void> | null = null
  #closed = false
  #downSince = 0
  /** What no engine sends, when that is why the last link was closed. */
  #bad = ''
  /** The last link ended before it was up, without a word why. */
  #hasHungUp = false
  #held = false
  #beats: NodeJS.Timeout | null = null
  /** `isFirm`: no call shortens it. */
  #pause: { timer: NodeJS.Timeout; isFirm: boolean; end(): void } | null = null

  constructor(settings: LinkSettings, user: LinkUser) {
    this.#settings = settings
    this.#user = user
  }

  get wire(): Wire | null {
    return this.#wire
  }

  get downMs(): number {
    return this.#wire || this.#downSince === 0 ? 0 : performance.now() - this.#downSince
  }

  /** Rejects with the reason. Tries twice where an engine hangs up, which was closing: its lease had ended. */
  async connect(): Promise<void> {
    this.#downSince ||= performance.now()
    this.#trying ??= this.#once(LONGEST_LOOK_MS)
      .catch((error: unknown) => {
        if (!this.#hasHungUp) throw error
        return this.#once(LONGEST_LOOK_MS)
      })
      .finally(() => (this.#trying = null))
    await this.#trying
  }

  /** Tries in the background until it is up or gone. */
  wake(): void {
    if (this.#wire || this.#trying || this.#closed) {
      if (!this.#pause?.isFirm) this.#pause?.end()
      return
    }
    this.#downSince ||= performance.now()
    this.#trying = this.#untilUp().finally(() => (this.#trying = null))
  }

  /** While something waits for an answer the link keeps this process alive. */
  hold(isNeeded: boolean): void {
    this.#held = isNeeded
    this.#open?.hold(isNeeded)
    if (isNeeded) this.#pause?.timer.ref()
    else this.#pause?.timer.unref()
  }

  /** Everything was said: a client that does not end now is held by something else, as by what a profile started. */
  finish(): void {
    setTimeout(() => this.cut(), LAST_MS).unref()
  }

  /** Cuts it off, as a network would; used when it is silent. */
  cut(): void {
    this.#open?.destroy()
  }

  async close(graceMs: number): Promise<void> {
    this.#closed = true
    this.#pause?.end()
    if (this.#beats) clearInterval(this.#beats)
    const open = this.#open
    if (!open) return
    // The far side says so when everything there has ended; a client that hears nothing is not waited for.
    open.hold(true)
    await within(open.closed, graceMs)
    open.destroy()
  }

  async #untilUp(): Promise<void> {
    let pause = FIRST_PAUSE_MS
    for (let lookMs = FIRST_LOOK_MS; ; lookMs = Math.min(lookMs * 2, LONGEST_LOOK_MS)) {
      if (this.#closed) return
      try {
        if (this.#bad) await this.#rest(BAD_PEER_PAUSE_MS, true)
        this.#bad = ''
        return await this.#once(lookMs)
      } catch (error) {
        const why = ShellError.is(error) ? error : new ShellError('PLACE_UNREACHABLE', String(error), '')
        const isOver = performance.now() - this.#downSince > this.#settings.leaseMs
        if (isOver || ['PLACE_GONE', 'PLACE_REFUSED', 'PLACE_UNFIT', 'BAD_CONFIG', 'BAD_REQUEST'].includes(why.code)) {
          this.#downSince = 0
          return this.#user.onGone(why)
        }
      }
      // A little by chance, so that many engines do not come back to one host in step.
      await this.#rest(pause * (0.75 + Math.random() / 2))
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    }
  }

  async #rest(ms: number, isFirm = false): Promise<void> {
    if (this.#closed) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      if (!this.#held) timer.unref()
      this.#pause = { timer, isFirm, end: () => (clearTimeout(timer), resolve()) }
    })
    this.#pause = null
  }

  async #once(lookMs: number): Promise<void> {
    this.#hasHungUp = false
    const open = await this.#settings.open(lookMs)
    if (this.#closed) return open.destroy()
    open.hold(true)
    let isUp = false
    let late: NodeJS.Timeout | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        late = setTimeout(() => reject(this.#unreachable('it did not answer')), HANDSHAKE_MS)
        void open.closed.then(({ stderr }) => {
          this.#hasHungUp = !isUp && !this.#bad
          reject(this.#unreachable(stderr.trim() || 'the link closed'))
        })
        this.#greet(
          open,
          (made, welcome) => {
            // `close` has been called and found no link to close.
            if (this.#closed) throw this.#unreachable('the engine was closed')
            isUp = true
            this.#takeOver(open, made)
            const isSameBuild = open.build === undefined || open.build === welcome.build
            this.#user.onUp(made, welcome, performance.now() - this.#downSince, isSameBuild)
            this.#downSince = 0
            resolve()
          },
          reject,
        )
      })
    } catch (error) {
      if (!isUp) open.destroy()
      throw error
    } finally {
      clearTimeout(late)
    }
    open.hold(this.#held)
  }

  /** Both sides prove the key before either says anything of worth. */
  #greet(open: OpenLink, up: (wire: Wire, welcome: Welcome) => void, fail: (error: Error) => void): void {
    const { client, key } = this.#settings
    const nonce = randomBytes(32).toString('hex')
    let step: 'challenge' | 'welcome' | 'up' = 'challenge'
    const take = (kind: string, payload: Buffer): void => {
      if (kind === 'p') return wire.beatAnswered()
      if (step === 'up') return this.#user.onMessage(kind, payload)
      if (kind !== 'h') return fail(this.#unreachable('something else than an engine answered'))
      if (step === 'challenge') {
        const { nonce: theirs, proof } = parse<Challenge>(payload)
        if (!isProof(proof, proofOf(key, 'far', client, nonce, String(theirs)))) {
          this.#bad = 'a wrong proof'
          return fail(
            new ShellError(
              'PLACE_REFUSED',
              `What answered at ${this.#settings.url} is not the engine that was started there`,
              'Something else took its socket. Look at the processes there before you connect again.',
            ),
          )
        }
        step = 'welcome'
        const proven = proofOf(key, 'near', client, nonce, theirs)
        return wire.send('H', { ...this.#user.hello(), proof: proven } satisfies Hello)
      }
      const welcome = parse<Welcome & { error?: WireError }>(payload)
      if (welcome.error) return fail(unfit(welcome.error, this.#settings.url))
      step = 'up'
      try {
        up(wire, welcome)
      } catch (error) {
        fail(error as Error)
        open.destroy()
      }
    }
    const wire = new Wire(open, take, (why) => {
      this.#bad = why
      fail(this.#unreachable(`it sent ${why}`))
      open.destroy()
    })
    wire.send('H', { version: WIRE_VERSION, client, nonce })
  }

  #takeOver(open: OpenLink, wire: Wire): void {
    this.#open = open
    this.#wire = wire
    this.#watch()
    void open.closed.then(({ stderr, code, signal }) => {
      if (this.#open !== open) return
      wire.close()
      this.#open = null
      this.#wire = null
      this.#downSince = performance.now()
      if (this.#beats) clearInterval(this.#beats)
      if (this.#closed) return
      const said = this.#bad ? `it sent what no engine sends: ${this.#bad}` : stderr.trim().split('\n').at(-1)
      this.#user.onDown(said || `the client ended (${signal ?? code ?? 'no code'})`)
    })
  }

  #watch(): void {
    const { beatMs } = this.#settings
    if (this.#beats) clearInterval(this.#beats)
    let lookedAt = performance.now()
    this.#beats = setInterval(() => {
      const now = performance.now()
      const wasHeldUp = now - lookedAt > 2 * beatMs
      lookedAt = now
      const wire = this.#wire
      if (!wire) return
      // When this process itself was stopped or busy, the answers may be waiting unread.
      const patienceMs = 3 * beatMs + wire.underwayBytes / SLOWEST_BYTES_PER_MS
      if (!wasHeldUp && now - wire.heardAt > patienceMs) this.cut()
      else wire.beat()
    }, beatMs).unref()
  }

  #unreachable(why: string): ShellError {
    return new ShellError(
      'PLACE_UNREACHABLE',
      `${this.#settings.url} cannot be reached: ${why}`,
      'Try the client by hand.',
    )
  }
}

/** Why an engine could not be made there, in words that name the place. */
function unfit(error: WireError, url: string): Error {
  const made = errorFromWire(error)
  if (!ShellError.is(made) || made.code !== 'SHELL_NOT_FOUND') return made
  return new ShellError('PLACE_UNFIT', `${url}: ${made.message}`, 'cerith needs bash 4.4 or newer there.')
}

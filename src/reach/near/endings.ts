/** What came of a command at another place, in words that fit: a cut is not an end, and a late result is kept. */
import { ShellError } from '../../contract/errors.js'
import type { Note } from '../../contract/note.js'
import type { Outcome } from '../../contract/outcome.js'
import type { RunRequest } from '../../contract/request.js'
import { unknownNotes } from '../../engine/plan/delivery.js'
import { lostOutcome, withDrops } from '../../engine/services/outcomes.js'
import type { SecretStore } from '../../engine/services/secret-store.js'
import { CallLost, type PendingCall } from './pending-call.js'
import { cleaned } from './request-args.js'
import type { NearSession } from './session.js'
import { engineGoneText, mayRunText, notStartedError, recoveredText, unansweredError } from './texts.js'

const KEPT_RECOVERED = 100

interface Around {
  readonly url: string
  readonly secrets: SecretStore
  /** To be said by the next outcome. */
  readonly news: Note[]
  cwd(): string
  /** Names of secrets that the command asked for and that are not known here. */
  unknownOf(call: PendingCall): readonly string[]
}

export class Endings {
  readonly #around: Around
  readonly #recoverable = new Map<string, Promise<Outcome | null>>()

  constructor(around: Around) {
    this.#around = around
  }

  /** `gap`: bytes of live output that its reader was too slow to take. */
  async of(done: PendingCall, session: NearSession | null, startedAt: number, gap: number): Promise<Outcome> {
    const cwd = session?.cwd ?? this.#around.cwd()
    try {
      const outcome = cleaned((await done.result) as Outcome, done.request as RunRequest)
      if (session && outcome.status !== 'refused') session.cwd = outcome.cwd
      const told = await this.#withNews(outcome, done, session)
      return gap > 0 ? withDrops(told, gap) : told
    } catch (error) {
      if (!(error instanceof CallLost)) throw error
      const { loss } = error
      const { url } = this.#around
      if (loss.kind === 'not-started') throw notStartedError(url, loss)
      const lost = (text: string, link?: { call: string; mayRun: boolean }): Outcome =>
        lostOutcome(
          { cwd, session: session?.name ?? null },
          performance.now() - startedAt,
          { kind: 'lost', reason: text, ...(link ? { link } : {}) },
          { code: 'lost', text },
        )
      if (loss.kind === 'gone') return lost(engineGoneText(url, loss.why))
      this.#keepForLater(done)
      return lost(mayRunText(url, loss.downMs, done.name), { call: done.name, mayRun: true })
    }
  }

  /** What came of a call whose link was cut, once it is known. */
  async recover(name: string): Promise<Outcome | null> {
    return (await this.#recoverable.get(name)) ?? null
  }

  async #withNews(outcome: Outcome, done: PendingCall, session: NearSession | null): Promise<Outcome> {
    const { news, secrets } = this.#around
    // Which names were meant is known here only.
    const unknown = this.#around.unknownOf(done)
    const said = outcome.notes.filter(({ code }) => unknown.length === 0 || code !== 'unknown-secret')
    const own = unknown.length === 0 ? [] : unknownNotes(unknown, await secrets.names())
    const before = [...news.splice(0), ...(session?.takeNews() ?? [])]
    return before.length + own.length > 0 ? { ...outcome, notes: [...before, ...said, ...own] } : outcome
  }

  #keepForLater(done: PendingCall): void {
    const outcome = done.late as Promise<Outcome | null>
    const { command } = done.request as RunRequest
    const text = typeof command === 'string' ? command : command.join(' ')
    this.#recoverable.set(done.name, outcome)
    if (this.#recoverable.size > KEPT_RECOVERED)
      this.#recoverable.delete(this.#recoverable.keys().next().value as string)
    void outcome.then(
      (value) => value && this.#around.news.push({ code: 'recovered', text: recoveredText(done.name, text, value) }),
    )
  }
}

/** What a call that runs nothing throws when it was lost. */
export function lossError(url: string, { loss }: CallLost, verb: string): ShellError {
  if (loss.kind === 'not-started') return notStartedError(url, loss)
  if (loss.kind === 'unanswered') return unansweredError(url, loss.downMs, verb)
  return new ShellError(
    'PLACE_GONE',
    `The call to ${url} was lost: ${loss.why}`,
    'Look at what is there before you repeat it.',
  )
}

/**
 * The questions of one engine and their answers, in its memory only. Every way to answer (the
 * caller's function, a terminal, the page) races for a waiting question: the first answer wins,
 * a no beats a yes of the same moment, and all others are told.
 */
import { randomBytes } from 'node:crypto'
import type { ApprovalAnswer } from '../contract/request.js'
import { QUESTION_LIVES_MS, shownDigest, type Shown, type WaitingApproval } from './approvals.js'

export interface Answer {
  readonly as: ApprovalAnswer
  /** Who, in words for the record: `ann: node 812 on pts/3`. */
  readonly by: string
}

export type AnswerResult = 'accepted' | 'unknown' | 'differs' | 'answered'

type Give = (answer: Answer | null) => void

interface Question {
  readonly waiting: WaitingApproval
  /** What is asked, exactly: two texts that look the same when secrets are masked are two questions. */
  readonly key: string
  readonly digest: string
  /** The directory itself: another one under the same name is another question. */
  readonly place: string | null
  /** Calls that wait at this moment, in the order in which they asked. */
  readonly waiters: Set<Give>
  /** Given while no call waited: good for the next one, once. */
  granted: Answer | null
  /** Handed over with the next turn of the event loop. */
  settling: Answer | null
  readonly since: number
}

export interface QuestionWatcher {
  /** `isWaiting`: a call waits for the answer; otherwise it was refused and may be repeated. */
  asked(waiting: WaitingApproval, isWaiting: boolean): void
  answered(waiting: WaitingApproval, answer: Answer, waitedMs: number): void
}

export class Questions {
  /** Peers that said that a person is there to answer. While there is one, a call waits instead of being refused. */
  readonly approvers = new Set<object>()
  /** Makes sure that other processes can reach these questions; set by the engine. */
  reach: () => Promise<void> = async () => {}
  readonly #byKey = new Map<string, Question>()
  /** Approvals for the rest of the session, with the scripts that they would start as they were. */
  readonly #remembered = new Map<string, string>()
  readonly #watchers = new Set<QuestionWatcher>()
  readonly #engine: string

  constructor(engine: string) {
    this.#engine = engine
  }

  watch(watcher: QuestionWatcher): () => void {
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  /** The same question keeps its id while it can be answered. `place` marks the directory itself, not its name. */
  ask(shown: Shown, key: string, place: string | null): WaitingApproval {
    this.#forgetOld()
    const known = this.#byKey.get(key)
    if (known) return known.waiting
    const waiting = { ...shown, id: `ask_${randomBytes(6).toString('hex')}`, askedAt: Date.now(), engine: this.#engine }
    const digest = shownDigest(shown)
    this.#byKey.set(key, {
      waiting,
      key,
      digest,
      place,
      waiters: new Set(),
      granted: null,
      settling: null,
      since: performance.now(),
    })
    return waiting
  }

  /** What can be answered. */
  open(): { readonly waiting: WaitingApproval; readonly isWaiting: boolean }[] {
    this.#forgetOld()
    const open = [...this.#byKey.values()].filter(({ granted, settling }) => !granted && !settling)
    return open.map(({ waiting, waiters }) => ({ waiting, isWaiting: waiters.size > 0 }))
  }

  /** Uses up an answer that came after the call had been refused; only for the same directory. */
  take(key: string, place: string | null): Answer | null {
    this.#forgetOld()
    const question = this.#byKey.get(key)
    if (!question?.granted || question.place !== place) return null
    this.#byKey.delete(key)
    return question.granted
  }

  /** From here on the same needs no answer, as long as the scripts that it starts (`marks`) do not change. */
  remember(key: string, marks: string): void {
    this.#remembered.set(key, marks)
  }

  remembers(key: string, marks: string): boolean {
    const before = this.#remembered.get(key)
    if (before !== undefined && before !== marks) this.#remembered.delete(key)
    return before === marks
  }

  /** The answer to a question that `ask` gave; `stop` ends the waiting without one. */
  wait(id: string): { readonly answer: Promise<Answer | null>; stop(): void } {
    const question = this.#find(id)
    if (!question) return { answer: Promise.resolve(null), stop: () => {} }
    let give!: Give
    const answer = new Promise<Answer | null>((resolve) => (give = resolve))
    question.waiters.add(give)
    this.#tellAsked(question)
    const stop = (): void => {
      if (!question.waiters.delete(give)) return
      give(null)
      this.#tellAsked(question)
    }
    return { answer, stop }
  }

  /** `digest` is that of what the peer showed: it must be this question's own. */
  answer(id: string, digest: string, answer: Answer): AnswerResult {
    const question = this.#find(id)
    if (!question) return 'unknown'
    if (question.digest !== digest) return 'differs'
    if (question.granted) return 'answered'
    if (question.settling) {
      // A yes is about to be handed over: a no is still in time, another yes is not.
      if (answer.as !== 'deny' || question.settling.as === 'deny') return 'answered'
      question.settling = answer
      return 'accepted'
    }
    question.settling = answer
    setImmediate(() => this.#settle(question))
    return 'accepted'
  }

  /** By the caller's own function, which was given the question itself. */
  answerHere(id: string, answer: Answer): void {
    const question = this.#find(id)
    if (question) this.answer(id, question.digest, answer)
  }

  close(): void {
    for (const { waiters } of this.#byKey.values()) for (const give of waiters) give(null)
    this.#byKey.clear()
  }

  #settle(question: Question): void {
    const answer = question.settling as Answer
    question.settling = null
    const { waiters, waiting, key } = question
    const waitedMs = Math.round(performance.now() - question.since)
    // A yes for once lets one call go on, not all that ask for the same.
    const served = answer.as === 'once' ? [...waiters].slice(0, 1) : [...waiters]
    for (const give of served) waiters.delete(give)
    if (served.length === 0 && answer.as !== 'deny') question.granted = answer
    else if (waiters.size === 0) this.#byKey.delete(key)
    for (const give of served) give(answer)
    for (const watcher of this.#watchers) watcher.answered(waiting, answer, waitedMs)
    if (waiters.size > 0) this.#tellAsked(question)
  }

  #tellAsked({ waiting, waiters }: Question): void {
    for (const watcher of this.#watchers) watcher.asked(waiting, waiters.size > 0)
  }

  #find(id: string): Question | undefined {
    for (const question of this.#byKey.values()) if (question.waiting.id === id) return question
    return undefined
  }

  #forgetOld(): void {
    const before = performance.now() - QUESTION_LIVES_MS
    for (const [key, { since, waiters }] of this.#byKey)
      if (since < before && waiters.size === 0) this.#byKey.delete(key)
  }
}

/**
 * Asks the person behind the client about a doubtful command, in both eras, and believes only
 * answers that belong to exactly that question.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'
import type { ApprovalAnswer, ApprovalQuestion, AskFunction } from '../../contract/request.js'
import { isSameSecret } from '../../os/peer/same-secret.js'
import type { RunWatcher } from './owned-engine.js'

/** The key under which the question and its answer travel. */
export const QUESTION = 'approval'

const CHOICES: Readonly<Record<string, ApprovalAnswer>> = {
  'allow once': 'once',
  'allow exactly this for the session': 'session',
  deny: 'deny',
}

/**
 * What a client made of the question. Many clients decline without showing it, so that is not yet a no. Null: it was
 * not asked.
 */
export type Reply = ApprovalAnswer | 'declined or cannot ask' | null

export function formFor(question: ApprovalQuestion, mask: (text: string) => string): ElicitRequestFormParams {
  const { reason } = question.verdict
  const command = mask(question.command)
  return {
    mode: 'form',
    message: [
      `Run this command?`,
      '',
      command.length > 4_000 ? `${command.slice(0, 4_000)}… (${command.length} characters)` : command,
      '',
      `Directory: ${mask(question.cwd)}`,
      ...(reason ? [`Asked because: ${mask(reason)}`] : []),
    ].join('\n'),
    requestedSchema: {
      type: 'object',
      properties: { decision: { type: 'string', title: 'Decision', enum: Object.keys(CHOICES) } },
      required: ['decision'],
    },
  }
}

export function replyOf(result: unknown): Reply {
  const { action, content } = (typeof result === 'object' && result !== null ? result : {}) as {
    action?: unknown
    content?: Record<string, unknown>
  }
  const decision = action === 'accept' ? content?.['decision'] : undefined
  return typeof decision === 'string' && Object.hasOwn(CHOICES, decision)
    ? CHOICES[decision]!
    : 'declined or cannot ask'
}

/** What one tool call asked and was told; the engine's Outcome passes through it. */
export class CallApprovals {
  /** Commands of this call so far. A call of several commands cannot be repeated to get an answer in. */
  runs = 0
  question: ApprovalQuestion | null = null
  reply: Reply = null

  readonly ask: AskFunction

  constructor(readonly answer: (question: ApprovalQuestion, approvals: CallApprovals) => Promise<Reply>) {
    const ask: AskFunction & { [CALL]?: CallApprovals } = async (question) => {
      this.question = question
      this.reply = await this.answer(question, this)
      // Null keeps the way out through `cerith approve`, which a plain no would close.
      return this.reply === 'declined or cannot ask' ? null : this.reply
    }
    ask[CALL] = this
    this.ask = ask
  }
}

/** On the ask function itself: an entry in a WeakMap for every call costs more than the rest of it. */
const CALL = Symbol('the call that asks')

function callBehind(ask: (AskFunction & { readonly [CALL]?: CallApprovals }) | undefined): CallApprovals | undefined {
  return ask?.[CALL]
}

/** Finds the approvals of a call by the ask function that its requests carry. */
export const APPROVALS: RunWatcher = {
  began({ ask }) {
    const call = callBehind(ask)
    if (call) call.runs += 1
  },
  ended({ ask }, outcome) {
    const call = callBehind(ask)
    if (!call || call.reply !== 'declined or cannot ask' || outcome.refused === null || outcome.approvalId === null)
      return outcome
    const why = call.question?.verdict.reason ?? 'a rule asks for it'
    const reason = `Not run: it needs approval (${why}). The client declined, or it cannot ask.`
    return { ...outcome, refused: { ...outcome.refused, reason } }
  },
}

/**
 * The state that travels through the client between question and answer: signed, for one
 * question, used once, soon worthless.
 */
export class ApprovalStates {
  readonly #key = randomBytes(32)
  readonly #used = new Map<string, number>()

  constructor(
    readonly client: string,
    readonly livesMs: number,
  ) {}

  seal(question: ApprovalQuestion, call: unknown): string {
    const body = Buffer.from(
      JSON.stringify({
        about: this.#about(question, call),
        nonce: randomBytes(12).toString('base64url'),
        until: performance.now() + this.livesMs,
      }),
    ).toString('base64url')
    return `${body}.${this.#sign(body)}`
  }

  /** Throws for a state that this server never made. */
  open(state: string): OpenedState {
    const [body = '', signature = ''] = state.split('.')
    if (!isSameSecret(signature, this.#sign(body))) throw new TypeError('Invalid or expired requestState')
    const { about, nonce, until } = JSON.parse(Buffer.from(body, 'base64url').toString()) as {
      about: string
      nonce: string
      until: number
    }
    return {
      /** True once, and only for the question and the call that it was made for. */
      use: (question, call) => {
        const now = performance.now()
        for (const [old, expires] of this.#used) if (expires < now) this.#used.delete(old)
        if (now > until || this.#used.has(nonce) || about !== this.#about(question, call)) return false
        this.#used.set(nonce, until)
        return true
      },
    }
  }

  /**
   * The question's id stands for the exact command, directory and environment: the engine gives
   * the same id to the same three.
   */
  #about(question: ApprovalQuestion, call: unknown): string {
    return createHash('sha256')
      .update(JSON.stringify([this.client, question.id, question.command, question.cwd, question.session, call]))
      .digest('base64url')
  }

  #sign(body: string): string {
    return createHmac('sha256', this.#key).update(body).digest('base64url')
  }
}

export interface OpenedState {
  use(question: ApprovalQuestion, call: unknown): boolean
}

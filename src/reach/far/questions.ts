/**
 * Questions that only the near side can answer: secrets, approvals. Each goes to the client
 * whose call made it necessary.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { ShellError } from '../../contract/errors.js'
import type { SecretSource } from '../../contract/secret.js'
import { errorFromWire, type Answer, type Question } from '../messages.js'

type Asked = Question extends infer Q ? (Q extends Question ? Omit<Q, 'n'> : never) : never

/** The call in whose name the code runs right now. */
export const currentCall = new AsyncLocalStorage<{ readonly id: number; readonly questions: Questions }>()

export class Questions {
  /** Sends a question over the link of the client; while the link is down, nothing is sent. */
  readonly #say: (question: Question) => void
  readonly #open = new Map<number, { question: Question; settle(answer: Answer): void }>()
  #next = 1

  constructor(say: (question: Question) => void) {
    this.#say = say
  }

  ask(about: Asked): Promise<unknown> {
    const question = { ...about, n: this.#next++ } as Question
    return new Promise((resolve, reject) => {
      const settle = ({ value, error }: Answer): void => (error ? reject(errorFromWire(error)) : resolve(value))
      this.#open.set(question.n, { question, settle })
      this.#say(question)
    })
  }

  answer(answer: Answer): void {
    const open = this.#open.get(answer.n)
    this.#open.delete(answer.n)
    open?.settle(answer)
  }

  /** After a cut: what was asked and not answered is asked again. */
  repeat(): void {
    for (const { question } of this.#open.values()) this.#say(question)
  }

  /** The client is gone for good. */
  end(): void {
    const error = { name: 'ShellError', code: 'LINK_DOWN', message: 'The client that could answer is gone', hint: '' }
    for (const n of this.#open.keys()) this.answer({ n, error })
  }
}

/** Values are asked for when a command needs them, and only the command's own masker keeps them. */
export function nearSecrets(forPrompts: () => Questions | null): SecretSource {
  return {
    async lookup(kind, name) {
      const call = currentCall.getStore()
      const questions = call?.questions ?? forPrompts()
      if (!questions)
        throw new ShellError('SECRET_REFUSED', `Nobody can be asked for the secret ${name}`, 'Connect again.')
      const value = await questions.ask({ ask: 'secret', call: call?.id ?? null, kind, name })
      return typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : undefined
    },
  }
}

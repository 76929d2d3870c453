/**
 * Output for one view of one page: no more on its way than the page has read. What does not fit
 * is skipped and counted; the store keeps it.
 */

/** On its way to the page at most, in characters. */
const UNREAD = 256 * 1024
/** Waiting here at most; beyond that the view goes on at the end. */
const WAITING = 256 * 1024

export class Flow {
  readonly #send: (text: string, skipped: number) => void
  #unread = 0
  #waiting: string[] = []
  #length = 0
  #skipped = 0

  constructor(send: (text: string, skipped: number) => void) {
    this.#send = send
  }

  push(text: string, missed = 0): void {
    this.#skipped += missed
    this.#waiting.push(text)
    this.#length += text.length
    if (this.#length > WAITING) this.#skip()
    this.#pump()
  }

  /** The page has shown so much. */
  read(length: number): void {
    this.#unread = Math.max(0, this.#unread - length)
    this.#pump()
  }

  #skip(): void {
    const all = this.#waiting.join('')
    const cut = all.length - WAITING / 2
    const line = all.indexOf('\n', cut)
    const kept = all.slice(line < 0 ? cut : line + 1)
    this.#skipped += all.length - kept.length
    this.#waiting = [kept]
    this.#length = kept.length
  }

  #pump(): void {
    if (this.#unread > UNREAD || (this.#length === 0 && this.#skipped === 0)) return
    const text = this.#waiting.join('')
    this.#unread += text.length
    this.#send(text, this.#skipped)
    this.#waiting = []
    this.#length = 0
    this.#skipped = 0
  }
}

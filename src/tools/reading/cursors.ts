/** Remembers how far each job was read through one set of tools; the engine itself knows no reader. */
import type { StreamName } from '../../contract/output.js'

/** Where a reader is in each stream of a job. Absent means at the beginning. */
export type Position = Readonly<Partial<Record<StreamName, number>>>

/** The public cursor: the bytes read of all streams together. */
export function cursorOf(position: Position): number {
  return (position.output ?? 0) + (position.stdout ?? 0) + (position.stderr ?? 0)
}

/** One job's reader. The public cursor is one number, so this remembers what each number meant for each stream. */
export class JobReader {
  #last: Position = {}
  readonly #known = new Map<number, Position>()
  #turn: Promise<unknown> = Promise.resolve()

  get last(): Position {
    return this.#last
  }

  note(position: Position): void {
    this.#last = position
    this.#known.set(cursorOf(position), position)
    const [oldest] = this.#known.keys()
    if (this.#known.size > 256 && oldest !== undefined) this.#known.delete(oldest)
  }

  /** A number that was never handed out is taken as an offset into the first stream. */
  positionOf(since: number): Position {
    if (since === 0) return {}
    return this.#known.get(since) ?? { output: since, stdout: since }
  }

  /** Two reads of one job at the same time must not get the same bytes twice. */
  inTurn<T>(read: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(read)
    this.#turn = mine.catch(() => {})
    return mine
  }
}

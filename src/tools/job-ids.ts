/** Ids of jobs in the words of a dialect: `bash_1`, `bash_2`, ... */
import type { Engine } from '../contract/engine.js'
import type { IdMaker } from './dialect.js'

export class JobIds {
  readonly #engine: Engine
  readonly #maker: IdMaker | null
  #given = 0
  #first: Promise<number> | undefined

  constructor(engine: Engine, maker: IdMaker | null) {
    this.#engine = engine
    this.#maker = maker
  }

  /** Undefined: the engine's own ids. */
  async maker(): Promise<(() => string) | undefined> {
    const maker = this.#maker
    if (!maker) return undefined
    const { counts } = maker
    // Looked up once: from then on these tools count for themselves, and an id that is taken is asked for again.
    if (counts)
      this.#first ??= this.#engine
        .jobs({ all: true })
        .then((jobs) => Math.max(0, ...jobs.map(({ id }) => Number(counts.exec(id)?.[1] ?? 0))))
    const first = await (this.#first ?? 0)
    return () => maker.make(first + (this.#given += 1))
  }
}

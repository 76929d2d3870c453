/** Ids of jobs in the words of a dialect: `bash_1`, `bash_2`, ... */
import type { Engine } from '../contract/engine.js'
import type { IdMaker } from './dialect.js'

/** Gives the function that makes the next id; undefined where the engine's own ids are used. */
export function jobIds(engine: Engine, maker: IdMaker | null): () => Promise<(() => string) | undefined> {
  let given = 0
  let highest: Promise<number> | undefined
  return async () => {
    if (!maker) return undefined
    const { counts } = maker
    // Looked up once: from then on these tools count for themselves, and an id that is taken is asked for again.
    if (counts)
      highest ??= engine
        .jobs({ all: true })
        .then((jobs) => Math.max(0, ...jobs.map(({ id }) => Number(counts.exec(id)?.[1] ?? 0))))
    const before = await (highest ?? 0)
    return () => maker.make(before + (given += 1))
  }
}

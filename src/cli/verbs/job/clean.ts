/** `cerith clean`: forgets finished jobs and their output. Running ones stay. */
import { EXIT } from '../../io/io.js'
import { withEngine } from '../../verb/open-engine.js'
import { JSON_OPTION, readDuration } from '../../verb/option-rows.js'
import { defineVerb } from '../../verb/verb.js'

export const verb = defineVerb({
  options: [
    { flags: '--older-than <TIME>', about: 'only those that ended longer ago: 30s, 1h, 7d', read: readDuration },
    JSON_OPTION,
  ],
  examples: [
    ['cerith clean', 'all that have ended'],
    ['cerith clean --older-than 1h', 'keep the recent ones'],
  ],
  async run({ options }, io) {
    const { olderThan, json } = options
    return withEngine(io, {}, async (engine) => {
      const { removed } = await engine.clean({ olderThanMs: olderThan })
      if (json) io.out.write(`${JSON.stringify({ removed })}\n`)
      else io.out.write(`Removed ${removed.length} finished ${removed.length === 1 ? 'job' : 'jobs'}.\n`)
      return EXIT.ok
    })
  },
})

/** `cerith bench`: cerith against plain spawn, on this machine, now. */
import { EXIT } from '../../io/io.js'
import { JSON_OPTION } from '../../verb/option-rows.js'
import { defineVerb } from '../../verb/verb.js'

export const verb = defineVerb({
  options: [JSON_OPTION, { flags: '--quick', about: 'fewer rounds' }],
  examples: [
    ['cerith bench', 'a table with ratios and bars'],
    ['cerith bench --quick --json', 'numbers for a script'],
  ],
  details: 'Rounds of both are interleaved, so that a busy machine slows both alike.',
  async run({ options }, io) {
    const { runBench } = await import('./measure.js')
    await runBench(options, io)
    return EXIT.ok
  },
})

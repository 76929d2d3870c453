/** `cerith discard`: throws away what was tried. The originals are as they were. */
import { ShellError } from '../../../contract/errors.js'
import { EXIT, isYes, UsageError } from '../../io/io.js'
import { withEngine } from '../../verb/open-engine.js'
import { JSON_OPTION, SET_OPTION } from '../../verb/option-rows.js'
import { tryToSettle } from '../../verb/tries.js'
import { defineVerb } from '../../verb/verb.js'

export const verb = defineVerb({
  usage: '[ID]',
  words: [0, 1],
  options: [{ flags: '-y, --yes', about: 'do not ask again on a terminal' }, JSON_OPTION, SET_OPTION],
  examples: [
    ['cerith discard', 'the try of this directory'],
    ['cerith discard try_1a2b3c4d5e', 'another one; cerith diff --list shows them'],
  ],
  async run({ words, options }, io) {
    if (io.insideEngine)
      throw new ShellError('REFUSED', 'Only a person discards here', 'Run it in a terminal that no agent has started.')
    return withEngine(io, { flags: options.set }, async (engine) => {
      const { id, paths } = await tryToSettle(words, engine, io)
      if (paths) throw new UsageError('discard takes no paths', 'Accept what you want to keep, then discard the rest.')
      if (io.person && !options.yes && !options.json) {
        const { changes } = await engine.changes({ id })
        const answer = await io.person.ask(`Throw away ${changes.length} changes of ${id}? [y]es, [n]o: `)
        if (!isYes(answer)) return EXIT.refused
      }
      const result = await engine.discard({ id })
      if (options.json) io.out.write(`${JSON.stringify(result)}\n`)
      else io.out.write(`Discarded ${result.discarded.length} changes of ${result.id}.\n`)
      return EXIT.ok
    })
  },
})

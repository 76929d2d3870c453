/** `cerith accept`: a person lets what was tried count. */
import { ShellError } from '../../../contract/errors.js'
import { EXIT, isYes } from '../../io/io.js'
import { acceptedToJson } from '../../io/json.js'
import { withEngine } from '../../verb/open-engine.js'
import { JSON_OPTION, SET_OPTION } from '../../verb/option-rows.js'
import { painter } from '../../io/paint.js'
import { changeLine } from '../../../output/change-lines.js'
import { tryToSettle } from '../../verb/tries.js'
import { defineVerb } from '../../verb/verb.js'
import { visible } from '../../../output/terminal/visible.js'

export const verb = defineVerb({
  usage: '[ID] [PATH...]',
  words: [0, Infinity],
  options: [
    { flags: '-y, --yes', about: 'do not ask again on a terminal' },
    { flags: '--force', about: 'also where the original changed since the try began' },
    { flags: '--protected', about: 'also files that other programs of yours run or trust' },
    { flags: '--digest <HEX>', about: 'only if it is still what `cerith diff --json` showed' },
    JSON_OPTION,
    SET_OPTION,
  ],
  examples: [
    ['cerith accept', 'everything that the try of this directory changed'],
    ['cerith accept src package.json', 'only these; the rest stays in the try'],
    ['cerith accept --protected .git/hooks', 'a protected name, by its own name'],
  ],
  details: `File by file, each whole or not at all. What is not accepted (a conflict, a protected
name, a full disk) is told and stays in the try; repeat the call to go on. Exit code: 0
when everything was accepted, 1 when something was kept, 126 when you said no.`,
  async run({ words, options }, io) {
    if (io.insideEngine)
      throw new ShellError('REFUSED', 'Only a person accepts here', 'Run it in a terminal that no agent has started.')
    return withEngine(io, { flags: options.set }, async (engine) => {
      const which = await tryToSettle(words, engine, io)
      const { person } = io
      const result = await engine.accept({
        ...which,
        force: options.force,
        protected: options.protected,
        digest: options.digest,
        ask: async () => {
          if (!person || options.yes || options.json) return 'once'
          const paint = painter(io.err, io.env)
          for (const change of (await engine.changes(which)).changes) io.err.write(`${changeLine(change, paint)}\n`)
          return isYes(await person.ask('Accept? [y]es, [n]o: ')) ? 'once' : 'deny'
        },
      })
      if (options.json) io.out.write(`${JSON.stringify(acceptedToJson(result))}\n`)
      else {
        for (const path of result.accepted) io.out.write(`${visible(path)}\n`)
        for (const { path, reason } of result.kept) io.err.write(`cerith: kept ${visible(path)}: ${reason}\n`)
        const rest = result.left > 0 ? `; ${result.left} stay in ${result.id}` : ''
        io.err.write(`cerith: ${result.accepted.length} accepted${rest}\n`)
      }
      if (result.refused) return EXIT.refused
      return result.kept.length > 0 ? 1 : EXIT.ok
    })
  },
})

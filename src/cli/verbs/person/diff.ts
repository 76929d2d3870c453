/** `cerith diff`: what commands of a try changed, while the originals are as they were. */
import { EXIT } from '../../io/io.js'
import { changesToJson, tryToJson } from '../../io/json.js'
import { cerithOf, withEngine } from '../../verb/open-engine.js'
import { JSON_OPTION, SET_OPTION } from '../../verb/option-rows.js'
import { painter } from '../../io/paint.js'
import { aboutTry, tryNamed } from '../../verb/tries.js'
import { defineVerb } from '../../verb/verb.js'
import { changeLine, changeText, countWords } from '../../../output/change-lines.js'

export const verb = defineVerb({
  usage: '[ID] [PATH...]',
  words: [0, Infinity],
  options: [
    { flags: '--stat', about: 'only names and what became of each' },
    { flags: '--list', about: 'all tries that are open, and until when each is kept' },
    JSON_OPTION,
    SET_OPTION,
  ],
  examples: [
    ["cerith run --try 'npx prettier --write .'", 'nothing of it counts yet'],
    ['cerith diff', 'what the try of this directory changed, as text'],
    ['cerith diff --stat src', 'names only, below src'],
    ['cerith diff --list', 'what is still open anywhere'],
  ],
  details: `Without an ID: the try of this directory. CONFLICT: the original changed since the
try began. PROTECTED: other programs of yours would run or believe it; accept takes it
only with --protected. See docs/sandbox.md.`,
  async run({ words, options }, io) {
    return withEngine(io, { flags: options.set }, async (engine) => {
      const named = options.list ? null : await tryNamed(words, engine, io)
      if (named === null) {
        const tries = await engine.tries()
        if (options.json) io.out.write(`${JSON.stringify({ tries: tries.map(tryToJson) })}\n`)
        else if (tries.length === 0) io.out.write('Nothing is tried; see `cerith run --try`.\n')
        else for (const one of tries) io.out.write(`${one.id}  ${aboutTry(one)}\n`)
        return EXIT.ok
      }
      const found = await engine.changes({ ...named, text: !options.stat })
      if (options.json) {
        io.out.write(`${JSON.stringify(changesToJson(found))}\n`)
        return EXIT.ok
      }
      const paint = painter(io.out, io.env)
      for (const change of found.changes) {
        io.out.write(`${changeLine(change, paint)}\n`)
        if (!options.stat) io.out.write(changeText(change, paint))
      }
      const cerith = cerithOf(engine)
      const todo = found.changes.length > 0 ? `; ${cerith} accept, or ${cerith} discard` : ''
      io.err.write(`cerith: ${found.id}: ${countWords(found.changes, named.paths)}${todo}\n`)
      return EXIT.ok
    })
  },
})

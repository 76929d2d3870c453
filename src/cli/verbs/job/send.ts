/** `cerith send`: types into a running job. */
import { EXIT, UsageError } from '../../io/io.js'
import { withEngine } from '../../verb/open-engine.js'
import { JSON_OPTION } from '../../verb/option-rows.js'
import { defineVerb } from '../../verb/verb.js'

export const verb = defineVerb({
  usage: 'ID [TEXT]',
  words: [1, 2],
  options: [
    { flags: '--enter', about: 'press Enter after the text' },
    { flags: '--key <NAME>', about: 'a key by its name: C-c, enter, up, M-x, f5 (repeatable)', many: true },
    { flags: '--eof', about: 'end of input' },
    JSON_OPTION,
  ],
  examples: [
    ["cerith send shell_1a2b3c4d 'yes' --enter", 'answer a question'],
    ['cerith send shell_1a2b3c4d --key C-c', 'what Ctrl-C would do'],
  ],
  details:
    'Text goes in first, then keys, then Enter. {{secret:NAME}} is replaced by the value\n' +
    'on its way in; a job needs a terminal (--pty) or --open-stdin.',
  async run({ words, options }, io) {
    const { enter, key, eof, json } = options
    const [id, text] = words as [string, string?]
    if (text === undefined && !enter && !eof && !key) throw new UsageError('send needs TEXT, --key, --enter or --eof')
    return withEngine(io, {}, async (engine) => {
      const job = await engine.job(id)
      await job.send({ text, keys: key, enter, eof, by: 'cli' })
      if (json) io.out.write(`${JSON.stringify({ id: job.id, sent: true })}\n`)
      return EXIT.ok
    })
  },
})

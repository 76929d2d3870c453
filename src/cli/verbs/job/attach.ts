/** `cerith attach`: a person's terminal on the terminal of a job. */
import { userName } from '../../../os/user/name.js'
import { EXIT } from '../../io/io.js'
import { withEngine } from '../../verb/open-engine.js'
import { defineVerb } from '../../verb/verb.js'

export const verb = defineVerb({
  usage: 'ID',
  words: [1, 1],
  options: [{ flags: '--read-only', about: 'watch, do not type' }],
  examples: [
    ['cerith attach shell_1a2b3c4d', 'C-] leaves; the job goes on'],
    ["cerith run --background --pty 'vim notes.txt'", 'makes a job with a terminal to attach to'],
  ],
  details: 'Several people can watch one job; what each of them types is noted with the job.',
  async run({ words, options }, io) {
    const { attach } = await import('./person-terminal.js')
    return withEngine(io, {}, async (engine) => {
      const { reason, info } = await attach(engine, words[0] as string, {
        input: process.stdin,
        output: io.out,
        screen: process.stdout,
        by: io.env['USER'] ?? io.env['LOGNAME'] ?? userName(),
        readOnly: options.readOnly === true,
      })
      io.err.write(
        reason === 'left'
          ? `cerith: left ${info.id}, which goes on\n`
          : `cerith: ${info.id} has ended ` +
              `(${info.status}${info.exitCode === null ? '' : `, exit code ${info.exitCode}`})\n`,
      )
      return EXIT.ok
    })
  },
})

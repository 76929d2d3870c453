/** `cerith kill`: ends a job and everything it started, and says how it ended. */
import { noteTexts } from '../../../contract/note.js'
import { EXIT } from '../../io/io.js'
import { jobToJson } from '../../io/json.js'
import { withEngine } from '../../verb/open-engine.js'
import { JSON_OPTION, readDuration } from '../../verb/option-rows.js'
import { defineVerb } from '../../verb/verb.js'

export const verb = defineVerb({
  usage: 'ID...',
  words: [1, Infinity],
  options: [
    { flags: '--signal <NAME>', about: 'the first, polite signal (default: TERM)' },
    { flags: '--grace <MS>', about: 'time before SIGKILL (default: 2000 ms)', read: readDuration },
    JSON_OPTION,
  ],
  examples: [
    ['cerith kill shell_1a2b3c4d', 'TERM, two seconds, KILL; then it looks again'],
    ['cerith kill shell_1a2b3c4d --signal KILL', 'at once'],
  ],
  details: 'Exit code: 0, or 1 when a job that should end is still running.',
  async run({ words, options }, io) {
    const { signal, grace, json } = options
    return withEngine(io, {}, async (engine) => {
      let exit: number = EXIT.ok
      for (const id of words) {
        const { info, alreadyStopped, forced, notes } = await (
          await engine.job(id)
        ).kill({
          signal,
          graceMs: grace,
          by: `${io.env['USER'] ?? io.env['LOGNAME'] ?? 'a person'} with cerith kill (process ${process.pid})`,
        })
        if (json)
          io.out.write(
            JSON.stringify({
              already_stopped: alreadyStopped,
              forced,
              ...jobToJson(info),
              notes: noteTexts([...notes, ...info.notes]),
            }) + '\n',
          )
        else {
          const asked = /^(?:SIG)?KILL$|^9$/i.test(signal ?? '')
          io.out.write(
            `${info.id}: ${alreadyStopped ? `had already ended (${info.status})` : info.isRunning ? 'still running' : !forced ? 'ended' : asked ? 'killed' : 'killed (it ignored the polite signal)'}\n`,
          )
          for (const { text } of notes) io.out.write(`  ${text}\n`)
        }
        if (info.isRunning && ENDS.test(signal ?? 'TERM')) exit = 1
      }
      return exit
    })
  },
})

const ENDS = /^(?:SIG)?(?:TERM|KILL)$|^(?:9|15)$/i

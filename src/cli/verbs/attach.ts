/** `cerith attach`: a person's terminal on the terminal of a job. */
import { EXIT } from '../io.js'
import { withEngine } from '../open-engine.js'
import type { Verb } from '../verb.js'

export const verb: Verb = {
  name: 'attach',
  usage: 'ID',
  about: 'your terminal on the terminal of a job',
  words: [1, 1],
  options: [{ flags: '--read-only', about: 'watch, do not type' }],
  examples: [
    ['cerith attach shell_1a2b3c4d', 'C-] leaves; the job goes on'],
    ["cerith run --background --pty 'vim notes.txt'", 'makes a job with a terminal to attach to'],
  ],
  async run({ words }, io) {
    return withEngine(io, {}, async (engine) => {
      await engine.job(words[0] as string)
      return EXIT.ok
    })
  },
}

/** `cerith fleet`: what was made at other places from here, and what of it no engine uses any more. */
import { stateDirectory } from '../../../os/files/state-dir.js'
import { madePlaces, sweepPlaces } from '../../../reach/reach.js'
import type { MadeRecord } from '../../../reach/records.js'
import { EXIT, UsageError } from '../../io/io.js'
import { JSON_OPTION } from '../../verb/option-rows.js'
import { defineVerb } from '../../verb/verb.js'
import { visible } from '../../../output/terminal/visible.js'

export const verb = defineVerb({
  usage: 'ls|sweep',
  words: [1, 1],
  options: [JSON_OPTION],
  examples: [
    ['cerith fleet ls', 'what is there, and whether its process lives'],
    ['cerith fleet sweep', 'removes what no living process wants'],
  ],
  details: 'Only what was written down here with its id is ever removed; labels alone prove nothing.',
  async run({ words, options }, io) {
    const stateDir = stateDirectory(io.env)
    const what = words[0]
    if (what !== 'ls' && what !== 'sweep')
      throw new UsageError(`fleet does not know ${JSON.stringify(what)}`, 'Say ls or sweep.')
    const rows: readonly (MadeRecord & { isOrphan: boolean; problem: string | null })[] =
      what === 'ls'
        ? madePlaces(stateDir).map((row) => ({ ...row, problem: null }))
        : (await sweepPlaces(stateDir)).map((row) => ({ ...row, isOrphan: true }))
    const code = rows.some(({ problem }) => problem !== null) ? EXIT.error : EXIT.ok
    if (options.json) {
      const shown = rows.map(({ name, url, made, labels, users, usedAt, isOrphan, problem }) => ({
        name,
        at: url,
        made,
        labels,
        // The agent that used it last.
        pid: users.at(-1)?.pid ?? null,
        host: users.at(-1)?.host ?? null,
        used_at: new Date(usedAt).toISOString(),
        orphan: isOrphan,
        ...(problem === null ? {} : { problem }),
      }))
      const removed = shown.filter((row) => !('problem' in row))
      const left = shown.filter((row) => 'problem' in row)
      io.out.write(`${JSON.stringify(what === 'ls' ? { places: shown } : { removed, left })}\n`)
      return code
    }
    for (const { name, url, made, labels, isOrphan, problem } of rows) {
      const id = (made['id'] ?? made['pod'] ?? made['job'] ?? '').slice(0, 24)
      const state = problem !== null ? 'left' : what === 'sweep' ? 'removed' : isOrphan ? 'orphan' : 'in use'
      io.out.write(
        `${name}  ${state.padEnd(8)}${visible(url)}  ${visible(id)}  ${visible(labels['cerith/agent'] ?? '')}\n`,
      )
      if (problem !== null) io.err.write(`cerith: ${visible(problem)}\n`)
    }
    if (rows.length === 0)
      io.out.write(what === 'ls' ? 'Nothing was made from here.\n' : 'Nothing had to be removed.\n')
    return code
  },
})

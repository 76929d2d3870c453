/** `cerith approve`: a person says yes to a command that an agent asked for in another terminal. */
import { grantApproval, listApprovals } from '../../audit/approvals.js'
import { stateDirectory } from '../../os/state-dir.js'
import { EXIT } from '../io.js'
import { JSON_OPTION } from '../option-rows.js'
import { age } from '../table.js'
import type { Verb } from '../verb.js'
import { visible } from '../visible.js'
import { ShellError } from '../../contract/errors.js'

export const verb: Verb = {
  name: 'approve',
  usage: '[ID]',
  about: 'allow a command that is waiting for a person',
  words: [0, 1],
  options: [JSON_OPTION, { flags: '-y, --yes', about: 'do not ask again on a terminal' }],
  examples: [
    ['cerith approve', 'what is waiting'],
    ['cerith approve ask_1a2b3c4d5e6f', 'exactly this command, once, within 15 minutes'],
  ],
  async run({ words, options }, io) {
    const { json, yes } = options as { json?: boolean; yes?: boolean }
    const stateDir = stateDirectory(io.env)
    const waiting = listApprovals(stateDir)
    const id = words[0]
    if (id === undefined) {
      if (json)
        io.out.write(
          `${JSON.stringify({ waiting: waiting.map(({ id: each, command, cwd, reason, askedAt }) => ({ id: each, command, cwd, reason, asked_at: new Date(askedAt).toISOString() })) })}\n`,
        )
      else if (waiting.length === 0) io.out.write('Nothing is waiting for approval.\n')
      else
        for (const each of waiting)
          io.out.write(
            `${each.id}  ${age(Date.now() - each.askedAt)} ago, in ${visible(each.cwd)}\n  ${visible(each.command)}\n  ${visible(each.reason)}\n`,
          )
      return EXIT.ok
    }
    if (io.insideEngine)
      throw new ShellError(
        'REFUSED',
        'Approvals are given by a person, and this was started by an agent’s shell',
        'Ask the person to run the same in a terminal of their own.',
      )
    const asked = waiting.find((each) => each.id === id)
    if (!asked)
      throw new ShellError(
        'BAD_REQUEST',
        `Nothing is waiting under ${JSON.stringify(id)}`,
        waiting.length > 0
          ? `Waiting: ${waiting.map((each) => each.id).join(', ')}`
          : 'Questions are forgotten after 15 minutes; let the agent ask again.',
      )
    if (io.person && !yes && !json) {
      io.err.write(
        `command   ${visible(asked.command)}\ndirectory ${visible(asked.cwd)}\nbecause   ${visible(asked.reason)}\n`,
      )
      const answer = (await io.person.ask('Allow exactly this, once? [y/N]: '))?.trim().toLowerCase()
      if (answer !== 'y' && answer !== 'yes') {
        io.out.write('Not approved.\n')
        return 1
      }
    }
    const granted = grantApproval(stateDir, id)
    if (!granted)
      throw new ShellError(
        'BAD_REQUEST',
        `${id} was answered meanwhile`,
        'Run `cerith approve` to see what is waiting.',
      )
    if (json) io.out.write(`${JSON.stringify({ approved: true, id, command: granted.command, cwd: granted.cwd })}\n`)
    else io.out.write(`Approved once: ${visible(granted.command)}\n`)
    return EXIT.ok
  },
}

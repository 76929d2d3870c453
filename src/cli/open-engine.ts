/** Opens the engine for a verb, with the person at the terminal as the one to ask, and closes it whatever happens. */
import type { Engine } from '../contract/engine.js'
import type { ApprovalAnswer, ApprovalQuestion } from '../contract/request.js'
import { openEngine } from '../engine/from-config.js'
import type { Io } from './io.js'
import { visible } from './visible.js'

export async function withEngine<T>(io: Io, options: { readonly cwd?: string | undefined; readonly flags?: readonly string[] | undefined }, use: (engine: Engine, stateDir: string) => Promise<T>): Promise<T> {
  const { person } = io
  const { engine, stateDir } = await openEngine({
    cwd: options.cwd ?? io.cwd,
    door: 'cli',
    env: io.env,
    ...(options.flags ? { flags: options.flags } : {}),
    ...(person ? { ask: (question) => askPerson(question, io), askPassphrase: () => person.ask('Pass phrase of the vault: ', { hidden: true }) } : {}),
    onProblem: (message) => io.err.write(`cerith: ${message}\n`),
  })
  try {
    return await use(engine, stateDir)
  } finally {
    await engine.close()
  }
}

/** `y` once, `s` for the rest of the session, anything else is no. */
async function askPerson(question: ApprovalQuestion, io: Io): Promise<ApprovalAnswer | null> {
  if (!io.person) return null
  io.err.write(`\ncerith: this command wants your approval\n  command   ${visible(question.command)}\n  directory ${visible(question.cwd)}\n  because   ${visible(question.verdict.reason ?? question.verdict.rule ?? 'a rule asks')}\n`)
  const answer = (await io.person.ask('Run it? [y]es once, [s]ession, [n]o: '))?.trim().toLowerCase()
  if (answer === undefined) return null
  return answer === 'y' || answer === 'yes' ? 'once' : answer === 's' || answer === 'session' ? 'session' : 'deny'
}

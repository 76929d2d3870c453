/** `cerith approve`: a person answers what agents ask, from any terminal of theirs. */
import { announcePresence } from '../../../audit/presence.js'
import { badRequest, ShellError } from '../../../contract/errors.js'
import type { ApprovalAnswer } from '../../../contract/request.js'
import { EngineWatch, lookOnce } from '../../../engine/live/watch.js'
import { stateDirectory } from '../../../os/files/state-dir.js'
import { giveAnswer, openQuestions, questionText, type OpenQuestion } from '../../verb/approvals.js'
import { EXIT, isYes, UsageError, type Io } from '../../io/io.js'
import { listenForStop } from '../../io/stop.js'
import { JSON_OPTION } from '../../verb/option-rows.js'
import { defineVerb, type OptionRow, type OptionsOf } from '../../verb/verb.js'
import { visible } from '../../../output/terminal/visible.js'

const OPTIONS = [
  JSON_OPTION,
  { flags: '-y, --yes', about: 'do not ask again on a terminal' },
  { flags: '-s, --session', about: 'also when the same is asked for again in that session' },
  { flags: '-d, --deny', about: 'say no' },
  { flags: '-w, --watch', about: 'stay, and answer each question as it comes' },
] as const satisfies readonly OptionRow[]

type Options = OptionsOf<typeof OPTIONS>

export const verb = defineVerb({
  usage: '[ID]',
  words: [0, 1],
  options: OPTIONS,
  examples: [
    ['cerith approve', 'what is waiting'],
    ['cerith approve ask_1a2b3c4d5e6f', 'exactly this command, once, within 15 minutes'],
    ['cerith approve --watch', 'agents wait for your answer while this runs'],
  ],
  details:
    'The engine that asks judges who answers: a process that an engine started cannot, whatever it\n' +
    'does to its environment. An answer counts for exactly the text that was shown.',
  async run({ words, options }, io) {
    const id = words[0]
    const stateDir = stateDirectory(io.env)
    if ((id !== undefined || options.watch) && io.insideEngine)
      throw new ShellError(
        'REFUSED',
        'Approvals are given by a person, and this was started by an agent’s shell',
        'Ask the person to run the same in a terminal of their own.',
      )
    if (options.watch) return watchQuestions(stateDir, io)
    const watch = await lookOnce(stateDir, null)
    try {
      const open = openQuestions(watch, stateDir)
      return id === undefined ? list(open, watch, options, io) : await answerOne(id, open, watch, stateDir, options, io)
    } finally {
      watch.close()
    }
  },
})

function list(open: readonly OpenQuestion[], watch: EngineWatch, { json }: Options, io: Io): number {
  if (json) io.out.write(`${JSON.stringify({ waiting: open.map(toJson) })}\n`)
  else if (open.length === 0) io.out.write('Nothing is waiting for approval.\n')
  else for (const each of open) io.out.write(`${each.id}\n${questionText(each).replaceAll(/^/gm, '  ').trimEnd()}\n`)
  for (const { pid, why } of watch.engines.values())
    if (why !== null && !json) io.err.write(`cerith: the engine of process ${pid} does not answer: ${why}\n`)
  return EXIT.ok
}

function toJson({ id, command, cwd, session, env, reason, rule, askedAt, engine, isWaiting, isGone }: OpenQuestion) {
  const asked = { id, command, cwd, session, env, reason, rule, asked_at: new Date(askedAt).toISOString(), engine }
  return { ...asked, is_waiting: isWaiting, is_gone: isGone }
}

async function answerOne(
  id: string,
  open: readonly OpenQuestion[],
  watch: EngineWatch,
  stateDir: string,
  { json, yes, deny, session }: Options,
  io: Io,
): Promise<number> {
  const asked = open.find((each) => each.id === id)
  if (!asked) throw notOpen(id, open, watch)
  if (session && asked.isGone) throw new UsageError('its session has ended, so it can be approved once only')
  if (io.person && !yes && !json && !deny) {
    io.err.write(questionText(asked))
    const question = session ? 'Allow this for the rest of the session? [y/N]: ' : 'Allow exactly this, once? [y/N]: '
    if (!isYes(await io.person.ask(question))) {
      io.out.write('Not approved.\n')
      return 1
    }
  }
  const as: ApprovalAnswer = deny ? 'deny' : session ? 'session' : 'once'
  await giveAnswer(watch, stateDir, asked, as)
  if (json) io.out.write(`${JSON.stringify({ approved: !deny, id, as, command: asked.command, cwd: asked.cwd })}\n`)
  else io.out.write(`${SAID[as]}: ${visible(asked.command)}\n`)
  return EXIT.ok
}

const SAID = { once: 'Approved once', session: 'Approved for the session', deny: 'Denied' } as const

function notOpen(id: string, open: readonly OpenQuestion[], watch: EngineWatch): ShellError {
  const refused = [...watch.engines.values()].find(({ why }) => why !== null)
  const words = `Nothing is waiting under ${JSON.stringify(id)}`
  if (open.length > 0) return badRequest(words, `Waiting: ${open.map((each) => each.id).join(', ')}`)
  if (refused) return badRequest(words, `The engine of process ${refused.pid} does not answer: ${refused.why}.`)
  return badRequest(words, 'Questions are forgotten after 15 minutes; let the agent ask again.')
}

/** While this runs, calls that need an answer wait for it. */
async function watchQuestions(stateDir: string, io: Io): Promise<number> {
  const { person } = io
  if (!person) throw new UsageError('--watch needs a terminal to ask on', 'Use `cerith approve --json` in scripts.')
  let wake = (): void => {}
  const stop = listenForStop(io)
  stop.signal.addEventListener('abort', () => wake())
  const seen = new Set<string>()
  const watch = new EngineWatch({ stateDir, approves: true, onEvent: () => wake() })
  const leave = announcePresence(stateDir)
  watch.start()
  io.err.write('cerith: waiting for questions; Ctrl-C ends\n')
  try {
    while (!stop.signal.aborted) {
      const next = openQuestions(watch, stateDir).find(({ id, isGone }) => !isGone && !seen.has(id))
      if (next) {
        seen.add(next.id)
        await askAbout(next, watch, stateDir, io)
      } else await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    stop.unlisten()
    leave()
    watch.close()
  }
  return EXIT.ok
}

async function askAbout(question: OpenQuestion, watch: EngineWatch, stateDir: string, io: Io): Promise<void> {
  // The bell: the person may look elsewhere.
  io.err.write(`\u0007\n${questionText(question)}`)
  const elsewhere = new AbortController()
  const unlisten = watch.listen(({ engine, said }) => {
    const isThis =
      (said.t === 'answered' && said['id'] === question.id) || (said.t === 'gone' && engine.id === question.engine)
    if (!isThis) return
    const how = said.t === 'gone' ? 'its process has ended' : `${String(said['as'])} by ${String(said['by'])}`
    io.err.write(`\ncerith: answered elsewhere: ${visible(how)}\n`)
    elsewhere.abort()
  })
  const typed = await io.person?.ask('[y]es once, [s]ession, [n]o, Enter to leave it: ', { signal: elsewhere.signal })
  unlisten()
  const answer = typed?.trim().toLowerCase()
  const as =
    answer && ({ y: 'once', yes: 'once', s: 'session', session: 'session', n: 'deny', no: 'deny' } as const)[answer]
  if (!as || elsewhere.signal.aborted) return
  try {
    await giveAnswer(watch, stateDir, question, as)
    io.err.write(`cerith: ${SAID[as].toLowerCase()}\n`)
  } catch (error) {
    io.err.write(`cerith: ${(error as Error).message}\n`)
  }
}

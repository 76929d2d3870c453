/**
 * Questions of agents as a person sees them on a terminal: found, shown whole, answered with
 * the digest of what was shown.
 */
import { directoryMark, forgetPending, pendingNotes, QUESTION_LIVES_MS, shownDigest } from '../../audit/approvals.js'
import { badRequest } from '../../contract/errors.js'
import type { ApprovalAnswer } from '../../contract/request.js'
import { NOT_ACCEPTED, sendAnswer, type AnswerOutcome } from '../../engine/live/answer.js'
import type { EngineWatch, WatchedAsk } from '../../engine/live/watch.js'
import { holdGrant } from '../../os/peer/held-grants.js'
import { age } from '../io/table.js'
import { visible } from '../../output/terminal/visible.js'
import { userName } from '../../os/user/name.js'

/** `isGone`: the process that asked has ended; an approval is held for the same command when it is asked for again. */
export type OpenQuestion = WatchedAsk & { readonly isGone: boolean }

/** Living engines tell their questions themselves; of an engine that has ended there is only the note that it left. */
export function openQuestions(watch: EngineWatch, stateDir: string): OpenQuestion[] {
  const asked = watch.asks().map(({ ask }) => ({ ...ask, isGone: false }))
  const left = pendingNotes(stateDir)
    .filter(({ engine }) => !watch.engines.has(engine))
    .map((note) => ({ ...note, isWaiting: false, isGone: true }))
  return [...asked, ...left].sort((a, b) => a.askedAt - b.askedAt)
}

/** Everything that the approval binds, nothing shortened. */
export function questionText(question: OpenQuestion): string {
  const { command, cwd, session, env, envMode, pty, reason, isWaiting, isGone, askedAt } = question
  const since = age(Date.now() - askedAt)
  const rows: (readonly [string, string])[] = [
    ['command', visible(command)],
    ['directory', visible(cwd)],
    ...(session === null ? [] : [['session', visible(session)] as const]),
    ...(env.length > 0 ? [['with', visible(env.join(' '))] as const] : []),
    ...(envMode === 'replace' ? [['', 'an otherwise empty environment'] as const] : []),
    ...(pty ? [['', 'on a terminal'] as const] : []),
    ['because', visible(reason)],
    [
      'asked',
      isWaiting
        ? `${since} ago; it waits for you`
        : `${since} ago; refused meanwhile${isGone ? ', its process has ended' : ''}: it works when it is asked ` +
          'for again',
    ],
  ]
  return rows.map(([name, text]) => `${name.padEnd(9)} ${text.replaceAll('\n', `\n${' '.repeat(10)}`)}\n`).join('')
}

/** Throws when the answer did not count, with the reason. */
export async function giveAnswer(
  watch: EngineWatch,
  stateDir: string,
  question: OpenQuestion,
  as: ApprovalAnswer,
): Promise<void> {
  const result = question.isGone ? await holdAnswer(stateDir, question, as) : await overSocket(watch, question, as)
  if (result === 'accepted') return
  throw badRequest(
    `${question.id} was not ${as === 'deny' ? 'denied' : 'approved'}: ${NOT_ACCEPTED[result]}`,
    'Run `cerith approve` to see what is waiting.',
  )
}

async function holdAnswer(stateDir: string, question: OpenQuestion, as: ApprovalAnswer): Promise<AnswerOutcome> {
  forgetPending(stateDir, question.id)
  if (as === 'deny') return 'accepted'
  const place = directoryMark(question.cwd)
  if (place === null) return 'unknown'
  const held = await holdGrant(stateDir, { digest: shownDigest(question), place, livesMs: QUESTION_LIVES_MS })
  return held ? 'accepted' : 'gone'
}

function overSocket(watch: EngineWatch, question: OpenQuestion, as: ApprovalAnswer): Promise<AnswerOutcome> {
  return new Promise((resolve) => {
    const unlisten = watch.listen(({ engine, said }) => {
      if (engine.id !== question.engine) return
      if (said.t === 'gone') finish('gone')
      if (said.t === 'said' && said['id'] === question.id) finish(said['result'] as AnswerOutcome)
    })
    const finish = (result: AnswerOutcome): void => {
      unlisten()
      resolve(result)
    }
    if (!sendAnswer(watch, question, as)) finish('gone')
  })
}

/** `ann: cerith 812`, for the audit log. */
export function whoIsHere(env: Readonly<Record<string, string | undefined>>): string {
  return `${env['USER'] ?? env['LOGNAME'] ?? userName()}: cerith ${process.pid}`
}

/** Asks a person about a doubtful command: the caller's function, a terminal elsewhere and the page at once. */
import { createHash } from 'node:crypto'
import { attempt } from '../../contract/attempt.js'
import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { directoryMark, forgetPending, notePending, shownDigest, type Shown } from '../../audit/approvals.js'
import { isAnyonePresent } from '../../audit/presence.js'
import type { Answer } from '../../audit/questions.js'
import {
  APPROVAL_ANSWERS,
  isAnswer,
  type ApprovalAnswer,
  type ApprovalQuestion,
  type AskFunction,
} from '../../contract/request.js'
import { takeHeldGrant } from '../../os/peer/held-grants.js'
import type { EngineOptions } from '../services/options.js'
import type { Services } from '../services/services.js'
import type { Plan } from './plan.js'
import { shown } from './wrong-value.js'
import { pause } from '../../os/process/clock.js'

/** Below the 60 s after which MCP clients give up. */
const WAIT_MS = 40_000
/** A watcher that announced itself connects within this time, or is not waited for. */
const CONNECT_MS = 2_000
const LOOK_EVERY_MS = 20

export interface Decided {
  /** Null: no answer came. */
  readonly as: ApprovalAnswer | null
  readonly id: string
  /** What was wrong with the caller's function, if it failed or answered with something else than an answer. */
  readonly trouble?: string
  /** How long an answer was waited for in vain. */
  readonly waitedMs?: number
}

/** What a person is asked about. */
export type Asked = Pick<Plan, 'request' | 'command' | 'cwd' | 'session' | 'verdict'> & {
  /** Which directory it is, where only the other place can look. */
  readonly mark?: string | null
}

/** What asking needs of an engine: of one that runs the command here, or of the near half of one elsewhere. */
export type AskDesk = Pick<Services, 'questions' | 'stateDir' | 'door' | 'ask'> & {
  readonly secrets: Pick<Services['secrets'], 'mask'>
  readonly options: Pick<EngineOptions, 'approvals' | 'approvalWaitMs'>
}

/** What an ask function answers that asked another engine, which has the question under an id of its own. */
export class AskedElsewhere {
  constructor(readonly decided: Decided) {}
}

export async function askPerson(plan: Plan, services: Services): Promise<Decided> {
  const { questions } = services
  const key = keyOf(plan)
  const marks = scriptMarks(plan)
  if (questions.remembers(key, marks)) return { as: 'once', id: '' }
  const decided = await decide(plan, services)
  // A command outside the sandbox is allowed once, whatever was answered.
  if (decided.as === 'session' && plan.verdict.rule !== 'outside') questions.remember(key, marks)
  return decided
}

/** Without memory of earlier answers, but for one that came too late for the same question. */
export async function decide(asked: Asked, desk: AskDesk): Promise<Decided> {
  // Where the agent's own commands could reach files and sockets of approvals, only the caller's function can answer.
  if (desk.options.approvals !== 'ask') return askEverywhere(asked, desk)
  const { request, command, cwd, session, verdict } = asked
  return answerOf(request.ask ?? desk.ask, { id: '', command, cwd, session, verdict })
}

async function askEverywhere(asked: Asked, desk: AskDesk): Promise<Decided> {
  const { questions, stateDir } = desk
  const seen = shownOf(asked, desk)
  const key = keyOf(asked)
  const { mark = directoryMark(asked.cwd) } = asked
  if (questions.take(key, mark) || (await isHeld(seen, asked, stateDir))) return { as: 'once', id: '' }
  const waiting = questions.ask(seen, key, mark)
  notePending(stateDir, waiting)
  await questions.reach()
  const startedAt = performance.now()
  const answer = await firstAnswer(asked, desk, waiting.id)
  if (answer && 'trouble' in answer) return { as: null, id: waiting.id, trouble: answer.trouble }
  if (answer) forgetPending(stateDir, waiting.id)
  return { as: answer?.as ?? null, id: waiting.id, waitedMs: performance.now() - startedAt }
}

/** What the caller's function answers; one that fails, or answers with something else, has not allowed anything. */
async function answerOf(ask: AskFunction | null, question: ApprovalQuestion): Promise<Decided> {
  const { id } = question
  try {
    const as: unknown = ask ? await ask(question) : null
    if (as instanceof AskedElsewhere) return as.decided
    if (as === null || isAnswer(as)) return { as, id }
    const trouble = `The ask function answered ${shown(as)}, which is none of ${APPROVAL_ANSWERS.join(', ')} and null.`
    return { id, as: null, trouble }
  } catch (error) {
    const why = error instanceof Error ? error.message : shown(error)
    return { id, as: null, trouble: `The ask function failed: ${why}.` }
  }
}

function keyOf({ command, cwd, session, request, verdict }: Asked): string {
  const { env = {}, envMode = 'merge', pty } = request
  const exact = [command, cwd, session, Object.entries(env).sort(), envMode, Boolean(pty), verdict.rule, verdict.reason]
  return createHash('sha256').update(JSON.stringify(exact)).digest('hex')
}

/** Given for a call of an engine that is gone. A text that had to be masked is not what the person saw. */
async function isHeld(shown: Shown, { command, cwd }: Asked, stateDir: string): Promise<boolean> {
  const place = directoryMark(cwd)
  if (place === null || shown.command !== command) return false
  return takeHeldGrant(stateDir, { digest: shownDigest(shown), place })
}

/** What the person sees is everything that the approval binds. */
function shownOf({ command, cwd, session, request, verdict }: Asked, { secrets }: AskDesk): Shown {
  return {
    command: secrets.mask(command),
    cwd,
    session,
    env: Object.entries(request.env ?? {})
      .map(([name, value]) => secrets.mask(`${name}=${value}`))
      .sort(),
    envMode: request.envMode ?? 'merge',
    pty: Boolean(request.pty),
    reason: secrets.mask(verdict.reason ?? 'a rule asks for approval'),
    rule: verdict.rule,
  }
}

/** Ends with the first answer, or without one when neither the function nor a watcher can give one any more. */
async function firstAnswer(
  asked: Asked,
  desk: AskDesk,
  id: string,
): Promise<Answer | { readonly trouble: string } | null> {
  const { request, command, cwd, session, verdict } = asked
  const { questions } = desk
  const { answer, stop } = questions.wait(id)
  const over = new AbortController()
  const onAbort = (): void => stop()
  request.signal?.addEventListener('abort', onAbort, { once: true })
  let trouble: string | null = null
  const askHere = async (): Promise<void> => {
    const ask = request.ask ?? desk.ask
    const heard = await answerOf(ask, { id, command, cwd, session, verdict, signal: over.signal })
    const { as: given } = heard
    if (heard.trouble !== undefined) {
      trouble = heard.trouble
      stop()
    } else if (given !== null) questions.answerHere(id, { as: given, by: askedAt(request.door ?? desk.door) })
    else {
      await patience(desk, over.signal, asked.request.approvalWaitMs ?? desk.options.approvalWaitMs ?? null)
      stop()
    }
  }
  // It may have been called off before there was a listener.
  if (request.signal?.aborted) stop()
  else void askHere().catch(() => stop())
  try {
    const first = await answer
    return trouble === null ? first : { trouble }
  } finally {
    over.abort()
    request.signal?.removeEventListener('abort', onAbort)
  }
}

/** As long as was asked for; else as long as a person is there to answer elsewhere, and not at all when none is. */
async function patience({ questions, stateDir }: AskDesk, over: AbortSignal, asked: number | null): Promise<void> {
  const startedAt = performance.now()
  if (asked === null && questions.approvers.size === 0 && !isAnyonePresent(stateDir)) return
  for (;;) {
    const waited = performance.now() - startedAt
    const limit = asked ?? (questions.approvers.size > 0 ? WAIT_MS : CONNECT_MS)
    if (over.aborted || waited > limit) return
    await pause(LOOK_EVERY_MS)
  }
}

function askedAt(door: string): string {
  return door === 'cli'
    ? 'the person at the terminal'
    : door === 'mcp'
      ? 'the form of the MCP client'
      : 'the ask function'
}

const RUNNERS = /^(?:ba|da|z|k)?sh$|^(?:python|node|perl|ruby|php|deno|bun|source|\.$)[\d.]*$/

/**
 * The scripts that a command starts by name, as they are now: an approval for the session ends
 * when one of them changes.
 */
function scriptMarks({ verdict, cwd }: Plan): string {
  const files = verdict.commands.flatMap(([program = '', ...words]) => {
    const script = RUNNERS.test(basename(program)) ? words.find((word) => !word.startsWith('-')) : undefined
    return [...(program.includes('/') ? [program] : []), ...(script === undefined ? [] : [script])]
  })
  return files.map((file) => markOf(resolve(cwd, file))).join(' ')
}

function markOf(path: string): string {
  const facts = attempt(() => statSync(path, { bigint: true }), null)
  return facts ? [facts.dev, facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(':') : 'none'
}

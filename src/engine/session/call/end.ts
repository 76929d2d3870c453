/** How a session's command ended, and what the session has learned from it. */
import type { Note } from '../../../contract/note.js'
import { statSync } from 'node:fs'
import type { End, Outcome, OverLimit, Usage } from '../../../contract/outcome.js'
import { processesOf } from '../../../os/helper/processes.js'
import { isAlive, linkOf, shownProcesses } from '../../../os/process/proc.js'
import { adviceFor } from '../../call/advice.js'
import type { StopReason } from '../../call/supervision.js'
import type { Restore } from '../../job/start.js'
import { endOf } from '../../services/ends.js'
import { endedOutcome } from '../../services/outcomes.js'
import type { Plan } from '../../plan/plan.js'
import { exitTrapLine } from '../lines/lines.js'
import type { SessionMemory } from './memory.js'
import { SILENCE, type CallOutput } from './output.js'
import type { NotedTraps } from '../shell/files.js'
import type { EndReport } from '../shell/report.js'
import { restoreCode } from '../shell/restore.js'
import type { SessionShell } from '../shell/shell.js'
import { LEAVING } from '../lines/dump-text.js'
import { hooksLeftOut, utf8, type ShellState } from '../shell/state.js'

export function endOfCall(
  report: EndReport | null,
  shell: SessionShell,
  stop: StopReason | null,
  forced: boolean,
  plan: Plan,
  over: OverLimit | null,
): End {
  switch (stop) {
    case 'timeout':
      return { kind: 'timeout', afterMs: plan.timeoutMs ?? 0, forced }
    case 'caller':
    case 'close':
      return { kind: 'kill', forced, by: stop }
    case 'limit':
      return { kind: 'kill', forced, by: stop, ...(over ? { over } : {}) }
    case 'interrupt':
      return { kind: 'signal', signal: 'SIGINT' }
    case null:
  }
  if (report) return { kind: 'exit', code: report.status }
  const { exited } = shell.ward.state
  return exited ? endOf(exited, null, plan) : { kind: 'lost', reason: 'the shell did not answer' }
}

/** What the next command may ask about this one. */
function rememberLast(report: EndReport | null, end: End, memory: SessionMemory): void {
  const status = end.kind === 'exit' ? end.code : 130
  const exited = report && end.kind === 'exit'
  memory.last = exited ? report : { status, argument: report?.argument ?? '', stages: [status] }
}

export function remember(
  report: EndReport | null,
  shell: SessionShell,
  plan: Pick<Plan, 'command' | 'verdict'>,
  end: End,
  memory: SessionMemory,
  inert: boolean,
): void {
  // After a comment `$?` is still that of the command before.
  if (!plan.verdict.shell.empty) rememberLast(report, end, memory)
  memory.expect(plan.verdict.mutations)
  if (report?.kind === 'F' && shell.alive) return
  // What cannot have changed the shell writes nothing down behind it.
  if (!inert || memory.behind || !shell.alive) memory.noteDump(shell, inert)
  const told = report?.kind === 'F' ? null : report
  if (told) memory.hear(told)
  // A limit may keep the shell from ever writing it down again.
  if (memory.unread && /\bulimit\b/.test(plan.command)) memory.learn(shell.readState())
  if (shell.alive) {
    // `$PWD` unchanged: the shell has not moved. (A command that assigns PWD changes it.)
    if (told?.directory !== memory.cwd) memory.cwd = directoryOf(shell.pid, told?.directory) ?? memory.cwd
    return
  }
  memory.learn(shell.knownState)
  if (memory.state) memory.cwd = utf8(memory.state.cwd)
}

/** The agent's own EXIT trap, so that it still runs once when the shell leaves, with our dump before it. */
export function noteTraps(traps: NotedTraps, shell: SessionShell, memory: SessionMemory): void {
  memory.hearTraps(traps)
  if (memory.traps.exit === null) return
  shell.type(exitTrapLine(shell.marks, memory.traps.exit))
}

/**
 * How the shell ended and what its successor lacks. Nothing when nothing is lost: a command
 * that ends its shell (`...; exit 1`).
 */
export function successorNotes(
  end: End,
  stop: StopReason | null,
  shell: SessionShell,
  { state, dirty, behind, holdings }: SessionMemory,
  inert: boolean,
  initial: readonly string[],
): Note[] {
  const mark = shell.dumps.last?.mark
  const except = exceptHooks(state, initial)
  const lost = holdings.lost()
  const how = stop ? ' with the command' : howItEnded(shell, end)
  const setE = state?.options.includes('errexit') ? ' `set -e` is off now.' : ''
  if (!stop && end.kind === 'exit' && mark === LEAVING && !except && !lost)
    return setE
      ? [restarted(`The shell ended${how}; its state is restored in a new one, but \`set -e\` is off now.`)]
      : []
  const which =
    mark === LEAVING || !(dirty || inert)
      ? 'its last state is restored'
      : behind
        ? 'the state that it last wrote down is restored, which lacks what the calls since then changed'
        : 'the state from before this command is restored'
  return [
    restarted(`The shell ended${how}; the session goes on in a new shell, where ${which}${except}.${lost}${setE}`),
  ]
}

export function restarted(text: string): Note {
  return { code: 'shell-restarted', text }
}

/** A shell that was found dead. */
export function deadShellNote(shell: SessionShell, memory: SessionMemory, initial: readonly string[]): Note {
  const state = memory.dirty
    ? 'with the state that it last wrote down, which may lack what the last call changed'
    : 'with its state restored'
  return restarted(
    `The session's shell ended${howItEnded(shell)} between two calls; this one ran in a new shell ` +
      `${state}${exceptHooks(memory.state, initial)}.${memory.holdings.lost()}`,
  )
}

/** How the shell ended, which may differ from its last command. `of`: used where the end of the shell is not known. */
function howItEnded(shell: SessionShell, of?: End): string {
  const { exited } = shell.ward.state
  const end = exited ? endOf(exited, null, { timeoutMs: null }) : of
  if (!end) return ''
  if (end.kind === 'exit') return ` with exit code ${end.code}`
  if (end.kind === 'signal') return ` by ${end.signal}`
  return end.kind === 'lost' ? ` (${end.reason})` : ' with the command'
}

function exceptHooks(state: ShellState | null, initial: readonly string[]): string {
  const hooks = state ? hooksLeftOut(state, initial) : []
  return hooks.length > 0
    ? `, except ${hooks.slice(0, 10).join(', ')} (loader and start-up hooks stay out of new shells)`
    : ''
}

/** What gives a new shell (a job, a terminal) the state of a session, and what it does not get. */
export function restoreOf(state: ShellState | null, initial: readonly string[]): Restore {
  if (!state) return { code: '', notes: [] }
  const except = exceptHooks(state, initial)
  return {
    code: restoreCode(state, { variables: initial }),
    notes: except ? [{ code: 'state', text: `It begins with the state of the session${except}.` }] : [],
  }
}

export function leftoverNotes(shell: SessionShell, before: ReadonlySet<number>): Note[] {
  const fresh = [...existingDescendants(shell)].filter((pid) => !before.has(pid))
  if (fresh.length === 0) return []
  return [
    {
      code: 'still-there',
      text:
        `Still running in the background: ${shownProcesses(fresh)}. It ends with the session; its output is not ` +
        'shown here.',
    },
  ]
}

/** What earlier calls left running: a stop of this call spares it. */
export function existingDescendants(shell: SessionShell): Set<number> {
  return new Set(processesOf(shell.ward).filter((pid) => pid !== shell.pid && isAlive(pid)))
}

/**
 * `$PWD` when it names the directory the kernel says the shell is in (it keeps symbolic links),
 * else the kernel's answer.
 */
function directoryOf(pid: number, claimed: string | undefined): string | null {
  const real = linkOf(pid, 'cwd')?.replace(/ \(deleted\)$/, '') ?? null
  if (!real || !claimed || claimed === real) return real ?? claimed ?? null
  try {
    const a = statSync(claimed)
    const b = statSync(real)
    return a.ino === b.ino && a.dev === b.dev ? claimed : real
  } catch {
    return real
  }
}

interface EndedCall {
  readonly shell: SessionShell
  readonly command: Pick<Plan, 'command' | 'cwd' | 'verdict'>
  /** Null: it printed nothing. */
  readonly output: CallOutput | null
  readonly report: EndReport | null
  readonly end: End
  readonly notes: readonly Note[]
  readonly startedAt: number
  readonly memory: SessionMemory
  readonly session: string
  readonly usage?: Usage | null
}

/** The Outcome of a command that is over. */
export function endedCall({
  shell,
  command,
  output,
  report,
  end,
  notes,
  startedAt,
  memory,
  session,
  usage = null,
}: EndedCall): Outcome {
  const merged = output?.merged ?? false
  const texts = output?.texts() ?? SILENCE
  const stages = report && command.verdict.facts.lastPipelineStages > 1 ? report.stages : []
  const pipeStatus = stages.length > 1 ? stages : null
  const advice = adviceFor({ end, plan: command, stderr: merged ? texts.out.text : texts.err.text, pipeStatus })
  return endedOutcome({
    end,
    stdout: merged ? '' : texts.out.text,
    stderr: texts.err.text,
    output: merged ? texts.out.text : null,
    truncated: texts.out.truncated || texts.err.truncated,
    omittedBytes: texts.out.omittedBytes + texts.err.omittedBytes,
    outputFile: output?.spillPath ?? null,
    durationMs: Math.round(performance.now() - startedAt),
    usage,
    cwd: memory.cwd,
    pid: shell.pid,
    pgid: shell.ward.pgid,
    session,
    pipeStatus,
    notes: [...notes, ...(output?.spillNotes ?? []), ...advice],
  })
}

/** One command in a session's live shell: prepared, typed, followed, stopped when told, and settled exactly once. */
import { removeQuietly } from '../../../os/files/quietly.js'
import { stillThere, type Note } from '../../../contract/note.js'
import type { End, Outcome, OverLimit, Usage } from '../../../contract/outcome.js'
import type { RunRequest } from '../../../contract/request.js'
import type { Pipe } from '../../../os/helper/launcher.js'
import type { Call } from '../../call/call.js'
import { Supervision, type Promote, type StopReason } from '../../call/supervision.js'
import type { DeliveredCommand } from '../../plan/delivery.js'
import { within } from '../../services/within.js'
import type { Plan } from '../../plan/plan.js'
import { overNote } from '../../plan/resources.js'
import type { Services } from '../../services/services.js'
import {
  endedCall,
  endOfCall,
  existingDescendants,
  leftoverNotes,
  noteTraps,
  restarted,
  remember,
  successorNotes,
} from './end.js'
import { reportsTraps, type CallNeeds } from '../lines/call-text.js'
import type { SessionMemory } from './memory.js'
import { CallOutput } from './output.js'
import { prepareCall } from './prepare.js'
import { askForState } from '../shell/exchange.js'
import { commandLine } from '../lines/way.js'
import type { Answer } from '../shell/router.js'
import type { SessionShell } from '../shell/shell.js'
import { utf8 } from '../shell/state.js'
import { SOON_MS } from '../shell/stall.js'
import { recover, stopCommand, type Stopped } from './stop.js'

const USAGE_LIMIT_MS = 1_000

export interface CallSite {
  readonly name: string
  readonly services: Services
  readonly memory: SessionMemory
  readonly promote: Promote | null
  /** The names of the environment that every shell of the session starts with. */
  initialNames(): readonly string[]
  /** The shell goes with its command; the session continues in another one. */
  letGo(): void
  /** Gives the command to a successor of the shell, which died before it read it. */
  again(request: RunRequest, call: Call): Promise<void>
}

/** A command that the shell has been given. */
export interface StartedCall {
  readonly output: CallOutput
  readonly answer: Answer
  readonly startedAt: number
  readonly needs: CallNeeds
  /** Processes of earlier calls, which a stop spares. */
  readonly before: ReadonlySet<number>
  /** It has run for longer than `SOON_MS` already. */
  readonly isSlow: boolean
  /** The number of the state that the shell writes down before the command. */
  readonly dumpFirst: number | null
  /** The agent's traps are noted behind it. */
  readonly notesTraps: boolean
  /** What the outcome says about its streams. */
  readonly notes: readonly Note[]
  readonly inputFile: string | null
  readonly secretPipe: Pipe | null
}

/** The shell had gone before it read a word of the command, or its directory: the command may be given again. */
export const NEVER_BEGUN = Symbol('never begun')

/** The Outcome; null when the command went on without the session: the job that it became settles the call. */
export async function runInShell(
  shell: SessionShell,
  plan: Plan,
  delivered: DeliveredCommand,
  call: Call,
  site: CallSite,
): Promise<Outcome | null | typeof NEVER_BEGUN> {
  const { services, memory } = site
  const startedAt = performance.now()
  const output = new CallOutput(call, plan, services)
  const { redirects, notes } = await shell.attach(output, memory.movedStreams)
  const { inputFile, secretPipe, text, needs } = await prepareCall(shell, plan, delivered, redirects, site)
  const before = shell.hasOtherProcesses ? existingDescendants(shell) : NO_PROCESSES
  const given = commandLine(text, shell)
  const answer = shell.answer()
  const notesTraps = reportsTraps(text)
  if (notesTraps) shell.files.takeTraps()
  shell.give(given, text.whole)
  output.own = given.own ?? shell.ownWords
  shell.streams.giveLate(output)
  memory.beginCommand(needs.inert)
  return followInShell(shell, plan, call, site, {
    output,
    answer,
    startedAt,
    needs,
    before,
    isSlow: false,
    dumpFirst: text.dumpFirst,
    notesTraps,
    notes,
    inputFile,
    secretPipe,
  })
}

/** From the moment that the shell has the command to its Outcome. */
export async function followInShell(
  shell: SessionShell,
  plan: Plan,
  call: Call,
  site: CallSite,
  begun: StartedCall,
): Promise<Outcome | null | typeof NEVER_BEGUN> {
  const { request } = plan
  const { services, memory } = site
  const { output, answer, startedAt, needs, before, inputFile, secretPipe } = begun
  call.pid = shell.pid
  let stop: StopReason | null = null
  let stopping: Promise<Stopped> | null = null
  let over: OverLimit | null = null
  let watched = false
  const isOver = (): boolean => {
    if (answer.given) return true
    shell.hearNow()
    // The report was read ahead of the event loop's turn, so what was printed before it is read now too.
    if (answer.given) shell.streams.drain()
    return answer.given
  }
  const { promote } = site
  const supervision = new Supervision(call, plan, {
    // A command that has ended is neither stopped nor moved: the signal would hit the next one, the move would take
    // the session's state along.
    mayStop: () => stop === null && !supervision.moved && !isOver(),
    stop(why) {
      stop = why
      output.interrupted = true
      shell.forgetFallback()
      stopping = stopCommand({
        shell,
        spared: before,
        polite: why === 'interrupt' ? 2 : 15,
        // A command over its memory or processes gets no time to take more.
        graceMs: over && over.limit !== 'cpuSeconds' ? 0 : plan.graceMs,
      })
      answer.give(null)
    },
    mayMove: () => shell.alive && !isOver(),
    move:
      promote &&
      (async (reason) => {
        await shell.begun()
        // The shell goes with its command; the session continues in a new one with the state from before.
        memory.learn(begun.dumpFirst === null ? shell.readState() : await shell.stateBefore(begun.dumpFirst))
        shell.streams.drain()
        output.letGo()
        site.letGo()
        shell.release()
        answer.give(null)
        const outcome = await promote({
          plan,
          ward: shell.ward,
          out: output.stdout,
          err: output.stderr,
          readers: shell.streams.readers,
          startedAt,
          stay: services.stay,
          reason,
        })
        // The shell ended before the keeper took it over: it wrote its state down as it left.
        if (outcome.end) {
          memory.learn(shell.readState())
          if (memory.state) memory.cwd = utf8(memory.state.cwd)
          memory.last = { status: outcome.exitCode ?? 130, argument: '', stages: [outcome.exitCode ?? 130] }
        }
        return { ...outcome, session: site.name, cwd: memory.cwd }
      }),
  })
  const setDeadlines = (): void => supervision.setDeadlines(performance.now() - startedAt)
  // Most commands end before a timer, or a listener for the caller's abort signal, is worth its cost.
  const urgent = !begun.isSlow && isUrgent(request, site)
  if (urgent) setDeadlines()
  if (request.signal?.aborted) supervision.stop('caller')
  // The engine closes only when the shell has let go of the command.
  const life = {
    end: async () => {
      supervision.stop('close')
      await call.outcome.catch(() => {})
    },
  }
  services.live.add(life)
  call.takeControl(supervision.control)

  const slow = (): void => {
    if (!urgent) setDeadlines()
    supervision.listen()
    watched = true
    shell.ward.watch(plan.limits ?? {}, (exceeded) => {
      over = exceeded
      supervision.stop('limit')
    })
    // The shell may have answered while the host was busy.
    if (!isOver()) shell.askForBuiltin()
  }
  if (begun.isSlow) slow()
  let unanswered = false
  const waiting = {
    slow: begun.isSlow ? () => {} : slow,
    unanswered: () => {
      if (shell.askForBuiltin()) return
      unanswered = true
      answer.give(null)
    },
  }
  shell.stall.begin(waiting, performance.now())
  const report = await answer.report
  shell.stall.end(waiting)
  services.live.delete(life)
  if (supervision.moved) {
    // The shell may not have read the secrets yet.
    if (secretPipe) void shell.ward.exited.then(() => secretPipe.release())
    await call.outcome.catch(() => {})
    return null
  }
  supervision.release()
  const usage = watched ? await usedBy(shell) : null
  secretPipe?.release()
  if (inputFile) removeQuietly(inputFile)

  if (report === null && stop === null && !answer.failure && (answer.neverBegun || shell.neverRead())) {
    memory.neverBegan()
    shell.detach(needs)
    output.end()
    return NEVER_BEGUN
  }
  const notes = [...begun.notes]
  const stopped = stopping ? await (stopping as Promise<Stopped>) : null
  if (stopped && stopped.left.length > 0) notes.push(stillThere(stopped.left.join(', ')))
  // A command that interrupts its own shell may have done so with our signal.
  const interrupted = stopped !== null || (report?.kind === 'E' && report.status === 130)
  if (interrupted && shell.alive && !(await recover(shell, memory, stopped)) && shell.alive) {
    shell.ward.kill({ signal: 9, graceMs: 0, why: 'timeout' })
    await shell.ward.exited
    notes.push(restarted('The shell did not answer and was restarted with the state it had before this command.'))
  }
  if (unanswered) {
    shell.ward.kill({ signal: 9, graceMs: 0, why: 'close' })
    await shell.ward.exited
  }
  // Such a command may have hurt the shell so that it ends right after it; the next command
  // must not be given to a dying one.
  const mayEndSoon = needs.risky && report !== null
  if (mayEndSoon) await askForState(shell)
  // The shell has been asked for its state. What is noted later would pass for the one behind the next command.
  if ((interrupted || mayEndSoon) && shell.alive) {
    shell.dumps.readNow()
    memory.noteDump(shell)
  }
  // A command that cannot have printed anything has nothing left to be read.
  if (!(needs.silent && report?.kind === 'F' && report.status === 0)) await shell.caughtUp()
  if (shell.streams.passThrough) await shell.streams.quiet()
  if (!shell.alive) {
    shell.streams.releasePipes()
    await within(Promise.all(shell.streams.readers.map((reader) => reader.end)), services.limits.drainMs)
  }
  if (stopped || !shell.alive) shell.streams.drain()
  const { held } = shell.detach(needs)
  output.end()
  if (answer.failure) throw answer.failure

  const end: End =
    unanswered && !stop
      ? { kind: 'lost', reason: 'the shell finished the command but could not say how' }
      : endOfCall(report, shell, stop, stopped?.forced ?? false, plan, over)
  if (end.kind === 'kill' && end.over) notes.push(overNote(end.over, plan.limits))
  remember(report, shell, plan, end, memory, needs.inert)
  // The shell writes its traps down before it reports the end of the command.
  const traps = begun.notesTraps ? shell.files.takeTraps() : null
  if (traps !== null && shell.alive) noteTraps(traps, shell, memory)
  if (!shell.alive) {
    shell.endIsTold = true
    notes.push(...successorNotes(end, stop, shell, memory, needs.inert, site.initialNames()))
    // A shell that dies while it reads takes the line with it, and only what was printed tells
    // that from one that had begun.
    const killed = end.kind === 'signal' && end.signal === 'SIGKILL' && !/kill/.test(plan.command)
    if (killed && output.isEmpty && performance.now() - startedAt < DOUBT_MS) notes.push(UNKNOWN_BEGIN)
  }
  if (shell.dumps.takeForged()) notes.push(FORGED)
  if (held || !(shell.alive || shell.ward.state.gone)) notes.push(...leftoverNotes(shell, before))
  return endedCall({
    shell,
    command: plan,
    output,
    report,
    end,
    notes,
    startedAt,
    memory,
    session: site.name,
    usage,
  })
}

/** Null where the watcher does not answer in time: a signal may have stopped it. */
async function usedBy({ ward }: SessionShell): Promise<Usage | null> {
  const used = ward.unwatch()
  return (await within(used, USAGE_LIMIT_MS)) ? used : null
}

/** A busy host may hear of the end of a shell this much later. */
const DOUBT_MS = 2_000
const UNKNOWN_BEGIN: Note = {
  code: 'lost',
  text: 'Its shell was killed as it got the command; whether the command had begun is not known.',
}
export const FORGED: Note = {
  code: 'forged',
  text:
    "Something wrote into the pipe on which this session's shell writes down its state. What it wrote was not " +
    'believed.',
}

/** A deadline that is near needs its timer at once. */
export function isUrgent(request: RunRequest, { services, promote }: Pick<CallSite, 'services' | 'promote'>): boolean {
  const timeoutMs = request.timeoutMs === undefined ? services.limits.timeoutMs : request.timeoutMs
  return Math.min(timeoutMs ?? Infinity, (promote ? request.yieldMs : undefined) ?? Infinity) < 4 * SOON_MS
}

export const NO_PROCESSES: ReadonlySet<number> = new Set()

/** Commands that a session has run before in a way that nothing but the same line is needed to run them again. */
import type { RunRequest } from '../../../contract/request.js'
import type { Verdict } from '../../../contract/verdict.js'
import { stillHolds } from '../../services/judge/disk-looks.js'
import type { Plan } from '../../plan/plan.js'
import type { Care, SessionMemory } from './memory.js'
import type { SessionShell } from '../shell/shell.js'
import type { CommandLine } from '../shell/way.js'

const KEPT_COMMANDS = 64

/** What a shell was given for a command. */
export interface GivenCommand extends CommandLine {
  readonly shell: SessionShell
  readonly care: Care
}

export interface QuickCommand extends GivenCommand {
  readonly command: string
  readonly verdict: Verdict
  readonly cwd: string
  /** Of what was known about the shell when the verdict was given. */
  readonly version: number
}

export class QuickCommands {
  readonly #known = new Map<string, QuickCommand>()

  learn(plan: Plan, given: GivenCommand, memory: SessionMemory): void {
    // What had to be asked about is asked about again.
    if (plan.verdict.decision !== 'allow' || plan.request.automation !== undefined) return
    if (this.#known.size >= KEPT_COMMANDS) this.#known.clear()
    this.#known.set(plan.command, {
      ...given,
      command: plan.command,
      verdict: plan.verdict,
      cwd: plan.cwd,
      version: memory.version,
    })
  }

  /** Null when anything has changed, or the request asks for more than the command. */
  find(request: RunRequest, shell: SessionShell, memory: SessionMemory): QuickCommand | null {
    const known = this.#known.get(request.command as string)
    if (
      !known ||
      known.shell !== shell ||
      (known.way !== 'sourced') !== shell.hasBuiltin ||
      known.cwd !== memory.cwd ||
      known.version !== memory.version ||
      !memory.isPlain
    )
      return null
    // Most requests are nothing but a command.
    if (Object.keys(request).length > 1 && !asksForNothingSpecial(request)) return null
    if (known.file === null && memory.printsElsewhere) return null
    // The state is written down before a command that may go on without the session.
    if (!known.care.childless && memory.dirty) return null
    return stillHolds(known.verdict) ? known : null
  }
}

/**
 * Fields that change nothing about how the shell is given the command. Whatever is not named here is looked at in full.
 */
const ANY_VALUE: ReadonlySet<string> = new Set<keyof RunRequest>([
  'command',
  'timeoutMs',
  'graceMs',
  'ansi',
  'progress',
  'binary',
  'clip',
  'onOutput',
  'yieldMs',
  'onTimeout',
  'owner',
  'limits',
  'description',
  'labels',
  'newId',
  'door',
  'client',
  // Only a verdict that lets it run without a question is given again.
  'ask',
  'approvalWaitMs',
])

/** Values that ask for what is done anyway. */
const USUAL: Partial<Record<string, unknown>> = { streams: 'separate', pty: false, dryRun: false }

export function asksForNothingSpecial(request: RunRequest): boolean {
  for (const name in request) {
    const value = request[name as keyof RunRequest]
    if (value === undefined || ANY_VALUE.has(name) || value === USUAL[name]) continue
    if (name !== 'signal' || request.signal?.aborted) return false
  }
  return true
}

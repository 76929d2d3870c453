/** Commands that a session has answered by typing one line, so that the same command in an unchanged shell needs nothing but that line again. */
import type { RunRequest } from '../contract/request.js'
import type { Verdict } from '../contract/verdict.js'
import type { Plan } from './plan.js'
import type { Care, SessionMemory } from './session-memory.js'
import type { SessionShell } from './session-shell.js'

const KEPT_COMMANDS = 64

export interface QuickCommand {
  readonly line: Uint8Array
  readonly care: Care
  readonly verdict: Verdict
  readonly shell: SessionShell
  readonly cwd: string
  /** Of what was known about the shell when the verdict was given. */
  readonly version: number
}

export class QuickCommands {
  readonly #known = new Map<string, QuickCommand>()

  learn(plan: Plan, line: string, care: Care, shell: SessionShell, memory: SessionMemory): void {
    // What had to be asked about is asked about again.
    if (plan.verdict.decision !== 'allow' || plan.request.automation !== undefined) return
    if (this.#known.size >= KEPT_COMMANDS) this.#known.clear()
    this.#known.set(plan.command, { line: Buffer.from(line), care, verdict: plan.verdict, shell, cwd: plan.cwd, version: memory.version })
  }

  /** Null when anything has changed, or the request asks for more than the command. */
  find(request: RunRequest, shell: SessionShell, memory: SessionMemory): QuickCommand | null {
    const known = this.#known.get(request.command as string)
    return known && known.shell === shell && known.cwd === memory.cwd && known.version === memory.version && memory.isPlain && asksForNothingSpecial(request) ? known : null
  }
}

function asksForNothingSpecial(request: RunRequest): boolean {
  const { cwd, env, envMode, input, streams, pty, dryRun, automation, signal } = request
  return (
    cwd === undefined &&
    env === undefined &&
    envMode === undefined &&
    input === undefined &&
    automation === undefined &&
    !pty &&
    !dryRun &&
    streams !== 'merged' &&
    (signal === undefined || !signal.aborted)
  )
}

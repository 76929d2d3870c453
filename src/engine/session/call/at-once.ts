/**
 * Commands that a shell can be given at once: no line goes before or after them, and nothing is to be prepared. One
 * that was given before is not judged or put into words again while what is known about the shell is the same.
 */
import type { RunRequest } from '../../../contract/request.js'
import type { Verdict } from '../../../contract/verdict.js'
import { isFilled } from '../../../guard/holdings.js'
import type { GuardContext } from '../../../guard/policy/context.js'
import { checkRequest } from '../../plan/request.js'
import { stillHolds } from '../../services/judge/disk-looks.js'
import type { Services } from '../../services/services.js'
import { isRepeatable, type CallNeeds } from '../lines/call-text.js'
import { commandLine, type CommandLine } from '../lines/way.js'
import type { SessionShell } from '../shell/shell.js'
import type { SessionMemory } from './memory.js'
import { callText } from './prepare.js'

const KEPT_COMMANDS = 64

export interface ReadyCommand extends CommandLine {
  readonly shell: SessionShell
  readonly command: string
  readonly verdict: Verdict
  readonly needs: CallNeeds
  readonly cwd: string
  /** The `version` of the session's memory when the verdict was given. */
  readonly version: number
}

export class ReadyCommands {
  readonly #known = new Map<string, ReadyCommand>()

  /** Null: the command has to be planned and prepared in full. */
  for(request: RunRequest, shell: SessionShell, memory: SessionMemory, services: Services): ReadyCommand | null {
    const isBare = Object.keys(request).length === 1
    if (!isBare && !asksForNothingSpecial(request)) return null
    const known = this.#find(request.command, shell, memory)
    // A command that was given before has been checked before.
    const command = known && isBare ? known.command : checkRequest(request, services.limits)
    // An argv is put into words first.
    if (command !== request.command) return null
    return known ?? this.#make(command, shell, memory, services.judge)
  }

  /** The command as it was given before; null when anything has changed since. */
  #find(command: unknown, shell: SessionShell, memory: SessionMemory): ReadyCommand | null {
    const known = this.#known.get(command as string)
    if (
      !known ||
      known.shell !== shell ||
      (known.way !== 'sourced') !== shell.hasBuiltin ||
      known.cwd !== memory.cwd ||
      known.version !== memory.version ||
      !memory.isPlain
    )
      return null
    if (known.file === null && memory.printsElsewhere) return null
    // The state is written down before a command that may go on without the session.
    if (!known.needs.childless && memory.dirty) return null
    return stillHolds(known.verdict) ? known : null
  }

  #make(command: string, shell: SessionShell, memory: SessionMemory, judge: Services['judge']): ReadyCommand | null {
    const { streams } = shell
    if (!memory.isPlain || memory.dirty || memory.printsElsewhere || command.includes('{{')) return null
    if (!shell.hasBuiltin || !streams.used || streams.passThrough) return null
    const { cwd, version } = memory
    const known = mayAskForLast(command, memory.known) ? memory.knownWithLast : memory.known
    const { variables, functions, aliases, held } = known
    const verdict = judge(command, { cwd, variables, functions, aliases, held })
    if (verdict instanceof Promise || verdict.decision !== 'allow' || !verdict.facts.parsedOk) return null
    const needs = verdict.secretsAsCode.length === 0 ? memory.prepareUsual(verdict) : null
    if (!needs) return null
    const text = callText(shell, memory, verdict, needs, command)
    const { way, line, file, fallback } = commandLine(text, shell)
    if (way === 'sourced') return null
    const ready = { way, line, file, fallback, shell, command, verdict, needs, cwd, version }
    if (!isRepeatable(text) || needs.looksAtStatus) return ready
    if (this.#known.size >= KEPT_COMMANDS) this.#known.clear()
    this.#known.set(command, ready)
    return ready
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

const KEPT_VERDICTS = 64

/** The same command in an unchanged shell gets the same verdict: those of the last commands are kept. */
export function keepVerdicts(judge: Services['judge'], memory: Pick<SessionMemory, 'version'>): Services['judge'] {
  const verdicts = new Map<string, Verdict>()
  let version = -1
  return (command, context, automation) => {
    if (automation !== undefined) return judge(command, context, automation)
    if (version !== memory.version || verdicts.size >= KEPT_VERDICTS) verdicts.clear()
    version = memory.version
    const lastWord = mayAskForLast(command, context) ? context.held?.lastWord : undefined
    const key = `${context.cwd}\0${lastWord ?? ''}\0${command}`
    const known = verdicts.get(key)
    if (known && stillHolds(known)) return known
    const keep = (verdict: Verdict): Verdict => {
      verdicts.set(key, verdict)
      return verdict
    }
    const verdict = judge(command, context)
    return verdict instanceof Promise ? verdict.then(keep) : keep(verdict)
  }
}

/** `$_` is not part of what has a version. Code from elsewhere may ask for it without a word in the command. */
function mayAskForLast(command: string, { functions, aliases }: Pick<GuardContext, 'functions' | 'aliases'>): boolean {
  return isFilled(functions) || isFilled(aliases) || command.includes('_') || ELSEWHERE.test(command)
}

const ELSEWHERE = /\b(?:eval|source|trap)\b|(?:^|[\s;&|])\.\s/

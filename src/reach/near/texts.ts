/** What a model reads when the link did something: what happened, whether its command runs, what to do. */
import { ShellError } from '../../contract/errors.js'
import type { Outcome } from '../../contract/outcome.js'

export function notStartedError(
  url: string,
  { downMs, why, error }: { downMs: number; why: string; error?: ShellError | undefined },
): ShellError {
  if (error) return new ShellError(error.code, `${why}. The call was not started there.`, error.hint)
  return new ShellError(
    'LINK_DOWN',
    `The connection to ${url} is down (for ${duration(downMs)}${why ? `: ${why}` : ''}). The call was not ` +
      'started there.',
    'Nothing has run. Try again later, or tell the person.',
  )
}

/** For calls that have no outcome: reading, listing, starting a job, typing. */
export function unansweredError(url: string, downMs: number, verb: string): ShellError {
  const said = `The connection to ${url} is down (for ${duration(downMs)}), and the call was not answered.`
  if (LOOKS.has(verb)) return new ShellError('LINK_DOWN', said, 'Try again when the link is back.')
  return new ShellError(
    'LINK_DOWN',
    `${said} What it asks for may have been done there.`,
    'When the link is back, look at what is there (the list of jobs, the output) before you repeat it.',
  )
}

/** Verbs that change nothing. */
const LOOKS: ReadonlySet<string> = new Set([
  ...['session', 'sessions', 'job', 'jobs', 'check', 'plan', 'sandboxPolicy', 'tries', 'changes'].map(
    (verb) => `engine.${verb}`,
  ),
  ...['info', 'read', 'wait', 'screen', 'doing', 'events'].map((verb) => `job.${verb}`),
  'session.info',
])

export function mayRunText(url: string, downMs: number, call: string): string {
  return (
    `The connection to ${url} is down (for ${duration(downMs)}). The command had been handed over and may still be ` +
    `running there; do not run it again. When the link is back its result is kept: ${call}.`
  )
}

export function engineGoneText(url: string, why: string): string {
  return (
    `The command on ${url} was lost: ${why}. It may have run in part; look at what it left before you run it ` +
    'again.'
  )
}

/** `isKept`: an engine there that ends in order keeps its sessions for the next one; one that is killed does not. */
export function sessionGoneText(url: string, name: string, why: string, isKept = false): string {
  if (!isKept)
    return (
      `The session ${name} on ${url} is gone (${why}): directory and variables are lost, ` +
      'files and detached jobs are not. This is a new shell.'
    )
  return (
    `The session ${name} on ${url} is gone (${why}). This is a new shell with the directory and variables that were ` +
    'kept when an engine there last ended in order: what was changed later is lost, as are its background commands; ' +
    'files and detached jobs are not.'
  )
}

export function elsewhereText(name: string): string {
  return (
    `The session ${name} was last used there in another engine: with other settings, or by another build of cerith. ` +
    'What it had in that one is not in this shell.'
  )
}

export function otherBuildText(url: string, leaseMs: number): string {
  return (
    `The engine on ${url} was started by another build of cerith and keeps the guard and the fixes of that build. ` +
    `It ends when it was not used for ${duration(leaseMs)}; the next one is of this build.`
  )
}

export function recoveredText(call: string, command: string, outcome: Outcome): string {
  const said = (outcome.output ?? outcome.stdout + outcome.stderr).trimEnd().slice(-300)
  const how = outcome.exitCode === null ? outcome.status : `${outcome.status}, exit code ${outcome.exitCode}`
  const shown = command.length > 80 ? `${command.slice(0, 80)}…` : command
  return (
    `${call} (\`${shown}\`), which a cut link had kept from you, has ended: ` +
    `${how}.${said ? ` It last said: ${said}` : ''}`
  )
}

/** A place can say anything; what is not built like an outcome is none. */
export function isOutcome(value: unknown): value is Outcome {
  const given = value as Record<string, unknown> | null
  if (typeof given !== 'object' || given === null || !Array.isArray(given['notes'])) return false
  const isOf = (name: string, ...types: string[]): boolean =>
    types.includes(given[name] === null ? 'null' : typeof given[name])
  return (
    ['status', 'stdout', 'stderr', 'cwd'].every((name) => isOf(name, 'string')) &&
    ['output', 'outputFile', 'signal', 'id', 'session', 'approvalId'].every((name) => isOf(name, 'string', 'null')) &&
    ['exitCode', 'pid', 'pgid'].every((name) => isOf(name, 'number', 'null')) &&
    ['end', 'refused', 'plan', 'waitingForInput', 'usage', 'sandbox', 'pipeStatus'].every((name) =>
      isOf(name, 'object', 'null'),
    ) &&
    ['omittedBytes', 'droppedBytes', 'durationMs'].every((name) => isOf(name, 'number')) &&
    isOf('truncated', 'boolean') &&
    given['notes'].every((note: unknown) => typeof (note as { text?: unknown } | null)?.text === 'string')
  )
}

export function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  return seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`
}

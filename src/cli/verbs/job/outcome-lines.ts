/**
 * What `cerith run` says about an outcome beside the command's own output: on stderr for
 * people, in `notes` for programs.
 */
import type { NoteCode } from '../../../contract/note.js'
import type { Outcome } from '../../../contract/outcome.js'
import { visible } from '../../../output/terminal/visible.js'
import type { Io } from '../../io/io.js'

/** What the streams could not say. `cerith`: how the engine is reached. */
export function tell(outcome: Outcome, io: Pick<Io, 'out' | 'err'>, cerith: string): void {
  const say = (line: string): void => io.err.write(`cerith: ${visible(line)}\n`)
  if (outcome.status === 'dry_run') io.out.write(`${visible(outcome.stdout)}\n${planLines(outcome)}`)
  if (outcome.status === 'timeout' && outcome.end?.kind === 'timeout')
    say(`timed out after ${outcome.end.afterMs} ms${outcome.end.forced ? ' (had to be killed)' : ''}`)
  if (outcome.refused) {
    say(`refused (${outcome.refused.rule}): ${outcome.refused.reason}`)
    say(outcome.refused.guidance)
  }
  if (outcome.status === 'running') say(runningWords(outcome.id, cerith))
  // Advice is for people; a script that captures stderr wants the command's and no more.
  const advises = io.err.isTTY || outcome.status === 'timeout' || outcome.status === 'killed'
  for (const { code, text } of outcome.notes) {
    if (ALWAYS_TOLD.has(code) || (advises && code !== 'goes-on')) say(text)
  }
}

export const runningWords = (id: string | null, cerith: string): string =>
  `still running as ${id}; ${howToGoOn(id, cerith)}`

/**
 * Also to a pipe: what was lost or set aside, and a token that named nothing and went out as text.
 */
const ALWAYS_TOLD: ReadonlySet<NoteCode> = new Set([
  'unknown-secret',
  'lost',
  'state',
  'shell-restarted',
  'directory',
  'output-lost',
  'forged',
  'sandbox-lost',
])

/** The engine says what happened; how to go on is said in the words of the command line. */
export function inOurWords(outcome: Outcome, cerith: string): Outcome {
  return outcome.status === 'running'
    ? { ...outcome, notes: [...outcome.notes, { code: 'goes-on', text: howToGoOn(outcome.id, cerith) }] }
    : outcome
}

export function howToGoOn(id: string | null, cerith: string): string {
  return `${cerith} read ${id} --follow, ${cerith} wait ${id}, ${cerith} kill ${id}`
}

function planLines({ plan }: Outcome): string {
  if (!plan) return ''
  const rows: [string, string][] = [
    ['directory', plan.cwd],
    ['session', plan.session ?? 'none (a fresh shell)'],
    ['timeout', plan.timeoutMs === null ? 'none' : `${plan.timeoutMs} ms`],
    ['guard', `${plan.verdict.decision}${plan.verdict.rule ? ` (${plan.verdict.rule})` : ''}`],
    ...plan.verdict.commands
      .slice(0, 12)
      .map((argv, i): [string, string] => [i === 0 ? 'sees' : '', visible(argv.join(' '))]),
    ['env added', plan.addedEnv.join(' ') || 'nothing'],
    ['env dropped', plan.droppedEnv.join(' ') || 'nothing'],
  ]
  return rows.map(([name, value]) => `  ${name.padEnd(12)}${value}\n`).join('')
}

/** Short sentences worth telling the model about how a command ended: what a code means, what probably went wrong. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { End } from '../../contract/outcome.js'
import { signalName } from '../../os/signals.js'
import type { Plan } from '../plan/plan.js'

/** Programs whose exit status 1 means "no", not "broken". */
const SAYS_NO = new Map([
  ['grep', 'no line matched'],
  ['egrep', 'no line matched'],
  ['fgrep', 'no line matched'],
  ['rg', 'no line matched'],
  ['diff', 'the files differ'],
  ['cmp', 'the files differ'],
  ['test', 'the condition is false'],
  ['[', 'the condition is false'],
  ['[[', 'the condition is false'],
  ['pgrep', 'no process matched'],
])

/** With one of these the last command may never have run, and the 1 is somebody else's. */
const MAY_END_EARLIER = /&&|\b(?:exit|return|exec|errexit|set -\w*e)\b/

export function adviceFor(about: {
  end: End
  plan: Pick<Plan, 'command' | 'cwd' | 'verdict'>
  stderr: string
  pipeStatus: readonly number[] | null
}): string[] {
  const { end, plan } = about
  const notes: string[] = []
  if (end.kind !== 'exit') return notes
  const { finalCommand } = plan.verdict.facts
  if (
    end.code === 1 &&
    finalCommand &&
    SAYS_NO.has(finalCommand) &&
    about.stderr.trim() === '' &&
    !MAY_END_EARLIER.test(plan.command)
  )
    notes.push(`Exit code 1 of ${finalCommand} means: ${SAYS_NO.get(finalCommand)}.`)
  else if (end.code > 128 && end.code < 193)
    notes.push(`Exit code ${end.code} means that a process was ended by ${signalName(end.code - 128)}.`)
  if (end.code === 0 && about.pipeStatus?.some((code) => code !== 0 && code !== 141))
    notes.push(`Exit code 0 is that of the last stage only; the stages ended with ${about.pipeStatus.join(', ')}.`)
  if (end.code !== 0 && end.code < 128) {
    const path = unquotedPathWithSpaces(plan.command, plan.cwd)
    if (path)
      notes.push(
        `The path ${JSON.stringify(path)} exists and has spaces; quote it: '${path.replaceAll("'", String.raw`'\''`)}'.`,
      )
  }
  return notes
}

/** An existing path of which the command names the words without quotes (`cat my file.txt`). */
export function unquotedPathWithSpaces(command: string, cwd: string): string | null {
  if (command.length > 4_096 || !command.includes(' ')) return null
  const words = command.split(/\s+/)
  for (let from = 1; from < words.length && from < 40; from++) {
    if (!/^[\w./~-][^'"\\$`]*$/.test(words[from] as string) || (words[from] as string).startsWith('-')) continue
    for (let to = from + 2; to <= words.length && to - from <= 8; to++) {
      const joined = words.slice(from, to).join(' ')
      if (/['"\\$`;|&<>]/.test(joined)) break
      if (existsSync(resolve(cwd, joined))) return joined
    }
  }
  return null
}

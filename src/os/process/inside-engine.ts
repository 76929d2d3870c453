/** Tells whether this process was started by an engine: then an agent types at its terminal, not a person. */
import { readFileSync } from 'node:fs'
import { hasProc, processFacts } from './proc.js'
import { attempt } from '../../contract/attempt.js'

/** Names of the helper's processes; every command has one of them above it, whatever it did to its environment. */
const HELPERS = /^cerith-(?:helper|launch|warden)/

/** Looks at the environment, then at every ancestor: a variable can be unset, an ancestor cannot be chosen. */
export function isInsideEngine(env: Readonly<Record<string, string | undefined>>, from: number = process.pid): boolean {
  if (env['CERITH_ENGINE']) return true
  if (!hasProc) return false
  for (let pid = from, steps = 0; pid > 1 && steps < 256; steps++) {
    const facts = processFacts(pid)
    if (!facts) return false
    if (pid !== from && (HELPERS.test(facts.name) || carriesMark(pid))) return true
    pid = facts.parent
  }
  return false
}

function carriesMark(pid: number): boolean {
  return read(`/proc/${pid}/environ`)
    .split('\0')
    .some((entry) => entry.startsWith('CERITH_ENGINE='))
}

function read(path: string): string {
  // Gone, or another user's: such an ancestor is no engine of this user.
  return attempt(() => readFileSync(path, 'utf8'), '')
}

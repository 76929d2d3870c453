/** Tells whether this process was started by an engine: then an agent types at its terminal, not a person. */
import { readFileSync } from 'node:fs'
import { hasProc, processFacts, type ProcessFacts } from './proc.js'
import { attempt } from '../../contract/attempt.js'

/** Names of the helper's processes; every command has one of them above it, whatever it did to its environment. */
const HELPERS = /^cerith-(?:helper|launch|warden)/

/** Looks at the environment, then at every ancestor: a variable can be unset, an ancestor cannot be chosen. */
export function isInsideEngine(): boolean {
  if (process.env['CERITH_ENGINE']) return true
  if (!hasProc) return false
  for (let pid = process.ppid, steps = 0; pid > 1 && steps < 256; steps++) {
    const facts = processFacts(pid)
    if (!facts) return false
    if (isOfEngine(facts)) return true
    pid = facts.parent
  }
  return false
}

/** Started by an engine: a process of the helper, or one that carries an engine's mark. */
export function isOfEngine({ pid, name }: ProcessFacts): boolean {
  const carriesMark = (): boolean =>
    readFileSync(`/proc/${pid}/environ`, 'latin1')
      .split('\0')
      .some((entry) => entry.startsWith('CERITH_ENGINE='))
  // Gone, or another user's, such as sshd: no engine of this user started it.
  return HELPERS.test(name) || attempt(carriesMark, false)
}

/** What gives a new shell (a job, a terminal) the state of a session, and what it does not get. */
import type { Restore } from '../job/start.js'
import { exceptHooks } from './call/end.js'
import { restoreCode } from './shell/restore.js'
import type { ShellState } from './shell/state.js'

export function restoreOf(state: ShellState | null, initial: readonly string[]): Restore {
  if (!state) return { code: '', notes: [] }
  const except = exceptHooks(state, initial)
  return {
    code: restoreCode(state, { variables: initial }),
    notes: except ? [{ code: 'state', text: `It begins with the state of the session${except}.` }] : [],
  }
}

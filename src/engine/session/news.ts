/** An earlier life of a session: whether it may go on here, and what the first call has to say of it. */
import { ShellError } from '../../contract/errors.js'
import type { Note } from '../../contract/note.js'
import type { Services } from '../services/services.js'
import { widerThan, type MadeIn } from '../../confine/made-in.js'
import { parseSnapshot, type ShellState } from './shell/state.js'

export function firstNews(saved: string | null, found: ShellState | null, succeeds: Services['succeeds']): Note[] {
  const missing = found?.missing ?? []
  const of = (kind: string): string =>
    missing
      .filter((line) => line.startsWith(`${kind} `))
      .map((line) => line.slice(kind.length + 1))
      .join(', ')
  const state = (text: string): Note => ({ code: 'state', text })
  return [
    ...(saved !== null && !found
      ? [state('The saved state of this session could not be read; it starts without it.')]
      : []),
    ...(succeeds ? [{ code: 'shell-restarted' as const, text: startedAgain(succeeds) }] : []),
    ...(of('secret')
      ? [state(`Not kept from one process to the next, because it held a secret: ${of('secret')}.`)]
      : []),
    ...(of('hook') ? [state(`Not kept: ${of('hook')} (loader and start-up hooks stay out of new shells).`)] : []),
  ]
}

const startedAgain = (how: 'killed' | 'ended'): string =>
  `The server was ${how === 'killed' ? 'killed' : 'ended by its host'} and has been started again: this shell ` +
  'is new. Variables, functions, the directory and background commands of the earlier one are gone.'

/** Where it was made in a stricter sandbox, its functions and variables are code that would run here without it. */
export function savedState(text: string | null, name: string, here: MadeIn | null): ShellState | null {
  const state = text ? parseSnapshot(text) : null
  const wider = widerThan(state?.madeIn ?? '', here)
  if (wider.length === 0) return state
  throw new ShellError(
    'BAD_REQUEST',
    `Session ${name} was made in a sandbox that is stricter than this call (${wider.join(', ')}), so nothing was run`,
    `Repeat it with that sandbox, use another session, or forget its state: cerith sessions close ${name}.`,
  )
}

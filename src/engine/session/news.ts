/** What the first call of a session has to say: what became of an earlier life of it. */
import type { Note } from '../../contract/note.js'
import type { Services } from '../services/services.js'
import type { ShellState } from './shell/state.js'

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
  `The server was ${how === 'killed' ? 'killed' : 'ended by its host'} and has been started again: this shell is new. Variables, functions, the directory and background commands of the earlier one are gone.`

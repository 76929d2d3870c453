/**
 * A session's directory may be deleted by its last command or by another program: the session
 * then goes on in the nearest one that exists.
 */
import type { Note } from '../../../contract/note.js'
import { isDirectory, nearestExisting, type Seen } from '../../../os/files/paths.js'
import { linkOf } from '../../../os/process/proc.js'
import { quoteWord } from '../../../contract/quote.js'
import type { SessionMemory } from './memory.js'
import type { SessionShell } from '../shell/shell.js'
import { utf8 } from '../shell/state.js'

/** What the kernel puts behind the name of a directory that was removed. */
const GONE = ' (deleted)'

/** Moves the session where its directory is gone, and gives the note that says so. */
export function leaveGoneDirectory(memory: SessionMemory, shell: SessionShell | null, look: Seen): Note[] {
  // The kernel marks the shell's own directory when it is gone; without a shell the path is looked at.
  const at = shell ? linkOf(shell.pid, 'cwd') : memory.cwd
  if (at === null || (shell && !at.endsWith(GONE))) return []
  if (nearestExisting(at, look) === at) return []
  const gone = memory.cwd.replace(/ \(deleted\)$/, '')
  // A directory that was made again is entered again.
  if (!isThere(memory, look)) memory.cwd = nearestExisting(gone, look)
  shell?.type(`{ \\builtin cd -- ${quoteWord(memory.cwd)}; } >/dev/null 2>&1\n`)
  if (memory.cwd === gone) return []
  const text = `The session's directory ${gone} no longer exists; continuing in ${memory.cwd}.`
  return [{ code: 'directory', text }]
}

/** A name that is no UTF-8 is known to the state only. */
export function isThere({ cwd, state }: SessionMemory, look: Seen): boolean {
  return state !== null && utf8(state.cwd) === cwd && isDirectory(Buffer.from(look(state.cwd), 'latin1'))
}

/** The saved states of named sessions: one private file each, replaced in one step. The only owner of their names. */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ShellError } from '../../contract/errors.js'
import { ensurePrivateDirectory } from './state-dir.js'
import { filesIn, removeQuietly } from './quietly.js'

const ENDS_WITH = '.state'

export interface SavedSession {
  readonly name: string
  /** Epoch milliseconds. */
  readonly savedAt: number
  readonly bytes: number
}

export function savedSessions(stateDir: string): SavedSession[] {
  return filesIn(join(stateDir, 'sessions'), ENDS_WITH)
    .filter(({ name }) => !name.startsWith('.'))
    .map(({ name, size, changedAt }) => ({ name: name.slice(0, -ENDS_WITH.length), savedAt: changedAt, bytes: size }))
    .sort((a, b) => b.savedAt - a.savedAt)
}

/** Null when there is none; empty when it cannot be read. */
export function readSavedSession(stateDir: string, name: string): string | null {
  try {
    return readFileSync(fileOf(stateDir, name), 'latin1')
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : ''
  }
}

/** `writer` keeps the half-written files of two processes apart. */
export function saveSession(stateDir: string, name: string, dump: string, writer: string): void {
  const dir = ensurePrivateDirectory(join(stateDir, 'sessions'))
  const temporary = join(dir, `.${name}.${writer}`)
  try {
    writeFileSync(temporary, dump, { mode: 0o600, encoding: 'latin1' })
    renameSync(temporary, fileOf(stateDir, name))
  } catch (error) {
    removeQuietly(temporary)
    throw new ShellError(
      'STATE_UNWRITABLE',
      `The state of session ${name} could not be kept in ${dir} (${(error as NodeJS.ErrnoException).code})`,
      'Its commands have run; the next process goes on with what was kept before them. Make room, and run them again.',
      { cause: error },
    )
  }
}

export function renameSavedSession(stateDir: string, from: string, to: string): void {
  renameSync(fileOf(stateDir, from), fileOf(stateDir, to))
}

export function removeSavedSession(stateDir: string, name: string): void {
  rmSync(fileOf(stateDir, name), { force: true })
}

function fileOf(stateDir: string, name: string): string {
  return join(stateDir, 'sessions', `${name}${ENDS_WITH}`)
}

/** The state directory: private to its user, never a link, and refused when it belongs to another user. */
import { accessSync, chmodSync, constants, existsSync, lstatSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { ShellError } from '../../contract/errors.js'
import { knownHome } from './home.js'
import { nearestExisting } from './paths.js'

/**
 * `$CERITH_HOME`, else `$XDG_STATE_HOME/cerith`, else `~/.local/state/cerith`; a private
 * temporary one where none of these can be written.
 */
export function stateDirectory(env: NodeJS.ProcessEnv = process.env): string {
  return findStateDirectory(env).path
}

/** The directory, with a sentence for the user when it is not the usual one. */
export function findStateDirectory(env: NodeJS.ProcessEnv = process.env): { path: string; problem: string | null } {
  // A directory that was chosen for cerith is that one or an error.
  if (env['CERITH_HOME']) return { path: resolve(env['CERITH_HOME']), problem: null }
  const home = knownHome(env)
  const usual = env['XDG_STATE_HOME']
    ? resolve(env['XDG_STATE_HOME'], 'cerith')
    : home === null
      ? null
      : join(home, '.local', 'state', 'cerith')
  const why =
    usual === null
      ? `There is no home directory: HOME is not set, and user ${process.getuid?.() ?? ''} is not in the password file`
      : whyUnwritable(usual)
  if (usual !== null && why === null) return { path: usual, problem: null }
  const path = join(tmpdir(), `cerith-${process.getuid?.() ?? 'user'}`)
  return {
    path,
    problem:
      `${why}; state is kept in ${path}, which does not outlive the machine. Set CERITH_HOME to a directory of ` +
      'your own.',
  }
}

/** Null when files can be made there, or when it is for another reason that they cannot: then its own error says so. */
function whyUnwritable(path: string): string | null {
  // Itself, or where it would be made. (What leads through a file is no directory's name: a HOME of /dev/null.)
  for (const at of [path, nearestExisting(path)]) {
    try {
      accessSync(at, constants.W_OK | constants.X_OK)
      return null
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? ''
      if (['EROFS', 'EACCES', 'EPERM', 'ENOTDIR'].includes(code)) return `${path} cannot be written (${code})`
    }
  }
  return null
}

/** Makes (or checks) a private directory and gives its path back. */
export function ensurePrivateDirectory(path: string): string {
  try {
    makeDirectories(path)
  } catch (error) {
    throw unwritable(path, `cannot be created (${(error as NodeJS.ErrnoException).code})`, error)
  }
  const stat = lstatSync(path)
  if (stat.isSymbolicLink()) throw unwritable(path, 'is a symbolic link')
  if (!stat.isDirectory()) throw unwritable(path, 'is not a directory')
  if (process.getuid && stat.uid !== process.getuid())
    throw unwritable(path, `belongs to another user (uid ${stat.uid})`)
  // mkdir's mode is cut by the umask and an older directory may have been opened up: 0700 whatever happened.
  if ((stat.mode & 0o777) !== 0o700) {
    try {
      chmodSync(path, 0o700)
    } catch (error) {
      throw unwritable(path, 'may be read by others and cannot be made private', error)
    }
  }
  return path
}

/**
 * Not mkdir's own `recursive`: in a file system that answers ENOENT for every new name, as
 * /proc does, Node tries for ever.
 */
function makeDirectories(path: string): void {
  if (makeOne(path)) return
  if (!existsSync(dirname(path))) makeDirectories(dirname(path))
  // Still none, although its parent is there: no directories can be made here.
  if (!makeOne(path)) throw Object.assign(new Error('no such directory'), { code: 'ENOENT' })
}

/** False when the parent is missing. Another process may be faster: that is as good. */
function makeOne(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return false
    if (code !== 'EEXIST') throw error
  }
  return true
}

function unwritable(path: string, why: string, cause?: unknown): ShellError {
  return new ShellError(
    'STATE_UNWRITABLE',
    `State directory ${path} ${why}`,
    'Set CERITH_HOME to a directory of your own.',
    { cause },
  )
}

/**
 * Files that only their user may read: written whole or not at all, and not believed when others could have read them.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { ShellError } from '../../contract/errors.js'
import { ensurePrivateDirectory } from './state-dir.js'

/** Null when there is none. */
export function readPrivateFile(file: string): string | null {
  let fd: number
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    throw new ShellError('STATE_UNWRITABLE', `Cannot read ${file} (${code})`, 'It must be a plain file of your own.', {
      cause: error,
    })
  }
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile() || (process.getuid && stat.uid !== process.getuid()))
      throw new ShellError('STATE_UNWRITABLE', `${file} is not a file of your own`, 'Remove it, or name another one.')
    if ((stat.mode & 0o077) !== 0)
      throw new ShellError(
        'STATE_UNWRITABLE',
        `${file} may be read by others`,
        'Take what it holds as known to them: remove it to get a new one.',
      )
    return readFileSync(fd, 'utf8')
  } finally {
    closeSync(fd)
  }
}

/** False when another process has made it meanwhile; that one stays. */
export function createPrivateFile(file: string, text: string): boolean {
  const temporary = writeBeside(file, text)
  try {
    // Unlike rename, link never replaces.
    linkSync(temporary, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  } finally {
    unlinkSync(temporary)
  }
}

/** Puts the new text in place of the old in one step. */
export function replacePrivateFile(file: string, text: string): void {
  renameSync(writeBeside(file, text), file)
}

function writeBeside(file: string, text: string): string {
  ensurePrivateDirectory(dirname(file))
  const temporary = `${file}.${randomBytes(6).toString('hex')}`
  const fd = openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600)
  try {
    fchmodSync(fd, 0o600)
    writeFileSync(fd, text)
    fsyncSync(fd)
  } catch (error) {
    unlinkSync(temporary)
    throw error
  } finally {
    closeSync(fd)
  }
  return temporary
}

/** Checks a working directory before anything starts: four different things can be wrong with it, and each is said. */
import { constants, realpathSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { ShellError } from '../../contract/errors.js'
import { attempt } from '../../contract/attempt.js'
import { isInside } from '../../contract/names/inside.js'
import { mayAccess } from './quietly.js'

/** Where a path of a command is looked at: in its room, where that shows other files than this machine. */
export type Seen = (path: string) => string
const HERE: Seen = (path) => path

/** The absolute directory to run in, symbolic links resolved for the check against `roots` only. */
export function checkDirectory(
  wanted: string | undefined,
  base: string,
  roots: readonly string[] | null,
  seen: Seen = HERE,
): string {
  if (wanted !== undefined && (typeof wanted !== 'string' || wanted === ''))
    throw new ShellError(
      'BAD_REQUEST',
      `cwd must be a non-empty string, got ${JSON.stringify(wanted)}`,
      'Pass an absolute path, or leave cwd out.',
    )
  if (wanted?.includes('\0'))
    throw new ShellError('BAD_REQUEST', 'cwd must not contain NUL bytes', 'Remove the NUL byte from the path.')
  const cwd = resolve(base, wanted ?? '.')
  let stat
  try {
    stat = statSync(seen(cwd))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') throw notAccessible(cwd)
    throw new ShellError('CWD_NOT_FOUND', `Working directory not found: ${cwd}`, 'Create it, or pass an existing cwd.')
  }
  if (!stat.isDirectory())
    throw new ShellError('CWD_NOT_DIRECTORY', `Not a directory: ${cwd}`, 'Pass a directory as cwd, not a file.')
  if (!mayAccess(seen(cwd), constants.X_OK)) throw notAccessible(cwd)
  if (roots?.every((root) => !isInside(realOr(cwd), root)))
    throw new ShellError(
      'CWD_OUTSIDE_ROOT',
      `Working directory outside the allowed roots: ${cwd}`,
      `Use a directory within: ${roots.join(', ')}`,
    )
  return cwd
}

/** A directory that only a try holds is in its room, which keeps it within the roots. */
function realOr(path: string): string {
  return attempt(() => realpathSync(path), path)
}

/** The roots as they really are, for comparison with real paths. */
export function realRoots(roots: readonly string[], base: string): string[] {
  return roots.map((root) => checkDirectory(root, base, null)).map((root) => realpathSync(root))
}

/** A name that is no UTF-8 comes as bytes. */
export function isDirectory(path: string | Buffer): boolean {
  return attempt(() => statSync(path).isDirectory(), false)
}

/** The directory itself, or its nearest ancestor that still exists. */
export function nearestExisting(path: string, seen: Seen = HERE): string {
  for (let at = path; ; at = dirname(at)) {
    if (isDirectory(seen(at)) || at === dirname(at)) return at
  }
}

function notAccessible(cwd: string): ShellError {
  return new ShellError(
    'CWD_NOT_ACCESSIBLE',
    `Working directory may not be entered: ${cwd}`,
    'Check its permissions, or pass another cwd.',
  )
}

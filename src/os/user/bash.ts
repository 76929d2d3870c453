/**
 * Finds a real bash of 4.4 or newer, once. A dash or busybox that answers to the name is never
 * taken, nor the 3.2 of macOS.
 */
import { execFile } from 'node:child_process'
import { constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { ShellError } from '../../contract/errors.js'
import { isShortage } from '../process/child.js'
import { readPrivateFile, replacePrivateFile } from '../files/private.js'
import { attempt } from '../../contract/attempt.js'
import { mayAccess } from '../files/quietly.js'

const ANSWER_LIMIT_MS = 5_000

export interface Bash {
  readonly path: string
  readonly version: string
}

/**
 * Looks at `wanted`, then along PATH, then at the usual places. What a file answered is
 * remembered in the state directory.
 */
export async function findBash(
  wanted?: string,
  env: NodeJS.ProcessEnv = process.env,
  stateDir: string | null = null,
): Promise<Bash> {
  const candidates = wanted
    ? [wanted]
    : [
        ...(env['PATH'] ?? '')
          .split(delimiter)
          .filter((dir) => dir.startsWith('/'))
          .map((dir) => join(dir, 'bash')),
        '/bin/bash',
        '/usr/bin/bash',
        '/usr/local/bin/bash',
        '/opt/homebrew/bin/bash',
      ]
  const old: string[] = []
  const silent: string[] = []
  for (const path of new Set(candidates)) {
    if (!mayAccess(path, constants.X_OK)) continue
    try {
      const version = stateDir === null ? await bashVersion(path) : await knownVersion(path, join(stateDir, 'bash'))
      if (!version) continue
      if (isRecent(version)) return { path, version }
      old.push(`${path} is bash ${version}`)
    } catch (error) {
      silent.push(`${path} ${unasked(error as AskFailure)}`)
    }
  }
  // A bash that did not tell its version may be the right one: it is neither missing nor known to be too old.
  if (silent.length > 0)
    throw new ShellError(
      'SPAWN_FAILED',
      `${silent.join(', ')}: its version is not known`,
      'This is a problem of the machine (processes, memory, load), not of the command; try again.',
    )
  if (old.length > 0)
    throw new ShellError(
      'SHELL_NOT_FOUND',
      `${old.join(', ')}: cerith needs bash 4.4 or newer`,
      'Install a newer one ' +
        `(${process.platform === 'darwin' ? '`brew install bash`' : 'with the package manager'}) and put it on ` +
        `PATH, or name it as \`bash\` in the configuration or in createEngine.`,
    )
  throw new ShellError(
    'SHELL_NOT_FOUND',
    wanted ? `Not a usable bash: ${wanted}` : 'No bash was found on PATH',
    'Install bash 4.4 or newer, or pass its path as `bash`.',
  )
}

/** Older ones lack `mapfile -d`, `${name@a}` and the like: commands would seem to run, and would not. */
function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return major > 4 || (major === 4 && minor >= 4)
}

/** The file must be the same to the last change of its inode. */
async function knownVersion(path: string, memory: string): Promise<string | null> {
  const { dev, ino, size, mtimeMs, ctimeMs } = statSync(path)
  const file = [path, dev, ino, size, mtimeMs, ctimeMs].join(' ')
  // What is damaged, or not private, is asked and written anew.
  const [known, kept] = attempt(() => readPrivateFile(memory)?.split('\n')) ?? []
  if (known === file && kept) return kept
  const version = await bashVersion(path)
  // On a full or read-only disk bash is asked again the next time.
  if (version) attempt(() => replacePrivateFile(memory, `${file}\n${version}\n`))
  return version
}

type AskFailure = Error & { readonly code?: string | number | null; readonly killed?: boolean }

/**
 * Null where the file answers as no bash does. A bash that could not be started, or not be heard in time, is an error.
 */
async function bashVersion(path: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--norc', '--noprofile', '-c', 'echo "$BASH_VERSION"'], {
      timeout: ANSWER_LIMIT_MS,
      env: {},
    })
    return /^\d+\.\d+/.test(stdout) ? stdout.trim() : null
  } catch (error) {
    const failure = error as AskFailure
    if (failure.killed || isShortage(failure)) throw error
    return null
  }
}

function unasked({ code, killed }: AskFailure): string {
  return killed ? `did not answer within ${ANSWER_LIMIT_MS / 1_000} s` : `could not be started (${code})`
}

/** Finds a real bash of 4.4 or newer, once. A dash or busybox that answers to the name is never taken, nor the 3.2 of macOS. */
import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { ShellError } from '../contract/errors.js'

export interface Bash {
  readonly path: string
  readonly version: string
}

/** Looks at `wanted`, then along PATH, then at the usual places. */
export async function findBash(wanted?: string, env: NodeJS.ProcessEnv = process.env): Promise<Bash> {
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
  for (const path of new Set(candidates)) {
    if (!isExecutable(path)) continue
    const version = await bashVersion(path)
    if (!version) continue
    if (isRecent(version)) return { path, version }
    old.push(`${path} is bash ${version}`)
  }
  if (old.length > 0)
    throw new ShellError(
      'SHELL_NOT_FOUND',
      `${old.join(', ')}: cerith needs bash 4.4 or newer`,
      `Install a newer one (${process.platform === 'darwin' ? '`brew install bash`' : 'with the package manager'}) and put it on PATH, or name it as \`bash\` in the configuration or in createEngine.`,
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

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

async function bashVersion(path: string): Promise<string | null> {
  try {
    const { stdout } = await promisify(execFile)(path, ['--norc', '--noprofile', '-c', 'echo "$BASH_VERSION"'], {
      timeout: 5_000,
      env: {},
    })
    return /^\d+\.\d+/.test(stdout) ? stdout.trim() : null
  } catch {
    return null
  }
}

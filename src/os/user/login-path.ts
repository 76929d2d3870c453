/** PATH as the user's login shell sets it (nvm, pyenv, homebrew), asked for once per process and never for long. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'

const LIMIT_MS = 5_000

/** Null when the shell does not answer in time or says nothing useful; the host's own PATH is used then. */
export function loginPath(): Promise<string | null> {
  // Start-up files print all sorts of things: only what stands between the two marks is the answer.
  const mark = randomBytes(8).toString('hex')
  return new Promise((resolve) => {
    const child = execFile(
      process.env['SHELL'] ?? '/bin/bash',
      ['-l', '-i', '-c', `printf '%s%s%s' ${mark} "$PATH" ${mark}`],
      { timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: 1024 * 1024 },
      (_error, stdout) => {
        const path = stdout.split(mark)[1]
        resolve(path && path.includes('/') ? path : null)
      },
    )
    child.stdin?.end()
  })
}

/** Asks bash itself whether a text can be parsed. Nothing of the text runs. */
import { execFile } from 'node:child_process'

/** Bash's message about the mistake; null when it would accept the text, or could not be asked. */
export function syntaxErrorOf(text: string, bash: string): Promise<string | null> {
  return new Promise((resolve) => {
    // -n reads and never executes; the text comes by stdin, so nothing of it shows in a process list.
    const child = execFile(
      bash,
      ['--norc', '--noprofile', '-n'],
      { timeout: 5_000, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' }, cwd: '/', maxBuffer: 1024 * 1024 },
      (error, _stdout, stderr) => {
        resolve(!error || error.killed || typeof error.code !== 'number' ? null : stderr)
      },
    )
    child.stdin?.on('error', () => {})
    child.stdin?.end(text)
  })
}

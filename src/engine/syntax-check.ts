/** What bash itself says about a command that cannot be parsed: the shell's own error, and nothing of it has run. */
import { execFile } from 'node:child_process'
import { endedOutcome } from './outcomes.js'
import type { Outcome } from '../contract/outcome.js'
import type { Plan } from './plan.js'
import type { Services } from './services.js'

/** The failed Outcome with bash's message; null when bash would accept the text (then the guard's refusal stands). */
export function syntaxErrorOutcome(plan: Plan, services: Services): Promise<Outcome | null> {
  const startedAt = performance.now()
  return new Promise((resolve) => {
    // -n reads and never executes; the text comes by stdin, so nothing of it shows in a process list.
    const child = execFile(services.bash.path, ['--norc', '--noprofile', '-n'], { timeout: 5_000, env: { PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' }, cwd: '/', maxBuffer: 1024 * 1024 }, (error, _stdout, stderr) => {
      if (!error || error.killed || typeof error.code !== 'number') return resolve(null)
      resolve(
        endedOutcome({
          end: { kind: 'exit', code: 2 },
          stdout: '',
          stderr: services.secrets.mask(stderr),
          output: null,
          truncated: false,
          omittedBytes: 0,
          outputFile: null,
          durationMs: Math.round(performance.now() - startedAt),
          cwd: plan.cwd,
          pid: null,
          pgid: null,
          id: null,
          session: plan.session,
          pipeStatus: null,
          notes: ['The command has a syntax error; nothing of it was run.'],
        }),
      )
    })
    child.stdin?.on('error', () => {})
    child.stdin?.end(plan.command)
  })
}

/** Lays a try over a directory of its own, in the state directory that is in use, and says what tries are open. */
import { mkdtempSync, rmSync, writeFileSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ShellError } from '../../contract/errors.js'
import { createEngine } from '../../engine/engine.js'
import { aboutTry } from '../verb/tries.js'
import type { Finding, Patient } from './doctor.js'

export async function tryFindings({ stateDir, env }: Patient): Promise<Finding[]> {
  // Where there are no rooms, the line about the sandbox says why.
  if (process.platform !== 'linux') return []
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'cerith-doctor-')))
  try {
    writeFileSync(join(cwd, 'file'), 'original')
    const engine = await createEngine({ cwd, stateDir, env, sandbox: { profile: 'workspace', try: 'new' } })
    try {
      const open = await engine.tries()
      await engine.run({ command: 'echo tried >file; echo new >new', timeoutMs: 20_000 })
      const { changes } = await engine.changes()
      await engine.discard()
      if (changes.length !== 2 || readFileSync(join(cwd, 'file'), 'utf8') !== 'original')
        return [
          {
            name: 'try',
            state: 'broken',
            detail: 'what was tried counted',
            fix: 'Do not rely on it here; please report this.',
          },
        ]
      const kept = open.map((one) => `${one.id} (${aboutTry(one)})`).join('; ')
      return [
        {
          name: 'try',
          state: 'ok',
          detail: `--try works in ${stateDir}; ${open.length === 0 ? 'none is open' : `open: ${kept}`}`,
          fix: open.length === 0 ? null : 'cerith diff ID shows one; cerith accept ID or cerith discard ID ends it.',
        },
      ]
    } finally {
      await engine.close()
    }
  } catch (error) {
    const known = ShellError.is(error)
    return [
      { name: 'try', state: 'degraded', detail: known ? error.message : String(error), fix: known ? error.hint : null },
    ]
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

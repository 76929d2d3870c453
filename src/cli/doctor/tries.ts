/** Lays a try over a directory of its own, in the state directory that is in use, and says what tries are open. */
import { mkdtempSync, rmSync, writeFileSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from '../../engine/engine.js'
import { aboutTry } from '../verb/tries.js'
import type { Patient } from './doctor.js'
import { broken, degraded, ofError, ok, type Finding } from './finding.js'

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
        return [broken('try', 'what was tried counted', 'Do not rely on it here; please report this.')]
      const kept = open.map((one) => `${one.id} (${aboutTry(one)})`).join('; ')
      const detail = `--try works in ${stateDir}; ${open.length === 0 ? 'none is open' : `open: ${kept}`}`
      const fix = 'cerith diff ID shows one; cerith accept ID or cerith discard ID ends it.'
      return [{ ...ok('try', detail), fix: open.length === 0 ? null : fix }]
    } finally {
      await engine.close()
    }
  } catch (error) {
    return [degraded('try', ...ofError(error))]
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

/**
 * The chaos of the nightly script, for a short while: no lost byte, no leaked process, states that only move forward.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runChaos } from '../../nightly/chaos.js'

test('chaos: engines are killed and started again while jobs are started, read, waited for and killed', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'cerith-chaos-'))
  const seed = Number(process.env['CHAOS_SEED'] ?? 20_261_116)
  console.log(`chaos seed ${seed}`)
  const report = await runChaos({ seconds: Number(process.env['CHAOS_SECONDS'] ?? 15), seed, stateDir })
  expect(report.jobs).toBeGreaterThan(3)
  expect(report.reads).toBeGreaterThan(10)
  rmSync(stateDir, { recursive: true, force: true })
}, 240_000)

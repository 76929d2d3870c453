/**
 * The chaos of the nightly script, for a short while: no lost byte, no leaked process, states that only move forward.
 */
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runChaos } from '../../nightly/chaos.js'
import { temporaryFolder } from '../../fixtures/folder.js'

test('chaos: engines are killed and started again while jobs are started, read, waited for and killed', async () => {
  const stateDir = temporaryFolder('chaos')
  const seed = Number(process.env['CHAOS_SEED'] ?? 20_261_116)
  console.log(`chaos seed ${seed}`)
  const report = await runChaos({ seconds: Number(process.env['CHAOS_SECONDS'] ?? 15), seed, stateDir })
  expect(report.jobs).toBeGreaterThan(3)
  expect(report.reads).toBeGreaterThan(10)
  rmSync(stateDir, { recursive: true, force: true })
}, 240_000)

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fc } from '../../fixtures/fast-check.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine, type Engine } from '../../../src/index.js'
import { askPlainBash, askSession, ORACLE_ENV } from './oracle.js'
import { randomSequence } from './oracle-grammar.js'
import { SEQUENCES } from './oracle-sequences.js'
import { temporaryFolder } from '../../fixtures/folder.js'

let engine: Engine
let home: string
/** Out of the way of what the sequences see. */
let scratch: string
let count = 0

beforeAll(async () => {
  home = temporaryFolder('oracle')
  scratch = temporaryFolder('oracle')
  engine = await createEngine({ stateDir: join(scratch, 'state'), cwd: home, env: ORACLE_ENV, envDefaults: false })
})

afterAll(async () => {
  await engine.close()
  for (const dir of [home, scratch]) rmSync(dir, { recursive: true, force: true })
})

async function compare(commands: readonly string[]): Promise<void> {
  const name = `o${++count}`
  const dir = join(home, 'place', 'work')
  const expected = await askPlainBash(engine.shell.path, commands, dir, scratch)
  const actual = await askSession(engine, name, commands, dir)
  expect(actual.steps.map(({ code, stdout }, at) => ({ command: commands[at], code, stdout }))).toEqual(
    expected.steps.map(({ code, stdout }, at) => ({ command: commands[at], code, stdout })),
  )
  expect(actual.state).toEqual(expected.state)
}

describe('SESS-01 a session given commands one by one answers and remembers like one plain bash', () => {
  for (const [area, sequences] of Object.entries(SEQUENCES)) {
    describe(area, () => {
      for (const commands of sequences)
        test(commands.join(' ⏎ ').replaceAll('\n', '↵').slice(0, 140), () => compare(commands))
    })
  }
})

test('SESS-01 so it does on random sequences', async () => {
  // CERITH_RANDOM_RUNS=2000 looks longer.
  await fc.assert(fc.asyncProperty(randomSequence, compare), {
    numRuns: Number(process.env['CERITH_RANDOM_RUNS'] ?? 60),
    endOnFailure: true,
  })
}, 600_000)

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine, type Engine } from '../../src/index.js'
import { askPlainBash, askSession, ORACLE_ENV } from './oracle.js'
import { SEQUENCES } from './oracle-sequences.js'

let engine: Engine
let home: string
let count = 0

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'cerith-oracle-'))
  engine = await createEngine({ stateDir: join(home, 'state'), cwd: home, env: ORACLE_ENV, envDefaults: false })
})

afterAll(async () => {
  await engine.close()
  rmSync(home, { recursive: true, force: true })
})

async function compare(commands: readonly string[]): Promise<void> {
  const name = `o${++count}`
  const dir = join(home, name)
  const expected = await askPlainBash(engine.shell.path, commands, dir)
  const actual = await askSession(engine, name, commands, dir)
  expect(actual.steps.map((step, at) => ({ command: commands[at], ...step }))).toEqual(expected.steps.map((step, at) => ({ command: commands[at], ...step })))
  expect(actual.state).toEqual(expected.state)
}

describe('SESS-01 a session given commands one by one answers and remembers like one plain bash', () => {
  for (const [area, sequences] of Object.entries(SEQUENCES)) {
    describe(area, () => {
      for (const commands of sequences) test(commands.join(' ⏎ ').replaceAll('\n', '↵').slice(0, 140), () => compare(commands))
    })
  }
})

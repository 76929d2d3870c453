/** A room is left by every call that entered it, also by one that came to no start. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Engine, StartRequest } from '../../../src/index.js'
import { findHelper } from '../../../src/os/helper/file.js'
import { TICK_MS } from '../../../src/os/confine/repositories.js'
import { pause } from '../../../src/os/process/clock.js'
import { testEngine } from '../harness.js'

const cases: readonly (readonly [string, (engine: Engine) => Promise<unknown>])[] = [
  ['was given up', (engine) => engine.run({ command: 'true', signal: AbortSignal.abort() })],
  ['was given up on a terminal', (engine) => engine.run({ command: 'true', pty: true, signal: AbortSignal.abort() })],
  ['cannot be recorded', (engine) => engine.run({ command: 'true', pty: true, record: '/nowhere/at/all.cast' })],
  [
    'is a job of a name that is taken',
    async (engine) => {
      const request: StartRequest = { command: 'true', newId: () => 'taken' }
      await (await engine.start(request)).wait({ exit: true })
      await engine.start(request)
    },
  ],
]

test.skipIf(!findHelper()).each(cases)(
  'a call that %s: what the person makes afterwards is theirs',
  async (_, call) => {
    const engine = await testEngine({ sandbox: { profile: 'workspace' } })
    await engine.run({ command: 'true' })
    await call(engine).catch(() => {})
    // What is newer than a command is told from it by times of files, which count in ticks.
    await pause(2 * TICK_MS)
    const made = join(engine.cwd, '.vscode')
    mkdirSync(made)
    await pause(2 * TICK_MS)
    const { notes } = await engine.run({ command: 'true' })
    expect(notes).toEqual([])
    expect(existsSync(made)).toBe(true)
  },
)

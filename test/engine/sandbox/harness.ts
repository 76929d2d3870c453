/** Sandbox tests run where a room can be built; elsewhere they are skipped, and `cerith doctor` says why. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createEngine, ShellError, type Engine, type EngineOptions } from '../../../src/index.js'
import type { SandboxOptions } from '../../../src/contract/sandbox.js'
import { temporaryFolder, testEngine } from '../harness.js'

export const canConfine = await (async () => {
  const engine = await createEngine({ sandbox: { profile: 'workspace' }, stateDir: join(temporaryFolder(), 'state') })
  try {
    return (await engine.run({ command: 'true' })).exitCode === 0
  } catch (error) {
    if (!ShellError.is(error) || error.code !== 'SANDBOX_UNAVAILABLE') throw error
    console.warn(`sandbox tests are skipped: ${error.message}`)
    return false
  } finally {
    await engine.close()
  }
})()

export interface Ground {
  readonly engine: Engine
  readonly home: string
  readonly work: string
}

/** A home with a workspace in it, and an engine whose commands are confined to that. */
export async function ground(sandbox: Partial<SandboxOptions> = {}, options: EngineOptions = {}): Promise<Ground> {
  const home = join(temporaryFolder(), 'home')
  const work = join(home, 'work')
  mkdirSync(join(work, 'src'), { recursive: true })
  const engine = await testEngine({
    cwd: work,
    env: { ...process.env, HOME: home },
    sandbox: { profile: 'workspace', ...sandbox },
    ...options,
  })
  return { engine, home, work }
}

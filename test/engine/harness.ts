/**
 * What engine tests share: an engine with a state directory of its own, and the truth about processes from the kernel.
 */
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { createEngine, type Engine, type EngineOptions } from '../../src/index.js'
import { isAlive } from '../../src/os/process/proc.js'
import { temporaryFolder } from '../fixtures/folder.js'
import { until } from '../fixtures/until.js'

const engines: Engine[] = []

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()))
})

/** An engine that is closed after the test. */
export async function testEngine(options: EngineOptions = {}): Promise<Engine> {
  const engine = await createEngine({ stateDir: join(temporaryFolder(), 'state'), cwd: temporaryFolder(), ...options })
  engines.push(engine)
  return engine
}

/**
 * Waits until a session has looked at its idle shell: at its state, and at what it holds. That begins 2 ms after a
 * call, by a timer of this process, which fires before a later and longer one. A check is then answered behind the
 * look, or after 150 ms with what was known before: such an answer does not count.
 */
export async function idleLook(engine: Engine, session = 'main'): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 20))
  await until(async () => {
    const asked = performance.now()
    await engine.check(':', { session })
    return performance.now() - asked < 100
  }, 'the look at the idle shell')
}

/** A number of seconds that no other test sleeps: its processes can be told apart. */
let unique = 0
export function uniqueSeconds(): string {
  unique += 1
  return `${3_000 + (process.pid % 997)}.${String(unique).padStart(3, '0')}${process.pid}`
}

export { isAlive, temporaryFolder, until }
export { processesNamed } from '../fixtures/processes.js'

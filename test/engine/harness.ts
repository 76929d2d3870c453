/**
 * What engine tests share: an engine with a state directory of its own, and the truth about processes from the kernel.
 */
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { createEngine, type Engine, type EngineOptions } from '../../src/index.js'
import { isAlive } from '../../src/os/process/proc.js'
import { temporaryFolder } from '../fixtures/folder.js'

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

/** A number of seconds that no other test sleeps: its processes can be told apart. */
let unique = 0
export function uniqueSeconds(): string {
  unique += 1
  return `${3_000 + (process.pid % 997)}.${String(unique).padStart(3, '0')}${process.pid}`
}

export { isAlive, temporaryFolder }
export { processesNamed } from '../fixtures/processes.js'
export { until } from '../fixtures/until.js'

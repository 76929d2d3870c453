/** An engine with a state directory of its own for every test of a file. */
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { createEngine, type Engine, type EngineOptions } from '../../../src/index.js'
import { temporaryFolder } from '../../fixtures/folder.js'

export interface Place {
  readonly engine: Engine
  readonly stateDir: string
  /** The directory of a job. */
  dir(id: string): string
  /** One more engine on the same directory, closed with the others. */
  another(options?: EngineOptions): Promise<Engine>
}

export function withEngine(options: EngineOptions = {}): Place {
  let stateDir = ''
  let engines: Engine[] = []
  const open = async (more: EngineOptions = {}): Promise<Engine> => {
    const engine = await createEngine({ stateDir, cwd: '/tmp', ...options, ...more })
    engines.push(engine)
    return engine
  }
  beforeEach(async () => {
    stateDir = temporaryFolder('job')
    await open()
  })
  afterEach(async () => {
    for (const engine of engines.splice(0)) {
      // Behind a link one that was closed cannot say what it left.
      const left = await engine.jobs().then(() => engine, () => open()) // prettier-ignore
      for (const info of await left.jobs()) await (await left.job(info.id)).kill({ graceMs: 0 })
      await left.close()
    }
    engines = []
  })
  return {
    get engine() {
      return engines[0] as Engine
    },
    get stateDir() {
      return stateDir
    },
    dir: (id) => join(stateDir, 'jobs', id),
    another: open,
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

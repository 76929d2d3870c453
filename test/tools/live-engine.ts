/** A real engine with a state directory and a working directory of its own, gone again after the test. */
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { createEngine, type Engine, type EngineOptions } from '../../src/index.js'

export interface Live {
  readonly engine: Engine
  /** An empty directory in which commands run. */
  readonly cwd: string
  readonly stateDir: string
}

/** Call at the top of a describe block or file; the engine is closed after it. */
export async function liveEngine(options: EngineOptions = {}): Promise<Live> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'cerith-tools-')))
  const cwd = join(root, 'work')
  const stateDir = join(root, 'state')
  await mkdir(cwd)
  const engine = await createEngine({ cwd, stateDir, ...options })
  afterAll(async () => {
    await engine.close()
    await rm(root, { recursive: true, force: true })
  })
  return { engine, cwd, stateDir }
}

/** JSON whose shape is what the test is about: looked into freely, compared exactly. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Loose = any

/**
 * `cerith/testing`: an engine for the tests of programs that use cerith; it touches no user's
 * state and leaves nothing behind.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine } from './contract/engine.js'
import { createEngine } from './setup/create-engine.js'
import type { EngineOptions } from './engine/services/options.js'

/** An engine with a state directory of its own, which goes away with `close()`. */
export async function createTestEngine(
  options: Omit<EngineOptions, 'stateDir'> = {},
): Promise<Engine & { readonly stateDir: string }> {
  const stateDir = mkdtempSync(join(tmpdir(), 'cerith-test-'))
  const engine = await createEngine({ ...options, stateDir })
  return {
    ...engine,
    stateDir,
    close: async () => {
      await engine.close()
      rmSync(stateDir, { recursive: true, force: true })
    },
  }
}

/** Runs `use` with such an engine and closes it whatever happens. */
export async function withTestEngine<T>(
  use: (engine: Engine & { readonly stateDir: string }) => Promise<T>,
  options: Omit<EngineOptions, 'stateDir'> = {},
): Promise<T> {
  const engine = await createTestEngine(options)
  try {
    return await use(engine)
  } finally {
    await engine.close()
  }
}

/**
 * `createEngine` as the conformance run has it: every engine of a test works behind a link, with the same state
 * directory.
 */
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Engine, EngineOptions } from '../../src/index.js'
import { createEngine as create } from '../../src/setup/create-engine.js'

export function createEngine(options: EngineOptions = {}): Promise<Engine> {
  const { at = process.env['CERITH_TEST_AT'] ?? 'loop:', reach } = options
  // What no option can be is for the engine to refuse.
  if (reach !== undefined && reach !== null && Object.getPrototypeOf(reach) !== Object.prototype)
    return create({ ...options, at })
  return create({
    // A local engine works where its host does, with its host's environment; tests expect that of this one too.
    cwd: process.cwd(),
    env: process.env,
    ...options,
    at,
    reach: {
      ...(options.stateDir === undefined ? {} : { stateDir: options.stateDir }),
      uploadDir: join(tmpdir(), 'reach-code'),
      leaseMs: 30_000,
      secrets: ['*'],
      ...reach,
    },
  })
}

/** The engine that was asked for: here, or at another place. */
import type { Engine } from '../contract/engine.js'
import { createEngine as createEngineHere } from '../engine/engine.js'
import type { EngineOptions } from '../engine/services/options.js'

export async function createEngine(options: EngineOptions = {}): Promise<Engine> {
  const { at } = options
  if (at === undefined) return createEngineHere(options)
  const { createReachEngine } = await import('../reach/reach.js')
  return createReachEngine({ ...options, at })
}

/**
 * Says that a shell's output grew or that the list of shells changed, at most once per interval
 * each, and never forgets the last change.
 */
import type { Engine } from '../../contract/engine.js'
import { outputUri } from './resources.js'

export interface UpdateTargets {
  updated(uri: string): void
  listChanged(): void
}

/** Returns the function that ends the updates. */
export function followUpdates(engine: Pick<Engine, 'onJobEvent'>, targets: UpdateTargets, everyMs: number): () => void {
  const paced = createPace(everyMs)
  const unsubscribe = engine.onJobEvent((event) => {
    const id = event.kind === 'output' ? event.id : event.info.id
    if (event.kind !== 'started') paced.soon(id, () => targets.updated(outputUri(id)))
    if (event.kind !== 'output') paced.soon('', () => targets.listChanged())
  })
  return () => {
    unsubscribe()
    paced.stop()
  }
}

/** The first of a burst goes out at once, the last one after the interval; those between are the same news. */
export function createPace(everyMs: number): { soon(key: string, send: () => void): void; stop(): void } {
  const cooling = new Map<string, { timer: NodeJS.Timeout; again: (() => void) | null }>()
  const soon = (key: string, send: () => void): void => {
    const hot = cooling.get(key)
    if (hot) {
      hot.again = send
      return
    }
    send()
    const entry = {
      again: null as (() => void) | null,
      timer: setTimeout(() => {
        cooling.delete(key)
        if (entry.again) soon(key, entry.again)
      }, everyMs),
    }
    entry.timer.unref()
    cooling.set(key, entry)
  }
  return {
    soon,
    stop() {
      for (const { timer } of cooling.values()) clearTimeout(timer)
      cooling.clear()
    },
  }
}

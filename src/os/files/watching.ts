/** Hears of changes in a directory: the kernel tells of them at once; where no watches are left, a timer does. */
import { watch } from 'node:fs'
import { attempt } from '../../contract/attempt.js'

/** Calls `look` at each change, with the name that changed, and every `everyMs` with null. Gives what ends it. */
export function watchDirectory(dir: string, everyMs: number, look: (name: string | null) => void): () => void {
  const timer = setInterval(look, everyMs, null)
  const watcher = attempt(() => watch(dir, (_, name) => look(name)).on('error', () => {}))
  return () => {
    clearInterval(timer)
    watcher?.close()
  }
}

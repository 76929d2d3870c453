/** A thread that judges one command after the other, for `thread.ts`. */
import { parentPort } from 'node:worker_threads'
import { inspect } from '../../../guard/inspect.js'
import { realPath } from './disk-looks.js'
import type { Judged, Question } from './thread.js'

parentPort?.on('message', ({ id, command, context, looks }: Question) => {
  const verdict = inspect(command, looks ? { ...context, resolveSymlink: realPath } : context)
  parentPort?.postMessage({ id, verdict } satisfies Judged)
})

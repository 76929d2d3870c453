/**
 * Follows the output of a job for a view: its end first, then what comes. A view that falls behind goes on at the end.
 */
import { dirname } from 'node:path'
import type { JobsView } from '../contract/engine.js'
import { watchDirectory } from '../os/files/watching.js'
import type { Flow } from './flow.js'

const BEGIN_BYTES = 256 * 1024
const FAR_BEHIND = 1024 * 1024
const SOON_MS = 16
const LOOK_EVERY_MS = 500

/** `onSize` is told how large the terminal of the job is, before its output. Gives the function that ends it. */
export async function tailJob(
  jobs: JobsView,
  id: string,
  flow: Flow,
  onSize: (size: { cols: number; rows: number }) => void,
  isWanted: () => boolean,
): Promise<() => void> {
  const job = await jobs.job(id)
  const info = await job.info()
  // Drawn without it where the emulator that knows the size is not installed.
  const screen = info.pty && info.isRunning ? await job.screen().catch(() => null) : null
  const size = screen?.size ?? null
  if (size && isWanted()) onSize(size)
  const streams = info.streams === 'separate' ? (['stdout', 'stderr'] as const) : (['output'] as const)
  const cursors = new Map<string, number>()
  let stopped = !isWanted()
  let busy = false
  let again = false
  const readOne = async (stream: (typeof streams)[number]): Promise<boolean> => {
    const known = cursors.get(stream)
    let since = known ?? 0
    let missed = 0
    const first = await job.read({ stream, since, maxBytes: 4 })
    const behind = first.totalBytes - since
    if (known === undefined ? behind > BEGIN_BYTES : behind > FAR_BEHIND) {
      missed = behind - BEGIN_BYTES
      since = first.totalBytes - BEGIN_BYTES
    }
    const part = await job.read({ stream, since, maxBytes: BEGIN_BYTES })
    cursors.set(stream, part.cursor)
    missed += part.omittedBytes
    if (!stopped && isWanted() && (part.text !== '' || missed > 0)) flow.push(part.text, missed)
    return part.cursor < part.totalBytes && part.cursor > since
  }
  const look = async (): Promise<void> => {
    again = true
    if (busy) return
    busy = true
    try {
      while (again && !stopped) {
        again = false
        for (const stream of streams) if (await readOne(stream)) again = true
        // Other work first: a flood must not take the whole process.
        await new Promise((next) => setImmediate(next))
      }
    } catch {
      stopped = true // It was cleaned away.
    } finally {
      busy = false
    }
  }
  let timer: NodeJS.Timeout | null = null
  const soon = (): void => {
    timer ??= setTimeout(() => {
      timer = null
      void look()
    }, SOON_MS)
  }
  const unwatch = watchDirectory(dirname(info.outputFile), LOOK_EVERY_MS, soon)
  await look()
  return () => {
    stopped = true
    unwatch()
    if (timer) clearTimeout(timer)
  }
}

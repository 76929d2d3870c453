/**
 * Chooses the launcher (the native helper where it runs, the plain one elsewhere) and starts a
 * new one when it is killed from outside.
 */
import { ShellError } from '../../contract/errors.js'
import { findHelper } from './file.js'
import type { Launcher, OneLauncher } from './launcher.js'

export async function startLauncher(tier: 'auto' | 'plain'): Promise<Launcher> {
  let current = await startOne(tier)
  let successor: Promise<OneLauncher> | null = null
  let closed = false
  let wasLost = false
  let holds = 0
  let holding: NodeJS.Timeout | null = null

  // Whatever ran under a launcher that was killed has ended with it; what comes next must not suffer for that.
  const live = (): Promise<OneLauncher> => {
    if (current.alive || closed) return Promise.resolve(current)
    wasLost = true
    successor ??= startOne(tier)
      .then((launcher) => (current = launcher))
      .finally(() => (successor = null))
    return successor
  }

  return {
    get tier() {
      return current.tier
    },
    get pid() {
      return current.pid
    },
    get alive() {
      return current.alive
    },
    get lost() {
      return wasLost || current.lost
    },
    pipeNow: () => (current.alive ? current.pipeNow() : null),
    pipe: async () => (await live()).pipe(),
    // At once when it can be: every moment between the order and its sending is one in which no shell starts.
    start: (spec) => (current.alive ? current.start(spec) : live().then((launcher) => launcher.start(spec))),
    namedPipe: async (path) => (await live()).namedPipe(path),
    room: async (order) => (await live()).room(order),
    closeRoom: (room) => current.closeRoom(room),
    publish: async (room, port) => (await live()).publish(room, port),
    hold() {
      // A timer keeps the event loop alive whatever happens to the launcher's own connection.
      holds += 1
      if (holds === 1) (holding ??= setInterval(() => {}, 1 << 30)).ref()
      let held = true
      return () => {
        if (!held) return
        held = false
        holds -= 1
        if (holds === 0) holding?.unref()
      }
    },
    async close() {
      closed = true
      if (holding) clearInterval(holding)
      await successor?.catch(() => {})
      await current.close()
    },
  }
}

async function startOne(tier: 'auto' | 'plain'): Promise<OneLauncher> {
  const helper = tier === 'auto' ? findHelper() : null
  if (helper) {
    try {
      const { startHelper } = await import('./native-launcher.js')
      return await startHelper(helper, [], 'native')
    } catch (error) {
      // It cannot be executed here (noexec, another libc, another kernel): the lower tier works everywhere. Where the
      // machine has no room for it just now, or something killed it, a weaker one is no answer.
      if (error instanceof ShellError) throw error
    }
  }
  const { startPlainLauncher } = await import('./plain-launcher.js')
  return startPlainLauncher()
}

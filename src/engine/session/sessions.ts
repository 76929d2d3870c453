/** The sessions of an engine by name, and their snapshots for later processes. */
import type { Session, SessionInfo } from '../../contract/engine.js'
import { ShellError } from '../../contract/errors.js'
import { readSavedSession, saveSession } from '../../os/files/session-states.js'
import type { Jobs, SessionSource } from '../job/jobs.js'
import { runSessionOnTerminal } from './terminal.js'
import { insideFor } from '../services/inside.js'
import type { Services } from '../services/services.js'
import { LiveSession } from './session.js'
import { restoreOf } from './call/end.js'
import { checkSessionName, wrongValue } from '../plan/wrong-value.js'

export interface Sessions extends SessionSource {
  open(name?: string): Promise<Session>
  list(): Promise<readonly SessionInfo[]>
  /** Idle ones end their shells; the next command of each has a new one with the same state. */
  leaveRooms(): Promise<void>
  close(): Promise<void>
}

export function createSessions(services: Services, jobs: Jobs): Sessions {
  const live = new Map<string, LiveSession>()

  const get = (name = 'main', copied?: string | null): LiveSession => {
    if (services.state.closed) throw new ShellError('CLOSED', 'The engine is closed', 'Create a new engine.')
    checkSessionName(name)
    const existing = live.get(name)
    if (existing && copied !== undefined)
      throw wrongValue('there is such a session already', name, 'Close it first, or choose another name.')
    if (existing) return existing
    if (live.size >= services.limits.maxSessions)
      throw new ShellError(
        'TOO_MANY_RUNS',
        `${live.size} sessions are open already`,
        `Close one of: ${[...live.keys()].slice(0, 20).join(', ')}`,
      )
    const session = new LiveSession({
      name,
      services,
      promote: jobs.promote,
      saved: copied ?? (services.options.persistSessions ? readSavedSession(services.stateDir, name) : null),
      copyTo: (other, dump) => get(other, dump),
      onTerminal: async (plan, call, self) =>
        runSessionOnTerminal(plan, call, self, await insideFor(services, plan.request, call), jobs),
      onClose: () => live.delete(name),
    })
    live.set(name, session)
    return session
  }

  return {
    open: async (name) => get(name),
    list: () => Promise.all([...live.values()].map((session) => session.info())),
    async surroundings(name) {
      if (name === undefined) return { session: null, cwd: services.cwd }
      const session = get(name)
      // What an idle shell holds is asked for; a busy one is known as it was before its command.
      if (!(await session.info()).busy) await session.currentState()
      return session.surroundings(true)
    },
    restore: async (name) => restoreOf(await get(name).currentState(), get(name).initialNames),
    leaveRooms: async () => void (await Promise.all([...live.values()].map((session) => session.leaveRoom()))),
    async close() {
      // A full disk, or something else under that name, is told when every session is closed.
      const unsaved: unknown[] = []
      await Promise.all(
        [...live.entries()].map(async ([name, session]) => {
          try {
            const dump = services.options.persistSessions ? await session.snapshot() : null
            if (dump) saveSession(services.stateDir, name, dump, services.id)
          } catch (error) {
            unsaved.push(error)
          }
          await session.close()
        }),
      )
      live.clear()
      if (unsaved.length > 0) throw unsaved[0]
    },
  }
}

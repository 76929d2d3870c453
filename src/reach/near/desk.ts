/**
 * The near half of an engine as other processes of the person see it: its calls and its questions are found and
 * answered here (`cerith approve`, `cerith ps`, the page), like those of an engine that runs its commands here.
 */
import { join } from 'node:path'
import { Questions } from '../../audit/questions.js'
import type { SessionInfo } from '../../contract/engine.js'
import type { AskFunction } from '../../contract/request.js'
import { openLiveDoor } from '../../engine/live/door.js'
import type { AskDesk } from '../../engine/plan/ask.js'
import { LiveCalls } from '../../engine/services/live-calls.js'
import type { EngineOptions } from '../../engine/services/options.js'
import { makeRunDirectory, removeRunDirectory } from '../../engine/services/run-directory.js'
import type { SecretStore } from '../../engine/services/secret-store.js'
import { stateDirectory } from '../../os/files/state-dir.js'

export interface Desk extends AskDesk {
  ask: AskFunction | null
  readonly calls: LiveCalls
  /** From here on others can look. `cwd` is the directory there. */
  open(cwd: string, sessions: () => Promise<readonly SessionInfo[]>): void
  close(): Promise<void>
}

export function createDesk(id: string, url: string, options: EngineOptions, secrets: SecretStore): Desk {
  const { stateDir = stateDirectory(), door = 'library', audit = null } = options
  const questions = new Questions(id)
  const calls = new LiveCalls()
  let shut = async (): Promise<void> => {}
  return {
    questions,
    stateDir,
    door,
    secrets,
    options,
    calls,
    ask: options.ask ?? null,
    open(there, sessions) {
      const cwd = `${url} ${there}`
      const runDir = makeRunDirectory(join(stateDir, 'run'), id, { door, cwd })
      // Processes of the place are none of this machine: nothing that it started can have got loose here.
      const host = { id, door, cwd, runDir, questions, calls, audit, secrets, launcher: { lost: false } }
      // Their pids mean nothing here.
      const live = openLiveDoor(host, async () => (await sessions()).map((each) => ({ ...each, pid: null })))
      shut = async () => {
        live.close()
        await removeRunDirectory(runDir)
      }
    },
    async close() {
      questions.close()
      await shut()
    },
  }
}

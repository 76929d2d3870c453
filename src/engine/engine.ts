/** Puts an engine together: one launcher, many runs, sessions and jobs; after `close` nothing it started is left. */
import { resolve } from 'node:path'
import type { Engine, RunHandle } from '../contract/engine.js'
import type { Outcome } from '../contract/outcome.js'
import type { RunRequest, StartRequest } from '../contract/request.js'
import { checkDirectory } from '../os/files/paths.js'
import { noteServerEnd } from '../os/helper/server-ends.js'
import { auditOutcome } from './call/audit.js'
import { openLiveDoor } from './live/door.js'
import { recordSessions } from './live/recorder.js'
import { Call } from './call/call.js'
import { runFresh } from './run/foreground.js'
import { notStarted } from './services/ends.js'
import { passGate } from './plan/gate.js'
import { createJobs } from './job/jobs.js'
import type { EngineOptions } from './services/options.js'
import { planRun } from './plan/plan.js'
import { runOnTerminal } from './run/terminal.js'
import { checkRequest } from './plan/request.js'
import { runOutside } from './run/outside.js'
import { insideFor } from './services/inside.js'
import { removeRunDirectory } from './services/run-directory.js'
import { removeMemoryDirectory } from '../os/files/memory-dir.js'
import { secretsFace } from './secrets-face.js'
import { withDirectoryEnv } from './plan/directory-env.js'
import { createChanges } from './changes.js'
import { createSessions } from './session/sessions.js'
import { CHECK_ROWS, checkFields } from './plan/fields.js'
import { wrongValue } from './plan/wrong-value.js'
import { createServices } from './create-services.js'

const leaving = new WeakMap<Engine, () => Promise<void>>()
/**
 * For an engine that stays although no client is connected: idle sessions leave the room of its try, and keep their
 * state. Rejects where commands run in it.
 */
export const leaveTry = async (engine: Engine): Promise<void> => leaving.get(engine)?.()

export async function createEngine(options: EngineOptions = {}): Promise<Engine> {
  const services = await createServices(options)
  const jobs = createJobs(services)
  const sessions = createSessions(services, jobs)
  const liveDoor = openLiveDoor(services, () => sessions.list())
  const stopRecording = options.recordSessions ? recordSessions(services) : null

  const launch = (request: RunRequest): Call => {
    const call = new Call(request, null, services)
    const release = services.launcher.hold()
    call.outcome.then(release, release)
    void (async () => {
      if ((request as Partial<StartRequest> | null)?.session !== undefined)
        throw wrongValue(
          'run has a shell of its own, and no session',
          (request as Partial<StartRequest>).session,
          'Use (await engine.session(name)).run(request).',
        )
      const { request: placed, notes } = await withDirectoryEnv(request, services)
      if (notes.length > 0) call.notes.push(...notes)
      const plan = await planRun(placed, { session: null, cwd: services.cwd }, services)
      if (services.sandbox && request.outside !== undefined) return runOutside(plan, call, services)
      const stopped = await passGate(plan, services)
      if (stopped) return call.settle(stopped)
      const inside = services.sandbox || request.sandbox ? await insideFor(services, request, call) : services
      if (request.pty) return runOnTerminal(plan, call, inside, jobs)
      return runFresh(plan, call, inside, jobs.promote)
    })().catch((error: unknown) => call.fail(notStarted(error)))
    auditOutcome(services, request, 'run', null, call.outcome)
    return call
  }

  /** The host lives until the method has answered, also when the launcher is killed and its connection goes. */
  const held =
    <A extends readonly unknown[], T>(method: (...args: A) => Promise<T>) =>
    (...args: A): Promise<T> => {
      const release = services.launcher.hold()
      return method(...args).finally(release)
    }

  services.outside = launch
  let closing: Promise<void> | null = null
  const close = async (): Promise<void> => {
    services.state.closed = true
    services.questions.close()
    liveDoor.close()
    const release = services.launcher.hold()
    await Promise.all([...services.live].map((life) => life.end()))
    // A server that ran nothing has not told the model that it took the place of another either.
    if (services.door === 'mcp' && (services.succeeds || (await sessions.list()).some(({ pid }) => pid !== null)))
      noteServerEnd(services.stateDir, services.cwd)
    const unsaved = await sessions.close().catch((error: unknown) => error)
    stopRecording?.()
    await jobs.close()
    await services.closeSandboxes()
    await services.tries.close((id) => services.sandboxFor().livesIn(id).length > 0)
    await services.launcher.close()
    release()
    await services.audit?.close?.()
    await removeRunDirectory(services.runDir)
    removeMemoryDirectory(services.id)
    if (unsaved) throw unsaved
  }

  const { leaveTry, ...changes } = createChanges(services, sessions)
  const engine: Engine = {
    id: services.id,
    cwd: services.cwd,
    shell: services.bash,
    sandbox: services.sandbox?.options ?? null,
    run: (request): Promise<Outcome> => launch(request).outcome,
    stream: (request): RunHandle => launch(request),
    session: (name) => sessions.open(name),
    sessions: () => sessions.list(),
    start: held((request) => jobs.start(request, sessions)),
    begin: held((request) => jobs.begin(request, sessions)),
    job: (id) => jobs.get(id),
    jobs: (which) => jobs.list(which),
    clean: (which) => jobs.clean(which),
    check: held(async (command, where) => {
      const text = checkRequest({ command }, services.limits)
      checkFields('check', where, CHECK_ROWS)
      const around = await sessions.surroundings(where?.session)
      // With a home of its own the question is about another place: its directories need not exist here.
      const { home } = where ?? {}
      if (home !== undefined)
        return services.judge(text, { ...around, cwd: resolve(around.cwd, where?.cwd ?? '.'), home: resolve(home) })
      return services.judge(text, {
        ...around,
        cwd: checkDirectory(where?.cwd, around.cwd, services.roots, services.seen),
      })
    }),
    sandboxPolicy: async () => services.sandbox?.summary() ?? null,
    plan: held(async (wanted) => {
      checkRequest(wanted, services.limits)
      const { session, ...request } = wanted
      return (await planRun(request, await sessions.surroundings(session), services)).summary
    }),
    ...changes,
    secrets: secretsFace(services.secrets),
    onJobEvent: (listener) => jobs.onEvent(listener),
    setAsk: (ask) => void (services.ask = ask),
    place: null,
    onLink: () => () => {},
    recover: async () => null,
    close: () => (closing ??= close()),
  }
  leaving.set(engine, leaveTry)
  return engine
}

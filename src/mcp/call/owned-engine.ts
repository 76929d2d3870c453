/**
 * The engine as one client may see it: its own jobs and sessions, and no others. A handle is a name, not a permission.
 */
import type { Engine, Session, SessionInfo } from '../../contract/engine.js'
import { badRequest, ShellError } from '../../contract/errors.js'
import type { Job, JobEvent, JobInfo } from '../../contract/job.js'
import type { Outcome } from '../../contract/outcome.js'
import type { RunRequest, StartRequest } from '../../contract/request.js'
import { SERVER_LABEL } from '../../tools/reading/owners.js'

/** The client that sees what no other client owns: the only one on stdio, the first token's over HTTP. */
export const FIRST_CLIENT = 'default'

const LABEL = 'mcp_client'

/** Looks at every run of a client's tools: before it starts, and at its Outcome. */
export interface RunWatcher {
  began(request: RunRequest): void
  ended(request: RunRequest, outcome: Outcome): Outcome
}

/** `alone`: there are no other clients to keep apart (stdio), so nothing is hidden and every session name is free. */
export function engineOf(client: string, engine: Engine, watcher: RunWatcher, { alone }: { alone: boolean }): Engine {
  const first = client === FIRST_CLIENT
  const mine = (info: JobInfo): boolean => alone || (info.labels[LABEL] ?? FIRST_CLIENT) === client
  const inside = (name = 'main'): string => (first ? name : `${client}@${name}`)
  const outside = (name: string): string => (first ? name : name.slice(client.length + 1))
  // The first client must not reach another one's session by writing its full name.
  const isOthers = (name: string): boolean => !alone && name.includes('@')
  const label = { [LABEL]: client, [SERVER_LABEL]: engine.id }
  const labelled = <T extends RunRequest | StartRequest>(request: T): T => ({
    ...request,
    labels: request.labels ? { ...request.labels, ...label } : label,
  })
  const known = new Map<string, boolean>()

  const job = async (id: string): Promise<Job> => {
    const found = await engine.job(id)
    if (mine(await found.info())) return found
    throw new ShellError('JOB_NOT_FOUND', `Shell not found: ${id}`, 'List the shells to see which ids exist.')
  }
  const jobs = async (which?: { readonly all?: boolean }): Promise<readonly JobInfo[]> =>
    (await engine.jobs(which)).filter(mine)

  const seen = (request: RunRequest, ended: Outcome): Outcome => {
    const outcome = watcher.ended(request, ended)
    return first || outcome.session === null ? outcome : { ...outcome, session: outside(outcome.session) }
  }
  const run = async (start: (request: RunRequest) => Promise<Outcome>, request: RunRequest): Promise<Outcome> => {
    watcher.began(request)
    return seen(request, await start(labelled(request)))
  }
  const mineToStart = (request: StartRequest): StartRequest =>
    labelled({ ...request, ...(request.session === undefined ? {} : { session: inside(request.session) }) })

  const checked = (name: string): string => {
    if (!isOthers(name)) return name
    throw badRequest(`A session cannot be called ${JSON.stringify(name.slice(0, 80))} here`, 'Use a name without @.')
  }
  const inTurn = takeTurns()
  // Most calls are of the session of the call before.
  let latest: { readonly session: Session; readonly mine: Session } | null = null
  const sessionOf = (session: Session): Session => ({
    name: outside(session.name),
    get cwd() {
      return session.cwd
    },
    run: (request) =>
      inTurn(session.name, request, (patient) => run((labelledRequest) => session.run(labelledRequest), patient)),
    stream: (request) => session.stream(labelled(request)),
    info: async () => ({ ...(await session.info()), name: outside(session.name) }),
    restart: () => session.restart(),
    fork: async (name) => sessionOf(await session.fork(inside(checked(name)))),
    close: () => session.close(),
  })

  return {
    id: engine.id,
    cwd: engine.cwd,
    shell: engine.shell,
    sandbox: engine.sandbox,
    run: (request) => run((labelledRequest) => engine.run(labelledRequest), request),
    stream: (request) => engine.stream(labelled(request)),
    session: async (name) => {
      const session = await engine.session(inside(name === undefined ? name : checked(name)))
      if (session !== latest?.session) latest = { session, mine: sessionOf(session) }
      return latest.mine
    },
    sessions: async () =>
      (await engine.sessions())
        .filter(({ name }) => (first ? !isOthers(name) : name.startsWith(`${client}@`)))
        .map((info): SessionInfo => ({ ...info, name: outside(info.name) })),
    start: async (request) => {
      watcher.began(request)
      return engine.start(mineToStart(request))
    },
    begin: async (request) => {
      watcher.began(request)
      const begun = await engine.begin(mineToStart(request))
      return 'job' in begun ? begun : { outcome: seen(request, begun.outcome) }
    },
    job,
    jobs,
    clean: (which) => engine.clean(which),
    check: (command, where) =>
      engine.check(command, where?.session === undefined ? where : { ...where, session: inside(where.session) }),
    sandboxPolicy: () => engine.sandboxPolicy(),
    plan: (request) =>
      engine.plan(request.session === undefined ? request : { ...request, session: inside(request.session) }),
    // One room, one layer: what was tried belongs to all clients of the engine.
    tries: () => engine.tries(),
    changes: (which) => engine.changes(which),
    accept: (which) => engine.accept(which),
    discard: (which) => engine.discard(which),
    secrets: engine.secrets,
    onJobEvent: (listener) => engine.onJobEvent((event) => void passOn(event, listener)),
    setAsk: (ask) => engine.setAsk(ask),
    place: engine.place,
    onLink: (listener) => engine.onLink(listener),
    recover: (call) => engine.recover(call),
    // The engine is shared: the server that made it closes it.
    close: async () => {},
  }

  async function passOn(event: JobEvent, listener: (event: JobEvent) => void): Promise<void> {
    if (event.kind !== 'output') known.set(event.info.id, mine(event.info))
    const id = event.kind === 'output' ? event.id : event.info.id
    if (!known.has(id)) {
      const owned = await job(id).then(
        () => true,
        () => false,
      )
      known.set(id, owned)
    }
    const owned = known.get(id) === true
    if (event.kind === 'ended') known.delete(id)
    if (owned) listener(event)
  }
}

/**
 * A session runs one command at a time, but a client's patience begins when it asks: what a call waited for its turn
 * is taken from the time after which it yields.
 */
function takeTurns(): (
  name: string,
  request: RunRequest,
  run: (request: RunRequest) => Promise<Outcome>,
) => Promise<Outcome> {
  const last = new Map<string, Promise<void>>()
  return (name, request, run) => {
    const before = last.get(name)
    const mine = before ? before.then(waited(request, run)) : run(request)
    const over = (): void => {
      if (last.get(name) === done) last.delete(name)
    }
    const done: Promise<void> = mine.then(over, over)
    last.set(name, done)
    return mine
  }
}

function waited(request: RunRequest, run: (request: RunRequest) => Promise<Outcome>): () => Promise<Outcome> {
  const { yieldMs } = request
  const asked = performance.now()
  return () =>
    run(
      yieldMs === undefined
        ? request
        : { ...request, yieldMs: Math.max(1, Math.round(yieldMs - (performance.now() - asked))) },
    )
}

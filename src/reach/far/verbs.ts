/** Every method of an engine, its sessions and its jobs as a verb of the wire: one row each, one round trip each. */
import type { Engine, RunHandle, Session } from '../../contract/engine.js'
import type {
  AttachOptions,
  Job,
  JobEvent,
  KillOptions,
  ReadOptions,
  SendOptions,
  WaitOptions,
} from '../../contract/job.js'
import type { Outcome } from '../../contract/outcome.js'
import type { RunRequest, StartRequest } from '../../contract/request.js'

/** What a verb may do besides answering. */
export interface CallContext {
  /** Aborted when near withdraws the call. */
  readonly signal: AbortSignal
  /** Shows output while the call runs, and lets it be stopped. */
  follow(start: (request: Pick<RunRequest, 'onOutput' | 'onBytes' | 'ask'>) => RunHandle): Promise<Outcome>
  /** A question of the guard about this call, answered near. */
  readonly ask: NonNullable<RunRequest['ask']>
  /** The id that came with the order to make it a job. */
  newId(): string
  /** Runs once for all calls with this key. */
  once(key: string | undefined, run: () => Promise<unknown>): Promise<unknown>
  event(event: JobEvent): void
  attach(job: Job, options: Omit<AttachOptions, 'show'>): Promise<'ended' | 'left'>
}

export interface VerbArgs {
  readonly session?: string
  readonly job?: string
  readonly request?: RunRequest & StartRequest
  readonly options?: Record<string, unknown>
  readonly command?: string | readonly string[]
  /** The caller has a signal, which was aborted before the call left or was not. */
  readonly aborted?: boolean
  /** The id of the job that a request may become. */
  readonly newId?: string
}

type VerbRow = (engine: Engine, args: VerbArgs, call: CallContext) => Promise<unknown>

/** It came with this call alone, so it is not copied: a copy would be another kind of object for V8 each time. */
const request = (args: VerbArgs, call: CallContext, live: object): RunRequest & StartRequest =>
  Object.assign(args.request ?? ({} as RunRequest & StartRequest), live, {
    signal: call.signal,
    ...(args.newId === undefined ? {} : { newId: idsFrom(() => args.newId || call.newId()) }),
  })
const sessionOf = (engine: Engine, args: VerbArgs): Promise<Session> => engine.session(args.session)
const jobOf = (engine: Engine, args: VerbArgs): Promise<Job> => engine.job(args.job as string)
const run = (on: Engine | Session, args: VerbArgs, call: CallContext): Promise<unknown> =>
  call.once(args.request?.key, () => call.follow((live) => on.stream(request(args, call, live))))

/** Named as `Engine`, `Session` and `Job` name them. */
export const FAR_VERBS = {
  'engine.run': (engine, args, call) => run(engine, args, call),
  'engine.session': async (engine, args) => {
    const { name, cwd } = await sessionOf(engine, args)
    return { name, cwd }
  },
  'engine.sessions': (engine) => engine.sessions(),
  'engine.start': (engine, args, call) =>
    call.once(args.request?.key, async () => ({
      job: (await engine.start(request(args, call, { ask: call.ask }))).id,
    })),
  'engine.begin': (engine, args, call) =>
    call.once(args.request?.key, async () => {
      const begun = await engine.begin(request(args, call, { ask: call.ask }))
      return 'job' in begun ? { job: begun.job.id } : begun
    }),
  'engine.job': async (engine, args) => ({ id: (await jobOf(engine, args)).id }),
  'engine.jobs': (engine, args) => engine.jobs(args.options),
  'engine.clean': (engine, args) => engine.clean(args.options),
  'engine.check': (engine, args) => engine.check(args.command as string, args.options),
  'engine.sandboxPolicy': (engine) => engine.sandboxPolicy(),
  'engine.plan': (engine, args) => engine.plan(args.request as RunRequest),
  'engine.tries': (engine) => engine.tries(),
  'engine.changes': (engine, args) => engine.changes(args.options),
  'engine.accept': (engine, args, call) => engine.accept({ ...args.options, ask: call.ask, signal: call.signal }),
  'engine.discard': (engine, args) => engine.discard(args.options),
  'session.run': async (engine, args, call) => {
    const session = await sessionOf(engine, args)
    return run(session, args, call)
  },
  'session.info': async (engine, args) => (await sessionOf(engine, args)).info(),
  'session.restart': async (engine, args) => (await sessionOf(engine, args)).restart(),
  'session.fork': async (engine, args) => {
    await (await sessionOf(engine, args)).fork(String(args.options?.['name']))
  },
  'session.close': async (engine, args) => (await sessionOf(engine, args)).close(),
  'job.info': async (engine, args) => (await jobOf(engine, args)).info(),
  'job.read': async (engine, args) => (await jobOf(engine, args)).read(args.options as ReadOptions),
  'job.wait': async (engine, args, call) =>
    (await jobOf(engine, args)).wait({ ...(args.options as WaitOptions), signal: call.signal }),
  'job.kill': async (engine, args) => (await jobOf(engine, args)).kill(args.options as KillOptions),
  'job.send': async (engine, args) => (await jobOf(engine, args)).send(args.options as SendOptions),
  'job.resize': async (engine, args) => (await jobOf(engine, args)).resize(args.options as never),
  'job.screen': async (engine, args) => (await jobOf(engine, args)).screen(args.options),
  'job.doing': async (engine, args) => (await jobOf(engine, args)).doing(),
  'job.attach': async (engine, args, call) => call.attach(await jobOf(engine, args), args.options as never),
  'job.events': async (engine, args, call) => {
    const job = await jobOf(engine, args)
    const tell = async (): Promise<void> => {
      for await (const event of job.events()) {
        if (call.signal.aborted) return
        call.event(event)
      }
    }
    // The next event may never come: the call ends when its caller leaves.
    const left = new Promise<void>((resolve) => {
      call.signal.addEventListener('abort', () => resolve(), { once: true })
      if (call.signal.aborted) resolve()
    })
    await Promise.race([tell(), left])
  },
} satisfies Record<string, VerbRow>

export type VerbName = keyof typeof FAR_VERBS

/** The wanted id first; where it is taken, the same with a number. */
function idsFrom(first: () => string): () => string {
  let tries = 0
  return () => (++tries === 1 ? first() : `${first()}-${tries}`)
}

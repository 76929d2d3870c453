/**
 * A job as its caller holds it: the same methods whether this engine started it, another one
 * did, or an engine that is gone.
 */
import { existsSync } from 'node:fs'
import { badRequest, ShellError } from '../../contract/errors.js'
import { maskedNotes } from '../../contract/note.js'
import type {
  Attachment,
  AttachOptions,
  Doing,
  Job,
  JobEvent,
  JobInfo,
  KillOptions,
  KillResult,
  ReadOptions,
  ReadResult,
  Screen,
  SendOptions,
  WaitOptions,
  WaitResult,
} from '../../contract/job.js'
import { storedSize } from '../../os/job/output.js'
import { infoOf, jobState, lastWords, type JobState } from './look/info.js'
import { killJob } from './kill.js'
import { isRunning, startOf, type JobNews, type LiveJob } from './look/live.js'
import { readJob, type Readable } from './look/read.js'
import { waitForJob } from './wait.js'
import type { JobScreen } from '../terminal/screen.js'
import { within } from '../services/within.js'
import { auditDeed } from '../services/deeds.js'
import type { Services } from '../services/services.js'
import type { Launcher } from '../../os/helper/launcher.js'
import { checkFields, KILL_ROWS, SCREEN_ROWS } from '../plan/fields.js'

/** How often a job of another engine is looked at for its followers. */
const LOOK_EVERY_MS = 50
const UNRECORDED_PATIENCE_MS = 6_000

/** What a handle needs of an engine, or of a process that only looks. */
export interface HandleServices extends Pick<Services, 'id' | 'door' | 'audit' | 'secrets' | 'limits'> {
  readonly launcher: Pick<Launcher, 'hold'>
  /** None in a process that only looks. */
  readonly sandbox?: Services['sandbox']
}

export class JobHandle implements Job {
  readonly id: string
  readonly dir: string
  readonly #services: HandleServices
  readonly #news: JobNews
  readonly #live: LiveJob | null
  #screen: JobScreen | null = null
  readonly #mask = (text: string): string => this.#services.secrets.mask(text)

  constructor(id: string, dir: string, services: HandleServices, news: JobNews, live: LiveJob | null) {
    this.id = id
    this.dir = dir
    this.#services = services
    this.#news = news
    this.#live = live
  }

  async info(): Promise<JobInfo> {
    return this.#there(async () => this.#info())
  }

  async read(options: ReadOptions = {}): Promise<ReadResult> {
    return this.#there(() => readJob(this.#readable(), options, this.#services.secrets.activeMasker))
  }

  async wait(options: WaitOptions = {}): Promise<WaitResult> {
    return this.#there(() =>
      waitForJob(
        {
          readable: this.#readable(),
          own: this.#live !== null,
          info: () => this.#info(),
          masker: () => this.#services.secrets.activeMasker,
          next: (ms, signal) => this.#news.next(this.id, ms, signal),
        },
        options,
      ),
    )
  }

  async kill(options: KillOptions = {}): Promise<KillResult> {
    checkFields('kill', options, KILL_ROWS)
    return this.#there(async () => {
      await this.#endUnrecorded(options.graceMs ?? this.#services.limits.graceMs)
      const result = await killJob(
        { id: this.id, dir: this.dir, state: () => this.#state(), next: (ms) => this.#news.next(this.id, ms) },
        options,
        this.#services.limits.graceMs,
      )
      // The end is told before the kill returns, so that a listener never learns of it later than the killer.
      if (this.#live && result.info.end && result.info.end.kind !== 'lost') await this.#live.ended
      if (!result.alreadyStopped)
        this.record('kill', { by: options.by, signal: options.signal, status: result.info.status })
      return { ...result, notes: maskedNotes(result.notes, this.#services.secrets) }
    })
  }

  async send(options: SendOptions): Promise<void> {
    const { sendInput } = await import('./input/send.js')
    await this.#there(() => sendInput(this.dir, this.#state(), options, this.#services.secrets))
    this.record('send', { by: options.by, bytes: Buffer.byteLength(options.text ?? '') + (options.keys?.length ?? 0) })
  }

  /** What was done to it, in the audit log. What was typed is counted, not kept. */
  record(
    kind: 'kill' | 'send' | 'attach',
    about: { by?: string; signal?: string; status?: string; bytes?: number },
  ): void {
    const { record } = this.#state()
    const { command, cwd, session } = record
    auditDeed(this.#services, kind, { command, cwd, session, job: this.id, status: 'done', ...about })
  }

  async resize(size: { cols: number; rows: number }): Promise<void> {
    const { resizeTerminal } = await import('./input/resize.js')
    await resizeTerminal(this.dir, this.#state(), size)
  }

  async screen(options: { since?: number } = {}): Promise<Screen> {
    checkFields('screen', options, SCREEN_ROWS)
    if (!this.#state().record.pty)
      throw badRequest(
        `The job ${this.id} has no terminal, so it has no screen`,
        'Start it with pty: true, or read its output.',
      )
    const { JobScreen } = await import('../terminal/screen.js')
    this.#screen ??= new JobScreen({
      dir: this.dir,
      size: this.#services.limits.pty,
      mask: this.#mask,
    })
    return this.#screen.look(options)
  }

  async doing(): Promise<Doing> {
    const { doingOf } = await import('./input/doing.js')
    return this.#there(() => doingOf(this.dir, this.#state(), this.#mask))
  }

  async attach(options: AttachOptions): Promise<Attachment> {
    const { attachTo } = await import('./input/attach.js')
    const attachment = await attachTo(this, options)
    this.record('attach', { by: options.by, status: options.readOnly ? 'looks' : 'types' })
    return attachment
  }

  async *events(): AsyncIterable<JobEvent> {
    const seen = { stdout: 0, stderr: 0 }
    for (;;) {
      const info = this.#info()
      const apart = info.streams === 'separate'
      for (const stream of apart ? (['stdout', 'stderr'] as const) : (['stdout'] as const)) {
        const { total } = storedSize(this.dir, stream === 'stdout' ? 'output.log' : 'stderr.log')
        if (total <= seen[stream]) continue
        seen[stream] = total
        yield { kind: 'output', id: this.id, stream: apart ? stream : 'output', totalBytes: total }
      }
      if (!info.isRunning) {
        yield { kind: 'ended', info }
        return
      }
      await this.#news.next(this.id, this.#live ? 1_000 : LOOK_EVERY_MS)
    }
  }

  /**
   * The news alone would not keep the host alive until it is here. Another process may remove the job's directory
   * meanwhile: that is told as "cleaned up", not as ENOENT.
   */
  async #there<T>(look: () => Promise<T>): Promise<T> {
    const release = this.#services.launcher.hold()
    try {
      return await look()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !existsSync(this.dir)) throw this.#cleanedUp()
      throw error
    } finally {
      release()
    }
  }

  /** Without its directory there is nothing left to order its keeper by, nor to tell its end with. */
  async #endUnrecorded(graceMs: number): Promise<void> {
    if (!this.#live || !isRunning(this.#live) || existsSync(this.dir)) return
    this.#live.ward.kill({ graceMs, why: 'caller' })
    if (!(await within(this.#live.ward.gone, graceMs + UNRECORDED_PATIENCE_MS))) return
    throw new ShellError(
      'JOB_NOT_FOUND',
      `The files of ${this.id} were removed (${this.dir}) while it ran: it was ended now, and its output is lost`,
      'Start it again if it is needed.',
    )
  }

  /** Only what has ended is cleaned up; the directory of a running job was removed from outside. */
  #cleanedUp(): ShellError {
    if (!this.#live || !isRunning(this.#live))
      return new ShellError(
        'JOB_NOT_FOUND',
        `Job not found: ${this.id} (it was cleaned up)`,
        'List the jobs that exist.',
      )
    return new ShellError(
      'JOB_NOT_FOUND',
      `The files of ${this.id} were removed (${this.dir}) while it runs: what it prints is lost`,
      `It goes on as process ${this.#live.ward.pid}; kill it, or let it end.`,
    )
  }

  #state(): JobState {
    const state = jobState(this.dir, this.id, this.#live && startOf(this.#live))
    if (!state) throw this.#cleanedUp()
    return state
  }

  #info(): JobInfo {
    const info = infoOf(this.dir, this.#state())
    const { sandbox } = this.#services
    if (!sandbox || info.isRunning || !info.sandbox) return info
    const said = sandbox.notesOf(info, () => lastWords(this.dir, info.streams === 'separate'))
    return said.length > 0 ? { ...info, notes: [...info.notes, ...said] } : info
  }

  #readable(): Readable {
    const { record } = this.#state()
    return { dir: this.dir, apart: record.streams === 'separate' && !record.pty, terminal: record.pty }
  }
}

/** A job as its caller holds it: the same methods whether this engine started it, another one did, or nobody is left who did. */
import { ShellError } from '../contract/errors.js'
import type { Job, JobEvent, JobInfo, KillOptions, KillResult, ReadOptions, ReadResult, Screen, SendOptions, WaitOptions, WaitResult } from '../contract/job.js'
import { orderKeeper } from '../os/job-control.js'
import { storedSize } from '../os/job-output.js'
import { infoOf, jobState, type JobState } from './job-info.js'
import { killJob } from './job-kill.js'
import type { JobNews, LiveJob } from './job-live.js'
import { readJob, type Readable } from './job-read.js'
import { waitForJob } from './job-wait.js'
import type { Services } from './services.js'

/** How often a job of another engine is looked at for its followers. */
const LOOK_EVERY_MS = 50

export class JobHandle implements Job {
  readonly id: string
  readonly dir: string
  readonly #services: Services
  readonly #news: JobNews
  readonly #live: LiveJob | null

  constructor(id: string, dir: string, services: Services, news: JobNews, live: LiveJob | null) {
    this.id = id
    this.dir = dir
    this.#services = services
    this.#news = news
    this.#live = live
  }

  async info(): Promise<JobInfo> {
    return this.#info()
  }

  async read(options: ReadOptions = {}): Promise<ReadResult> {
    return readJob(this.#readable(), options, this.#services.secrets.activeMasker)
  }

  async wait(options: WaitOptions = {}): Promise<WaitResult> {
    const release = this.#services.launcher.hold()
    try {
      return await waitForJob({ readable: this.#readable(), own: this.#live !== null, info: () => this.#info(), masker: () => this.#services.secrets.activeMasker, next: (ms, signal) => this.#news.next(this.id, ms, signal) }, options)
    } finally {
      release()
    }
  }

  async kill(options: KillOptions = {}): Promise<KillResult> {
    const result = await killJob({ id: this.id, dir: this.dir, next: (ms) => this.#news.next(this.id, ms) }, options, this.#services.limits.graceMs)
    // The end is told before the kill returns, so that a listener never learns of it later than the killer.
    if (this.#live && !result.info.isRunning) await this.#live.ended
    return result
  }

  async send(options: SendOptions): Promise<void> {
    const { sendToPipe } = await import('./job-send.js')
    const text = options.text === undefined ? {} : { text: await this.#resolve(options.text) }
    await sendToPipe(this.dir, this.#info(), this.#state().record.openStdin, { ...options, ...text })
  }

  async resize({ cols, rows }: { cols: number; rows: number }): Promise<void> {
    const { record, started } = this.#state()
    if (!record.pty) throw new ShellError('BAD_REQUEST', `The job ${this.id} has no terminal`, 'Start it with pty: true.')
    if (!started || !orderKeeper(this.dir, started, `size ${cols} ${rows}`)) throw new ShellError('NOT_RUNNING', `The job ${this.id} is not running`, 'Start it again.')
  }

  async screen(): Promise<Screen> {
    throw new ShellError('PTY_UNAVAILABLE', `The job ${this.id} has no screen`, 'Start it with pty: true.')
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

  #state(): JobState {
    const state = jobState(this.dir, this.id)
    if (!state) throw new ShellError('JOB_NOT_FOUND', `Job not found: ${this.id} (it was cleaned up)`, 'List the jobs that exist.')
    return state
  }

  #info(): JobInfo {
    return infoOf(this.dir, this.#state())
  }

  #readable(): Readable {
    const { record } = this.#state()
    return { dir: this.dir, apart: record.streams === 'separate' && !record.pty }
  }

  /** Secret tokens in typed text become their values; nothing of that is parsed by a shell. */
  async #resolve(text: string): Promise<string> {
    if (!text.includes('{{')) return text
    const lookup = await this.#services.secrets.valuesFor(text)
    if (!lookup) return text
    const { findTokens } = await import('../secrets/tokens.js')
    let out = text
    for (const token of findTokens(text)) {
      const value = lookup(token)
      if (value) out = out.replace(token.text, () => new TextDecoder().decode(value))
    }
    return out
  }
}

/**
 * Waits in one call instead of polling: for the end, a line, a port, a file, silence; the first
 * that comes true is named. Waiting never kills.
 */
import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { JobInfo, WaitOptions, WaitResult } from '../../contract/job.js'
import { storedSize, type OutputName } from '../../os/job/output.js'
import { isListening } from '../../os/job/ports.js'
import { compilePattern } from '../../output/pattern.js'
import { readJob, type Readable } from './look/read.js'
import type { Masker } from '../../secrets/mask/masker.js'
import { checkFields, WAIT_ROWS } from '../plan/fields.js'

/** How often to look where no event tells of a change: other engines' jobs, ports, files. */
const LOOK_EVERY_MS = 25
/** A line longer than this is matched in pieces, so that a waiting engine's memory does not depend on it. */
const MAX_LINE = 1_048_576

export interface Waited {
  readonly readable: Readable
  info(): JobInfo
  masker(): Masker | null
  /** Resolves at the next news or after so long. Own jobs tell; others are looked at. */
  next(ms: number, signal?: AbortSignal): Promise<void>
  readonly own: boolean
}

export async function waitForJob(job: Waited, options: WaitOptions): Promise<WaitResult> {
  checkFields('wait', options, WAIT_ROWS)
  const begin = performance.now()
  const until = options.until === undefined ? null : await createLineSearch(job, options)
  const file = options.file === undefined ? null : resolve(job.info().cwd, options.file)
  const silence = options.idleMs === undefined ? null : createSilence(job.readable, options.idleMs)
  const asks = options.input ? await createAsking(job) : null
  const looks = !job.own || options.port !== undefined || file !== null
  for (;;) {
    // The state first: output that is complete when the state says "ended" is looked at once more below.
    const info = job.info()
    const match = until ? await until() : null
    if (match !== null) return { reason: 'until', match, info: job.info() }
    if (options.port !== undefined && isListening(options.port, info.pid)) return { reason: 'port', match: null, info }
    if (file !== null && existsSync(file)) return { reason: 'file', match: null, info }
    if (!info.isRunning) return { reason: 'exit', match: null, info }
    if (options.signal?.aborted) return { reason: 'aborted', match: null, info }
    const quietIn = silence?.() ?? Number.POSITIVE_INFINITY
    if (quietIn <= 0) return { reason: 'idle', match: null, info }
    const asked = asks ? await asks() : { waiting: null, again: Number.POSITIVE_INFINITY }
    if (asked.waiting) return { reason: 'input', match: asked.waiting.prompt, info }
    const left =
      options.timeoutMs === undefined ? Number.POSITIVE_INFINITY : options.timeoutMs - (performance.now() - begin)
    if (left <= 0) return { reason: 'timeout', match: null, info }
    // Even an own job is looked at now and then: its engine's launcher may have died without a word.
    await job.next(Math.max(1, Math.min(left, quietIn, asked.again, looks ? LOOK_EVERY_MS : 1_000)), options.signal)
  }
}

/** Loads what looks for prompts only for a wait that asks for input. */
async function createAsking(
  job: Waited,
): Promise<() => Promise<{ waiting: { prompt: string } | null; again: number }>> {
  const { createInputLook } = await import('./input/watch.js')
  const { pty } = job.info()
  return createInputLook({
    dir: job.readable.dir,
    pty,
    openStdin: !pty,
    mask: (text) => job.masker()?.maskText(text) ?? text,
  })
}

/**
 * Looks at the lines that came since the last look; also at the unfinished last one, because a prompt has no line end.
 */
async function createLineSearch(job: Waited, options: WaitOptions): Promise<() => Promise<string | null>> {
  const matches = await lineTest(options.until as RegExp | string)
  const streams = job.readable.apart ? (['stdout', 'stderr'] as const) : (['output'] as const)
  const state = streams.map((stream) => ({
    stream,
    cursor:
      stream === 'stderr'
        ? (options.sinceStderr ?? (options.since ? storedSize(job.readable.dir, 'stderr.log').total : 0))
        : (options.since ?? 0),
    rest: '',
  }))
  return async () => {
    for (const one of state) {
      for (;;) {
        const read = await readJob(
          job.readable,
          { since: one.cursor, stream: one.stream, maxBytes: 1_048_576, ansi: 'strip' },
          job.masker(),
        )
        if (read.cursor === one.cursor) break
        one.cursor = read.cursor
        const lines = (one.rest + read.text).split('\n')
        one.rest = (lines.pop() ?? '').slice(-MAX_LINE)
        const candidates = [...lines.map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line)), one.rest].flatMap(
          withRewrites,
        )
        const found = matches(candidates).indexOf(true)
        if (found >= 0) return candidates[found] as string
      }
    }
    return null
  }
}

/** A terminal's line may begin anew with a carriage return: each beginning was a line on the screen for a while. */
function withRewrites(line: string): string[] {
  return line.includes('\r') ? [line, ...line.split('\r').filter(Boolean)] : [line]
}

async function lineTest(until: RegExp | string): Promise<(lines: readonly string[]) => readonly boolean[]> {
  if (typeof until === 'string') return compilePattern(until, { what: 'until' })
  try {
    return await compilePattern(until.source, { ignoreCase: until.ignoreCase })
  } catch {
    // A RegExp object is the caller's own code: it may use lookaround and backreferences.
    const own = new RegExp(until.source, until.flags.replace(/[gy]/g, ''))
    return (lines) => lines.map((line) => own.test(line))
  }
}

/** Milliseconds until the output has been silent long enough, counted from now at the earliest. */
function createSilence({ dir, apart }: Readable, idleMs: number): () => number {
  const names: readonly OutputName[] = apart ? ['output.log', 'stderr.log'] : ['output.log']
  const size = (): number => names.reduce((sum, name) => sum + storedSize(dir, name).total, 0)
  let seen = size()
  let since = performance.now()
  return () => {
    const now = size()
    if (now !== seen) {
      seen = now
      // Found by looking, not by an event: the last change may be a while ago.
      const changed = Math.max(
        ...names.map((name) => statSync(join(dir, name), { throwIfNoEntry: false })?.mtimeMs ?? 0),
      )
      since = Math.max(since, performance.now() - Math.min(LOOK_EVERY_MS, Math.max(0, Date.now() - changed)))
    }
    return since + idleMs - performance.now()
  }
}

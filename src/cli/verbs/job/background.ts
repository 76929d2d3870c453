/** `cerith run --background`: starts a job and says its id at once, or why it did not start. */
import { noteTexts } from '../../../contract/note.js'
import type { Engine } from '../../../contract/engine.js'
import type { Job, JobInfo, ReadResult } from '../../../contract/job.js'
import { LIMITS } from '../../../contract/limits.js'
import type { StreamName } from '../../../contract/output.js'
import { outcomeToJson } from '../../../contract/outcome.js'
import type { RunRequest } from '../../../contract/request.js'
import { EXIT, type Io } from '../../io/io.js'
import { exitCodeOf } from '../../io/exit-code.js'
import { cerithOf } from '../../verb/open-engine.js'
import { howToGoOn } from './outcome-lines.js'
import { visible } from '../../../output/terminal/visible.js'

/** A command that fails at once should be told as failed, not as running: so long is waited for that. */
const FIRST_LOOK_MS = 40

interface BackgroundOptions {
  readonly json?: boolean
  readonly session?: string
  readonly owner?: 'manager' | 'detached'
  readonly openStdin?: boolean
}

export async function runInBackground(
  engine: Engine,
  request: RunRequest,
  options: BackgroundOptions,
  io: Io,
): Promise<number> {
  const begun = await engine.begin({
    ...request,
    // This process ends now: a job that ended with it would be no use.
    owner: options.owner ?? 'detached',
    openStdin: options.openStdin,
    session: options.session,
  })
  if ('outcome' in begun) {
    const { outcome } = begun
    if (options.json) io.out.write(`${JSON.stringify(outcomeToJson(outcome))}\n`)
    else if (outcome.refused)
      io.err.write(
        visible(
          `cerith: refused (${outcome.refused.rule}): ${outcome.refused.reason}\ncerith: ${outcome.refused.guidance}\n`,
        ),
      )
    return exitCodeOf(outcome)
  }
  const { info } = await begun.job.wait({ exit: true, timeoutMs: FIRST_LOOK_MS })
  const ways = howToGoOn(info.id, cerithOf(engine))
  io.orElse(`cerith: ${info.isRunning ? 'the job goes on' : 'the job has ended'}; ${ways}\n`)
  if (options.json) io.out.write(`${JSON.stringify(await startedToJson(begun.job, info, options.session ?? null))}\n`)
  else {
    io.out.write(`${info.id}\n`)
    if (io.err.isTTY)
      io.err.write(`cerith: ${info.isRunning ? `running as process ${info.pid}` : info.status}; ${ways}\n`)
  }
  return EXIT.ok
}

/** The fields of an Outcome, for a job that has just begun; one that is over already has its output in them. */
async function startedToJson(job: Job, info: JobInfo, session: string | null): Promise<Record<string, unknown>> {
  const streams = info.streams === 'merged' ? (['output'] as const) : (['stdout', 'stderr'] as const)
  const read = (stream: StreamName): Promise<ReadResult> => job.read({ stream, maxBytes: LIMITS.clipChars })
  const parts = info.isRunning ? [] : await Promise.all(streams.map(read))
  const shownBytes = parts.reduce((sum, { start, cursor }) => sum + cursor - start, 0)
  const omitted = info.isRunning ? 0 : Math.max(0, info.bytes.total - shownBytes)
  return {
    status: info.isRunning ? 'running' : info.status,
    exit_code: info.exitCode,
    signal: info.signal,
    ...Object.fromEntries(streams.map((stream, at) => [stream, parts[at]?.text ?? ''])),
    truncated: omitted > 0,
    omitted_bytes: omitted,
    output_file: info.outputFile,
    duration_ms: info.durationMs,
    cwd: info.cwd,
    pid: info.pid,
    pgid: info.pgid,
    id: info.id,
    session,
    pipe_status: null,
    notes: noteTexts(info.notes),
  }
}

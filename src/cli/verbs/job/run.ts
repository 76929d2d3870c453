/** `cerith run`: the command's output as it comes, its exit code as that of `cerith`, and nothing left behind. */
import { resolve } from 'node:path'
import type { Engine, RunHandle, Session } from '../../../contract/engine.js'
import { outcomeToJson } from '../../../contract/outcome.js'
import type { ByteChunk, Taken } from '../../../contract/output.js'
import type { RunRequest } from '../../../contract/request.js'
import { createTextStream } from '../../../output/shape.js'
import { exitCodeOf } from '../../io/exit-code.js'
import { inOurWords, runningWords, tell } from './outcome-lines.js'
import { UsageError, type Io } from '../../io/io.js'
import { cerithOf, withEngine } from '../../verb/open-engine.js'
import {
  CWD_OPTION,
  JSON_OPTION,
  readAssignment,
  readCount,
  readDuration,
  readSize,
  readTimeout,
  SET_OPTION,
} from '../../verb/option-rows.js'
import { SANDBOX_OPTIONS, settingsOf } from '../../verb/sandbox-flags.js'
import { countWords } from '../../../output/change-lines.js'
import { defineVerb, type OptionRow, type OptionsOf } from '../../verb/verb.js'

const OPTIONS = [
  JSON_OPTION,
  CWD_OPTION,
  {
    flags: '--env <NAME=VALUE>',
    about: 'a variable for this command (repeatable)',
    many: true,
    read: readAssignment,
  },
  { flags: '--clean-env', about: 'start from an empty environment plus --env' },
  {
    flags: '--timeout <MS>',
    about: 'end it after this time: 1500 (ms), 30s, 5m, none (default: 120000 ms)',
    read: readTimeout,
  },
  { flags: '--grace <MS>', about: 'time between SIGTERM and SIGKILL (default: 2000 ms)', read: readDuration },
  { flags: '--yield <MS>', about: 'when it runs longer than this, it goes on as a job', read: readDuration },
  { flags: '--memory <SIZE>', about: 'end it when its processes use more memory: 500M, 2G', read: readSize },
  { flags: '--cpu <TIME>', about: 'end it when its processes have used more CPU time: 30s, 5m', read: readDuration },
  { flags: '--processes <N>', about: 'end it when it has more processes at once', read: readCount },
  {
    flags: '--approval-wait <MS>',
    about: 'how long to wait for `cerith approve` when it must be asked about',
    read: readDuration,
  },
  { flags: '--session <NAME>', about: 'in a named session that remembers; use the same name next time' },
  { flags: '--pty', about: 'give it a terminal of its own' },
  { flags: '--record <FILE>', about: 'with --pty: record the terminal (asciicast v2)' },
  { flags: '--merge', about: 'stdout and stderr as one stream, in true order' },
  { flags: '--dry-run', about: 'say what would happen and do nothing' },
  { flags: '--background', about: 'start it as a job and print its id at once' },
  { flags: '--owner <WHO>', about: 'whether a job outlives this process', choices: ['detached', 'manager'] },
  { flags: '--open-stdin', about: 'with --background: keep stdin open for `cerith send`' },
  { flags: '--input <TEXT>', about: 'text for stdin; - passes on the stdin of cerith (default: empty)' },
  { flags: '--ansi <MODE>', about: 'keep or strip colours and other escape sequences', choices: ['keep', 'strip'] },
  { flags: '--description <TEXT>', about: 'what it is for, kept with the job' },
  ...SANDBOX_OPTIONS,
  { flags: '--outside <REASON>', about: 'outside the sandbox, once; a person is asked' },
  SET_OPTION,
] as const satisfies readonly OptionRow[]

type RunOptions = OptionsOf<typeof OPTIONS>

export const verb = defineVerb({
  usage: 'COMMAND...',
  words: [1, Infinity],
  passThrough: true,
  options: OPTIONS,
  examples: [
    ["cerith run 'npm test | tail -20'", 'one argument is a bash command line'],
    ['cerith run -- ls -l "My Documents"', 'several are an argv; cerith quotes it'],
    ["cerith run --session work 'cd src; x=1'", 'the next call with --session work knows'],
    ["id=$(cerith run --background 'npm run dev')", 'then: cerith wait $id --port 3000'],
  ],
  details: `Exit code: the command's own; 124 when its time was up, 125 when cerith could not
start it, 126 when the guard refused it, 128+n when signal n ended it.
Ctrl-C interrupts the command, a second one ends it at once. With --yield the exit code is 0 when the command goes on as a job; --json then says "status": "running" and its id, and its time limit no longer counts.`,
  run: ({ words, options }, io) => run(words, options, io),
})

async function run(words: readonly string[], options: RunOptions, io: Io): Promise<number> {
  if (options.record !== undefined && !options.pty)
    throw new UsageError('--record needs --pty', 'There is nothing to record without a terminal.')
  if (options.background && options.pty === undefined && options.input !== undefined)
    throw new UsageError(
      '--input does not go with --background',
      'Start it with --open-stdin and type with `cerith send`.',
    )
  if (options.background && options.yield !== undefined)
    throw new UsageError(
      '--yield does not go with --background',
      'A background command is a job from the start; leave one of the two out.',
    )
  const input = options.input === '-' ? await io.readStdin() : options.input
  const request: RunRequest = {
    command: words.length === 1 ? (words[0] as string) : words,
    env: options.env && Object.fromEntries(options.env),
    envMode: options.cleanEnv ? 'replace' : undefined,
    timeoutMs: options.timeout,
    graceMs: options.grace,
    yieldMs: options.yield,
    // This process ends when the command is let go: a job that ended with it would be no use.
    owner: options.yield === undefined ? undefined : (options.owner ?? 'detached'),
    limits: limitsOf(options),
    approvalWaitMs: options.approvalWait,
    pty: options.pty && (io.out.isTTY ? { cols: io.out.columns, rows: 40 } : true),
    record: options.record === undefined ? undefined : resolve(io.cwd, options.record),
    streams: options.merge ? 'merged' : undefined,
    dryRun: options.dryRun,
    input,
    ansi: options.ansi,
    description: options.description,
    outside: options.outside,
  }
  // In a session the directory is relative to the session's; elsewhere to ours, and its
  // configuration is the one that counts.
  const inSession = options.session !== undefined
  const runsIn = inSession && options.cwd !== undefined ? undefined : resolve(io.cwd, options.cwd ?? '.')
  return withEngine(io, { flags: settingsOf(options, io.cwd), session: options.session, runsIn }, async (engine) => {
    const placed = (inSession || engine.place) && options.cwd !== undefined ? { ...request, cwd: options.cwd } : request
    if (options.background && !options.dryRun) {
      const { runInBackground } = await import('./background.js')
      return runInBackground(engine, placed, options, io)
    }
    const where: Engine | Session = options.session === undefined ? engine : await engine.session(options.session)
    const shape = { asJson: options.json === true, plain: options.ansi === 'strip', cerith: cerithOf(engine) }
    const code = await follow((extra) => where.stream({ ...placed, ...extra }), shape, io)
    if (!options.json && (options.try !== undefined || io.err.isTTY)) await tellTry(engine, io)
    return code
  })
}

function limitsOf({ memory, cpu, processes }: RunOptions): RunRequest['limits'] {
  if (memory === undefined && cpu === undefined && processes === undefined) return undefined
  const cpuSeconds = cpu === undefined ? undefined : Math.max(1, Math.ceil(cpu / 1_000))
  return { memoryBytes: memory, cpuSeconds, processes }
}

/** What it wrote does not count yet. */
async function tellTry(engine: Engine, io: Io): Promise<void> {
  // Elsewhere it costs a round trip.
  const found = engine.place && !engine.sandbox?.try ? null : await engine.changes().catch(() => null)
  if (!found) return
  const cerith = cerithOf(engine)
  // One that holds nothing ends with this process.
  const todo =
    found.changes.length === 0
      ? ''
      : `, and nothing of it counts yet; ${cerith} diff, ${cerith} accept, ${cerith} discard`
  io.err.write(`cerith: ${found.id}: ${countWords(found.changes)}${todo}\n`)
}

/**
 * The output has been shown as it came: of the Outcome's own text only bash's words about a syntax error are needed.
 */
const SHORT = { kind: 'ends', maxChars: 30_000 } as const

function follower(io: Io, plain: boolean) {
  const shapes = plain ? { out: createTextStream({ ansi: 'strip' }), err: createTextStream({ ansi: 'strip' }) } : null
  const shown = {
    anything: false,
    closed: false,
    /** Gives the bytes to our own reader; a slow one holds the command back, as in a pipeline. */
    take({ stream, bytes }: ByteChunk): Taken | Promise<Taken> {
      shown.anything = true
      const side = stream === 'stderr' ? 'err' : 'out'
      io[side].write(shapes ? shapes[side].push(bytes) : bytes)
      const heard = (answer: Taken): Taken => {
        shown.closed ||= answer === 'closed'
        // The engine takes the pipe in a flood only: its beginning is kept, and no reader follows the call.
        const into = side === 'out' && shapes === null ? io.out.pipePath : null
        return answer ?? (into === null ? undefined : { into })
      }
      const taken = io[side].taken()
      return taken instanceof Promise ? taken.then(heard) : heard(taken)
    },
    /** With escape sequences taken out, half of one may be held back. */
    end(): void {
      for (const side of ['out', 'err'] as const) if (shapes) io[side].write(shapes[side].flush())
    },
  }
  return shown
}

/** Follows one foreground command to its end. */
async function follow(
  start: (extra: Partial<RunRequest>) => RunHandle,
  { asJson, plain, cerith }: { readonly asJson: boolean; readonly plain: boolean; readonly cerith: string },
  io: Io,
): Promise<number> {
  let stoppedBy: string | null = null
  const shown = follower(io, plain)
  const handle = start(asJson ? {} : { clip: SHORT, onBytes: shown.take })
  const unlisten = io.onSignal((signal) => {
    if (signal === 'SIGINT' && stoppedBy === null) handle.interrupt()
    else handle.kill()
    stoppedBy ??= signal
  })
  try {
    const outcome = await handle.outcome
    if (asJson) {
      if (outcome.status === 'running') io.orElse(`cerith: ${runningWords(outcome.id, cerith)}\n`)
      io.out.write(`${JSON.stringify(outcomeToJson(inOurWords(outcome, cerith)))}\n`)
    } else {
      shown.end()
      // What never started has nothing to follow, but bash may have said why.
      if (!shown.anything && outcome.pid === null && outcome.status === 'failed') io.err.write(outcome.stderr)
      tell(outcome, io, cerith)
    }
    // A reader that left ends a session's command, and one on a terminal, by a kill; a fresh
    // shell hears of it by SIGPIPE and says so itself.
    return exitCodeOf(outcome, stoppedBy ?? (shown.closed ? 'SIGPIPE' : null))
  } finally {
    unlisten()
  }
}

/**
 * An engine that says what it is told to, so that texts can be compared to the letter. Behaviour is tested against real
 * processes elsewhere.
 */
import type { Engine, Session } from '../../src/contract/engine.js'
import { ShellError } from '../../src/contract/errors.js'
import type { Doing, Job, JobInfo, KillResult, ReadResult } from '../../src/contract/job.js'
import type { Outcome } from '../../src/contract/outcome.js'
import type { RunRequest } from '../../src/contract/request.js'
import type { SandboxOptions } from '../../src/contract/sandbox.js'

export const OUTCOME: Outcome = {
  status: 'completed',
  end: { kind: 'exit', code: 0 },
  exitCode: 0,
  signal: null,
  stdout: 'hello\n',
  stderr: '',
  output: null,
  truncated: false,
  omittedBytes: 0,
  outputFile: null,
  droppedBytes: 0,
  durationMs: 12,
  cwd: '/srv/app',
  pid: 4321,
  pgid: 4321,
  id: null,
  session: 'main',
  pipeStatus: null,
  notes: [],
  refused: null,
  plan: null,
  waitingForInput: null,
  approvalId: null,
  usage: null,
  sandbox: null,
}

const INFO: JobInfo = {
  id: 'shell_0a1b2c3d',
  status: 'running',
  isRunning: true,
  command: 'npm run dev',
  description: null,
  cwd: '/srv/app',
  owner: 'manager',
  pid: 4321,
  pgid: 4321,
  end: null,
  exitCode: null,
  signal: null,
  startedAt: Date.UTC(2026, 0, 2, 3, 4, 5),
  endedAt: null,
  durationMs: 3_400,
  outputFile: '/state/shell_0a1b2c3d/output',
  streams: 'merged',
  pty: false,
  bytes: { total: 0, omitted: 0 },
  usage: null,
  outputComplete: true,
  notes: [],
  labels: {},
  engine: 'e',
  session: null,
  sandbox: null,
}

export interface Script {
  readonly outcome?: Partial<Outcome>
  readonly info?: Partial<JobInfo>
  readonly streams?: Partial<Record<'stdout' | 'stderr' | 'output', string>>
  readonly kill?: Partial<KillResult>
  readonly doing?: Partial<Doing>
  readonly throws?: ShellError
  readonly requests?: RunRequest[]
  readonly sandbox?: SandboxOptions
}

export function scriptedEngine(script: Script = {}): Engine {
  const info = { ...INFO, ...script.info }
  const run = async (request: RunRequest): Promise<Outcome> => {
    script.requests?.push(request)
    if (script.throws) throw script.throws
    return { ...OUTCOME, ...script.outcome }
  }
  const job: Job = {
    id: info.id,
    info: async () => info,
    read: async ({ since = 0, stream = 'output', filter } = {}): Promise<ReadResult> => {
      if (filter === '[') throw new ShellError('BAD_FILTER', 'missing closing ]', 'Escape it.')
      const whole = script.streams?.[stream] ?? ''
      return {
        text: whole.slice(since),
        cursor: whole.length,
        start: since,
        omittedBytes: 0,
        totalBytes: whole.length,
        matches: null,
      }
    },
    wait: async () => ({ reason: 'exit', match: null, info }),
    kill: async () => ({ info, alreadyStopped: false, forced: false, notes: [], ...script.kill }),
    send: async () => {},
    resize: async () => {},
    attach: async () => {
      throw new Error('not scripted')
    },
    screen: async () => {
      throw new Error('not scripted')
    },
    doing: async () => ({ listening: [], waitingForInput: null, ...script.doing }),
    events: async function* () {},
  }
  const session = {
    name: 'main',
    cwd: '/srv/app',
    run,
    info: async () => ({ calls: 1 }),
    restart: async () => {},
  } as unknown as Session
  return {
    cwd: '/srv/app',
    shell: { path: '/bin/bash', version: '5.2.15(1)-release' },
    sandbox: script.sandbox ?? null,
    run,
    session: async () => session,
    sessions: async () => [],
    begin: async (request: RunRequest) => {
      const outcome = await run(request)
      return outcome.refused || outcome.status === 'dry_run' ? { outcome } : { job }
    },
    job: async (id: string) => {
      if (id !== info.id) throw new ShellError('JOB_NOT_FOUND', `no job ${id}`, '')
      return job
    },
    jobs: async () => [info],
    secrets: { mask: (text: string) => text, names: () => [] },
  } as unknown as Engine
}

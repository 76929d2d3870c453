/**
 * Starts a job: its record first, then its keeper with the command. A crash in between leaves a
 * job that never started, and nothing else.
 */
import type { Note } from '../../contract/note.js'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ShellError } from '../../contract/errors.js'
import type { StartRequest } from '../../contract/request.js'
import { feedPipe } from '../../os/files/feed.js'
import { endStrays, strayProcesses } from '../../os/job/control.js'
import { makeJobDirectory, removeJobDirectory } from '../../os/job/directory.js'
import { writeJobRecord, type JobRecord } from '../../os/job/record.js'
import type { KeepSpec, LaunchSpec, Ward } from '../../os/helper/launcher.js'
import { processFacts } from '../../os/process/proc.js'
import { thisWorld } from '../../os/process/world.js'
import { bootstrapFor, SCRIPT_FD, scriptHead } from '../plan/bootstrap.js'
import type { DeliveredCommand } from '../plan/delivery.js'
import { KNOW_TERMINAL } from '../terminal/environment.js'
import { takePipe } from '../services/pipes.js'
import type { Plan } from '../plan/plan.js'
import { noteTerminal, terminalSize, withTerminal } from '../terminal/start.js'
import { quoteWord } from '../../contract/quote.js'
import type { Services } from '../services/services.js'

/** What a pipe takes at once; more input is read from a file, because the engine that would feed it may end first. */
const MAX_PIPED_INPUT = 60_000

/** Gives a shell the state of a session. */
export interface Restore {
  /** Bash code, as bytes (latin1); empty for a session that has no state yet. */
  readonly code: string
  /** What of the state it does not get. */
  readonly notes: readonly Note[]
}

export interface StartedJob {
  readonly record: JobRecord
  readonly dir: string
  readonly ward: Ward
}

export function newShellId(): string {
  return `shell_${randomBytes(4).toString('hex')}`
}

/** `restore` gives the shell a session's state; null for a fresh one. */
export async function startJob(
  asked: Plan,
  delivered: DeliveredCommand,
  restore: Restore | null,
  services: Services,
): Promise<StartedJob> {
  const request = asked.request as StartRequest
  const plan = request.pty ? withTerminal(asked, services) : asked
  const { id, dir } = makeJobDirectory(services.stateDir, request.newId ?? newShellId)
  const detached = request.owner === 'detached'
  try {
    const record = recordOf(id, plan, services, {
      owner: detached ? 'detached' : 'manager',
      openStdin: Boolean(request.openStdin || request.pty),
      pty: Boolean(request.pty),
      streams: request.pty ? 'merged' : (request.streams ?? 'separate'),
      notes: [...limitNotes(plan), ...(restore?.notes ?? [])],
    })
    writeJobRecord(dir, record)
    if (record.pty) noteTerminal(dir, terminalSize(plan, services))
    const ward = await launch(plan, delivered, restore, dir, record, services)
    return { record, dir, ward }
  } catch (error) {
    // A command that destroyed its keeper before the start was known may have children.
    if (ShellError.is(error) && error.code === 'SPAWN_FAILED') await endStrays(() => strayProcesses(id, null), 0)
    removeJobDirectory(dir)
    throw unwritable(error, dir)
  }
}

/** A disk that cannot be written is the machine's trouble, said as such; anything else goes on as it is. */
export function unwritable(error: unknown, dir: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (ShellError.is(error) || !code || !syscall) return error
  return new ShellError(
    'STATE_UNWRITABLE',
    `Cannot write the record of a job in ${dir} (${code})`,
    code === 'ENOSPC' || code === 'EDQUOT'
      ? 'The disk is full; free some space (`cerith clean`).'
      : 'Set CERITH_HOME to a directory of your own.',
    { cause: error },
  )
}

export function recordOf(
  id: string,
  plan: Plan,
  services: Services,
  about: Pick<JobRecord, 'owner' | 'openStdin' | 'pty' | 'streams' | 'notes'>,
): JobRecord {
  const { request } = plan
  return {
    id,
    command: services.secrets.mask(plan.command),
    description: request.description === undefined ? null : services.secrets.mask(request.description),
    cwd: plan.cwd,
    labels: request.labels ?? {},
    ...thisWorld(),
    engine: { id: services.id, pid: process.pid, start: processFacts(process.pid)?.start ?? '' },
    createdAt: Date.now(),
    timeoutMs: plan.timeoutMs,
    session: plan.session,
    sandbox: services.stay?.place ?? null,
    ...(plan.limits ? { limits: plan.limits } : {}),
    ...(plan.verdict.facts.finalCommand ? { finalCommand: plan.verdict.facts.finalCommand } : {}),
    ...about,
  }
}

/** Head and tail of what is kept of each stream; the tail's segments may be one longer than asked for. */
export function keptBytes(
  maxJobBytes: number,
  streams: JobRecord['streams'],
): { headBytes: number; tailBytes: number } {
  const maxStoredBytes = streams === 'merged' ? maxJobBytes : maxJobBytes / 2
  const headBytes = Math.max(4_096, Math.floor(maxStoredBytes / 2))
  return { headBytes, tailBytes: Math.max(4_096, Math.floor((maxStoredBytes - headBytes) * 0.8)) }
}

async function launch(
  plan: Plan,
  delivered: DeliveredCommand,
  restore: Restore | null,
  dir: string,
  record: JobRecord,
  services: Services,
): Promise<Ward> {
  const request = plan.request as StartRequest
  const scriptPipe = await takePipe(services)
  const input = request.input === undefined ? null : Buffer.from(request.input as Uint8Array)
  // In the job's own directory, which a room does not see: there it is in the folder of its stay.
  const fileFor = (name: string): string => (services.stay ? services.runFile('j') : join(dir, name))
  const inputFile = input && !record.openStdin && input.length > MAX_PIPED_INPUT ? fileFor('input') : null
  if (inputFile && input) writeFileSync(inputFile, input, { mode: 0o600, flag: 'wx' })
  const inPipe = input && !inputFile && !record.openStdin ? await takePipe(services) : null
  const script = jobScript(plan, delivered, restore, inputFile, services.id)
  // Never a file: the state of a session may hold a secret.
  const { line, fed } = bootstrapFor(script, delivered, services.id, null)
  const feeding = feedPipe(scriptPipe.writeEnd(), fed)
  if (inPipe && input) void feedPipe(inPipe.writeEnd(), input)
  const spec: LaunchSpec = {
    path: services.bash.path,
    argv: ['bash', '--norc', '--noprofile', '-c', line],
    env: markedEnv(plan.env, record, services.id),
    cwd: plan.cwd,
    ...(inPipe ? { stdin: inPipe } : {}),
    ...(record.streams === 'merged' ? { merge: true } : {}),
    extraIn: { fd: SCRIPT_FD, pipe: scriptPipe },
    keep: keepOf(plan, dir, record, services),
    detached: record.owner === 'detached',
    oomScore: 300,
    ...(plan.limits ? { limits: plan.limits } : {}),
    graceMs: plan.graceMs,
  }
  const ward = await services.launcher.start(spec)
  // All input must be in the pipe before the caller hears of the start: its process may then end.
  await feeding
  return ward
}

/**
 * By its marks a process is found again. The successor of a dead engine ends what carries that
 * engine's: a detached job carries none, not even that of an engine around this one.
 */
function markedEnv(env: Readonly<Record<string, string>>, record: JobRecord, engine: string): Record<string, string> {
  const marked: Record<string, string> = { ...env, CERITH_JOB: record.id, CERITH_ENGINE: engine }
  if (record.owner === 'detached') delete marked['CERITH_ENGINE']
  return marked
}

function keepOf(plan: Plan, dir: string, record: JobRecord, services: Services): KeepSpec {
  const request = plan.request as StartRequest
  return {
    dir,
    ...keptBytes(request.maxStoredBytes ?? services.limits.storedBytes, record.streams),
    ...(record.openStdin ? { openStdin: true } : {}),
    ...(record.pty ? { pty: terminalSize(plan, services) } : {}),
    ...(plan.timeoutMs === null ? {} : { deadlineMs: plan.timeoutMs }),
    masks: services.secrets.masker.needles(),
  }
}

function jobScript(
  plan: Plan,
  delivered: DeliveredCommand,
  restore: Restore | null,
  inputFile: string | null,
  engine: string,
): Uint8Array {
  const head = scriptHead(delivered, engine)
  const input = inputFile ? `\\exec 0<${quoteWord(inputFile)};` : ''
  if (!restore?.code) return Buffer.from(`${head}${input}${delivered.script}`)
  const terminal = plan.request.pty ? `${KNOW_TERMINAL}\n` : ''
  const state = `\n${terminal}${givenVariables(plan)}\n\\builtin cd -- ${quoteWord(plan.cwd)}\n`
  return Buffer.concat([
    Buffer.from(`${head}${input}`),
    // Quietly: what cannot be had again (a directory that is gone) is not the command's to tell.
    Buffer.from(`{ ${restore.code}\n} >/dev/null 2>&1`, 'latin1'),
    Buffer.from(`${state}${delivered.script}`),
  ])
}

/** Variables for this call only: they win over the session's. */
function givenVariables({ request, env }: Plan): string {
  return Object.keys(request.env ?? {})
    .filter((name) => /^[A-Za-z_]\w*$/.test(name) && env[name] !== undefined)
    .map((name) => `\\builtin export ${name}=${quoteWord(env[name] as string)}`)
    .join('\n')
}

/**
 * A command that fails for want of memory or processes says so in its own words; the limits it
 * ran under stand beside them.
 */
function limitNotes({ limits }: Plan): Note[] {
  if (!limits) return []
  const shown = Object.entries(limits).map(([name, value]) => `${name} ${value}`)
  return [{ code: 'limits', text: `Runs with limits: ${shown.join(', ')}.` }]
}

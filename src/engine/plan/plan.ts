/**
 * Decides everything before anything happens: directory, environment, verdict, limits. A Plan
 * can be printed; it never holds a secret.
 */
import { badRequest, ShellError } from '../../contract/errors.js'
import type { PlanSummary } from '../../contract/outcome.js'
import type { Clip } from '../../contract/output.js'
import type { ResourceLimits, RunRequest } from '../../contract/request.js'
import type { ShellHoldings, Verdict } from '../../contract/verdict.js'
import { buildEnvironment, type PlannedEnvironment } from '../../env/filter.js'
import { checkDirectory } from '../../os/files/paths.js'
import { checkRequest } from './request.js'
import { tightest } from './resources.js'
import type { Services } from '../services/services.js'

/** What is known about the shell that a command will run in. */
export interface Surroundings {
  readonly session: string | null
  readonly cwd: string
  /** A live shell is in that directory: it need not be checked again. */
  readonly entered?: boolean
  readonly variables?: Readonly<Record<string, string>>
  readonly functions?: Readonly<Record<string, string>>
  readonly aliases?: Readonly<Record<string, string>>
  readonly held?: ShellHoldings
}

export interface Plan {
  readonly request: RunRequest
  /** As asked for: secret tokens unresolved. */
  readonly command: string
  readonly cwd: string
  /** The whole environment of a fresh shell. */
  readonly env: Readonly<Record<string, string>>
  readonly verdict: Verdict
  readonly timeoutMs: number | null
  readonly graceMs: number
  readonly clip: Clip
  /** What it may use; null: no limit. */
  readonly limits: ResourceLimits | null
  readonly session: string | null
  readonly summary: PlanSummary
}

export async function planRun(
  request: RunRequest,
  around: Surroundings,
  services: Services,
  background = false,
): Promise<Plan> {
  const { limits } = services
  if (services.state.closed) throw new ShellError('CLOSED', 'The engine is closed', 'Create a new engine.')
  const command = checkRequest(request, limits)
  if (request.cwd !== undefined && services.sandbox?.options.try) await services.sandbox.prepared()
  const cwd =
    around.entered && request.cwd === undefined && !services.roots
      ? around.cwd
      : checkDirectory(request.cwd, around.cwd, services.roots, services.seen)
  const environment = environmentOf(request, services)
  const verdict = await services.judge(command, { ...around, cwd }, request.automation)
  return planOf(request, { command, cwd, verdict, environment, session: around.session, background }, services)
}

interface Judged {
  readonly command: string
  readonly cwd: string
  readonly verdict: Verdict
  readonly environment: PlannedEnvironment
  readonly session: string | null
  readonly background: boolean
}

/** The plan of a request that has been checked and judged. */
export function planOf(
  request: RunRequest,
  { command, cwd, verdict, environment, session, background }: Judged,
  { limits, options }: Pick<Services, 'limits' | 'options'>,
): Plan {
  const usualMs = background ? null : limits.timeoutMs
  const timeoutMs = request.timeoutMs === undefined ? usualMs : request.timeoutMs
  return {
    request,
    command,
    cwd,
    env: environment.env,
    verdict,
    timeoutMs,
    graceMs: request.graceMs ?? limits.graceMs,
    clip: request.clip ?? { kind: 'ends', maxChars: limits.clipChars },
    limits: tightest(options.commandLimits, request.limits),
    session,
    summary: {
      command,
      cwd,
      session,
      background,
      pty: Boolean(request.pty),
      timeoutMs,
      droppedEnv: environment.dropped,
      addedEnv: environment.added,
      verdict,
    },
  }
}

/** A request that asks for nothing special gets an environment that is built once. */
export function environmentOf(request: RunRequest, services: Services): PlannedEnvironment {
  const usual = request.env === undefined && (request.envMode ?? 'merge') === 'merge'
  if (usual && services.usualEnvironment) return services.usualEnvironment
  const { options } = services
  const { env, dropped, added, problem } = buildEnvironment({
    base: services.baseEnv,
    ...(request.env ? { given: request.env } : {}),
    mode: request.envMode ?? 'merge',
    ...(options.envDefaults === undefined ? {} : { defaults: options.envDefaults }),
    allowDangerous: options.allowDangerousEnv ?? false,
    keep: options.keepEnv ?? [],
    drop: options.dropEnv ?? [],
  })
  if (problem) throw badRequest(`Bad request: ${problem.message}`, problem.hint)
  const planned = {
    env: { ...env, ...services.ownEnv },
    dropped: dropped.map(({ name }) => name),
    added: [...new Set([...added, ...Object.keys(request.env ?? {})])],
  }
  if (usual) services.usualEnvironment = planned
  return planned
}

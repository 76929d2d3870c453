/** Decides everything before anything happens: directory, environment, verdict, limits. A Plan can be printed; it never holds a secret. */
import { ShellError } from '../contract/errors.js'
import type { PlanSummary } from '../contract/outcome.js'
import type { Clip } from '../contract/output.js'
import type { RunRequest } from '../contract/request.js'
import type { Verdict } from '../contract/verdict.js'
import { buildEnvironment } from '../env/filter.js'
import { checkDirectory } from '../os/paths.js'
import { checkRequest } from './request.js'
import type { Services } from './services.js'

/** What is known about the shell that a command will run in. */
export interface Surroundings {
  readonly session: string | null
  readonly cwd: string
  /** A live shell is in that directory: it need not be checked again. */
  readonly entered?: boolean
  readonly variables?: Readonly<Record<string, string>>
  readonly functions?: Readonly<Record<string, string>>
  readonly aliases?: Readonly<Record<string, string>>
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
  readonly session: string | null
  readonly summary: PlanSummary
}

export async function planRun(request: RunRequest, around: Surroundings, services: Services, background = false): Promise<Plan> {
  const { limits, options } = services
  if (services.state.closed) throw new ShellError('CLOSED', 'The engine is closed', 'Create a new engine.')
  const command = checkRequest(request, limits)
  const cwd = around.entered && request.cwd === undefined && !services.roots ? around.cwd : checkDirectory(request.cwd, around.cwd, services.roots)
  const usual = request.env === undefined && (request.envMode ?? 'merge') === 'merge'
  const built =
    (usual ? services.usualEnvironment : null) ??
    buildEnvironment({
      base: services.baseEnv,
      ...(request.env ? { given: request.env } : {}),
      mode: request.envMode ?? 'merge',
      ...(options.envDefaults === undefined ? {} : { defaults: options.envDefaults }),
      allowDangerous: options.allowDangerousEnv ?? false,
      keep: options.keepEnv ?? [],
      drop: options.dropEnv ?? [],
    })
  if (usual) services.usualEnvironment = built
  if (built.problem) throw new ShellError('BAD_REQUEST', `Bad request: ${built.problem.message}`, built.problem.hint)
  const verdict = await services.judge(
    command,
    { cwd, ...(around.variables ? { variables: { ...around.variables } } : {}), ...(around.functions ? { functions: around.functions } : {}), ...(around.aliases ? { aliases: around.aliases } : {}) },
    request.automation,
  )
  const timeoutMs = request.timeoutMs === undefined ? limits.timeoutMs : request.timeoutMs
  return {
    request,
    command,
    cwd,
    env: { ...built.env, ...services.ownEnv },
    verdict,
    timeoutMs: background ? (request.timeoutMs ?? null) : timeoutMs,
    graceMs: request.graceMs ?? limits.graceMs,
    clip: request.clip ?? { kind: 'ends', maxChars: limits.clipChars },
    session: around.session,
    summary: {
      command,
      cwd,
      session: around.session,
      background,
      pty: Boolean(request.pty),
      timeoutMs: background ? (request.timeoutMs ?? null) : timeoutMs,
      droppedEnv: built.dropped.map(({ name }) => name),
      addedEnv: [...new Set([...built.added, ...Object.keys(request.env ?? {})])],
      verdict,
    },
  }
}

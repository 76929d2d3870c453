/**
 * An engine as the configuration says: what the doors of this package (command line, MCP) open.
 * The library's `createEngine` reads no files.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../contract/engine.js'
import { badConfig, ShellError } from '../contract/errors.js'
import type { ReachOptions } from '../contract/place.js'
import type { AskFunction, AutomationRule, Door } from '../contract/request.js'
import { isSecretName, type SecretSource } from '../contract/secret.js'
import type { PolicyConfig } from '../guard/policy/policy.js'
import { openAuditLog } from '../audit/log.js'
import { withSpans } from '../audit/spans.js'
import { loadConfig, type LoadedConfig } from '../config/load.js'
import { commandLimitsOf } from '../config/command-rows.js'
import { sandboxOf } from '../config/sandbox-rows.js'
import { groupOf } from '../config/setting.js'
import { findStateDirectory } from '../os/files/state-dir.js'
import { UMASK_FIX, umaskNow } from '../os/files/umask.js'
import type { JobsReader } from '../engine/job/reader.js'
import type { AuditSink } from '../engine/services/audit-sink.js'
import type { AskpassRule, EngineLimits, EngineOptions } from '../engine/services/options.js'

export interface OpenOptions {
  readonly cwd?: string
  /** The directory whose configuration counts. Default: `cwd`. */
  readonly configIn?: string
  readonly door: Door
  readonly env: Readonly<Record<string, string | undefined>>
  /** `KEY=VALUE` settings that win over every file. */
  readonly flags?: readonly string[]
  readonly ask?: AskFunction
  /** Asked once, when a command names a secret and nothing else opens the vault. */
  readonly askPassphrase?: () => Promise<string | null>
  /** Told when something degraded: the audit log cannot be written, for example. */
  readonly onProblem?: (message: string) => void
}

export async function openEngine(
  options: OpenOptions,
): Promise<{ readonly engine: Engine; readonly stateDir: string }> {
  const { config, stateDir } = lookUp(options)
  // Loaded here, not above: the MCP door wants the options alone, and answers its host before it loads an engine.
  const { createEngine } = await import('./create-engine.js')
  return { engine: await createEngine(await engineOptions(config, stateDir, options)), stateDir }
}

/** For doors that look at jobs and start nothing. The jobs of another place need its engine. */
export async function openReader(
  options: OpenOptions,
): Promise<{ readonly jobs: JobsReader; readonly stateDir: string }> {
  const { config, stateDir } = lookUp(options)
  checkUmask()
  const { openJobsReader } = await import('../engine/job/reader.js')
  const audit = config.values['audit.enabled'] ? auditSink(config, stateDir, options) : null
  return { jobs: openJobsReader({ stateDir, door: options.door, audit }), stateDir }
}

function lookUp({ cwd, configIn, env, flags, onProblem }: OpenOptions): { config: LoadedConfig; stateDir: string } {
  const config = loadConfig({ cwd: configIn ?? cwd ?? process.cwd(), env, flags })
  const { path: stateDir, problem } = findStateDirectory(env)
  if (problem) onProblem?.(problem)
  return { config, stateDir }
}

/** What the configuration means for an engine. */
export async function engineOptions(
  config: LoadedConfig,
  stateDir: string,
  options: OpenOptions,
): Promise<EngineOptions> {
  checkUmask()
  const { values, files } = config
  const list = (key: string): readonly string[] => values[key] as readonly string[]
  const policy = await policyOf(config)
  const sandbox = sandboxOf(values)
  const commandLimits = commandLimitsOf(values)
  const waitMs = values['approval.waitMs'] as number | null
  const at = values['at'] as string | null
  const here = at === null
  return {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    stateDir,
    // Elsewhere the environment, the shell and the configuration files of this machine mean nothing.
    ...(here ? { env: options.env } : { at, reach: reachOf(config, options.door) }),
    door: options.door,
    // A session of the command line outlives the process that used it; an MCP client's does not outlive the client.
    persistSessions: options.door === 'cli',
    recordSessions: values['record.sessions'] as boolean,
    ...(list('roots').length > 0 ? { roots: list('roots') } : {}),
    envDefaults: values['env.defaults'] as boolean,
    allowDangerousEnv: values['env.allowDangerous'] as boolean,
    keepEnv: list('env.keep'),
    dropEnv: list('env.drop'),
    pathFromLoginShell: values['env.pathFromLoginShell'] as boolean,
    ...(here ? worldOf(values) : {}),
    ...(values['bash'] === null || !here ? {} : { bash: values['bash'] as string }),
    ...(policy ? { policy } : {}),
    // No command may change what it is judged by, nor put such a file where none was.
    protectedPaths: [
      ...(here ? [files.user, ...files.projectCandidates] : []),
      ...(here && typeof values['audit.headFile'] === 'string' ? [values['audit.headFile']] : []),
      ...list('protectedPaths'),
    ],
    ...(sandbox ? { sandbox } : {}),
    automation: automationOf(values['automation'] as readonly Partial<AutomationRule>[]),
    limits: groupOf(values, 'limits') as Partial<EngineLimits>,
    ...(commandLimits ? { commandLimits } : {}),
    ...(waitMs === null ? {} : { approvalWaitMs: waitMs }),
    ...(config.isSet('secrets.askpass')
      ? { askpass: askpassOf(values['secrets.askpass'] as readonly Record<string, unknown>[]) }
      : {}),
    secretSources: secretSources(config, stateDir, options),
    ...(options.ask ? { ask: options.ask } : {}),
    ...(values['audit.enabled'] ? { audit: auditSink(config, stateDir, options) } : {}),
  }
}

/** The user's own world, as far as it was switched on. */
function worldOf(values: LoadedConfig['values']): Pick<EngineOptions, 'loginShell' | 'directoryEnv'> {
  const wanted = {
    direnv: values['env.direnv'] as boolean,
    mise: values['env.mise'] as boolean,
    dotenv: values['env.dotenv'] as readonly string[],
  }
  return {
    ...(values['env.loginShell'] ? { loginShell: true } : {}),
    ...(wanted.direnv || wanted.mise || wanted.dotenv.length > 0 ? { directoryEnv: wanted } : {}),
  }
}

/** What these tools trust is the person's to say: a command that would say it is asked about. */
function trustRules(values: LoadedConfig['values']): NonNullable<PolicyConfig['rules']> {
  const commands = [
    ...(values['env.direnv'] ? ['direnv allow', 'direnv permit', 'direnv grant'] : []),
    ...(values['env.mise'] ? ['mise trust', 'mise settings'] : []),
  ]
  return commands.length === 0
    ? []
    : [{ name: 'trust', decision: 'ask', commands, reason: 'it decides what is trusted in this directory' }]
}

/** The command line's engine elsewhere stays for the next call, under a name that belongs to its settings. */
function reachOf({ values }: LoadedConfig, door: Door): ReachOptions {
  const { runtime, uploadDir, ...rest } = groupOf(values, 'reach')
  return {
    ...rest,
    ...(runtime ? { runtime: runtime as string } : {}),
    ...(uploadDir ? { uploadDir: uploadDir as string } : {}),
    ...(door === 'cli' ? { keep: 'cli' } : {}),
  }
}

function checkUmask(): void {
  const { text, takesOwnRights } = umaskNow()
  if (takesOwnRights)
    throw new ShellError(
      'STATE_UNWRITABLE',
      `The umask ${text} takes your own rights away from every file that you make`,
      UMASK_FIX,
    )
}

/** The guard's policy, compiled once here so that a mistake in it is told before anything runs. */
async function policyOf({ values, isSet }: LoadedConfig): Promise<PolicyConfig | null> {
  const trust = trustRules(values)
  if (trust.length === 0 && !['policy.preset', 'policy.rules', 'policy.protected', 'policy.roots'].some(isSet))
    return null
  const roots = values['policy.roots'] as readonly string[]
  const policy = {
    preset: values['policy.preset'],
    rules: [...trust, ...(values['policy.rules'] as NonNullable<PolicyConfig['rules']>)],
    ...(values['policy.protected'] === null ? {} : { protected: values['policy.protected'] }),
    ...(roots.length > 0 ? { roots } : {}),
  } as PolicyConfig
  const { compilePolicy, PolicyError } = await import('../guard/policy/policy.js')
  try {
    compilePolicy(policy)
  } catch (error) {
    if (error instanceof PolicyError)
      throw badConfig(error.message, 'See docs/safety.md for the rules of a policy.', { cause: error })
    throw error
  }
  return policy
}

function automationOf(rows: readonly Partial<AutomationRule>[]): AutomationRule[] {
  return rows.map((row, i) => {
    const { program, subcommands = [], tools = '', feature = program, enabled = true } = row
    if (typeof program !== 'string' || program === '' || !Array.isArray(subcommands) || typeof feature !== 'string')
      throw badConfig(
        `automation[${i}] needs a program and a list of subcommands`,
        '{"program": "lango", "subcommands": ["cron"], "tools": "cron_add", "feature": "Cron", "enabled": true}',
      )
    return { program, subcommands, tools: String(tools), feature, enabled: Boolean(enabled) }
  })
}

const PROGRAMS = ['sudo', 'ssh', 'git'] as const

/**
 * A rule that cannot fit would leave a command at a prompt without an answer, so each is checked before anything runs.
 */
function askpassOf(rows: readonly Record<string, unknown>[]): AskpassRule[] {
  return rows.map((row, i) => {
    const wrong = (what: string): ShellError =>
      badConfig(
        `secrets.askpass[${i}]: ${what}`,
        'For example: {"program": "git", "prompt": "^Password for", "secret": "git-password"}',
      )
    const unknown = Object.keys(row).find((key) => key !== 'program' && key !== 'prompt' && key !== 'secret')
    if (unknown !== undefined) throw wrong(`unknown key ${JSON.stringify(unknown)}`)
    const program = PROGRAMS.find((name) => name === row['program'])
    if (!program) throw wrong(`program must be one of ${PROGRAMS.join(', ')}, got ${JSON.stringify(row['program'])}`)
    const { prompt, secret } = row
    if (typeof secret !== 'string' || !isSecretName(secret))
      throw wrong(`secret must be the name of a secret, got ${JSON.stringify(secret)}`)
    if (prompt === undefined) return { program, secret }
    if (typeof prompt !== 'string' || prompt === '')
      throw wrong(`prompt must be a regular expression, got ${JSON.stringify(prompt)}`)
    try {
      return { program, secret, prompt: new RegExp(prompt) }
    } catch (error) {
      throw wrong(`prompt is no regular expression: ${(error as Error).message}`)
    }
  })
}

function auditSink({ values }: LoadedConfig, stateDir: string, { onProblem }: OpenOptions): AuditSink {
  return withSpans(
    openAuditLog({
      file: join(stateDir, 'audit.jsonl'),
      maxBytes: values['audit.maxBytes'] as number,
      keepFiles: values['audit.keepFiles'] as number,
      ...(values['audit.headFile'] === null ? {} : { headCopy: values['audit.headFile'] as string }),
      ...(onProblem ? { onProblem } : {}),
    }),
  )
}

/** In the order in which they are asked; each is opened by the first command that names a secret. */
function secretSources(
  { values }: LoadedConfig,
  stateDir: string,
  { env, askPassphrase }: OpenOptions,
): SecretSource[] {
  const sources: SecretSource[] = []
  const mapped = values['secrets.environment'] as Record<string, string>
  if (Object.keys(mapped).length > 0)
    sources.push(lazily(async () => (await import('../secrets/sources.js')).environmentSource(mapped, env)))
  const commands = values['secrets.commands'] as Record<string, readonly [string, ...string[]]>
  if (Object.keys(commands).length > 0)
    sources.push(
      lazily(
        async () => (await import('../vault/secret-command.js')).secretCommandSource({ commands, environment: env }),
        { knows: () => false },
      ),
    )
  if (values['secrets.vault'])
    sources.push(
      lazily(
        async () =>
          (await import('../vault/open.js')).vaultSource({
            stateDir,
            env,
            keyFile: values['secrets.keyFile'] as string | null,
            askPassphrase,
          }),
        { is: () => existsSync(join(stateDir, 'vault')) },
      ),
    )
  return sources
}

/** `is`: there is something to open; `knows`: values can be had without running anything. */
function lazily(
  open: () => Promise<SecretSource>,
  { is = () => true, knows = () => true }: { is?: () => boolean; knows?: () => boolean } = {},
): SecretSource {
  let opened: Promise<SecretSource> | null = null
  const source = (): Promise<SecretSource> =>
    (opened ??= open().catch((error: unknown) => {
      opened = null // A wrong pass phrase may be right the next time.
      throw error
    }))
  return {
    lookup: async (kind, name) => (await source()).lookup(kind, name),
    names: async () => (is() ? ((await (await source()).names?.()) ?? []) : []),
    // A vault that is not there is not opened to learn that it is empty, and no command is run for this.
    known: async () => (is() && knows() ? ((await (await source()).known?.()) ?? []) : []),
  }
}

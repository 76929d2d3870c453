/** The guard's word about a host's command, as the configuration of its directory says, without an engine. */
import { tmpdir } from 'node:os'
import type { Verdict } from '../contract/verdict.js'
import { loadConfig } from '../config/load.js'
import { inspect } from '../guard/inspect.js'
import type { GuardContext } from '../guard/policy/context.js'
import { compilePolicy } from '../guard/policy/policy.js'
import { OWN_AUTOMATION } from '../guard/policy/automation.js'
import { homeDirectory } from '../os/files/home.js'
import { stateDirectory } from '../os/files/state-dir.js'
import { engineOptions } from '../setup/from-config.js'
import type { HookHost } from './protocol.js'
import { settingsFile } from './settings.js'
import type { AuditSink } from '../engine/services/audit-sink.js'
import { realPath, secretFiles } from '../engine/services/judge/disk-looks.js'

export interface HookJudge {
  verdict(command: string): Verdict
  /** True when the guard proves that the command only reads, and nothing it names holds credentials. */
  readsOnly(command: string): boolean
  readonly audit: AuditSink | null
}

export interface JudgeWorld {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly flags?: readonly string[] | undefined
  readonly host: HookHost
}

/** Reading these without a question would hand a secret to the model. */
const CREDENTIALS =
  /(^|\/)\.(ssh|aws|gnupg|kube|docker|azure|netrc|npmrc|pypirc|git-credentials|pgpass|my\.cnf|env(\.[\w.-]+)?|password-store|vault-token)(\/|$)|id_(rsa|ed25519|ecdsa|dsa)|\.(pem|key|p12|pfx|kdbx)$|credentials|\/etc\/(shadow|gshadow|sudoers)|\/proc\/[^/]+\/(environ|mem)/

export async function createHookJudge({ cwd, env, flags, host }: JudgeWorld): Promise<HookJudge> {
  const config = loadConfig({ cwd, env, ...(flags ? { flags } : {}) })
  const stateDir = stateDirectory(env)
  const options = await engineOptions(config, stateDir, { cwd, env, door: 'hook' })
  const home = env['HOME'] ?? homeDirectory(env)
  const hookFiles = (['user', 'project'] as const).flatMap(
    (scope) => settingsFile(host, scope, { home, cwd, env }) ?? [],
  )
  const context: GuardContext = {
    cwd,
    home,
    tmp: env['TMPDIR'] ?? tmpdir(),
    ...(options.policy ? { policy: compilePolicy(options.policy) } : {}),
    ...(options.roots ? { roots: options.roots } : {}),
    own: { pids: [process.ppid], names: ['cerith'] },
    // The settings that hold the hook: no command may take it out.
    protectedPaths: [stateDir, ...hookFiles, ...(options.protectedPaths ?? [])],
    unreadablePaths: secretFiles(stateDir),
    variables: Object.fromEntries(
      ['CERITH_HOME', 'XDG_STATE_HOME'].flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
    ),
    resolveSymlink: realPath,
    automation: [...(options.automation ?? []), OWN_AUTOMATION],
  }
  return {
    verdict: (command) => inspect(command, context),
    readsOnly(command) {
      const policy = compilePolicy({ preset: 'readonly' })
      const { decision, commands } = inspect(command, { ...context, policy })
      return decision === 'allow' && commands.length > 0 && !commands.flat().some((word) => CREDENTIALS.test(word))
    },
    audit: options.audit ?? null,
  }
}

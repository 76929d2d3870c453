/** What all parts of one engine share, made in the order in which the parts need each other. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { badConfig } from '../contract/errors.js'
import { LIMITS } from '../contract/limits.js'
import type { Policy, PolicyConfig } from '../guard/policy/policy.js'
import { findBash } from '../os/user/bash.js'
import { homeDirectory } from '../os/files/home.js'
import { findHelper, findShellBuiltin } from '../os/helper/file.js'
import { startLauncher } from '../os/helper/tier.js'
import { loginPath } from '../os/user/login-path.js'
import { checkDirectory, realRoots } from '../os/files/paths.js'
import { checkProc, processFacts } from '../os/process/proc.js'
import { codeOfLater } from '../os/package/file.js'
import { checkRuntime } from '../os/package/runtime.js'
import { SpillFile } from '../os/files/spill.js'
import { ensurePrivateDirectory, findStateDirectory } from '../os/files/state-dir.js'
import { takeServerEnd } from '../os/helper/server-ends.js'
import { findDeadEngines, type EngineRecord } from '../os/helper/sweep.js'
import { Questions } from '../audit/questions.js'
import { LiveCalls } from './services/live-calls.js'
import type { Askpass } from '../vault/askpass.js'
import type { AskpassRule, EngineLimits, EngineOptions } from './services/options.js'
import type { SandboxOptions } from '../contract/sandbox.js'
import { secretFiles } from './services/judge/disk-looks.js'
import { createJudge } from './services/judge.js'
import { memoryDirectory } from '../os/files/memory-dir.js'
import { makeRunDirectory, remakeRunDirectory } from './services/run-directory.js'
import type { RunDirectoryOwner } from './services/run-directory.js'
import { Sandbox } from './services/sandbox/sandbox.js'
import { Tries } from './services/sandbox/tries.js'
import { SecretStore } from './services/secret-store.js'
import { directoriesOf, openLoginShell, setUpCode } from './services/world.js'
import type { Services } from './services/services.js'
import { checkFields, ENGINE_ROWS } from './plan/fields.js'

/** The first command does not wait until the leftovers of killed engines are found. */
const SWEEP_AFTER_MS = 250

export async function createServices(options: EngineOptions): Promise<Services> {
  checkFields('createEngine', options, ENGINE_ROWS)
  checkRuntime()
  checkProc()
  const cwd = checkDirectory(options.cwd, process.cwd(), null)
  const roots = options.roots ? realRoots(options.roots, cwd) : null
  if (roots) checkDirectory(cwd, cwd, roots)
  const stateDir = ensurePrivateDirectory(options.stateDir ?? usualStateDirectory())
  const id = randomBytes(5).toString('hex')
  const baseEnv: Record<string, string | undefined> = { ...(options.env ?? process.env) }
  const starting = Promise.all([
    findBash(options.bash, process.env, stateDir),
    startLauncher(options.tier ?? 'auto'),
    options.pathFromLoginShell && !options.loginShell ? loginPath() : null,
    options.loginShell ? openLoginShell(options, stateDir, options.env) : null,
  ])
  // Read while bash and the helper start, which are other processes; the first command would have to wait for it.
  const guard = import('../guard/inspect.js')
  guard.catch(() => {}) // The first verdict tells.
  const [bash, launcher, path, login] = await starting
  if (path) baseEnv['PATH'] = path
  Object.assign(baseEnv, login?.variables)
  const owner: RunDirectoryOwner = { door: options.door ?? 'library', cwd }
  const runs = join(stateDir, 'run')
  const dead = findDeadEngines(stateDir, [runs, options.runDir ?? runs])
  setTimeout(dead.sweep, SWEEP_AFTER_MS).unref()
  const runDir = makeRunDirectory(options.runDir ?? runs, id, owner)
  const limits: EngineLimits = { ...LIMITS, ...options.limits }
  let number = 0
  const policy = options.policy ? await readPolicy(options.policy) : undefined
  // The kernel may know the host by the name of its main thread.
  const hosts = [
    basename(process.execPath),
    process.title.split(' ')[0] ?? 'node',
    processFacts(process.pid)?.name ?? 'node',
  ]
  const home = baseEnv['HOME'] ?? homeDirectory()
  const tmp = baseEnv['TMPDIR'] ?? tmpdir()
  const own = {
    pids: [process.pid, process.ppid, launcher.pid],
    names: [...new Set([...hosts, 'cerith', 'cerith-launch', 'cerith-warden', 'cerith-spare'])],
  }
  const secrets = new SecretStore(options.secretSources ?? [])
  const askpass = options.askpass?.length
    ? await answerPrompts(options.askpass, programDir(options, stateDir, runDir), secrets)
    : null
  const shellBuiltin = launcher.tier === 'native' ? findShellBuiltin(bash.version) : null
  const helper = findHelper()
  const tries = new Tries(stateDir)
  const makeSandbox = (wanted: SandboxOptions): Sandbox =>
    new Sandbox({
      options: wanted,
      id,
      launcher,
      stateDir,
      runDir,
      home,
      env: baseEnv,
      roots: roots ?? [cwd],
      given: askpass?.paths ?? [],
      needed: [bash.path, ...(shellBuiltin === null ? [] : [shellBuiltin])],
      own: [process.execPath, bash.path, ...(helper === null ? [] : [helper]), ...codeOfLater()],
      tries,
    })
  const sandbox = options.sandbox && options.sandbox.profile !== 'off' ? makeSandbox(options.sandbox) : null
  let forCalls: Sandbox | null = null
  // A command may name what is protected by these variables, which it has from its environment.
  const placeNames = ['CERITH_HOME', 'XDG_STATE_HOME'].flatMap((name) =>
    baseEnv[name] === undefined ? [] : [[name, baseEnv[name]] as const],
  )
  const judge = createJudge(
    guard,
    {
      home,
      tmp,
      ...(policy ? { policy } : {}),
      ...(roots ? { roots } : {}),
      ...(sandbox ? { sandbox: { network: sandbox.options.network ?? 'none' } } : {}),
      own,
      ...(placeNames.length > 0 ? { variables: Object.fromEntries(placeNames) } : {}),
      protectedPaths: [stateDir, memoryDirectory(id), ...(options.protectedPaths ?? [])],
      unreadablePaths: secretFiles(stateDir),
    },
    options.automation ?? [],
    secrets,
  )
  const services: Services = {
    id,
    options,
    limits,
    cwd,
    roots,
    baseEnv,
    bash,
    launcher,
    shellBuiltin,
    setUp: login && setUpCode(login),
    directories: directoriesOf(options, secrets),
    stateDir,
    runDir,
    secrets,
    sandbox,
    seen: (path) => sandbox?.seen(path) ?? path,
    closeSandboxes: async () => {
      await sandbox?.close()
      await forCalls?.close()
    },
    // An engine without a sandbox of its own makes one for the first call that asks for it.
    sandboxFor: () => sandbox ?? (forCalls ??= makeSandbox({ ...options.sandbox, profile: 'off' })),
    tries,
    stay: null,
    audit: options.audit ?? null,
    door: options.door ?? 'library',
    scratch: new Uint8Array(256 * 1024),
    judge: judge.judge,
    ask: options.ask ?? null,
    outside: null,
    usualEnvironment: null,
    ownEnv: { ...sandbox?.environment, ...askpass?.environment },
    runFile(kind) {
      if (!existsSync(runDir)) remakeRunDirectory(runDir, owner)
      return join(runDir, `${kind}${++number}`)
    },
    openSpill(label) {
      try {
        const dir = ensurePrivateDirectory(join(stateDir, 'outputs'))
        return new SpillFile(join(dir, `${id}-${++number}-${label}.log`), limits.storedBytes)
      } catch {
        return null // A full or read-only disk costs the file, not the run.
      }
    },
    // Closed with the engine, like everything else that it started.
    calls: new LiveCalls(),
    questions: new Questions(id),
    live: new Set([judge, { end: async () => dead.sweep() }, ...(askpass ? [{ end: () => askpass.close() }] : [])]),
    succeeds: owner.door === 'mcp' ? predecessor(stateDir, cwd, dead.records) : null,
    state: { closed: false },
  }
  // The names of secrets are told with the tools. A source that fails is told by the first command.
  await secrets.ready.catch(() => {})
  return services
}

/** The server that this one takes the place of: its host goes on with what a model knows about shells that are gone. */
function predecessor(stateDir: string, cwd: string, dead: readonly EngineRecord[]): Services['succeeds'] {
  const ended = takeServerEnd(stateDir, cwd)
  return dead.some(({ door, cwd: where }) => door === 'mcp' && where === cwd) ? 'killed' : ended ? 'ended' : null
}

/** A library has no other place to say where the state went. */
function usualStateDirectory(): string {
  const { path, problem } = findStateDirectory()
  if (problem) process.emitWarning(problem, { code: 'CERITH_STATE' })
  return path
}

/** Where programs for commands stand: a run directory on tmpfs often forbids to execute from it. */
function programDir(options: EngineOptions, stateDir: string, runDir: string): string {
  return options.runDir === undefined ? runDir : ensurePrivateDirectory(join(stateDir, 'programs'))
}

async function answerPrompts(rules: readonly AskpassRule[], dir: string, secrets: SecretStore): Promise<Askpass> {
  const { startAskpass } = await import('../vault/askpass.js')
  return startAskpass({
    dir,
    answers: rules.map(({ program, prompt, secret }) => ({
      program,
      ...(prompt ? { prompt } : {}),
      name: secret,
      value: () => secrets.value(secret),
    })),
  })
}

/** A policy is checked with its own examples before the first command, not with it. */
async function readPolicy(config: PolicyConfig): Promise<Policy> {
  const { compilePolicy } = await import('../guard/policy/policy.js')
  try {
    return compilePolicy(config)
  } catch (error) {
    throw badConfig((error as Error).message, 'Correct the policy; docs/safety.md describes every key.', {
      cause: error,
    })
  }
}

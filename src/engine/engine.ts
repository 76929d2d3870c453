/** Puts an engine together: one launcher, many runs, sessions and jobs; after `close` nothing it started is left. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import type { Engine, RunHandle } from '../contract/engine.js'
import { ShellError } from '../contract/errors.js'
import { LIMITS } from '../contract/limits.js'
import type { Outcome } from '../contract/outcome.js'
import type { RunRequest, StartRequest } from '../contract/request.js'
import { isSecretName } from '../contract/secret.js'
import type { Policy, PolicyConfig } from '../guard/policy/policy.js'
import { findBash } from '../os/bash.js'
import { homeDirectory } from '../os/home.js'
import { findShellBuiltin } from '../os/helper/file.js'
import { startLauncher } from '../os/helper/tier.js'
import { loginPath } from '../os/login-path.js'
import { checkDirectory, realRoots } from '../os/paths.js'
import { checkProc, processFacts } from '../os/proc.js'
import { checkRuntime } from '../os/runtime.js'
import { SpillFile } from '../os/spill.js'
import { ensurePrivateDirectory, findStateDirectory } from '../os/state-dir.js'
import { noteServerEnd, takeServerEnd } from '../os/helper/server-ends.js'
import { findDeadEngines, type EngineRecord } from '../os/helper/sweep.js'
import { Questions } from '../audit/questions.js'
import { auditOutcome } from './call/audit.js'
import { openLiveDoor } from './live/door.js'
import { recordSessions } from './live/recorder.js'
import { LiveCalls } from './services/live-calls.js'
import { Call } from './call/call.js'
import { runFresh } from './run/foreground.js'
import { notStarted } from './services/ends.js'
import { passGate } from './plan/gate.js'
import { createJobs } from './job/jobs.js'
import type { Askpass } from '../vault/askpass.js'
import type { AskpassRule, EngineLimits, EngineOptions } from './services/options.js'
import { planRun } from './plan/plan.js'
import { runOnTerminal } from './run/terminal.js'
import { checkRequest } from './plan/request.js'
import type { SandboxOptions } from '../contract/sandbox.js'
import { runOutside } from './run/outside.js'
import { insideFor } from './services/inside.js'
import { namesOf } from './services/disk-looks.js'
import { createJudge } from './services/judge.js'
import { makeRunDirectory, remakeRunDirectory, removeRunDirectory } from './services/run-directory.js'
import type { RunDirectoryOwner } from './services/run-directory.js'
import { Sandbox } from './services/sandbox.js'
import { Tries } from './services/tries.js'
import { SecretStore } from './services/secret-store.js'
import { withDirectoryEnv } from './plan/directory-env.js'
import { directoriesOf, openLoginShell, setUpCode } from './services/world.js'
import type { Services } from './services/services.js'
import { createChanges } from './changes.js'
import { createSessions } from './session/sessions.js'
import { CHECK_ROWS, checkFields, ENGINE_ROWS } from './plan/fields.js'
import { wrongValue } from './plan/wrong-value.js'

/** The first command does not wait until the leftovers of killed engines are found. */
const SWEEP_AFTER_MS = 250

export async function createEngine(options: EngineOptions = {}): Promise<Engine> {
  const services = await createServices(options)
  const jobs = createJobs(services)
  const sessions = createSessions(services, jobs)
  const liveDoor = openLiveDoor(services, () => sessions.list())
  const stopRecording = options.recordSessions ? recordSessions(services) : null

  const launch = (request: RunRequest): Call => {
    const call = new Call(request, null, services.calls)
    const release = services.launcher.hold()
    call.outcome.then(release, release)
    void (async () => {
      if ((request as Partial<StartRequest> | null)?.session !== undefined)
        throw wrongValue(
          'run has a shell of its own, and no session',
          (request as Partial<StartRequest>).session,
          'Use (await engine.session(name)).run(request).',
        )
      const { request: placed, notes } = await withDirectoryEnv(request, services)
      if (notes.length > 0) call.notes.push(...notes)
      const planned = await planRun(placed, { session: null, cwd: services.cwd }, services)
      if (services.sandbox && request.outside !== undefined) return runOutside(planned, call, services)
      const plan = planned
      const stopped = await passGate(plan, services)
      if (stopped) return call.settle(stopped)
      const inside = services.sandbox || request.sandbox ? await insideFor(services, request, call) : services
      if (request.pty) return runOnTerminal(plan, call, inside, jobs)
      return runFresh(plan, call, inside, jobs.promote)
    })().catch((error: unknown) => call.fail(notStarted(error)))
    auditOutcome(services, request, 'run', null, call.outcome)
    return call
  }

  services.outside = launch
  let closing: Promise<void> | null = null
  const close = async (): Promise<void> => {
    services.state.closed = true
    services.questions.close()
    liveDoor.close()
    const release = services.launcher.hold()
    await Promise.all([...services.live].map((life) => life.end()))
    // A server that ran nothing has not told of the one before it either.
    if (services.door === 'mcp' && (services.succeeds || (await sessions.list()).some(({ pid }) => pid !== null)))
      noteServerEnd(services.stateDir, services.cwd)
    await sessions.close()
    stopRecording?.()
    await jobs.close()
    await services.closeSandboxes()
    await services.tries.close((id) => services.sandboxFor().livesIn(id).length > 0)
    await services.launcher.close()
    release()
    await services.audit?.close?.()
    await removeRunDirectory(services.runDir)
  }

  return {
    id: services.id,
    cwd: services.cwd,
    shell: services.bash,
    sandbox: services.sandbox?.options ?? null,
    run: (request): Promise<Outcome> => launch(request).outcome,
    stream: (request): RunHandle => launch(request),
    session: (name) => sessions.open(name),
    sessions: () => sessions.list(),
    start: (request) => jobs.start(request, sessions),
    begin: (request) => jobs.begin(request, sessions),
    job: (id) => jobs.get(id),
    jobs: (which) => jobs.list(which),
    clean: (which) => jobs.clean(which),
    async check(command, where) {
      const text = checkRequest({ command }, services.limits)
      checkFields('check', where, CHECK_ROWS)
      const around =
        where?.session !== undefined ? await sessions.surroundings(where.session) : { session: null, cwd: services.cwd }
      // With a home of its own the question is about another place: its directories need not exist here.
      const { home } = where ?? {}
      if (home !== undefined)
        return services.judge(text, { ...around, cwd: resolve(around.cwd, where?.cwd ?? '.'), home: resolve(home) })
      return services.judge(text, {
        ...around,
        cwd: checkDirectory(where?.cwd, around.cwd, services.roots, services.seen),
      })
    },
    sandboxPolicy: async () => services.sandbox?.summary() ?? null,
    async plan(wanted) {
      checkRequest(wanted, services.limits)
      const { session, ...request } = wanted
      const around = session !== undefined ? await sessions.surroundings(session) : { session: null, cwd: services.cwd }
      return (await planRun(request, around, services)).summary
    },
    ...createChanges(services, sessions),
    secrets: {
      set: (name, value) => services.secrets.set({ kind: 'secret', name: secretName(name) }, bytesOf(value)),
      setDecrypted: (name, value) => services.secrets.set({ kind: 'decrypt', name: secretName(name) }, bytesOf(value)),
      delete: (name) => services.secrets.refs.delete(textOf(name)),
      clear: () => services.secrets.refs.clear(),
      names: () => services.secrets.knownNames,
      mask: (text) => services.secrets.mask(textOf(text)),
    },
    onJobEvent: (listener) => jobs.onEvent(listener),
    setAsk: (ask) => void (services.ask = ask),
    place: null,
    onLink: () => () => {},
    recover: async () => null,
    close: () => (closing ??= close()),
  }
}

async function createServices(options: EngineOptions): Promise<Services> {
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
  const dead = findDeadEngines(stateDir)
  setTimeout(dead.sweep, SWEEP_AFTER_MS).unref()
  const runDir = makeRunDirectory(options.runDir ?? join(stateDir, 'run'), id, owner)
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
    names: [...new Set([...hosts, 'cerith', 'cerith-launch', 'cerith-warden'])],
  }
  const secrets = new SecretStore(options.secretSources ?? [])
  const askpass = options.askpass?.length
    ? await answerPrompts(options.askpass, programDir(options, stateDir, runDir), secrets)
    : null
  const shellBuiltin = launcher.tier === 'native' ? findShellBuiltin(bash.version) : null
  const tries = new Tries(stateDir)
  const makeSandbox = (wanted: SandboxOptions): Sandbox =>
    new Sandbox({
      options: wanted,
      id,
      launcher,
      stateDir,
      runDir,
      home,
      roots: roots ?? [cwd],
      given: askpass?.paths ?? [],
      needed: [bash.path, ...(shellBuiltin === null ? [] : [shellBuiltin])],
      tries,
    })
  const sandbox = options.sandbox && options.sandbox.profile !== 'off' ? makeSandbox(options.sandbox) : null
  let forCalls: Sandbox | null = null
  const judge = createJudge(
    guard,
    {
      home,
      tmp,
      ...(policy ? { policy } : {}),
      ...(roots ? { roots } : {}),
      ...(sandbox ? { sandbox: { network: sandbox.options.network ?? 'none' } } : {}),
      own,
      protectedPaths: [stateDir, ...(options.protectedPaths ?? [])],
      unreadablePaths: namesOf(['vault', 'vault.key', 'http-tokens'].map((name) => join(stateDir, name))),
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
    // An engine without a sandbox of its own makes one for the first call that asks for it.
    seen: (path) => sandbox?.seen(path) ?? path,
    closeSandboxes: async () => {
      await sandbox?.close()
      await forCalls?.close()
    },
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
    throw new ShellError(
      'BAD_CONFIG',
      (error as Error).message,
      'Correct the policy; docs/safety.md describes every key.',
      { cause: error },
    )
  }
}

function secretName(name: string): string {
  if (typeof name !== 'string' || !isSecretName(name))
    throw wrongValue(
      'no token could name this secret',
      name,
      'Use letters, digits and . : / @ + = _ - (a letter, digit or _ first).',
    )
  return name
}

function textOf(text: string): string {
  if (typeof text !== 'string') throw wrongValue('a text was expected', text, 'Pass a string.')
  return text
}

function bytesOf(value: string | Uint8Array): Uint8Array {
  if (typeof value !== 'string' && !(value instanceof Uint8Array))
    throw new ShellError('BAD_REQUEST', 'A secret must be text or bytes', 'Pass a string or a Uint8Array.')
  return typeof value === 'string' ? new TextEncoder().encode(value) : value
}

/**
 * The far half of an engine: an engine behind a socket in a private directory. It lives until
 * its last client closes it, or until no client had a link for the length of the lease.
 *
 * 1. The key comes on stdin: it is in no argument, variable or file.
 * 2. A client that connects is challenged, and proves the key before anything else is read; the engine proves it first.
 * 3. The first client's options make the engine; later ones must bring the same.
 */
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { attempt } from '../../contract/attempt.js'
import type { Engine } from '../../contract/engine.js'
import { ShellError } from '../../contract/errors.js'
import type { AuditEntry } from '../../engine/services/audit-sink.js'
import type { EngineOptions } from '../../engine/services/options.js'
import { within } from '../../engine/services/within.js'
import { processFacts } from '../../os/process/proc.js'
import { bootId } from '../../os/process/world.js'
import { ensurePrivateDirectory, stateDirectory } from '../../os/files/state-dir.js'
import { BadFrame } from '../frames.js'
import { errorToWire, isProof, parse, proofOf, unpack, WIRE_VERSION } from '../messages.js'
import type { Greeting, Hello, Welcome, WireError } from '../messages.js'
import { Wire } from '../wire.js'
import { FarClient } from './client.js'
import { nearSecrets } from './questions.js'
import { listenAlone, pidIn, removeRunDirectory, sweepOthers } from './run-directory.js'

export interface FarSettings {
  /** Holds the socket and the state of sessions; private, on tmpfs where there is one. */
  readonly runDir: string
  /** Where state goes when the home directory cannot be written. */
  readonly baseDir: string
  /** The digest of this code. */
  readonly build: string
  readonly leaseMs: number
  /** 32 bytes in hex. */
  readonly key: string
  readonly createEngine: (options: EngineOptions) => Promise<Engine>
  readonly leaveTry?: (engine: Engine) => Promise<void>
  /** Resolves with an error that nothing expected: the clients are told why, and serving rejects with it. */
  readonly failed?: Promise<unknown>
}

/** When no client proves the key for so long, the engine ends. */
const FIRST_CLIENT_MS = 60_000
const HANDSHAKE_MS = 10_000
const MAX_STRANGERS = 16
const MAX_UNWRITTEN = 10_000
const MAX_FAILURE = 300
/** A call that does not end with its engine is not waited for. */
const TOLD_MS = 1_000
/** A client waits 15 s for the end of its engine. */
const SENT_MS = 10_000

/** Resolves when the engine has closed; false when another one has the place already. */
export async function serveFar(settings: FarSettings): Promise<boolean> {
  const key = Buffer.from(settings.key, 'hex')
  if (key.length !== 32) throw new Error('no key came on stdin')
  const path = join(settings.runDir, 'sock')
  const clients = new Map<string, FarClient>()
  const unwritten: AuditEntry[] = []
  let made: { readonly digest: string; readonly engine: Promise<Engine> } | null = null
  let lease: NodeJS.Timeout | null = null
  let finish!: () => void
  let fail!: (error: unknown) => void
  const finished = new Promise<void>((resolve, reject) => {
    finish = resolve
    fail = reject
  })

  const wait = (ms: number): void => {
    if (lease) clearTimeout(lease)
    lease = setTimeout(() => void close(), ms)
  }
  const touch = (): void => {
    if (lease) clearTimeout(lease)
    lease = null
    if (![...clients.values()].some(({ isConnected }) => isConnected)) wait(settings.leaseMs)
  }
  let closing: Promise<unknown> | null = null
  /** Gives what could not be done; everything has ended all the same. */
  const close = (): Promise<unknown> =>
    (closing ??= (async () => {
      // The socket last: once it is gone a new engine may be started, whose files these would be.
      if (pidIn(settings.runDir) === process.pid)
        for (const name of ['pid', 'log']) rmSync(join(settings.runDir, name), { force: true })
      rmSync(path, { force: true })
      const engine = await made?.engine.catch(() => null)
      // What still runs settles as closed, and its client hears of it.
      const problem = await engine?.close().catch((error: unknown) => error)
      // The place ends after each client was told the results of its calls.
      await within(Promise.all([...clients.values()].map((client) => client.end())), TOLD_MS)
      // And has what it was told: with this process goes what did not leave it.
      await within(Promise.all([...clients.values()].map((client) => client.sent)), SENT_MS)
      setImmediate(finish)
      return problem
    })())

  const engineFor = (options: Record<string, unknown>): Promise<Engine> => {
    const digest = createHash('sha256').update(JSON.stringify(options)).digest('hex')
    if (made && made.digest !== digest)
      throw new ShellError(
        'PLACE_REFUSED',
        'An engine with other settings runs there under this name',
        'Its policy was set by its first client. Close it, or use another name.',
      )
    if (made) return made.engine
    const latest = (): FarClient | undefined => [...clients.values()].findLast(({ isConnected }) => isConnected)
    // What happens while no client is there waits for the next one.
    const audit = {
      write: (entry: AuditEntry) => {
        const writers = [...clients.values()].filter(({ writesAudit }) => writesAudit)
        const client = writers.findLast(({ isConnected }) => isConnected) ?? writers.at(-1)
        if (client) client.audit(entry)
        else if (clients.size === 0 && unwritten.push(entry) > MAX_UNWRITTEN) unwritten.shift()
      },
    }
    const engine = settings.createEngine({
      stateDir: stateDirectoryHere(settings.baseDir),
      cwd: process.cwd(),
      ...(unpack(options) as EngineOptions),
      runDir: join(settings.runDir, 'run'),
      // Not the whole run directory: our own stderr is a file in it, which commands see as /dev/stderr of the engine.
      protectedPaths: [
        ...((options['protectedPaths'] as string[] | undefined) ?? []),
        path,
        join(settings.runDir, 'run'),
        settings.baseDir,
      ],
      approvals: 'ask',
      secretSources: [nearSecrets(() => latest()?.questions ?? null)],
      audit,
    })
    made = { digest, engine }
    // What reading the code has left goes while the launcher starts, which takes as long.
    setImmediate(() => globalThis.gc?.())
    engine.catch(() => (made = null))
    return engine
  }

  const away = new WeakMap<FarClient, NodeJS.Timeout>()
  /** A client that does not come back within the lease is gone, also while others use the engine. */
  const forgetLater = (client: FarClient): void => {
    const forget = (): void => {
      if (client.isConnected || clients.get(client.id) !== client) return
      clients.delete(client.id)
      void client.end()
    }
    clearTimeout(away.get(client))
    away.set(client, setTimeout(forget, settings.leaseMs).unref())
  }

  let strangers = 0
  const meet = (socket: Socket): void => {
    if (strangers >= MAX_STRANGERS) return void socket.destroy()
    strangers += 1
    let isStranger = true
    const known = (): void => {
      if (isStranger) strangers -= 1
      isStranger = false
    }
    const patience = setTimeout(() => isStranger && socket.destroy(), HANDSHAKE_MS)
    let client: FarClient | null = null
    let greeting: Greeting | null = null
    const nonce = randomBytes(32).toString('hex')
    const wire = new Wire(
      socket,
      (kind, payload) => {
        if (client) return kind === 'B' ? bye(client, wire, payload) : client.take(kind, payload)
        if (kind !== 'H') throw new BadFrame('a stranger must say hello')
        if (!greeting) {
          greeting = parse<Greeting>(payload)
          if (typeof greeting.client !== 'string' || typeof greeting.nonce !== 'string')
            throw new BadFrame('a hello without a name')
          return wire.send('h', { nonce, proof: proofOf(key, 'far', greeting.client, greeting.nonce, nonce) })
        }
        const hello = parse<Hello>(payload)
        if (!isProof(hello.proof, proofOf(key, 'near', greeting.client, greeting.nonce, nonce)))
          throw new BadFrame('a wrong proof')
        known()
        void welcome(greeting, hello, wire, socket).then((accepted) => (client = accepted))
      },
      () => socket.destroy(),
    )
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(patience)
      known()
      wire.close()
      client?.disconnect(wire)
      if (client) forgetLater(client)
      touch()
    })
  }

  /** Weak: each command of the command line is another client. */
  const sockets = new WeakMap<FarClient, Socket>()
  const welcome = async (greeting: Greeting, hello: Hello, wire: Wire, socket: Socket): Promise<FarClient | null> => {
    try {
      if (greeting.version !== WIRE_VERSION)
        throw new ShellError(
          'PLACE_REFUSED',
          'The engine there speaks another version',
          'Close it with the cerith that started it.',
        )
      const engine = await engineFor(hello.options as Record<string, unknown>)
      // The lease ended during the greeting: the client comes again, and a new engine is started for it.
      if (closing) {
        socket.destroy()
        return null
      }
      // The link was cut while the engine was made: a client without a link never leaves, and would keep the engine.
      if (wire.closed) return null
      let client = clients.get(greeting.client)
      const isKnown = client !== undefined
      if (!client) clients.set(greeting.client, (client = new FarClient(greeting.client, engine)))
      // A newer link of the same client: nothing more is taken from the old one.
      sockets.get(client)?.destroy()
      sockets.set(client, socket)
      clearTimeout(away.get(client))
      const begun = client.connect(wire, hello)
      for (const entry of client.writesAudit ? unwritten.splice(0) : []) client.audit(entry)
      touch()
      wire.send('h', { ...hereAndNow(engine), build: settings.build, isKnown, begun } satisfies Welcome)
      client.catchUp(wire, hello)
      return client
    } catch (error) {
      wire.send('h', { error: errorToWire(error) })
      socket.end()
      return null
    }
  }

  /** What was tried may be settled by an engine of other settings. What still runs in its room keeps it. */
  const vacate = async (): Promise<void> => {
    const engine = await made?.engine.catch(() => null)
    if (engine) await settings.leaveTry?.(engine).catch(() => {})
  }
  /** The near side ends its client at this word: a process that a profile has started may keep the connection open. */
  const leave = (client: FarClient, wire: Wire, said: { error?: WireError }): void => {
    wire.send('B', said)
    sockets.get(client)?.end()
  }
  const bye = (client: FarClient, wire: Wire, payload: Buffer): void => {
    const { how } = parse<{ how: 'close' | 'keep' }>(payload)
    if (how === 'keep') {
      clients.delete(client.id)
      void client.end()
      return void Promise.all([wire.sent, vacate()]).then(() => leave(client, wire, {}))
    }
    void close().then((problem) => leave(client, wire, problem ? { error: errorToWire(problem) } : {}))
  }

  process.once('SIGTERM', () => void close())
  void settings.failed?.then(async (error) => {
    for (const client of clients.values()) client.failed(String(error).slice(0, MAX_FAILURE))
    const sent = Promise.all([...clients.values()].map((client) => client.sent))
    await within(sent, TOLD_MS)
    fail(error)
  })
  const server = createServer(meet)
  if (!(await listenAlone(server, path))) return false
  wait(Math.max(FIRST_CLIENT_MS, settings.leaseMs))
  void sweepOthers(settings.runDir)
  await finished
  server.close()
  removeRunDirectory(settings.runDir)
  return true
}

function hereAndNow(engine: Engine): Omit<Welcome, 'build' | 'isKnown' | 'begun'> {
  // The first process of the machine, container or pod tells them apart: another start time is another one.
  const first = processFacts(1)?.start ?? ''
  return {
    engine: engine.id,
    pid: process.pid,
    identity: `${bootId()} ${first} ${hostname()}`,
    host: hostname(),
    platform: `${process.platform}-${process.arch}`,
    shell: engine.shell,
    cwd: engine.cwd,
    now: Date.now(),
  }
}

/** A home that cannot be written (a read-only root, a uid without one) costs nothing but its own memory. */
function stateDirectoryHere(baseDir: string): string {
  return attempt(() => ensurePrivateDirectory(stateDirectory())) ?? ensurePrivateDirectory(join(baseDir, 'state'))
}

/** The first line of stdin, without what follows it. */
export function readKey(runDir: string): string {
  const text = readFileSync(0, 'utf8')
  // A batch job gets it in a file, which is gone from here on.
  rmSync(join(runDir, 'key'), { force: true })
  return text.split('\n')[0]?.trim() ?? ''
}

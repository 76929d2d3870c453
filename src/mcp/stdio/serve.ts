/** `cerith mcp`: one client on stdin and stdout. When the client is gone, so is everything that was started for it. */
import type { Engine } from '../../contract/engine.js'
import { messageOf, ShellError } from '../../contract/errors.js'
import { namesOf } from '../../contract/secret.js'
import { findBash } from '../../os/user/bash.js'
import { toolDefinitions } from '../../tools/create-tools.js'
import { EarlyTransport, type EarlyAnswers } from './early.js'
import { hostOf } from '../setup/hosts.js'
import { CAPABILITIES, IDENTITY, instructionsFor, listedTools, shellFacts, type ShellFacts } from '../setup/identity.js'
import { CLOSE_MS, endsOnce, watchLife, within, type EndReason } from '../setup/lifecycle.js'
import { LineTransport } from '../server/line-transport.js'
import { settingsOf, type ServeOptions, type Settings } from '../setup/options.js'
import { guardStdout } from './stdout-guard.js'

/** A far engine may have to remove what it made (a container, a pod). */
const CLOSE_ELSEWHERE_MS = 10_000
/** A call that came before the end of input: how long the server loads for it, it may run, and being ended may take. */
const LOAD_MS = 5_000
const LAST_CALLS_MS = 2_000
const END_CALLS_MS = 3_000

export interface StdioOptions extends ServeOptions {
  /** End when the parent process is gone. Default true. */
  readonly watchParent?: boolean
}

export interface ServedStdio {
  /** Resolves when everything is closed; the program may then exit at once. */
  readonly ended: Promise<{ readonly reason: EndReason; readonly exitCode: number }>
  close(): Promise<void>
}

export function serveStdio(options: StdioOptions = {}): ServedStdio {
  const settings = settingsOf(options)
  const wire = guardStdout()
  const start = async (): Promise<Engine> => {
    const { createEngine } = await import('../../setup/create-engine.js')
    return createEngine({ door: 'mcp', ...options.engine })
  }
  // An engine elsewhere is opened at once: what the server says about its shell is known by that engine alone.
  const elsewhere = options.engine?.at === undefined ? null : start()
  const lines = new LineTransport(process.stdin, wire)
  const transport = new EarlyTransport(lines, earlyAnswers(options, settings, elsewhere))
  // The engine's helpers start while the protocol's modules are being read: the first call waits for both.
  const engine = elsewhere ?? transport.quiet.then(start)
  // The connection waits for the engine later; until then a failure of it would count as unhandled.
  engine.catch(() => {})
  const connection = transport.quiet
    .then(() => import('../server/connection.js'))
    .then(({ connect }) => connect(transport, engine, settings))

  // `printf ... | cerith mcp`: what was asked before the end is answered. A command that goes on is ended first.
  transport.onend = async () => {
    if (await within(0, lines.answered())) return
    await within(LOAD_MS, Promise.all([connection, engine]))
    if (await within(LAST_CALLS_MS, lines.answered())) return
    void engine.then((made) => made.close())
    await within(END_CALLS_MS, lines.answered())
  }

  const { ended, end } = endsOnce(elsewhere ? CLOSE_ELSEWHERE_MS : CLOSE_MS, () => {
    unwatch()
    return Promise.all([connection.then((open) => open.close()), engine.then((made) => made.close())])
  })
  const unwatch = watchLife((reason) => void end(reason), { watchParent: options.watchParent ?? true })
  // The transport closes at the end of input, when the client has closed the end it reads from,
  // and after a message that is too long to be true.
  connection.then(
    ({ closed }) => closed.then(() => end('eof')),
    (error: unknown) => {
      const hint = ShellError.is(error) ? `. ${error.hint}` : ''
      settings.log(`cerith: cannot start: ${messageOf(error)}${hint}`)
      void end('asked', 125)
    },
  )
  return { ended, close: () => end('asked') }
}

/** What the server will say, from facts that need no engine. */
function earlyAnswers(
  { engine = {} }: StdioOptions,
  settings: Settings,
  elsewhere: Promise<Engine> | null,
): EarlyAnswers {
  const here = async (): Promise<ShellFacts> => {
    const { version } = await findBash(engine.bash)
    const secrets = engine.secretSources?.length ? await namesOf(engine.secretSources) : []
    return { version, cwd: settings.tools.cwd ?? engine.cwd ?? process.cwd(), place: null, secrets }
  }
  const facts = elsewhere?.then((made) => shellFacts(made, settings)) ?? here()
  facts.catch(() => {}) // The engine tells it.
  return {
    initialize: async () => ({
      capabilities: CAPABILITIES,
      serverInfo: IDENTITY,
      instructions: instructionsFor(await facts, settings),
    }),
    tools: async (clientInfo) => {
      const { dialect = 'house' } = settings.tools
      const { cwd, version, secrets } = await facts
      const sandbox = engine.sandbox?.profile === 'off' ? null : engine.sandbox
      const { yieldMs } = settings
      const known = { cwd, shell: version, secrets, yieldMs, timeouts: settings.tools.timeouts, sandbox }
      return listedTools(toolDefinitions(dialect, known), settings.structured && hostOf(clientInfo).structured)
    },
  }
}

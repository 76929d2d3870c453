/** `cerith mcp`: one client on stdin and stdout. When the client is gone, so is everything that was started for it. */
import { ShellError } from '../contract/errors.js'
import { findBash } from '../os/bash.js'
import { toolDefinitions } from '../tools/create-tools.js'
import { EarlyTransport, type EarlyAnswers } from './early.js'
import { hostOf } from './hosts.js'
import { CAPABILITIES, IDENTITY, instructionsFor, listedTools } from './identity.js'
import { CLOSE_MS, leave, watchLife, within, type EndReason } from './lifecycle.js'
import { LineTransport } from './line-transport.js'
import { settingsOf, type ServeOptions, type Settings } from './options.js'
import { guardStdout } from './stdout-guard.js'

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
  const { wire } = guardStdout()
  const transport = new EarlyTransport(new LineTransport(process.stdin, wire), earlyAnswers(options, settings))
  // The engine's helpers start while the protocol's modules are being read: the first call waits for both.
  const engine = transport.quiet
    .then(() => import('../setup/create-engine.js'))
    .then(({ createEngine }) => createEngine({ door: 'mcp', ...options.engine }))
  // It is looked at later, by the connection; until then its failure would count as unhandled.
  engine.catch(() => {})
  const connection = transport.quiet
    .then(() => import('./connection.js'))
    .then(({ connect }) => connect(transport, engine, settings))

  let finish!: (ended: { reason: EndReason; exitCode: number }) => void
  const ended = new Promise<{ reason: EndReason; exitCode: number }>((resolve) => (finish = resolve))
  let ending: Promise<void> | null = null
  const end = (reason: EndReason, exitCode = 0): Promise<void> =>
    (ending ??= (async () => {
      unwatch()
      const work = Promise.all([connection.then((open) => open.close()), engine.then((made) => made.close())])
      const closed = await within(reason === 'asked' ? null : CLOSE_MS, work)
      finish({ reason, exitCode })
      if (!closed) leave(exitCode)
    })())
  const unwatch = watchLife((reason) => void end(reason), { watchParent: options.watchParent ?? true })
  // The transport closes at the end of input, when nobody reads our answers, and after a message that is too long to be true.
  connection.then(
    ({ closed }) => closed.then(() => end('eof')),
    (error: unknown) => {
      settings.log(
        `cerith: cannot start: ${String((error as Error)?.message ?? error)}${ShellError.is(error) ? `. ${error.hint}` : ''}`,
      )
      void end('asked', 125)
    },
  )
  return { ended, close: () => end('asked') }
}

/** What the server will say, from facts that need no engine. */
function earlyAnswers({ engine = {} }: StdioOptions, settings: Settings): EarlyAnswers {
  const bash = findBash(engine.bash)
  bash.catch(() => {}) // The engine tells it.
  const cwd = settings.tools.cwd ?? engine.cwd ?? process.cwd()
  return {
    initialize: async () => ({
      capabilities: CAPABILITIES,
      serverInfo: IDENTITY,
      instructions: instructionsFor((await bash).version, settings, cwd),
    }),
    tools: async (clientInfo) => {
      const { dialect = 'house' } = settings.tools
      const facts = { cwd, shell: (await bash).version, yieldMs: settings.yieldMs, timeouts: settings.tools.timeouts }
      return listedTools(toolDefinitions(dialect, facts), settings.structured && hostOf(clientInfo).structured)
    },
  }
}

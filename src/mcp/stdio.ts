/** `cerith mcp`: one client on stdin and stdout. When the client is gone, so is everything that was started for it. */
import { serveStdio as serveSdk } from '@modelcontextprotocol/server/stdio'
import { createEngine } from '../engine/engine.js'
import { createClient } from './client.js'
import { CLOSE_MS, leave, watchLife, within, type EndReason } from './lifecycle.js'
import { LineTransport } from './line-transport.js'
import { settingsOf, type ServeOptions } from './options.js'
import { serverFor } from './server.js'
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
  // The engine starts while the client still says hello; nothing that needs it is answered before.
  const engine = createEngine({ door: 'mcp', ...options.engine })
  const client = engine.then((made) => createClient(made, settings))
  const transport = new LineTransport(process.stdin, wire)

  let finish!: (ended: { reason: EndReason; exitCode: number }) => void
  const ended = new Promise<{ reason: EndReason; exitCode: number }>((resolve) => (finish = resolve))
  let ending = false
  const end = async (reason: EndReason, exitCode = 0): Promise<void> => {
    if (ending) return
    ending = true
    unwatch()
    const patience = reason === 'asked' ? null : CLOSE_MS
    const closed = await within(patience, Promise.all([handle.close(), engine.then((made) => made.close())]))
    finish({ reason, exitCode })
    if (!closed) leave(exitCode)
  }
  const unwatch = watchLife((reason) => void end(reason), { watchParent: options.watchParent ?? true })
  const handle = serveSdk(async ({ era }) => serverFor(await client, { era, lasting: true }), {
    transport,
    onerror: (error) => settings.log(`cerith: ${error.message}`),
  })
  client.catch((error: unknown) => {
    settings.log(`cerith: cannot start: ${String((error as Error)?.message ?? error)}`)
    void end('asked', 125)
  })
  // The transport closes at the end of input, when nobody reads our answers, and after a message that is too long to be true.
  const tellSdk = transport.onclose
  transport.onclose = () => {
    tellSdk?.()
    void end('eof')
  }
  return { ended, close: () => end('asked') }
}

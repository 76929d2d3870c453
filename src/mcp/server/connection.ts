/** A connection that lasts: the protocol over one transport, with one client behind it. */
import type { Transport } from '@modelcontextprotocol/server'
import { serveStdio as serveSdk } from '@modelcontextprotocol/server/stdio'
import type { Engine } from '../../contract/engine.js'
import { createClient } from '../call/client.js'
import type { Settings } from '../setup/options.js'
import { onClose, serverFor } from './server.js'

/** `closed` resolves when the transport has closed, from either side. */
export async function connect(transport: Transport, starting: Promise<Engine>, settings: Settings) {
  const client = createClient(await starting, settings)
  const handle = serveSdk(({ era }) => serverFor(client, { era, lasting: true }), {
    transport,
    onerror: (error) => settings.log(`cerith: ${error.message}`),
  })
  // The SDK has taken the transport's callbacks by now.
  const closed = new Promise<void>((resolve) => onClose(transport, resolve))
  return { closed, close: () => handle.close() }
}

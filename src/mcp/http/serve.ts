/** `cerith serve`: many clients over HTTP on this machine, each with a token and with shells of its own. */
import { once } from 'node:events'
import { bracketed, isLoopback } from '../../os/peer/tcp.js'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { badConfig, badRequest } from '../../contract/errors.js'
import { createEngine } from '../../setup/create-engine.js'
import { stateDirectory } from '../../os/files/state-dir.js'
import { createClient } from '../call/client.js'
import { createDoor, PATH } from './door.js'
import type { MakeServer } from './legacy-sessions.js'
import { CLOSE_MS, endsOnce, watchLife, type EndReason } from '../setup/lifecycle.js'
import { settingsOf, type ServeOptions } from '../setup/options.js'
import { FIRST_CLIENT } from '../call/owned-engine.js'
import { loadTokens } from './tokens.js'

const DEFAULT_PORT = 7737

export interface HttpOptions extends ServeOptions {
  /** 0 takes any free port. Default 7737. */
  readonly port?: number
  /** Default 127.0.0.1. Anything that is not this machine must be meant: see `allowRemote`. */
  readonly host?: string
  /** Needed to listen on an address that others can reach. The token then travels in clear text. */
  readonly allowRemote?: boolean
  /** Names by which clients may call this machine, besides localhost and `host`. */
  readonly hostnames?: readonly string[]
  /** Clients that get a token and shells of their own. Default: one, called `default`. */
  readonly clients?: readonly string[]
  /** Default: `http-tokens` in the state directory. */
  readonly tokenFile?: string
  /** Default 4 MiB. */
  readonly maxBodyBytes?: number
  /** False: signals are left to the host program. Default true. */
  readonly watchSignals?: boolean
  /** For tests that need other servers behind the same door. */
  readonly make?: MakeServer
}

export interface ServedHttp {
  readonly url: string
  readonly tokenFile: string
  readonly tokens: ReadonlyMap<string, string>
  /** Clients whose tokens were made just now: the one time to show them. */
  readonly newClients: readonly string[]
  readonly ended: Promise<{ readonly reason: EndReason; readonly exitCode: number }>
  close(): Promise<void>
}

export async function serveHttp(options: HttpOptions = {}): Promise<ServedHttp> {
  const settings = settingsOf(options)
  const host = options.host ?? '127.0.0.1'
  if (!isLoopback(host) && !options.allowRemote) {
    throw badRequest(
      `${host} can be reached by other machines`,
      'Listen on 127.0.0.1 and use an SSH tunnel, or allow it with --allow-remote (allowRemote in the library).',
    )
  }
  const inUrl = bracketed(host)
  const tokenFile = options.tokenFile ?? join(options.engine?.stateDir ?? stateDirectory(), 'http-tokens')
  const tokens = loadTokens(tokenFile, options.clients ?? [FIRST_CLIENT])
  const engine = await createEngine({ door: 'mcp', ...options.engine })
  const door = createDoor({
    hostnames: [...(options.hostnames ?? []), inUrl],
    maxBodyBytes: options.maxBodyBytes ?? 4 * 1_048_576,
    tokens: tokens.byName,
    clientNamed: (name) => createClient(engine, settings, { name, alone: false }),
    log: settings.log,
    make: options.make,
  })
  try {
    await listen(door.http, options.port ?? DEFAULT_PORT, host)
  } catch (error) {
    await engine.close()
    throw error
  }
  const { port } = door.http.address() as AddressInfo
  const url = `http://${inUrl}:${port}${PATH}`

  const { ended, end } = endsOnce(CLOSE_MS, () => {
    unwatch()
    return Promise.all([door.close(), engine.close()])
  })
  const unwatch =
    (options.watchSignals ?? true) ? watchLife((reason) => void end(reason), { watchParent: false }) : () => {}
  return {
    url,
    tokenFile,
    tokens: tokens.byName,
    newClients: tokens.made,
    ended,
    close: () => end('asked'),
  }
}

async function listen(http: import('node:http').Server, port: number, host: string): Promise<void> {
  try {
    http.listen(port, host)
    await once(http, 'listening')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const [why, hint] =
      code === 'EADDRINUSE'
        ? [`Port ${port} is taken`, 'Another cerith may be serving already. Choose another port, or 0 for any.']
        : [`Cannot listen on ${host}:${port} (${code})`, 'Choose another host or port.']
    throw badConfig(why, hint, { cause: error })
  }
}

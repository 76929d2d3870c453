/** Starts real servers and connects the official client to them, in either era, on stdio or over HTTP. */
import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import {
  Client,
  StreamableHTTPClientTransport,
  type CallToolResult,
  type ClientOptions,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { HttpOptions } from '../../src/mcp/http/serve.js'
import type { StdioOptions } from '../../src/mcp/stdio/serve.js'
import { afterAll } from 'vitest'
import { bundled } from './bundle.js'
import { temporaryFolder } from '../fixtures/folder.js'

export type Era = 'legacy' | 'modern'
export const ERAS: readonly Era[] = ['legacy', 'modern']

const HELPER = fileURLToPath(
  new URL(`../../dist/native/cerith-helper-${process.platform}-${process.arch}`, import.meta.url),
)

const clients: Client[] = []
const servers: HttpServerProcess[] = []

/** A folder for state and work. After the tests of the file its clients are closed and its servers stopped. */
export function scratch(): { readonly dir: string } {
  afterAll(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close().catch(() => {})))
    await Promise.all(servers.splice(0).map((server) => server.stop()))
  })
  return { dir: temporaryFolder('mcp') }
}

export function serverEnv(stateDir: string, extra: Record<string, string> = {}): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: stateDir,
    CERITH_HOME: join(stateDir, 'state'),
    CERITH_HELPER: HELPER,
    ...extra,
  }
}

export function clientFor(era: Era, options: ClientOptions = {}, name = 'test'): Client {
  return new Client(
    { name, version: '1' },
    { ...options, versionNegotiation: { mode: era === 'modern' ? { pin: '2026-07-28' } : 'legacy' } },
  )
}

export interface Connected {
  readonly client: Client
  readonly pid: number
  call(name: string, args?: Record<string, unknown>): Promise<CallToolResult>
}

export interface StdioWish {
  readonly era: Era
  readonly dir: string
  readonly options?: StdioOptions
  readonly env?: Record<string, string>
  readonly client?: ClientOptions
  /** How the client calls itself. */
  readonly name?: string
}

export async function stdio({
  era,
  dir,
  options = {},
  env = {},
  client: clientOptions = {},
  name: clientName,
}: StdioWish): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [await bundled('stdio'), JSON.stringify(options)],
    env: serverEnv(dir, env),
    cwd: dir,
    stderr: process.env['TEST_STDERR'] ? 'inherit' : 'ignore',
  })
  const client = clientFor(era, clientOptions, clientName)
  clients.push(client)
  await client.connect(transport)
  return {
    client,
    pid: transport.pid!,
    call: (name, args = {}) => client.callTool({ name, arguments: args }) as Promise<CallToolResult>,
  }
}

export interface HttpServerProcess {
  readonly url: string
  readonly tokens: Readonly<Record<string, string>>
  readonly child: ChildProcess
  /** `query` is added to the address, as a person would write it into the settings of a host. */
  connect(era: Era, who?: string, options?: ClientOptions, name?: string, query?: string): Promise<Connected>
  stop(): Promise<void>
}

export async function http(dir: string, options: HttpOptions = {}, fixture = 'http'): Promise<HttpServerProcess> {
  const child = spawn(process.execPath, [await bundled(fixture), JSON.stringify({ port: 0, ...options })], {
    env: serverEnv(dir),
    cwd: dir,
    stdio: ['ignore', 'pipe', process.env['TEST_STDERR'] ? 'inherit' : 'ignore'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const [line] = (await Promise.race([
    new Promise<string[]>((resolve) =>
      createInterface({ input: child.stdout! }).once('line', (text) => resolve([text])),
    ),
    exited.then(() => Promise.reject(new Error('the server ended before it listened'))),
  ])) as string[]
  const { url, tokens } = JSON.parse(line!) as { url: string; tokens: Record<string, string> }
  const server: HttpServerProcess = {
    url,
    tokens,
    child,
    async connect(era, who = 'default', clientOptions = {}, clientName, query = '') {
      const client = clientFor(era, clientOptions, clientName)
      clients.push(client)
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${url}${query}`), {
          requestInit: { headers: { authorization: `Bearer ${tokens[who]}` } },
        }),
      )
      return {
        client,
        pid: child.pid!,
        call: (name, args = {}) => client.callTool({ name, arguments: args }) as Promise<CallToolResult>,
      }
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
  servers.push(server)
  return server
}

export function textOf(result: CallToolResult): string {
  return result.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n')
}

export function structuredOf(result: CallToolResult): Record<string, unknown> {
  return (result.structuredContent ?? {}) as Record<string, unknown>
}

export { processesNamed as processesWith } from '../fixtures/processes.js'

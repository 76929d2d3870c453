/** The command-line examples run as they are, against servers on this machine. */
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isInsideEngine } from '../../src/os/process/inside-engine.js'
import { temporaryFolder } from '../fixtures/folder.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const base = temporaryFolder('examples')
const seen: string[] = []
let server: Server
let url = ''

beforeAll(async () => {
  mkdirSync(join(base, 'bin'))
  writeFileSync(join(base, 'bin', 'cerith'), `#!/bin/sh\nexec ${process.execPath} ${join(root, 'dist/cli.js')} "$@"\n`)
  chmodSync(join(base, 'bin', 'cerith'), 0o755)
  server = createServer((request, response) => {
    const key = String(request.headers['x-key'] ?? '')
    seen.push(key)
    response.end(`hello, ${key || 'nobody'}\n`)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
})

afterAll(() => {
  server.close()
})

function example(name: string, ...args: string[]): Promise<{ code: number | null; text: string }> {
  const env = {
    ...process.env,
    PATH: `${join(base, 'bin')}:${process.env['PATH']}`,
    HOME: base,
    CERITH_HOME: join(base, `state-${name}`),
    CERITH_PASSPHRASE: 'for the example',
    CERITH_ENGINE: undefined,
  }
  return new Promise((resolve) => {
    const child = spawn('bash', [join(root, 'examples', name), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    child.once('close', (code) => resolve({ code, text }))
  })
}

test('dev server: start it, wait for the port, test it, stop it', async () => {
  const free = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => free.once('listening', resolve))
  const { port } = free.address() as AddressInfo
  await new Promise((resolve) => free.close(resolve))
  const { code, text } = await example('dev-server.sh', String(port))
  expect(text).toContain('port\nit works\n')
  expect(code).toBe(0)
})

test('secret in a header: the server gets the value, the screen does not', async () => {
  const { code, text } = await example('secret-header.sh', url)
  expect(code).toBe(0)
  expect(text).toContain('hello, [secret:API_KEY]')
  expect(seen).toContain('s3cret with "quotes" and $(nothing run)')
})

// Inside an agent's shell no answer counts as a person's.
test.skipIf(isInsideEngine())('approve from another terminal: exactly that command, once', async () => {
  const { text } = await example('approve.sh', url)
  expect(text).toContain('first try: exit code 126')
  expect(text).toContain('hello, nobody\nsecond try: exit code 0')
  expect(text).toContain('third try: exit code 126')
})

test('a plain MCP client: the tools, a command, its structured result', async () => {
  const { runThroughMcp } = await import('../../examples/mcp-client.js')
  const server = { command: process.execPath, args: [join(root, 'dist/cli.js'), 'mcp'] }
  const { tools, text, exitCode } = await runThroughMcp('echo over MCP; exit 3', server, {
    PATH: process.env['PATH'] ?? '',
    HOME: base,
    CERITH_HOME: join(base, 'state-mcp'),
  })
  expect(tools).toContain('Bash')
  expect(text).toContain('over MCP')
  expect(exitCode).toBe(3)
})

/** The HTTP door: who may knock, who may come in, how much they may carry, and what they see of each other. */
import { chmodSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { request as nodeRequest } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { clientOf, loadTokens } from '../../../src/mcp/http/tokens.js'
import { serveHttp } from '../../../src/mcp/http/serve.js'
import { ERAS, http, processesWith, scratch, structuredOf, textOf, type HttpServerProcess } from '../harness.js'
import { temporaryFolder } from '../../fixtures/folder.js'

const place = scratch()
let server: HttpServerProcess
beforeAll(async () => {
  server = await http(place.dir, { clients: ['default', 'other'], maxBodyBytes: 100_000 })
})

const hello = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
})

interface Knock {
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: string
  readonly token?: string | null
}

/** fetch() would not let us lie about Host. */
function knock({
  method = 'POST',
  path = '/mcp',
  headers = {},
  body = hello,
  token = server.tokens['default']!,
}: Knock = {}): Promise<{
  status: number
  headers: Record<string, unknown>
  text: string
}> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url)
    const request = nodeRequest(
      {
        hostname,
        port,
        method,
        path,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, text }))
      },
    )
    request.on('error', reject)
    request.end(method === 'POST' || method === 'PUT' ? body : undefined)
  })
}

describe('who may knock', () => {
  test('localhost by any of its names', async () => {
    const { port } = new URL(server.url)
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, 'localhost', `[::1]:${port}`])
      expect((await knock({ headers: { host } })).status).toBe(200)
  })

  test('a page of another site is turned away by its Host or Origin, before its token is looked at', async () => {
    for (const headers of [
      { host: 'evil.example' },
      { host: '127.0.0.1.evil.example' },
      { host: 'localhost.evil.example:80' },
      { origin: 'http://evil.example' },
      { origin: 'null' },
      { origin: 'https://localhost.evil.example' },
    ]) {
      expect(
        (await knock({ headers: headers as unknown as Record<string, string> })).status,
        JSON.stringify(headers),
      ).toBe(403)
    }
    expect((await knock({ headers: { origin: 'http://localhost:3000' } })).status).toBe(200)
  })

  test('other paths and methods are refused', async () => {
    expect((await knock({ path: '/' })).status).toBe(404)
    expect((await knock({ path: '/mcp/../etc' })).status).toBe(404)
    expect((await knock({ method: 'PUT' })).status).toBe(405)
    expect((await knock({ method: 'OPTIONS' })).status).toBe(405)
    expect((await knock({ method: 'GET' })).status).toBe(405)
  })
})

describe('who may come in', () => {
  test('nobody without the right token', async () => {
    for (const token of [null, '', 'x', `${server.tokens['default']}x`, server.tokens['default']!.slice(0, -1)]) {
      const { status, headers, text } = await knock({ token })
      expect(status).toBe(401)
      expect(headers['www-authenticate']).toContain('Bearer')
      expect(text).not.toContain(server.tokens['default'])
    }
    expect((await knock({ token: null, headers: { authorization: `Basic ${server.tokens['default']}` } })).status).toBe(
      401,
    )
  })

  test('tokens are compared whole', () => {
    const tokens = new Map([
      ['a', 'x'.repeat(43)],
      ['b', 'y'.repeat(43)],
    ])
    expect(clientOf(`Bearer ${'y'.repeat(43)}`, tokens)).toBe('b')
    expect(clientOf(`bearer ${'x'.repeat(43)}`, tokens)).toBe('a')
    expect(clientOf(`Bearer ${'x'.repeat(42)}`, tokens)).toBeNull()
    expect(clientOf(undefined, tokens)).toBeNull()
    expect(clientOf('Bearer', tokens)).toBeNull()
  })

  test('the token file is private, kept, and not believed when others could read it', () => {
    const dir = temporaryFolder('token')
    const file = join(dir, 'in', 'http-tokens')
    const first = loadTokens(file, ['default'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(first.made).toEqual(['default'])
    expect(first.byName.get('default')).toMatch(/^[\w-]{43}$/)
    const second = loadTokens(file, ['default', 'ci'])
    expect(second.made).toEqual(['ci'])
    expect(second.byName.get('default')).toBe(first.byName.get('default'))
    chmodSync(file, 0o644)
    expect(() => loadTokens(file, ['default'])).toThrow(/read by others/)
    const link = join(dir, 'in', 'link')
    symlinkSync(file, link)
    expect(() => loadTokens(link, ['default'])).toThrow(/Cannot read/)
    expect(() => loadTokens(file, ['../x'])).toThrow(/client name/)
    writeFileSync(join(dir, 'in', 'torn'), 'default\n\n# x\ndefault short\n', { mode: 0o600 })
    expect(loadTokens(join(dir, 'in', 'torn'), ['default']).made).toEqual(['default'])
    rmSync(dir, { recursive: true })
  })

  test('two servers that start at once agree on the token', async () => {
    const own = { dir: temporaryFolder('mcp') }
    const servers = await Promise.all([http(own.dir), http(own.dir), http(own.dir)])
    expect(new Set(servers.map(({ tokens }) => tokens['default'])).size).toBe(1)
    await Promise.all(servers.map((one) => one.stop()))
  })

  test('the state directory of the server holds it', () => {
    const file = join(place.dir, 'state', 'http-tokens')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toContain(server.tokens['default'])
  })
})

describe('how much they may carry', () => {
  test('a body over the limit is refused, declared or not', async () => {
    expect((await knock({ body: `{"x":"${'a'.repeat(200_000)}"}` })).status).toBe(413)
    const chunked = await new Promise<string>((resolve) => {
      const { hostname, port } = new URL(server.url)
      const socket = connect(Number(port), hostname)
      let answer = ''
      socket.on('data', (chunk: Buffer) => (answer += chunk))
      socket.on('close', () => resolve(answer))
      socket.on('error', () => {})
      socket.write(
        `POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${server.tokens['default']}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
      )
      for (let at = 0; at < 20; at++) socket.write(`2710\r\n${'a'.repeat(10_000)}\r\n`)
    })
    expect(chunked).toContain('413')
  })

  test('nonsense is an error, not a crash', async () => {
    for (const body of [
      '',
      '{',
      '[]',
      'null',
      '42',
      '{"jsonrpc":"2.0"}',
      '[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]',
      '\u0000',
    ]) {
      const { status } = await knock({ body })
      expect(status, body).toBeGreaterThanOrEqual(200)
      expect(status, body).toBeLessThan(500)
    }
    expect((await knock({ headers: { 'content-type': 'text/plain' } })).status).toBe(415)
    expect((await knock({ headers: { 'mcp-session-id': 'unknown' } })).status).toBe(404)
    expect((await knock()).status).toBe(200)
  })

  test('a 2025 client that never says hello is served one request at a time', async () => {
    const { status, text } = await knock({ body: JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'tools/list' }) })
    expect(status).toBe(200)
    expect(text).toContain('"Bash"')
  })
})

describe('what clients see of each other', () => {
  for (const era of ERAS) {
    test(`${era}: another client's shells, output and sessions do not exist`, async () => {
      const [mine, theirs] = [await server.connect(era), await server.connect(era, 'other')]
      const { id } = structuredOf(
        await mine.call('Bash', { command: 'echo private; sleep 30', run_in_background: true }),
      )
      const uri = `shell://${String(id)}/output`
      expect(textOf(await mine.call('ListShells'))).toContain(String(id))
      expect(textOf(await theirs.call('ListShells'))).not.toContain(String(id))
      for (const [tool, key] of [
        ['BashOutput', 'bash_id'],
        ['KillShell', 'shell_id'],
        ['SendInput', 'shell_id'],
      ] as const) {
        const answer = await theirs.call(tool, { [key]: id, ...(tool === 'SendInput' ? { text: 'x' } : {}) })
        expect(answer.isError).toBe(true)
        expect(textOf(answer)).toContain('not found')
        expect(textOf(answer)).not.toContain('private')
      }
      await expect(theirs.client.readResource({ uri })).rejects.toMatchObject({ code: -32602 })
      expect((await theirs.client.listResources()).resources.map((one) => one.uri)).not.toContain(uri)
      expect(structuredOf(await mine.call('BashOutput', { bash_id: id }))).toMatchObject({ status: 'running' })
      await mine.call('KillShell', { shell_id: id })

      await theirs.call('Bash', { command: 'unset SECRET' })
      await mine.call('Bash', { command: 'SECRET=mine' })
      const seen = await theirs.call('Bash', { command: 'echo "[$SECRET]"' })
      expect(structuredOf(seen)).toMatchObject({ stdout: '[]\n' })
      await theirs.call('Bash', { command: 'SECRET=theirs' })
      expect((await mine.call('Bash', { command: 'echo $SECRET', session: 'other@main' })).isError).toBe(true)
      expect(structuredOf(await mine.call('Bash', { command: 'echo $SECRET' }))).toMatchObject({ stdout: 'mine\n' })
      expect(textOf(await theirs.call('ListShells'))).toContain('session main')
    })
  }

  test('one cannot use the 2025 session of another', async () => {
    const first = await knock()
    const session = String(first.headers['mcp-session-id'])
    const list = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' })
    expect((await knock({ body: list, headers: { 'mcp-session-id': session } })).status).toBe(200)
    expect(
      (await knock({ body: list, headers: { 'mcp-session-id': session }, token: server.tokens['other']! })).status,
    ).toBe(404)
  })
})

describe('starting and stopping', () => {
  test('an address that others can reach must be meant', async () => {
    await expect(serveHttp({ host: '0.0.0.0', port: 0 })).rejects.toThrow(/other machines/)
  })

  test('a port that is taken is an error with a way out, and leaves nothing behind', async () => {
    const dir = temporaryFolder('taken')
    const { port } = new URL(server.url)
    await expect(serveHttp({ port: Number(port), engine: { stateDir: dir } })).rejects.toMatchObject({
      message: expect.stringContaining('taken'),
      hint: expect.stringContaining('0'),
    })
    rmSync(dir, { recursive: true, force: true })
  })

  test('SIGTERM ends the work of every client, and open streams with it', async () => {
    const own = await http(place.dir)
    const host = await own.connect('modern')
    const sleeping = `985.${Date.now() % 1e7}`
    const call = host
      .call('Bash', { command: `setsid sleep ${sleeping} & sleep ${sleeping}` })
      .catch((error: unknown) => error)
    while (processesWith(sleeping).length < 2) await new Promise((resolve) => setTimeout(resolve, 20))
    await own.stop()
    await call
    expect(processesWith(sleeping)).toEqual([])
    await host.client.close().catch(() => {})
  })
})

/** The proxy of a room by itself, on a listener of this machine: what it refuses, and that nothing stays behind. */
import { spawn, type ChildProcess } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test, vi } from 'vitest'

const script = fileURLToPath(new URL('../../../native/sandbox-proxy.mjs', import.meta.url))
const open: { close(): unknown }[] = []
afterEach(() => {
  for (const one of open.splice(0)) one.close()
})

interface Proxy {
  readonly port: number
  readonly child: ChildProcess
}

/** With `answers`, names lead there one look-up after the other, and no resolver is asked. */
async function proxy(rules: string[], answers: string[][] = []): Promise<Proxy> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const resolver = `import dns from 'node:dns/promises'; import { syncBuiltinESMExports } from 'node:module'
    const answers = ${JSON.stringify(answers)}
    dns.lookup = async () => (answers.shift() ?? []).map((address) => ({ address }))
    syncBuiltinESMExports()`
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(resolver)}`, script, JSON.stringify(rules)],
    { stdio: ['ignore', 'pipe', 'inherit', (server as unknown as { _handle: { fd: number } })._handle.fd] },
  )
  open.push({ close: () => child.kill('SIGKILL') })
  await new Promise((resolve) => child.stdout?.once('data', resolve))
  const { port } = server.address() as AddressInfo
  server.close()
  return { port, child }
}

/** A server that answers as it is told; gives its port and the connections that it has. */
async function upstream(
  answer: (socket: Socket, asked: string) => void,
): Promise<{ port: number; alive: Set<Socket> }> {
  const alive = new Set<Socket>()
  const server: Server = createServer((socket) => {
    alive.add(socket)
    socket.on('error', () => {}).on('close', () => alive.delete(socket))
    socket.once('data', (bytes) => answer(socket, bytes.toString('latin1')))
  })
  open.push({ close: () => (server.close(), alive.forEach((socket) => socket.destroy())) })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, alive }
}

/** Says something and listens to the end. */
function talk({ port }: Proxy, text: string | Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    let said = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (bytes) => (said += bytes.toString('latin1'))).on('error', () => {})
    socket.on('close', () => resolve(said))
  })
}

const get = (at: string, path: string, version = '1.1'): string =>
  `GET http://${at}${path} HTTP/${version}\r\nhost: ${at}\r\nconnection: close\r\n\r\n`

describe('the proxy of a room', () => {
  test('a name leads to the world outside or nowhere', async () => {
    const closed = `0.0.0.0 0.1.2.3 10.1.2.3 100.100.100.200 127.0.0.1 127.9.9.9 169.254.169.254 172.31.0.1 192.0.0.192
      192.168.1.1 198.19.0.1 224.0.0.1 255.255.255.255 168.63.129.16 :: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:8.8.8.8
      ::ffff:0:127.0.0.1 ::ffff:0:808:808 64:ff9b::7f00:1 64:ff9b:1::a00:1 100::1 1fff::1 2001::1 2001:db8::1 2002:7f00:1::
      3fff::1 4000::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1`.split(/\s+/)
    const world = ['8.8.8.8', '2606:4700::1111', '2a00::1', '168.63.129.17']
    const tried = await proxy(
      ['name.test'],
      [...closed, ...world].map((address) => [address]),
    )
    const answers: string[] = []
    // The 200 comes before anything is connected to: a client that leaves then has reached nobody.
    for (const address of [...closed, ...world]) {
      const socket = connect(tried.port, '127.0.0.1', () => socket.write('CONNECT name.test:443 HTTP/1.1\r\n\r\n'))
      const said = await new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(bytes.toString())))
      socket.destroy()
      answers.push(`${address} ${said.slice(9, 12)}`)
    }
    expect(answers).toEqual([...closed.map((one) => `${one} 403`), ...world.map((one) => `${one} 200`)])
  })

  test('one address among several that is not outside closes the name, and each request looks again', async () => {
    const tried = await proxy(['name.test'], [['8.8.8.8', '127.0.0.1'], ['127.0.0.1', '8.8.8.8'], ['10.0.0.1'], []])
    const asked = get('name.test', '/')
    const said = [
      await talk(tried, asked),
      await talk(tried, asked),
      await talk(tried, asked),
      await talk(tried, asked),
    ]
    expect(said.map((text) => text.slice(9, 12))).toEqual(['403', '403', '403', '502'])
  })

  test('an answer that breaks off breaks off for the client too, and is not waited for', async () => {
    const { port, alive } = await upstream((socket, asked) => {
      if (asked.includes('/switch'))
        return void socket.write('HTTP/1.1 101 Yes\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
      if (asked.includes('/nothing')) return void socket.end()
      const length = asked.includes('/chunks') ? 'transfer-encoding: chunked' : 'content-length: 1000'
      socket.end(`HTTP/1.1 200 OK\r\n${length}\r\n\r\n3\r\nabc\r\n`)
    })
    const at = `app.test:${port}`
    const tried = await proxy([`${at}=127.0.0.1`])
    expect(await talk(tried, get(at, '/counted'))).toMatch(/ 200 [^]*abc\r\n$/)
    expect(await talk(tried, get(at, '/chunks'))).toMatch(/ 200 [^]*3\r\nabc\r\n$/)
    for (const path of ['/switch', '/nothing'])
      expect(await talk(tried, get(at, path))).toContain('cerith: the host does not answer')
    await vi.waitFor(() => expect(alive.size).toBe(0), 20_000)
  })

  test('a client of HTTP/1.0 gets no chunks', async () => {
    const { port } = await upstream((socket) =>
      socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n'),
    )
    const at = `app.test:${port}`
    const tried = await proxy([`${at}=127.0.0.1`])
    expect(await talk(tried, get(at, '/', '1.0'))).toMatch(/\r\n\r\nabc$/)
    expect(await talk(tried, get(at, '/'))).toMatch(/\r\n\r\n3\r\nabc\r\n0\r\n\r\n$/)
  })

  test('what a client leaves behind is let go of, on both sides', async () => {
    const { port, alive } = await upstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      const more = (): unknown => socket.write('x'.repeat(65_536), (error) => error ?? setTimeout(more, 5))
      more()
    })
    const at = `app.test:${port}`
    const tried = await proxy([`${at}=127.0.0.1`])
    const held = (): number => readdirSync(`/proc/${tried.child.pid}/fd`).length
    const before = held()
    const hello = Buffer.from([0x16, 3, 1, 0x20, 0])
    const words = [
      '', 'GET http', get(at, '/'), get(at, '/').replace('close', 'keep-alive').repeat(20), `CONNECT ${at} HTTP/1.1\r\n\r\n`,
      Buffer.concat([Buffer.from(`CONNECT ${at} HTTP/1.1\r\n\r\n`), hello]), Buffer.from([5]), Buffer.from([5, 1, 0, 5, 1, 0]),
    ] // prettier-ignore
    const all = words.flatMap((text) =>
      Array.from({ length: 5 }, () => ({ text, socket: connect(tried.port, '127.0.0.1') })),
    )
    await Promise.all(
      all.map(async ({ text, socket }) => {
        await new Promise((resolve) => socket.once('connect', resolve))
        socket.on('error', () => {}).write(text)
      }),
    )
    await vi.waitFor(() => expect(alive.size).toBe(5 + 5 * 20), 20_000)
    for (const { socket } of all) socket.destroy()
    await vi.waitFor(() => expect([alive.size, held()]).toEqual([0, before]), 20_000)
  })

  test('a flood is bounded: connections, requests before an answer, the first record of TLS', async () => {
    const { port, alive } = await upstream(() => {})
    const at = `app.test:${port}`
    const tried = await proxy([`${at}=127.0.0.1`])
    // More at once than it answers: this connection ends.
    expect(await talk(tried, get(at, '/').replace('close', 'keep-alive').repeat(101))).toBe('')
    await vi.waitFor(() => expect(alive.size).toBe(0), 20_000)
    const long = Buffer.from([0x16, 3, 1, 0x40, 1])
    const said = await talk(tried, Buffer.concat([Buffer.from(`CONNECT ${at} HTTP/1.1\r\n\r\n`), long]))
    expect(said).toMatch(/^HTTP\/1.1 200 [^\n]*\r\n\r\n$/)
    const crowd = Array.from({ length: 1000 }, () => connect(tried.port, '127.0.0.1').on('error', () => {}))
    await Promise.all(crowd.map((one) => new Promise((resolve) => one.once('connect', resolve))))
    expect(await talk(tried, get(at, '/'))).toBe('')
    for (const one of crowd) one.destroy()
    await vi.waitFor(async () => expect(await talk(tried, get('no.test', '/'))).toContain('403'), 20_000)
  })
})

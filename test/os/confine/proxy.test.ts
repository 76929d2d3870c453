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

/**
 * With `answers`, names lead there one look-up after the other, and no resolver is asked; one that begins with `never.`
 * is never answered. Of its long patience with a silent connection it has a part.
 */
async function proxy(rules: string[], answers: string[][] = [], part = 1): Promise<Proxy> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const resolver = `import dns from 'node:dns/promises'; import { syncBuiltinESMExports } from 'node:module'
    const answers = ${JSON.stringify(answers)}
    dns.lookup = async (name) =>
      name.startsWith('never.') ? new Promise(() => {}) : (answers.shift() ?? []).map((address) => ({ address }))
    import { Socket } from 'node:net'
    const patience = Socket.prototype.setTimeout
    Socket.prototype.setTimeout = function (ms, ...more) {
      return patience.call(this, ms < 10_000 ? ms : ms * ${part}, ...more)
    }
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

/** Says something, hears the first words and leaves. A 200 comes before anything is connected to: nobody is reached. */
async function first(tried: Proxy, text: string | Uint8Array): Promise<string> {
  const socket = connect(tried.port, '127.0.0.1', () => socket.write(text))
  let said = ''
  await new Promise<void>((resolve) =>
    socket.on('close', resolve).on('data', (bytes) => {
      said += bytes.toString('latin1')
      if (said !== '\x05\0') resolve()
    }),
  )
  socket.destroy()
  return said
}

const socks = (name: string, port: number): Buffer =>
  Buffer.concat([
    Buffer.from([5, 1, 0, 5, 1, 0, 3, name.length]),
    Buffer.from(name, 'latin1'),
    Buffer.from([port >> 8, port & 255]),
  ])

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

  test('the zone of an address is no name below a listed one', async () => {
    const { port, alive } = await upstream((socket) => void socket.end('reached'))
    const tried = await proxy([`.test:${port}`, `[::1]:${port}`])
    const hello = Buffer.from([0x16, 3, 1, 0, 5, 2, 0, 0, 0, 0])
    const said: string[] = []
    for (const host of ['::1%.test', '::1%x.test', '::ffff:127.0.0.1%x.test', '::FFFF:7f00:1%A.TEST', '::1%lo']) {
      said.push(await talk(tried, Buffer.concat([Buffer.from(`CONNECT [${host}]:${port} HTTP/1.1\r\n\r\n`), hello])))
      said.push(await talk(tried, Buffer.concat([socks(host, port), hello])))
    }
    expect(said.filter((text) => !text.startsWith('HTTP/1.1 403') && !text.startsWith('\x05\0\x05\x02'))).toEqual([])
    expect(alive.size).toBe(0)
  })

  test('an address of IPv6 is the same however it is written', async () => {
    const tried = await proxy(['[2606:4700:0:0::1111]', '[2606:4700::00AA]:8443'])
    const bytes = Buffer.from('26064700000000000000000000001111', 'hex')
    expect(await first(tried, Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 4]), bytes, Buffer.from([1, 187])]))).toBe(
      '\x05\0\x05\0\0\x01\0\0\0\0\0\0',
    )
    const said: string[] = []
    for (const at of [
      '[2606:4700::1111]:443',
      '[2606:4700:0::0:1111]:80',
      '[2606:4700::AA]:8443',
      '[2606:4700::aa]:443',
    ])
      said.push((await first(tried, `CONNECT ${at} HTTP/1.1\r\n\r\n`)).slice(9, 12))
    expect(said).toEqual(['200', '200', '200', '403'])
  })

  test('a name that is vouched for leads there, also behind a rule for all names of its domain', async () => {
    const { port } = await upstream((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'))
    const tried = await proxy([`.test:${port}`, `app.test:${port}`, `app.test:${port}=127.0.0.1`], [['127.0.0.1']])
    expect(await talk(tried, get(`app.test:${port}`, '/'))).toMatch(/ok$/)
    expect(await talk(tried, get(`other.test:${port}`, '/'))).toContain('not a public address')
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

  test('a client that has gone is let go of, also when its host never answers', async () => {
    const { port, alive } = await upstream((socket, asked) => {
      if (!asked.includes('/never')) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    })
    const at = `app.test:${port}`
    const tried = await proxy([`${at}=127.0.0.1`], [], 1 / 200)
    const ask = (path: string): string => get(at, path).replace('close', 'keep-alive')
    const socket = connect(tried.port, '127.0.0.1', () => socket.write(ask('/')))
    let said = ''
    socket.on('data', (bytes) => (said += bytes.toString('latin1')))
    await vi.waitFor(() => expect(said).toMatch(/ok$/), 20_000)
    socket.write(ask('/never'))
    await vi.waitFor(() => expect(alive.size).toBe(1), 20_000)
    socket.destroy()
    await vi.waitFor(() => expect(alive.size).toBe(0), 20_000)
  })

  test('there is no tunnel in a tunnel', async () => {
    const tried = await proxy(['app.test=127.0.0.1'])
    const said = await talk(tried, 'CONNECT app.test:80 HTTP/1.1\r\n\r\n'.repeat(3))
    expect(said.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
  })

  test('requests that wait for hosts are bounded over all connections', async () => {
    const { port, alive } = await upstream(() => {})
    const at = `app.test:${port}`
    const tried = await proxy([`${at}=127.0.0.1`])
    const many = get(at, '/').replace('close', 'keep-alive').repeat(100)
    const crowd = Array.from({ length: 12 }, () => connect(tried.port, '127.0.0.1').on('error', () => {}))
    for (const one of crowd) one.write(many)
    await vi.waitFor(() => expect(alive.size).toBe(1000), { timeout: 60_000, interval: 200 })
    expect(await talk(tried, get(at, '/'))).toContain('503')
    expect(alive.size).toBe(1000)
  }, 90_000)

  test('requests whose name is not resolved yet count among them, until their client has gone', async () => {
    const tried = await proxy(['.name.test'], [], 1 / 20)
    const many = get('never.name.test', '/').replace('close', 'keep-alive').repeat(100)
    const crowd = Array.from({ length: 12 }, () => connect(tried.port, '127.0.0.1').on('error', () => {}))
    for (const one of crowd) one.write(many)
    const ask = (): Promise<string> => talk(tried, get('other.name.test', '/'))
    await vi.waitFor(async () => expect(await ask()).toContain('503'), { timeout: 60_000, interval: 50 })
    for (const one of crowd) one.destroy()
    await vi.waitFor(async () => expect(await ask()).toContain('could not be resolved'), 60_000)
  }, 90_000)

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
    // Some more than it holds: the kernel calls a connection made before the proxy has taken it.
    const crowd = Array.from({ length: 1010 }, () => connect(tried.port, '127.0.0.1').on('error', () => {}))
    await vi.waitFor(async () => expect(await talk(tried, get('no.test', '/'))).toBe(''), 20_000)
    for (const one of crowd) one.destroy()
    await vi.waitFor(async () => expect(await talk(tried, get('no.test', '/'))).toContain('403'), 20_000)
  })
})

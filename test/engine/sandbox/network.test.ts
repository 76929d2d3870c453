import { createServer } from 'node:http'
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import { canConfine, ground } from './harness.js'

const servers: { close(): void }[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

/** A server on the loopback of this machine; gives its port. */
async function outside(): Promise<number> {
  const server = createServer((request, response) => response.end(`outside ${request.headers.host}`))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

/** One request through the proxy of the room, without a library in between. */
const ask = (target: string, host: string): string =>
  `exec 5<>/dev/tcp/127.0.0.1/3128; printf 'GET ${target} HTTP/1.1\\r\\nhost: ${host}\\r\\nconnection: close\\r\\n\\r\\n' >&5; timeout 20 cat <&5`

function wordsOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}

describe.skipIf(!canConfine)('the network of a room', () => {
  test('none: the loopback of the machine is not there, and that is told from facts', async () => {
    const port = await outside()
    const { engine } = await ground()
    const outcome = await engine.run({ command: `exec 5<>/dev/tcp/127.0.0.1/${port} && cat <&5` })
    expect(outcome.exitCode).not.toBe(0)
    expect(outcome.stdout).toBe('')
  })

  test('allow-list: what is listed passes, what is not is refused by name and told', async () => {
    const port = await outside()
    const { engine } = await ground({ network: 'allow-list', domains: [`app.test:${port}=127.0.0.1`] })
    const passed = await engine.run({ command: ask(`http://app.test:${port}/`, `app.test:${port}`) })
    expect(passed.stdout).toContain(`outside app.test:${port}`)
    const refused = await engine.run({ command: `${ask('http://example.com/', 'example.com')}; false` })
    expect(refused.stdout).toContain('403')
    expect(refused.stdout).toContain('example.com is not on the allow-list')
    expect(refused.notes.map(({ text }) => text).join(' ')).toContain('example.com is not on the allow-list')
    expect(refused.sandbox?.blocked).toContain('example.com')
    const other = await engine.run({ command: ask(`http://app.test:${port}/`, 'other.test') })
    expect(other.stdout).toContain('403')
  })

  test('allow-list: a name that leads to this machine is refused, and so is a port that is not listed', async () => {
    const port = await outside()
    const { engine } = await ground({ network: 'allow-list', domains: ['localhost', `127.0.0.1:1`] })
    const own = await engine.run({ command: ask('http://localhost/', 'localhost') })
    expect(own.stdout).toContain('not a public address')
    const wrong = await engine.run({ command: ask(`http://localhost:${port}/`, `localhost:${port}`) })
    expect(wrong.stdout).toContain('not on the allow-list')
  })

  test('allow-list: a tunnel carries TLS for the name that was asked for, or nothing', async () => {
    const port = await outside()
    const { engine } = await ground({ network: 'allow-list', domains: [`app.test:${port}=127.0.0.1`] })
    const script = `
      const http = require('http'), tls = require('tls')
      const open = (name) => new Promise((done) => {
        const asked = http.request({ host: '127.0.0.1', port: 3128, method: 'CONNECT', path: 'app.test:${port}' })
        asked.on('connect', (reply, socket) => {
          const secure = tls.connect({ socket, servername: name, rejectUnauthorized: false })
          secure.on('error', (error) => done(name + ' ' + error.code)); secure.on('end', () => done(name + ' end'))
        }).on('error', (error) => done(error.code)).end()
      })
      open('evil.test').then(console.log)`
    const outcome = await engine.run({
      command: ['node', '-e', `${script}; setTimeout(() => process.exit(0), 9000).unref()`],
    })
    expect(outcome.stdout).toContain('evil.test')
    expect(outcome.sandbox?.blocked).toContain('app.test')
  })

  test('allow-list: names that a resolver reads otherwise, addresses in odd notations, and hosts within hosts are refused', async () => {
    const port = await outside()
    const { engine } = await ground({
      network: 'allow-list',
      domains: [`app.test:${port}=127.0.0.1`, `.test:${port}`, 'localhost'],
    })
    const script = `
      const net = require('net')
      const talk = (bytes) => new Promise((done) => {
        const socket = net.connect(3128, '127.0.0.1', () => socket.write(bytes))
        let said = ''
        socket.on('data', (chunk) => { said += chunk.toString('latin1') })
        socket.on('close', () => done(said)).on('error', () => done(said + 'error'))
        setTimeout(() => socket.destroy(), 4000).unref()
      })
      const socks = (name, port) => {
        const host = Buffer.from(name, 'latin1')
        const end = Buffer.alloc(2)
        end.writeUInt16BE(port)
        return Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 3, host.length]), host, end, Buffer.from('GET / HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n')])
      }
      const connect = (where) => 'CONNECT ' + where + ' HTTP/1.1\\r\\nhost: x\\r\\n\\r\\nGET / HTTP/1.1\\r\\nhost: x\\r\\n\\r\\n'
      const tries = [
        socks('localhost\\0.test', ${port}), socks('127.0.0.1\\0.test', ${port}), socks('localhost\\n.test', ${port}), socks('\\xe9.test\\0', ${port}),
        socks('127.0.0.1', ${port}), socks('127.1', ${port}), socks('2130706433', ${port}), socks('::ffff:127.0.0.1', ${port}), socks('localhost', ${port}), socks('', ${port}),
        Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1]), Buffer.from([${port} >> 8, ${port} & 255])]),
        Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 4]), Buffer.from('00000000000000000000ffff7f000001', 'hex'), Buffer.from([${port} >> 8, ${port} & 255])]),
        connect('127.0.0.1:${port}'), connect('0x7f.1:${port}'), connect('0177.0.0.1:${port}'), connect('[::1]:${port}'), connect('[::ffff:127.0.0.1]:${port}'),
        connect('localhost:${port}'), connect('localhost%00.test:${port}'), connect('app.test@localhost:${port}'), connect('0:${port}'), connect('localhost.:${port}'),
        'GET http://app.test:${port}@127.0.0.1:${port}/ HTTP/1.1\\r\\nhost: app.test:${port}\\r\\n\\r\\n',
        'GET http://127.0.0.1:${port}/ HTTP/1.1\\r\\nhost: app.test:${port}\\r\\n\\r\\n',
        'GET / HTTP/1.1\\r\\nhost: 127.0.0.1:${port}\\r\\n\\r\\n',
      ]
      Promise.all(tries.map(talk)).then((all) => console.log(all.map((said, at) => said.includes('outside') ? 'CROSSED ' + at : '').join('')))`
    const outcome = await engine.run({ command: ['node', '-e', script] })
    expect([outcome.stdout.trim(), outcome.stderr]).toEqual(['', ''])
    // Refused by its text, before anything is resolved.
    expect(outcome.sandbox?.blocked).toContain('"localhost\\u0000.test"')
    // A second request on one connection, and one after an allowed one, are judged like the first.
    const two = `GET http://app.test:${port}/ HTTP/1.1\\r\\nhost: app.test:${port}\\r\\n\\r\\n`
    const piped = await engine.run({
      command: `exec 5<>/dev/tcp/127.0.0.1/3128; printf '${two}GET http://localhost:${port}/ HTTP/1.1\\r\\nhost: localhost:${port}\\r\\n\\r\\n' >&5; timeout 5 cat <&5`,
    })
    expect(piped.stdout.match(/outside/g)?.length).toBe(1)
    expect(piped.stdout).toContain('403')
  })

  test('allow-list: what is smuggled behind a request, or behind the name of a tunnel, arrives nowhere', async () => {
    const seen: string[] = []
    const tcp = async (name: string): Promise<number> => {
      const server = createTcpServer((socket) => {
        socket.on('error', () => {})
        socket.on('data', (chunk) => {
          seen.push(`${name} ${chunk.toString('latin1')}`)
          const answer = (): unknown =>
            socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok')
          // Behind the end of what its client says.
          if (chunk.includes('/half')) setTimeout(answer, 300)
          else answer()
        })
      })
      servers.push(server)
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return (server.address() as AddressInfo).port
    }
    const [port, secret] = [await tcp('listed'), await tcp('secret')]
    const { engine, work } = await ground({ network: 'allow-list', domains: [`app.test:${port}=127.0.0.1`] })
    copyFileSync(fileURLToPath(new URL('proxy-attempts.mjs', import.meta.url)), join(work, 'talk.mjs'))
    const outcome = await engine.run({ command: ['node', 'talk.mjs', String(port), String(secret)], timeoutMs: 60_000 })
    expect([outcome.stderr, outcome.stdout]).toEqual(['', 'half-closed: ok\nafter a flood: ok\n'])
    expect(seen.filter((text) => text.startsWith('secret'))).toEqual([])
    expect(seen.filter((text) => /smuggled|evil|other\.test/i.test(text))).toEqual([])
    // TLS for the one name that is listed; and each other that came through is one request, to that host.
    expect(seen.filter((text) => text.startsWith('listed \x16') && text.endsWith('app.test'))).toHaveLength(1)
    expect(
      seen.filter(
        (text) => !/^listed \x16|^listed (GET|POST) \/\w* HTTP\/1\.1\r\n[^]*host: app\.test:\d+\r\n/.test(text),
      ),
    ).toEqual([])
  })

  test('allow-list: each room of an engine has a proxy with a listener', async () => {
    const port = await outside()
    const rule = `app.test:${port}=127.0.0.1`
    const { engine } = await ground({ network: 'allow-list', domains: [rule, 'b.test', 'c.test', 'd.test'] })
    const command = ask(`http://app.test:${port}/`, `app.test:${port}`)
    for (const further of [['b.test', 'c.test', 'd.test'], ['b.test'], ['c.test'], ['d.test'], []])
      expect([
        further,
        (await engine.run({ command, sandbox: { domains: [rule, ...further] } })).stdout.split('\r\n').pop(),
      ]).toEqual([further, `outside app.test:${port}`])
  })

  test('allow-list: a proxy that is killed is started anew on the same listener, and that is told', async () => {
    const port = await outside()
    const rule = `app.test:${port}=127.0.0.1`
    const { engine } = await ground({ network: 'allow-list', domains: [rule] })
    const asked = ask(`http://app.test:${port}/`, `app.test:${port}`)
    expect((await engine.run({ command: asked })).stdout).toContain(`outside app.test:${port}`)
    for (const round of [1, 2]) {
      const proxies = readdirSync('/proc').filter(
        (pid) => /^\d+$/.test(pid) && wordsOf(pid)[2] === JSON.stringify([rule]),
      )
      expect([round, proxies.length]).toEqual([round, 1])
      process.kill(Number(proxies[0]), 'SIGKILL')
      const next = await engine.run({ command: `${asked}; false` })
      expect(next.stdout).toContain(`outside app.test:${port}`)
      expect(next.sandbox?.blocked).toEqual(['proxy'])
      const told = next.notes.filter(({ text }) => text.includes('its proxy ended and was started anew'))
      expect(told).toHaveLength(round === 1 ? 1 : 0)
    }
  })

  test('a port of the room is published on the loopback of the machine, and waits for it look inside', async () => {
    const port = 20_000 + (process.pid % 10_000)
    const { engine } = await ground({ ports: [port] })
    const server = `require('http').createServer((q, r) => r.end('inside')).listen(${port}, '127.0.0.1')`
    const job = await engine.start({ command: ['node', '-e', server] })
    expect((await job.wait({ port, timeoutMs: 20_000 })).reason).toBe('port')
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('inside')
    await job.kill()
  })

  test.each([
    ['*'],
    ['*.com'],
    ['http://a.test'],
    [''],
    ['a.test:0'],
    ['a.test=10.0.0.5:80'],
    ['a.test=bad.cafe'],
    ['a.test=1'],
  ])('a domain that cannot be meant is refused: %s', async (domain) => {
    await expect(ground({ network: 'allow-list', domains: [domain] })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })
})

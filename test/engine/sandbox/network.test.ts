import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
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

  test('a port of the room is published on the loopback of the machine, and waits for it look inside', async () => {
    const port = 20_000 + (process.pid % 10_000)
    const { engine } = await ground({ ports: [port] })
    const server = `require('http').createServer((q, r) => r.end('inside')).listen(${port}, '127.0.0.1')`
    const job = await engine.start({ command: ['node', '-e', server] })
    expect((await job.wait({ port, timeoutMs: 20_000 })).reason).toBe('port')
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('inside')
    await job.kill()
  })

  test.each([['*'], ['*.com'], ['http://a.test'], ['']])(
    'a domain that cannot be meant is refused: %s',
    async (domain) => {
      await expect(ground({ network: 'allow-list', domains: [domain] })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    },
  )
})

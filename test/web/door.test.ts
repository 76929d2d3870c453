/** Who may knock: the rules of the door, against the real server. */
import { afterEach, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { reachableNames } from '../../src/web/names.js'
import type { Ui } from '../../src/web/ui.js'
import { get, keyIn, Knock, originOf, World } from './harness.js'

let world = new World()
afterEach(async () => {
  await world.close()
  world = new World()
})

const attempt = (ui: Ui, options: object, path = '/live'): Promise<string> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${ui.port}${path}`, options)
    socket.on('open', () => (socket.close(), resolve('open')))
    socket.on('error', (error) => resolve(error.message))
  })

test('every start has a name of its own, and a link leads to it', async () => {
  const [first, second] = [await world.ui(), await world.ui()]
  const names = [first, second].map((ui) => new URL(ui.link()).hostname)
  for (const name of names) expect(name).toMatch(/^[0-9a-f]{10}\.localhost$/)
  expect(names[0]).not.toBe(names[1])
  const host = `${names[0]}:${first.port}`
  expect((await get(first, '/', { host })).status).toBe(200)
  expect(await attempt(first, { origin: `http://${host}`, headers: { host } })).toBe('open')
  expect((await get(second, '/', { host: `${names[0]}:${second.port}` })).status).toBe(403)
})

test('before the upgrade, Host and Origin must be the page’s own, both and exactly', async () => {
  const ui = await world.ui()
  const origin = originOf(ui)
  for (const options of [
    { origin: 'http://evil.example' },
    { origin: `http://127.0.0.1:${ui.port + 1}` },
    { origin: origin.replace('http:', 'https:') },
    { origin: `http://localhost:${ui.port}` },
    { origin: 'null' },
    {},
    { origin, headers: { host: 'evil.example' } },
    { origin, headers: { host: `evil.example:${ui.port}` } },
    { origin, headers: { host: '127.0.0.1' } },
  ])
    expect(await attempt(ui, options), JSON.stringify(options)).toContain('403')
  expect(await attempt(ui, { origin }, '/other')).toContain('403')
  expect(await attempt(ui, { origin })).toBe('open')
})

test('what is served: the files of the page and nothing else, to GET and nothing else, and never a cookie', async () => {
  const ui = await world.ui()
  const host = `127.0.0.1:${ui.port}`
  for (const path of ['/', '/app.js', '/app.css', '/terminal.js', '/plots.js']) {
    const { status, headers } = await get(ui, path, { host })
    expect([path, status]).toEqual([path, 200])
    expect(headers['set-cookie']).toBeUndefined()
    expect(headers['x-content-type-options']).toBe('nosniff')
    expect(headers['referrer-policy']).toBe('no-referrer')
  }
  for (const path of ['/package.json', '/../package.json', '/%2e%2e/package.json', '/state', '/audit.jsonl', '/live'])
    expect([path, (await get(ui, path, { host })).status]).toEqual([path, 404])
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
    expect((await get(ui, '/', { host, method })).status).toBe(405)
  for (const evil of ['evil.example', `evil.example:${ui.port}`, '127.0.0.1', 'localhost:1'])
    expect((await get(ui, '/', { host: evil })).status).toBe(403)
  const workers: Record<string, string>[] = [{ 'service-worker': 'script' }, { 'sec-fetch-dest': 'serviceworker' }]
  for (const headers of workers) expect((await get(ui, '/app.js', { host, ...headers })).status).toBe(403)
  const { headers } = await get(ui, '/app.js', { host })
  expect((await get(ui, '/app.js', { host, 'if-none-match': String(headers['etag']) })).status).toBe(304)
})

test('the policy of the page: own scripts only, Trusted Types, no frames, no workers, a new nonce for each', async () => {
  const ui = await world.ui()
  const host = `127.0.0.1:${ui.port}`
  const pages = [await get(ui, '/', { host }), await get(ui, '/', { host })]
  const nonces = pages.map(({ headers, body }) => {
    const policy = String(headers['content-security-policy'])
    for (const part of [
      `default-src 'none'`,
      `script-src 'self'`,
      `connect-src 'self'`,
      `worker-src 'none'`,
      `base-uri 'none'`,
      `form-action 'none'`,
      `frame-ancestors 'none'`,
      `require-trusted-types-for 'script'`,
      `trusted-types 'none'`,
    ])
      expect(policy.split('; ')).toContain(part)
    expect(headers['x-frame-options']).toBe('DENY')
    expect(headers['cache-control']).toBe('no-store')
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? ''
    expect(body).toContain(`content="${nonce}"`)
    expect(body).not.toContain('%NONCE%')
    return nonce
  })
  expect(nonces[0]).not.toBe(nonces[1])
})

describe('before the key', () => {
  test('nothing is said, and who shows none within three seconds is turned away', async () => {
    const knock = new Knock(await world.ui())
    expect(await knock.closed).toBe(4401)
    expect(knock.said).toEqual([])
  })

  test('a message that is long, binary, no JSON or no key ends that connection and nothing else', async () => {
    const ui = await world.ui()
    const key = keyIn(ui.link())
    const long = JSON.stringify({ do: 'key', key, more: 'x'.repeat(1_100) })
    for (const [first, code] of [
      [long, 4400],
      ['{', 4400],
      ['[1]', 4400],
      ['null', 4400],
      [Buffer.from([1, 2, 3]), 4400],
      [JSON.stringify({ do: 'kill', id: 'x' }), 4401],
      [JSON.stringify({ do: 'key', key: 'wrong' }), 4401],
      [JSON.stringify({ do: 'key', key: { length: 3 } }), 4401],
    ] as const) {
      const knock = new Knock(ui, first)
      expect([first, await knock.closed]).toEqual([first, code])
      expect(knock.said).toEqual([])
    }
    await Knock.with(ui, key)
  })

  test('wrong keys are counted over all ways in', async () => {
    const ui = await world.ui()
    const host = `127.0.0.1:${ui.port}`
    for (let n = 0; n < 10; n++) expect((await get(ui, '/output/shell_1', { host })).status).toBe(401)
    expect(await new Knock(ui, JSON.stringify({ do: 'key', key: keyIn(ui.link()) })).closed).toBe(4429)
  })
})

test('rubbish after the key ends the page that sent it and no other', async () => {
  const ui = await world.ui()
  const [good, bad] = [await Knock.with(ui, keyIn(ui.link())), await Knock.with(ui, keyIn(ui.link()))]
  for (const odd of [{}, { do: 7 }, { do: 'lines' }, { do: 'open', of: 'job/../..' }, { do: 'answer', id: 1 }])
    bad.say(odd)
  bad.say({ do: 'share', label: 'x'.repeat(1_000), livesMs: -1 })
  const { all } = await bad.hear(({ t }) => t === 'shared')
  expect(all).toMatchObject([{ label: 'x'.repeat(80) }])
  bad.socket.send('{"do":')
  expect(await bad.closed).toBe(4400)
  good.say({ do: 'chain' })
  await good.hear(({ t }) => t === 'chain')
})

test('a page whose connection broke comes back with the key of its tab, and not without', async () => {
  const ui = await world.ui()
  const first = await Knock.with(ui, keyIn(ui.link()))
  const { key } = first.said[0] as unknown as { key: string }
  first.socket.terminate()
  const again = await Knock.with(ui, key)
  expect(again.said[0]).toMatchObject({ t: 'welcome', role: 'person', key })
})

test('a link that is used twice is shouted about and ends all pages', async () => {
  const ui = await world.ui()
  const key = keyIn(ui.link())
  const first = await Knock.with(ui, key)
  expect(await new Knock(ui, JSON.stringify({ do: 'key', key })).closed).toBe(4403)
  expect(await first.closed).toBe(4401)
  expect(world.warned.join()).toContain('used a second time')
})

test('at most 32 pages are open, and strangers do not count among them', async () => {
  const ui = await world.ui()
  const strangers = Array.from({ length: 5 }, () => new Knock(ui))
  const pages: Knock[] = []
  for (let n = 0; n < 32; n++) pages.push(await Knock.with(ui, keyIn(ui.link())))
  expect(await attempt(ui, { origin: originOf(ui) })).toContain('503')
  for (const { socket } of [...strangers, ...pages]) socket.terminate()
})

test('names: loopback shows the fresh one; an address that others reach is shown and allowed itself', () => {
  const near = ['x.localhost', '127.0.0.1', 'localhost', '[::1]']
  expect(reachableNames('127.0.0.1', 'x.localhost')).toEqual({ shown: 'x.localhost', allowed: near })
  expect(reachableNames('10.1.2.3', 'x.localhost')).toEqual({ shown: '10.1.2.3', allowed: [...near, '10.1.2.3'] })
  expect(reachableNames('fd00::1', 'x.localhost').shown).toBe('[fd00::1]')
  expect(reachableNames('0.0.0.0', 'x.localhost').allowed).not.toContain('0.0.0.0')
})

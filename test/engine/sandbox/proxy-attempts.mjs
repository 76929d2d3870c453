// Attempts against the proxy of a room, as a program inside: node proxy-attempts.mjs LISTED_PORT SECRET_PORT. Says what
// ordinary requests got.
import net from 'node:net'

const [port, secret] = process.argv.slice(2).map(Number)
const app = `app.test:${port}`

const talk = (parts, { end = false, ms = 3000 } = {}) =>
  new Promise((done) => {
    let said = ''
    const socket = net.connect({ port: 3128, host: '127.0.0.1', allowHalfOpen: true }, async () => {
      for (const part of [parts].flat()) {
        socket.write(part)
        await new Promise((next) => setTimeout(next, 20))
      }
      if (end) socket.end()
    })
    socket.on('data', (chunk) => (said += chunk.toString('latin1')))
    socket.on('error', () => {})
    socket.on('end', () => socket.end())
    socket.on('close', () => done(said))
    setTimeout(() => socket.destroy(), ms).unref()
  })

const get = (target, host, more = '') => `GET ${target} HTTP/1.1\r\nhost: ${host}\r\n${more}\r\n`
const post = (more, body) => `POST http://${app}/ HTTP/1.1\r\nhost: ${app}\r\n${more}\r\n\r\n${body}`
const hidden = get(`http://127.0.0.1:${secret}/smuggled`, `127.0.0.1:${secret}`)
const connect = `CONNECT ${app} HTTP/1.1\r\nhost: ${app}\r\n\r\n`

const u16 = (n) => Buffer.from([n >> 8, n & 255])
const extension = (type, body) => Buffer.concat([u16(type), u16(body.length), body])
const sni = (...names) => {
  const list = Buffer.concat(
    names.map(([type, name]) => Buffer.concat([Buffer.from([type]), u16(name.length), Buffer.from(name)])),
  )
  return extension(0, Buffer.concat([u16(list.length), list]))
}
const hello = (...extensions) => {
  const all = Buffer.concat(extensions)
  const suites = Buffer.from([0, 0, 2, 0x13, 1, 1, 0])
  const body = Buffer.concat([Buffer.from([3, 3]), Buffer.alloc(32), suites, u16(all.length), all])
  return Buffer.concat([Buffer.from([1, 0]), u16(body.length), body])
}
const record = (bytes) => Buffer.concat([Buffer.from([0x16, 3, 1]), u16(bytes.length), bytes])
const evil = hello(sni([0, 'evil.test']))
const socks = (command, kind, address) =>
  Buffer.concat([Buffer.from([5, 1, 0, 5, command, 0, kind]), Buffer.from(address, 'hex'), u16(secret)])

const attempts = [
  // A body that one side counts and the other does not.
  post('content-length: 4\r\ntransfer-encoding: chunked', `0\r\n\r\n${hidden}`),
  post('transfer-encoding: chunked, identity', `0\r\n\r\n${hidden}`),
  post('transfer-encoding : chunked', `0\r\n\r\n${hidden}`),
  post(`content-length: 0\r\ncontent-length: ${hidden.length}`, hidden),
  post('transfer-encoding: chunked', `1;a\n=b\r\nx\r\n0\r\n\r\n${hidden}`),
  // The next request of the same connection, lines that end early, two hosts, another scheme.
  get(`http://${app}/`, app) + hidden,
  get(`http://${app}/`, app) + get('http://other.test/', 'other.test'),
  get(`http://${app}/`, app, 'x: a\nhost: other.test\r\n'),
  get(`http://${app}/`, app, 'x: a\rhost: other.test\r\n'),
  get(`http://${app}/`, `${app}\r\nhost: other.test`),
  get('http://other.test/', app),
  get(`https://${app}/evil`, app),
  // Inside a tunnel: another host, another proxy request, another protocol, other names of a server.
  [connect, get('/', 'other.test')],
  [connect, get(`http://127.0.0.1:${secret}/`, `127.0.0.1:${secret}`)],
  [connect, `CONNECT 127.0.0.1:${secret} HTTP/1.1\r\n\r\n${hidden}`],
  [connect, 'SSH-2.0-evil\r\n'],
  [connect, Buffer.from([0x80, 0x2e, 1, 3, 1])],
  [connect, record(evil)],
  [connect, record(hello(sni([1, 'app.test'], [0, 'evil.test'])))],
  [connect, record(hello(sni([0, 'app.test'], [0, 'evil.test'])))],
  [connect, record(hello(sni([0, 'app.test']), sni([0, 'evil.test'])))],
  [connect, record(hello(sni([0, 'app.test\0.evil.test'])))],
  [connect, record(hello())],
  [connect, Buffer.concat([record(evil.subarray(0, 60)), record(evil.subarray(60))])],
  [connect, record(evil).subarray(0, 30)],
  // SOCKS: other commands, another version, an address of NAT64 byte by byte.
  socks(2, 1, '7f000001'),
  socks(3, 1, '00000000'),
  Buffer.concat([Buffer.from([4, 1]), u16(secret), Buffer.from([127, 0, 0, 1, 0])]),
  [...socks(1, 4, '0064ff9b00000000000000007f000001')].map((byte) => Buffer.from([byte])),
  `GET / HTTP/1.1\r\nx: ${'a'.repeat(1 << 20)}`,
]

await Promise.all(attempts.map((parts) => talk(parts)))
// A client that has said everything still gets its answer.
// The name of the server alone passes: TLS for it is what a tunnel is for.
await talk([connect, record(hello(extension(21, Buffer.alloc(9)), sni([0, 'app.test'])))])
const half = await talk(get(`http://${app}/half`, app), { end: true, ms: 20_000 })
console.log(`half-closed: ${half.endsWith('ok') ? 'ok' : JSON.stringify(half)}`)
// Hundreds of connections that say half a word keep no other one out.
const slow = Array.from({ length: 400 }, () => net.connect(3128, '127.0.0.1').on('error', () => {}))
for (const one of slow) one.write('GET http')
const after = await talk(get(`http://${app}/after`, app), { ms: 20_000 })
console.log(`after a flood: ${after.endsWith('ok') ? 'ok' : JSON.stringify(after)}`)
for (const one of slow) one.destroy()

// The way out of a sandbox with an allow-list: a process of its own without secrets. Its listener (descriptor 3)
// lives in the room's network, its connections in the machine's. HTTP requests, CONNECT and SOCKS5; TLS is passed on
// unopened, so certificates stay valid. Order of every decision: the name against the list, then the name is
// resolved, then the address is judged, then exactly that address is connected to. Prints one JSON line per refusal.
import { lookup } from 'node:dns/promises'
import { createServer, request as httpRequest } from 'node:http'
import { BlockList, connect, createServer as createTcpServer, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { pipeline } from 'node:stream'

const LISTENER = 3
const FIRST_BYTES_MS = 30_000
const CONNECT_MS = 30_000
/** The longest record that TLS has. */
const MAX_HELLO = 16_384
/** What a room may have this process hold, which no limit of the room counts. */
const MAX_CONNECTIONS = 1000
/** Requests that are sent before the first of them is answered. apt sends 10. */
const MAX_PIPELINED = 100
/** Requests that wait for hosts, of all connections together. */
const MAX_REQUESTS = 1000
/** A connection on which nothing is said. */
const IDLE_MS = 600_000
/** A client that has said its last word and waits cannot be told from one that has gone. */
const LAST_WORD_MS = 60_000

/**
 * `name`, `.name` (all below it), each with `:port` and `=address` (a person vouches for that address, also a
 * private one).
 */
const rules = JSON.parse(process.argv[2] ?? '[]')
  .map((text) => {
    const [named, address = null] = text.toLowerCase().split('=')
    const [, name, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(named) ?? [null, named, undefined]
    return { name: bare(name), port: port === undefined ? null : Number(port), address }
  })
  // The narrowest that fits counts: a name before all below another, and an address that was vouched for.
  .sort((a, b) => b.name.length - a.name.length || Number(a.address === null) - Number(b.address === null))

// One list per family: a BlockList takes an IPv4 address for its mapped form, so that a subnet of IPv6 which holds
// ::ffff:0:0/96 would close all of IPv4.
const closed = { ipv4: new BlockList(), ipv6: new BlockList() }
for (const [network, bits] of [
  ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12], ['192.0.0.0', 24],
  ['192.0.2.0', 24], ['192.88.99.0', 24], ['192.168.0.0', 16], ['198.18.0.0', 15], ['198.51.100.0', 24], ['203.0.113.0', 24],
  ['224.0.0.0', 4], ['240.0.0.0', 4], ['168.63.129.16', 32],
]) closed.ipv4.addSubnet(network, bits, 'ipv4') // prettier-ignore
// The last one above is the host of a virtual machine at Azure. Of IPv6 only 2000::/3 is the world outside; in it,
// Teredo and other 2001::/23, documentation and 6to4 are not.
for (const [network, bits] of [
  ['::', 3], ['4000::', 2], ['8000::', 1], ['2001::', 23], ['2001:db8::', 32], ['2002::', 16], ['3fff::', 20],
]) closed.ipv6.addSubnet(network, bits, 'ipv6') // prettier-ignore

/** Whether an address belongs to the world outside, and not to this machine or its neighbours. */
function isPublic(address) {
  const family = { 4: 'ipv4', 6: 'ipv6' }[isIP(address)]
  if (!family || closed[family].check(address, family)) return false
  return !Object.values(networkInterfaces()).some((list) => list?.some((one) => one.address === address))
}

/** One text for one host, also where an address of IPv6 can be written in several ways. */
function bare(host) {
  const text = host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
  return isIP(text) === 6 && !text.includes('%') ? new URL(`http://[${text}]`).hostname.slice(1, -1) : text
}

/** What a command says is told as its word, not as this program's. */
function shown(name) {
  return name === null ? '(none)' : /^[a-z0-9_.:-]{1,255}$/.test(name) ? name : JSON.stringify(name.slice(0, 100))
}

function refuse(host, port, why) {
  process.stdout.write(`${JSON.stringify({ host, port, why })}\n`)
  return Object.assign(new Error(why), { refused: true })
}

/** The address to connect to; throws what is to be said otherwise. */
async function allowed(wanted, port) {
  const host = bare(wanted)
  // What a resolver would read otherwise than this list does: it stops at a NUL, so `evil.test\0.listed.test` is
  // `evil.test`; and the zone of an address is any text, so `::1%.listed.test` is `::1`.
  if (!/^[a-z0-9_.-]{1,255}$/.test(host) && (isIP(host) !== 6 || host.includes('%')))
    throw refuse(shown(host), port, `${shown(host)} is no name of a host`)
  const rule = rules.find(
    ({ name, port: only }) =>
      (host === name || (name.startsWith('.') && host.endsWith(name) && !isIP(host))) &&
      (only === null ? port === 80 || port === 443 : port === only),
  )
  if (!rule || host === '')
    throw refuse(
      host,
      port,
      rules.some(({ name }) => name === host)
        ? `port ${port} of ${host} is not on the allow-list of this sandbox`
        : `${host} is not on the allow-list of this sandbox`,
    )
  if (rule.address !== null) return rule.address
  // An address that stands on the list itself was meant.
  if (isIP(host)) return host
  const found = await lookup(host, { all: true, verbatim: true }).catch(() => [])
  if (found.length === 0) throw Object.assign(new Error(`${host} could not be resolved`), { unresolved: true })
  const wrong = found.find(({ address }) => !isPublic(address))
  if (wrong) throw refuse(host, port, `${host} resolves to ${wrong.address}, which is not a public address`)
  return found[0].address
}

function dial(address, port) {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, allowHalfOpen: true })
    const timer = setTimeout(() => socket.destroy(new Error('no answer')), CONNECT_MS)
    socket.once('connect', () => {
      clearTimeout(timer)
      resolve(socket)
    })
    socket.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
  })
}

/** Each side may say its last word before the other has; when one breaks off, so does the other. */
function join(a, b) {
  pipeline(a, b, () => {})
  pipeline(b, a, () => {})
}

/** A client that leaves before it has said what it wants leaves nothing here. */
function hangUp() {
  this.destroy()
}

/** The server name in a TLS ClientHello; null when there is none, undefined while more bytes are needed. */
function serverName(bytes) {
  if (bytes.length < 5) return undefined
  const length = bytes.readUInt16BE(3)
  if (length > MAX_HELLO) return null
  if (bytes.length < 5 + length) return undefined
  const hello = bytes.subarray(5, 5 + length)
  try {
    if (hello[0] !== 1) return null
    let at = 38
    at += 1 + hello[at]
    at += 2 + hello.readUInt16BE(at)
    at += 1 + hello[at]
    const end = at + 2 + hello.readUInt16BE(at)
    const names = []
    for (at += 2; at + 4 <= end; at += 4 + hello.readUInt16BE(at + 2))
      if (hello.readUInt16BE(at) === 0) names.push(hello.subarray(at + 4, at + 4 + hello.readUInt16BE(at + 2)))
    // One name of a host and nothing else: which of several a server takes is its own affair.
    const [name] = names
    if (names.length !== 1 || name[2] !== 0 || name.readUInt16BE(3) !== name.length - 5) return null
    return name.toString('latin1', 5).toLowerCase()
  } catch {
    return null
  }
}

/** What goes through a tunnel is TLS for the name that was asked for, or HTTP for it; nothing else passes. */
function tunnel(socket, host, port, address, first) {
  let held = first
  const timer = setTimeout(() => socket.destroy(), FIRST_BYTES_MS)
  const look = (chunk) => {
    held = Buffer.concat([held, chunk])
    if (held.length === 0) return
    const name = held[0] === 0x16 ? serverName(held) : ''
    if (name === undefined) return
    clearTimeout(timer)
    socket.off('data', look).off('end', hangUp)
    socket.pause()
    if (name === '') {
      // Each request on it is judged like any other.
      socket.expected = { host: bare(host), port }
      socket.unshift(held)
      web.emit('connection', socket)
      socket.resume()
      return
    }
    if (name !== bare(host) && !(name === null && isIP(bare(host)))) {
      refuse(bare(host), port, `a connection to ${bare(host)} asked for the server ${shown(name)}`)
      return socket.destroy()
    }
    dial(address, port).then(
      (out) => {
        out.write(held)
        join(socket, out)
        socket.resume()
      },
      () => socket.destroy(),
    )
  }
  socket.on('data', look).on('end', hangUp)
  socket.on('close', () => clearTimeout(timer))
  if (held.length > 0) look(Buffer.alloc(0))
}

const HOP = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'proxy-authorization',
  'proxy-authenticate',
  'te',
  'trailer',
  'upgrade',
  'http2-settings',
])

let requests = 0

/** The requests of a connection that are not answered yet: they end with it. */
function waiting(socket) {
  if (!socket.waiting) {
    socket.waiting = new Set()
    socket.once('close', () => {
      for (const { out } of socket.waiting) out?.destroy()
      requests -= socket.waiting.size
      socket.waiting.clear()
    })
  }
  return socket.waiting
}

const web = createServer({ insecureHTTPParser: false }, async (asked, answer) => {
  const say = (status, text) => {
    answer.writeHead(status, { 'content-type': 'text/plain', connection: 'close' })
    answer.end(`${text}\n`)
  }
  const { socket } = asked
  const calls = waiting(socket)
  if (calls.size >= MAX_PIPELINED) return socket.destroy()
  // One that waits for its name counts already: it holds as much.
  if (requests >= MAX_REQUESTS) return say(503, 'cerith: too many requests at once')
  const call = { out: null }
  calls.add(call)
  requests += 1
  answer.on('close', () => {
    if (calls.delete(call)) requests -= 1
  })
  try {
    const { expected } = socket
    const target = expected
      ? new URL(
          `http://${expected.host.includes(':') ? `[${expected.host}]` : expected.host}:${expected.port}${asked.url?.startsWith('/') ? asked.url : '/'}`,
        )
      : new URL(asked.url ?? '')
    if (target.protocol !== 'http:') return say(400, 'cerith: only http and CONNECT pass this proxy')
    const port = Number(target.port || 80)
    const named = (asked.headers.host ?? target.host).toLowerCase().replace(/:\d+$/, '')
    if (bare(named) !== bare(target.hostname))
      throw refuse(
        bare(target.hostname),
        port,
        `a request to ${bare(target.hostname)} named the host ${shown(bare(named))}`,
      )
    const address = await allowed(target.hostname, port)
    if (socket.destroyed) return
    const headers = Object.fromEntries(Object.entries(asked.headers).filter(([name]) => !HOP.has(name)))
    const out = httpRequest(
      {
        host: address,
        port,
        method: asked.method,
        path: `${target.pathname}${target.search}`,
        headers: { ...headers, host: target.host },
        agent: false,
      },
      (reply) => {
        // How long it is, is said anew to this client: one of HTTP/1.0 knows no chunks.
        const kept = Object.entries(reply.headers).filter(([name]) => !HOP.has(name) && name !== 'transfer-encoding')
        answer.writeHead(reply.statusCode ?? 502, Object.fromEntries(kept))
        pipeline(reply, answer, () => out.destroy())
      },
    )
    call.out = out
    out.on('error', () => {})
    // Also when it changed the protocol instead of answering.
    out.on('close', () => answer.headersSent || say(502, 'cerith: the host does not answer'))
    asked.pipe(out)
  } catch (error) {
    say(error.refused ? 403 : 502, `cerith: ${error.message}`)
  }
})
web.on('connect', async (asked, socket, first) => {
  const end = (status, text) =>
    socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: text/plain\r\n\r\ncerith: ${text}\n`)
  socket.on('error', () => {})
  // Each one leaves its listeners on the connection, and nothing would bound how many are in each other.
  if (socket.expected) return end('400 Bad Request', 'no tunnel in a tunnel')
  try {
    const [, host = '', port = '443'] = /^(\[[^\]]+\]|[^:]+):(\d+)$/.exec(asked.url ?? '') ?? []
    const address = await allowed(host, Number(port))
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    tunnel(socket, host, Number(port), address, first)
  } catch (error) {
    end(error.refused ? '403 Forbidden' : '502 Bad Gateway', error.message)
  }
})
// A client that has said everything still waits for its answer.
web.httpAllowHalfOpen = true
web.on('connection', (socket) => socket.on('end', () => socket.setTimeout(LAST_WORD_MS)))
web.timeout = IDLE_MS
// Without a listener for it, an offer to change the protocol (cargo's h2c, a WebSocket) is a request like any other:
// the offer is not passed on.
web.on('clientError', (error, socket) => socket.destroy())

/** SOCKS5 without authentication: CONNECT only, names preferred. */
function socks(socket, first) {
  let held = first
  let greeted = false
  const fail = (code) => socket.end(Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]))
  const look = async (chunk) => {
    held = Buffer.concat([held, chunk])
    if (!greeted) {
      if (held.length < 2 || held.length < 2 + held[1]) return
      held = held.subarray(2 + held[1])
      greeted = true
      socket.write(Buffer.from([5, 0]))
    }
    if (held.length < 5) return
    const kind = held[3]
    const size = kind === 1 ? 4 : kind === 4 ? 16 : kind === 3 ? 1 + held[4] : -1
    if (held[1] !== 1 || size < 0) return fail(7)
    if (held.length < 6 + size) return
    const part = held.subarray(4, 4 + size)
    const host =
      kind === 3
        ? part.toString('latin1', 1)
        : kind === 1
          ? [...part].join('.')
          : part.toString('hex').replace(/(.{4})(?!$)/g, '$1:')
    const port = held.readUInt16BE(4 + size)
    held = held.subarray(6 + size)
    socket.off('data', look).off('end', hangUp)
    socket.pause()
    try {
      const address = await allowed(host, port)
      socket.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
      tunnel(socket, host, port, address, held)
      socket.resume()
    } catch (error) {
      fail(error.refused ? 2 : 4)
    }
  }
  socket.on('data', look).on('end', hangUp)
  void look(Buffer.alloc(0))
}

// One port for both: a SOCKS5 greeting begins with 5, which no method of HTTP does.
const door = createTcpServer({ allowHalfOpen: true, pauseOnConnect: false }, (socket) => {
  socket.on('error', () => {})
  socket.setTimeout(IDLE_MS, () => socket.destroy())
  socket.on('end', hangUp)
  socket.once('data', (first) => {
    socket.off('end', hangUp)
    socket.pause()
    if (first[0] === 5) {
      socks(socket, first)
      socket.resume()
      return
    }
    socket.unshift(first)
    web.emit('connection', socket)
    socket.resume()
  })
})
door.maxConnections = MAX_CONNECTIONS
door.listen({ fd: LISTENER }, () => process.stdout.write('{"ready":true}\n'))
process.on('uncaughtException', () => {})

/** How long an engine at a place lives: as long as a client has it, and not because one was cut off in the middle. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createEngine, type Engine } from '../../src/index.js'
import { createReader, framesOf } from '../../src/reach/frames.js'
import { proofOf, WIRE_VERSION } from '../../src/reach/messages.js'
import { serveFar } from '../../src/reach/far/serve.js'
import { linked, temporaryFolder, until } from './harness.js'

test('a client that is cut off while the engine is being made does not keep it for ever', async () => {
  const far = serve(500)
  const socket = await far.connect()
  await greet(socket, far.key, 'first')
  await until(() => far.wanted(), 'the engine is being made')
  socket.destroy()
  // What answers here has read the end of the first connection before.
  const second = await far.connect()
  await challenged(second, 'second')
  second.destroy()
  far.make()
  expect(await far.ended).toBe(true)
})

test('what a client says that fits nothing costs its link or its call, and no other client', async () => {
  const far = serve(20_000)
  far.make()
  const other = await welcomed(far, 'other')
  for (const [kind, said] of [
    ['A', { ids: 5, heard: 0 }],
    ['C', { id: 2, verb: 'engine.run', args: { request: null } }],
    ['C', { id: 3, verb: 'engine.run', args: { request: { command: { '\0pattern': '(' } } } }],
  ] as const) {
    const { socket, heard } = await welcomed(far, `odd ${kind}`)
    say(socket, 'C', { id: 1, verb: 'engine.run', args: { request: { command: 'echo first' } } })
    say(socket, kind, said)
    const isOver = once(socket, 'close').then(() => 'closed')
    const answered = until(() => heard.some(([each, { error }]) => each === 'R' && error !== undefined)).then(() => 'R')
    expect(['closed', 'R']).toContain(await Promise.race([isOver, answered.catch(() => 'neither')]))
    socket.destroy()
  }
  say(other.socket, 'C', { id: 1, verb: 'engine.run', args: { request: { command: 'echo here' } } })
  await until(() => other.heard.some(([kind]) => kind === 'R'), 'the other is answered')
  expect(other.heard.find(([kind]) => kind === 'R')?.[1]).toMatchObject({ value: { stdout: 'here\n' } })
  say(other.socket, 'B', { how: 'close' })
  expect(await far.ended).toBe(true)
})

test('an error that nothing expected ends the engine there, and its clients read why', async () => {
  const file = join(temporaryFolder(), 'fail.cjs')
  writeFileSync(file, `process.on('SIGUSR2', () => void Promise.reject(new Error('a bug of ours')))`)
  const before = process.env['NODE_OPTIONS']
  onTestFinished(() => {
    if (before === undefined) delete process.env['NODE_OPTIONS']
    else process.env['NODE_OPTIONS'] = before
  })
  process.env['NODE_OPTIONS'] = `--require ${file}`
  const { engine, events } = await linked()
  const session = await engine.session()
  await session.run({ command: 'X=1' })
  const running = engine.stream({ command: 'echo begun; sleep 1000' })
  for await (const _ of running) break
  const pid = engine.place?.pid as number
  process.kill(pid, 'SIGUSR2')
  const why = 'the engine there failed (Error: a bug of ours) and was ended'
  expect((await running.outcome).end).toMatchObject({ kind: 'lost', reason: expect.stringContaining(why) })
  const { stdout, notes } = await session.run({ command: 'echo "X=$X"' })
  expect(stdout).toBe('X=\n')
  expect(notes.map(({ text }) => text).join()).toContain(why)
  expect(events).toContainEqual({ kind: 'gone', reason: why })
  expect(engine.place?.pid).not.toBe(pid)
})

/** The far half in this process; its engine is made when the test says so. */
function serve(leaseMs: number) {
  const runDir = join(temporaryFolder(), 'far-run')
  mkdirSync(runDir, { mode: 0o700 })
  const key = randomBytes(32)
  let isWanted = false
  let make!: () => void
  const may = new Promise<void>((resolve) => (make = resolve))
  const made = async (options: Parameters<typeof createEngine>[0]): Promise<Engine> => {
    isWanted = true
    await may
    return createEngine({ ...options, stateDir: join(runDir, 'state') })
  }
  const ended = serveFar({
    runDir,
    baseDir: runDir,
    build: 'this',
    leaseMs,
    key: key.toString('hex'),
    createEngine: made,
  })
  const connect = async (): Promise<Socket> => {
    for (;;) {
      const socket = createConnection(join(runDir, 'sock'))
      const isUp = await new Promise<boolean>((resolve) => {
        socket.once('connect', () => resolve(true))
        socket.once('error', () => resolve(false))
      })
      if (isUp) return socket
    }
  }
  return { key, ended, make, connect, wanted: () => isWanted }
}

/** The first step: gives the number that was asked. */
async function challenged(socket: Socket, client: string): Promise<string> {
  const answer = new Promise<string>((resolve) =>
    socket.on(
      'data',
      createReader((_, payload) => resolve((JSON.parse(payload.toString()) as { nonce: string }).nonce)),
    ),
  )
  send(socket, { version: WIRE_VERSION, client, nonce: 'n' })
  return answer
}

/** Both steps; the welcome is not waited for. */
async function greet(socket: Socket, key: Buffer, client: string): Promise<void> {
  const nonce = await challenged(socket, client)
  const proof = proofOf(key, 'near', client, 'n', nonce)
  send(socket, { proof, options: {}, keep: false, events: false, pending: [], heard: 0 })
}

/** A client that may call, and everything that it is told. */
async function welcomed(far: ReturnType<typeof serve>, client: string) {
  const socket = await far.connect()
  const heard: [string, Record<string, unknown>][] = []
  socket.on('error', () => {})
  socket.on(
    'data',
    createReader((kind, payload) => heard.push([kind, JSON.parse(payload.toString()) as Record<string, unknown>])),
  )
  await greet(socket, far.key, client)
  await until(() => heard.filter(([kind]) => kind === 'h').length === 2, 'it is welcomed')
  return { socket, heard }
}

function send(socket: Socket, hello: object): void {
  say(socket, 'H', hello)
}

function say(socket: Socket, kind: string, message: object): void {
  socket.write(Buffer.concat(framesOf(kind, JSON.stringify(message))))
}

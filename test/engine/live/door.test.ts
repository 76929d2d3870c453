/** The engine's live socket: what another process of the user sees and may do while commands run. */
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { announcePresence } from '../../../src/audit/presence.js'
import { sendAnswer } from '../../../src/engine/live/answer.js'
import { EngineWatch, lookOnce, type WatchEvent } from '../../../src/engine/live/watch.js'
import type { Engine } from '../../../src/index.js'
import type { AuditEntry } from '../../../src/engine/services/audit-sink.js'
import { approveElsewhere } from '../../fixtures/approve.js'
import { temporaryFolder, testEngine, until } from '../harness.js'

const ASKING = { rules: [{ name: 'ask-touch', decision: 'ask', commands: ['touch *'] }] } as const
const watches: EngineWatch[] = []
afterEach(() => {
  for (const watch of watches.splice(0)) watch.close()
})

interface Seen {
  readonly stateDir: string
  readonly engine: Engine
  readonly watch: EngineWatch
  readonly events: WatchEvent['said'][]
  readonly audited: AuditEntry[]
  send(order: object): void
  heard(t: string): Promise<WatchEvent['said']>
}

async function watched({
  approves = false,
  ...options
}: { approves?: boolean; policy?: typeof ASKING } = {}): Promise<Seen> {
  const stateDir = join(temporaryFolder(), 'state')
  const audited: AuditEntry[] = []
  const engine = await testEngine({ stateDir, audit: { write: (entry) => audited.push(entry) }, ...options })
  const events: WatchEvent['said'][] = []
  const watch = new EngineWatch({ stateDir, approves, onEvent: ({ said }) => events.push(said) })
  watches.push(watch)
  watch.start()
  await until(() => watch.engines.get(engine.id)?.state === 'live', 'the engine is seen')
  // Orders are taken one after the other: with an answer to this one the engine knows who approves.
  const lists = (): number => events.filter(({ t }) => t === 'sessions').length
  const before = lists()
  watch.engines.get(engine.id)!.send({ do: 'sessions' })
  await until(() => lists() > before + (before === 0 ? 1 : 0), 'an answer')
  const heard = async (t: string): Promise<WatchEvent['said']> => {
    await until(() => events.some((said) => said.t === t), t)
    return events.find((said) => said.t === t)!
  }
  return { stateDir, engine, watch, events, audited, send: (order) => watch.engines.get(engine.id)!.send(order), heard }
}

const textOf = (events: readonly WatchEvent['said'][]): string =>
  events
    .filter(({ t }) => t === 'out')
    .map((said) => said['text'])
    .join('')

describe('looking', () => {
  test('the socket is private, and gone with the engine', async () => {
    const { stateDir, engine } = await watched()
    const path = join(stateDir, 'run', engine.id, 'live')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await engine.close()
    expect(existsSync(path)).toBe(false)
  })

  test('a foreground command is seen with its session, its masked output as it comes, and its end', async () => {
    const { engine, events, heard, send } = await watched()
    engine.secrets.set('T', 'super-secret-value-42')
    const session = await engine.session('main')
    const run = session.run({
      command: 'echo {{secret:T}}; read -t 30 x < <(sleep 30); echo over',
      description: 'waits',
    })
    const begun = await heard('begin')
    expect(begun).toMatchObject({
      session: 'main',
      command: expect.stringContaining('{{secret:T}}'),
      description: 'waits',
    })
    send({ do: 'follow', run: begun['run'] })
    await until(() => textOf(events).includes('[secret:T]'), 'the output')
    expect(textOf(events)).not.toContain('super-secret')
    send({ do: 'look' })
    expect(await heard('lines')).toMatchObject({ all: [{ run: begun['run'], lastLine: '[secret:T]' }] })
    send({ do: 'interrupt', run: begun['run'] })
    const outcome = await run
    expect(await heard('end')).toMatchObject({ run: begun['run'], status: outcome.status, session: 'main' })
  })

  test('who comes later gets what is in memory, once', async () => {
    const { engine, events, heard, send } = await watched()
    const run = engine.run({ command: 'echo early; sleep 30' })
    const begun = await heard('begin')
    await until(() => {
      send({ do: 'look' })
      return JSON.stringify(events).includes('"lastLine":"early"')
    }, 'the output in memory')
    send({ do: 'follow', run: begun['run'] })
    send({ do: 'follow', run: begun['run'] })
    await until(() => textOf(events).includes('early'), 'the output')
    send({ do: 'kill', run: begun['run'] })
    expect((await run).status).toBe('killed')
    await heard('end')
    expect(textOf(events)).toBe('early\n')
  })

  test('sessions are told with their directory; one look gives everything at once', async () => {
    const { engine, stateDir } = await watched()
    const session = await engine.session('build')
    await session.run({ command: 'cd /tmp' })
    const run = session.run({ command: 'echo here; sleep 30' })
    await until(async () => {
      const watch = await lookOnce(stateDir, null)
      watch.close()
      const seen = watch.engines.get(engine.id)
      return [...(seen?.calls.values() ?? [])][0]?.lastLine === 'here' && seen?.sessions[0]?.cwd === '/tmp'
    }, 'the session and its command')
    await session.close()
    await run.catch(() => {})
  })

  test('rubbish from a peer ends its connection and nothing else', async () => {
    const { engine, stateDir } = await watched()
    const { connect } = await import('node:net')
    for (const text of ['{"do":\n', '[]\n', `"${'x'.repeat(2_000_000)}`, '{"do":"answer","id":1}\n']) {
      const socket = connect(join(stateDir, 'run', engine.id, 'live'))
      socket.on('error', () => {})
      socket.resume()
      socket.write(text)
      await new Promise((resolve) => socket.once('close', resolve))
    }
    expect((await engine.run({ command: 'echo fine' })).stdout).toBe('fine\n')
  })

  test('a flood does not wait for a peer that does not read, which is told what it missed', async () => {
    const { engine, stateDir } = await watched()
    const { connect } = await import('node:net')
    const socket = connect(join(stateDir, 'run', engine.id, 'live'))
    const session = await engine.session()
    const release = session.run({
      command: 'read -t 60 x < <(sleep 1); seq 1 4000000',
      clip: { kind: 'ends', maxChars: 100 },
    })
    let text = ''
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const begun = /"t":"begin","run":(\d+)/.exec(text)
      if (!begun) return
      socket.pause()
      socket.removeAllListeners('data')
      socket.write(`{"do":"follow","run":${begun[1]}}\n`)
    })
    expect((await release).exitCode).toBe(0)
    let rest = ''
    socket.on('data', (chunk: string) => (rest += chunk))
    socket.resume()
    await until(() => rest.includes('"t":"end"'), 'the end')
    const missed = [...rest.matchAll(/"missed":(\d+)/g)].reduce((sum, [, bytes]) => sum + Number(bytes), 0)
    expect(missed).toBeGreaterThan(20_000_000)
    expect(rest.length).toBeLessThan(8_000_000)
    socket.destroy()
  })
})

describe('orders', () => {
  test('to the background: the call goes on as a job', async () => {
    const { engine, heard, send } = await watched()
    const run = engine.run({ command: 'echo begun; sleep 30' })
    const begun = await heard('begin')
    send({ do: 'background', run: begun['run'] })
    const outcome = await run
    expect(outcome.status).toBe('running')
    await (await engine.job(outcome.id as string)).kill()
  })

  test('are in the audit log with who gave them', async () => {
    const { engine, heard, send, audited } = await watched()
    const run = engine.run({ command: 'sleep 30' })
    const begun = await heard('begin')
    send({ do: 'kill', run: begun['run'] })
    await run
    expect(audited.find(({ kind }) => kind === 'kill')).toMatchObject({
      command: 'sleep 30',
      by: expect.stringMatching(new RegExp(`: \\S+.* ${process.pid}`)),
    })
  })
})

describe('answers', () => {
  test('a call waits for a person who watches, goes on with exactly that yes, and the record says who and how long', async () => {
    const { engine, watch, heard, audited } = await watched({ policy: ASKING, approves: true })
    const session = await engine.session('s')
    await until(() => watch.engines.get(engine.id)?.state === 'live')
    const run = session.run({ command: 'touch ran' })
    expect(await heard('ask')).toMatchObject({ command: 'touch ran', session: 's', isWaiting: true })
    sendAnswer(watch, watch.asks()[0]!.ask, 'once')
    expect((await run).status).toBe('completed')
    expect(readdirSync(engine.cwd)).toEqual(['ran'])
    expect(await heard('answered')).toMatchObject({ as: 'once' })
    expect(audited.find(({ kind }) => kind === 'approve')).toMatchObject({
      command: 'touch ran',
      session: 's',
      status: 'once',
      by: expect.stringContaining(String(process.pid)),
      waitedMs: expect.any(Number),
    })
    expect(watch.asks()).toEqual([])
  })

  test('a no is a no, and is written down', async () => {
    const { engine, watch, heard, audited } = await watched({ policy: ASKING, approves: true })
    const run = engine.run({ command: 'touch ran' })
    await heard('ask')
    sendAnswer(watch, watch.asks()[0]!.ask, 'deny')
    expect((await run).refused?.reason).toContain('declined')
    expect(audited.map(({ kind }) => kind)).toEqual(['deny', 'refused'])
  })

  test('one yes lets one of two equal calls go on', async () => {
    const { engine, watch, events } = await watched({ policy: ASKING, approves: true })
    const runs = [engine.run({ command: 'touch ran' }), engine.run({ command: 'touch ran' })]
    await until(() => events.filter(({ t }) => t === 'ask').length === 2, 'both wait')
    sendAnswer(watch, watch.asks()[0]!.ask, 'once')
    const first = await Promise.race(runs)
    expect(first.status).toBe('completed')
    await until(() => watch.asks().length === 1, 'the other is still asked')
    sendAnswer(watch, watch.asks()[0]!.ask, 'deny')
    expect((await Promise.all(runs)).map(({ status }) => status).sort()).toEqual(['completed', 'refused'])
  })

  test('the caller’s function and a terminal race: the first wins, and the other is told', async () => {
    const { engine, watch, heard } = await watched({ policy: ASKING })
    let told = false
    const run = engine.run({
      command: 'touch ran',
      ask: ({ signal }) =>
        new Promise((resolve) =>
          signal?.addEventListener('abort', () => {
            told = true
            resolve(null)
          }),
        ),
    })
    await heard('ask')
    sendAnswer(watch, watch.asks()[0]!.ask, 'once')
    expect((await run).status).toBe('completed')
    expect(told).toBe(true)
    const second = await engine.run({ command: 'touch ran', ask: async () => 'deny' })
    expect(second.status).toBe('refused')
    await until(() => watch.asks().length === 0, 'the watcher is told')
  })

  test('a no of the same moment beats a yes', async () => {
    const { engine, watch, heard } = await watched({ policy: ASKING, approves: true })
    const run = engine.run({ command: 'touch ran' })
    await heard('ask')
    const { ask } = watch.asks()[0]!
    sendAnswer(watch, ask, 'once')
    sendAnswer(watch, ask, 'deny')
    expect((await run).status).toBe('refused')
  })

  test('a yes for the session ends when the script that it starts changes', async () => {
    const asking = { rules: [{ name: 'ask-script', decision: 'ask', commands: ['deploy.sh*', 'deploy.sh'] }] } as const
    const { engine, stateDir } = await watched({ policy: asking as never })
    const { chmodSync, writeFileSync } = await import('node:fs')
    const script = join(engine.cwd, 'deploy.sh')
    writeFileSync(script, '#!/bin/sh\necho one\n')
    chmodSync(script, 0o755)
    const command = './deploy.sh'
    expect((await engine.run({ command, ask: async () => 'session' })).stdout).toBe('one\n')
    expect((await engine.run({ command })).stdout).toBe('one\n')
    writeFileSync(script, '#!/bin/sh\necho another\n')
    const changed = await engine.run({ command })
    expect(changed.status).toBe('refused')
    expect(await approveElsewhere(stateDir, changed.approvalId as string)).toBe(true)
    expect((await engine.run({ command })).stdout).toBe('another\n')
  })

  test('a call that is called off while it waits ends at once', async () => {
    const { engine, heard } = await watched({ policy: ASKING, approves: true })
    const off = new AbortController()
    const run = engine.run({ command: 'touch ran', signal: off.signal })
    await heard('ask')
    off.abort()
    expect((await run).status).toBe('killed')
  })

  test('an engine of a moment waits for a watcher that has announced itself', async () => {
    const stateDir = join(temporaryFolder(), 'state')
    const leave = announcePresence(stateDir)
    const watch = new EngineWatch({
      stateDir,
      approves: true,
      onEvent: ({ said }) => said.t === 'ask' && sendAnswer(watch, watch.asks()[0]!.ask, 'once'),
    })
    watches.push(watch)
    watch.start()
    const engine = await testEngine({ stateDir, policy: ASKING })
    expect((await engine.run({ command: 'touch ran' })).status).toBe('completed')
    leave()
    watch.approves = false
    await until(async () => (await engine.run({ command: 'touch ran' })).status === 'refused', 'the person has left')
  })

  test('closing the engine ends the waiting', async () => {
    const { engine, heard } = await watched({ policy: ASKING, approves: true })
    const run = engine.run({ command: 'touch ran' })
    await heard('ask')
    await engine.close()
    expect((await run).status).toBe('refused')
  })
})

test('a state directory that became a file costs the host nothing when the engine closes', async () => {
  const problems: unknown[] = []
  const hear = (problem: unknown): void => void problems.push(problem)
  process.on('unhandledRejection', hear)
  const { engine, stateDir } = await watched()
  rmSync(stateDir, { recursive: true })
  writeFileSync(stateDir, '')
  await engine.close()
  await new Promise((next) => setImmediate(next))
  process.off('unhandledRejection', hear)
  rmSync(stateDir)
  expect(problems).toEqual([])
})

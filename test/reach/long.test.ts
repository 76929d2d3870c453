/** Messages that travel in pieces: what is said about a call comes after it, and a close waits for them. */
import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { expect, test } from 'vitest'
import type { OpenLink } from '../../src/reach/near/link.js'
import { linked, temporaryFolder, until } from './harness.js'

test('a call of many pieces is stopped by an order that was given while they were on their way', async () => {
  const link = await linked()
  const input = Buffer.alloc(8 * 1024 * 1024, 'a')
  const run = link.engine.stream({ command: 'sleep 1000', input, timeoutMs: 20_000 })
  await new Promise((next) => setImmediate(next))
  run.kill()
  expect(await run.outcome).toMatchObject({ status: 'killed' })
})

test('an order for a call of many pieces is given again with the next link, behind the call', async () => {
  const link = await linked()
  const input = Buffer.alloc(8 * 1024 * 1024, 'a')
  for (const pid of link.linkPids()) process.kill(pid, 'SIGSTOP')
  const run = link.engine.stream({ command: 'sleep 1000', input, timeoutMs: 20_000 })
  await new Promise((next) => setImmediate(next))
  run.kill()
  await link.cut()
  expect(await run.outcome).toMatchObject({ status: 'killed' })
})

test('a long result arrives whole when its engine is closed behind it', async () => {
  const folder = temporaryFolder()
  const link = await linked({ cwd: folder })
  const session = await link.engine.session()
  // Each byte of it takes six on the way.
  const command = "head -c 900000 /dev/zero | tr '\\0' '\\1'; touch printed; sleep 1000"
  const running = session.run({ command, clip: { kind: 'none' } })
  await until(() => existsSync(join(folder, 'printed')), 'the command has printed')
  await link.engine.close()
  const { stdout, notes } = await running
  expect([stdout.length, notes]).toEqual([900_000, []])
})

test('a result longer than a message says so, and the engine there goes on', { timeout: 60_000 }, async () => {
  const link = await linked()
  const job = await link.engine.start({ command: 'head -c 30000000 /dev/zero' })
  await job.wait()
  const whole = { maxBytes: 30_000_000, encoding: 'latin1' } as const
  await expect(job.read(whole)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  expect((await job.read({ ...whole, maxBytes: 1_000 })).text).toHaveLength(1_000)
  expect(link.events).toEqual([])
})

test('no news are taken for old ones after a cut because a long one came behind them', async () => {
  const lines: string[] = []
  const audit = { write: ({ command }: { command: string }) => void lines.push(command) }
  const folder = temporaryFolder()
  const link = await linked({ cwd: folder, audit })
  const wait = 'while [ ! -e go ]; do sleep 0.02; done'
  const long = `touch one; ${wait}; touch ended; : ${'x'.repeat(700_000)}`
  const short = `touch two; ${wait}; sleep 0.3; touch too`
  const running = [long, short].map((command) => link.engine.run({ command, timeoutMs: 30_000 }))
  await link.engine.run({ command: 'true' })
  const are = (...names: string[]): boolean => names.every((name) => existsSync(join(folder, name)))
  await until(() => lines.length === 1 && are('one', 'two'), 'the first line is there, and both have begun')
  link.blocked = true
  await link.cut()
  writeFileSync(join(folder, 'go'), '')
  await until(() => are('ended', 'too'), 'both have ended')
  link.blocked = false
  await Promise.all(running)
  await link.engine.close()
  expect(lines.map(({ length }) => length).sort((a, b) => a - b)).toEqual([4, short.length, long.length])
})

test('a long call over a slow way is no silence', { timeout: 60_000 }, async () => {
  // 400 kB take 2 s here, which is longer than three beats.
  const slow = (link: OpenLink): OpenLink => {
    const narrow = new Transform({
      highWaterMark: 4 * 1024 * 1024,
      transform(chunk: Buffer, _, next) {
        setTimeout(() => next(null, chunk), chunk.length / 200)
      },
    })
    narrow.pipe(link.output)
    return { ...link, output: narrow }
  }
  const link = await linked({ reach: { beatMs: 200 } }, undefined, slow)
  const input = Buffer.alloc(300_000, 'a')
  expect((await link.engine.run({ command: 'wc -c', input })).stdout.trim()).toBe('300000')
  expect(link.events).toEqual([])
})

test('what is typed at once, however much, arrives whole and in order', async () => {
  const { engine, events } = await linked()
  const job = await engine.start({ command: 'stty raw -echo; echo ready; head -c 600000 | sha256sum', pty: true })
  await job.wait({ until: /ready/ })
  const attached = await job.attach({ by: 't', size: { cols: 80, rows: 24 }, readOnly: false, show: () => {} })
  const typed = Buffer.from(Array.from({ length: 100_000 }, (_, i) => String(i).padStart(6, '0')).join(''))
  attached.type(typed.subarray(0, 500_000))
  attached.type(typed.subarray(500_000))
  await attached.done
  expect((await job.read()).text).toContain(createHash('sha256').update(typed).digest('hex'))
  expect(events).toEqual([])
})

test.each(['whole', 'cut'])('a command that is given behind a long one of its session runs behind it, and others do not wait: a link that is %s', async (how) => {
  const link = await linked({ cwd: temporaryFolder() })
  const [session, other] = [await link.engine.session(), await link.engine.session('other')]
  if (how === 'cut') for (const pid of link.linkPids()) process.kill(pid, 'SIGSTOP')
  const over: string[] = []
  const told = async (name: string, run: Promise<{ stdout: string }>): Promise<string> => {
    const { stdout } = await run
    over.push(name)
    return stdout
  }
  const said = [
    told('long', session.run({ command: 'cat > f; wc -c < f', input: Buffer.alloc(16 * 1024 * 1024, 'a') })),
    told('behind', session.run({ command: 'wc -c < f; rm f' })),
    told('last', session.run({ command: 'ls' })),
    told('other', other.run({ command: 'echo here' })),
  ]
  if (how === 'cut') await link.cut()
  expect(await Promise.all(said)).toEqual(['16777216\n', '16777216\n', '', 'here\n'])
  expect(over).toEqual(['other', 'long', 'behind', 'last'])
}) // prettier-ignore

/** However a client goes, nothing that was started for it stays; and stdout carries the protocol only. */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterAll, describe, expect, test } from 'vitest'
import { bundled } from './bundle.js'
import { eventually, processesWith, scratch, serverEnv, stdio, type Connected } from './harness.js'

const place = scratch()
afterAll(() => place.dispose())

/** A duration that no other process on the machine sleeps for. */
const mark = (): string => `987.${randomInt(1e6, 1e7)}`
const gone = (sleeping: string): Promise<boolean> => eventually(() => processesWith(sleeping).length === 0, 10_000)
const running = (sleeping: string, count: number): Promise<boolean> => eventually(() => processesWith(sleeping).length >= count, 10_000)

/** A foreground command with a child that left by setsid, and one that ignores the polite signal. */
const family = (sleeping: string): string => `setsid sleep ${sleeping} & (trap '' TERM; sleep ${sleeping}) & sleep ${sleeping}`

async function busy(sleeping: string): Promise<{ host: Connected; answer: Promise<unknown> }> {
  const host = await stdio({ era: 'legacy', dir: place.dir })
  const answer = host.call('Bash', { command: family(sleeping) }).catch((error: unknown) => error)
  expect(await running(sleeping, 3)).toBe(true)
  return { host, answer }
}

describe('the end of a client', () => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    test(`${signal} ends foreground work with its setsid children and those that ignore TERM`, async () => {
      const sleeping = mark()
      const { host, answer } = await busy(sleeping)
      process.kill(host.pid, signal)
      expect(await gone(sleeping)).toBe(true)
      await answer
      await host.client.close()
    })
  }

  test('end of input ends everything', async () => {
    const sleeping = mark()
    const { host, answer } = await busy(sleeping)
    await host.client.close()
    expect(await gone(sleeping)).toBe(true)
    await answer
  })

  test('a server killed with -9 leaves nothing running', async () => {
    const sleeping = mark()
    const { host, answer } = await busy(sleeping)
    process.kill(host.pid, 'SIGKILL')
    expect(await gone(sleeping)).toBe(true)
    await answer
    await host.client.close()
  })

  for (const sibling of [false, true]) {
    test(`a host killed with -9 takes the server and its work along${sibling ? ', even when a sibling holds its stdin open' : ''}`, async () => {
      const sleeping = mark()
      const host = spawn(process.execPath, [await bundled('host'), JSON.stringify({ server: await bundled('stdio'), options: {}, command: family(sleeping), sibling })], {
        env: serverEnv(place.dir),
        cwd: place.dir,
        stdio: ['ignore', 'pipe', 'ignore'],
      })
      const [line] = (await once(createInterface({ input: host.stdout }), 'line')) as [string]
      expect(await running(sleeping, 3)).toBe(true)
      host.kill('SIGKILL')
      expect(await gone(sleeping)).toBe(true)
      expect(await eventually(() => !isAlive(Number(line)))).toBe(true)
    })
  }
})

test('stdout carries the protocol only, whatever a dependency prints', async () => {
  const child = spawn(process.execPath, [await bundled('stdio')], { env: serverEnv(place.dir, { TEST_NOISE: '1' }), cwd: place.dir, stdio: ['pipe', 'pipe', 'pipe'] })
  const lines: string[] = []
  let noise = ''
  child.stderr.on('data', (chunk: Buffer) => (noise += chunk))
  const answered = new Promise<void>((resolve) =>
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line)
      if (line.includes('"id":3')) resolve()
    }),
  )
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } } })
  send({ method: 'notifications/initialized' })
  send({ id: 2, method: 'tools/list' })
  send({ id: 3, method: 'tools/call', params: { name: 'Bash', arguments: { command: 'echo hi >/dev/stderr; sleep 0.2; echo there' } } })
  await answered
  child.stdin.end()
  await once(child, 'exit')
  expect(lines.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2, 3])
  expect(noise).toContain('noise')
})

test('garbage, half a message and a forged answer on stdin do not stop the server', async () => {
  const child = spawn(process.execPath, [await bundled('stdio')], { env: serverEnv(place.dir), cwd: place.dir, stdio: ['pipe', 'pipe', 'ignore'] })
  const lines = createInterface({ input: child.stdout })
  child.stdin.write('not json\n{"jsonrpc":"2.0"}\n[]\n{"jsonrpc":"2.0","id":99,"result":{}}\n\0\0\n')
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } } })}\n`)
  const [line] = (await once(lines, 'line')) as [string]
  expect(JSON.parse(line)).toMatchObject({ id: 1, result: { serverInfo: { name: 'cerith' } } })
  child.stdin.end()
  const [code] = (await once(child, 'exit')) as [number]
  expect(code).toBe(0)
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

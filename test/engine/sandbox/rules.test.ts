/**
 * Rules of the sandbox that neither an escape attempt nor another test plays; the table in THREAT_MODEL.md says where
 * each one is.
 */
import { copyFileSync, lstatSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { processesNamed, uniqueSeconds, until } from '../harness.js'
import { canConfine, ground } from './harness.js'

describe.skipIf(!canConfine)('rules of the sandbox', () => {
  test.each([['/'], ['/proc'], ['/dev/shm'], ['/run']])('2: %s is never made writable', async (path) => {
    const { engine } = await ground({ write: [path] })
    await expect(engine.run({ command: 'true' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  })

  test('9: more paths than a room can hold are a failure, not a shorter list', async () => {
    const { engine } = await ground({ hide: Array.from({ length: 5_000 }, (_, at) => `/srv/none/${at}`) })
    await expect(engine.run({ command: 'echo ran' })).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining('more paths') as string,
    })
  })

  test('14: a command that calls itself like the init of a room is ended like any other', async () => {
    const { engine, work } = await ground()
    copyFileSync('/bin/sleep', join(work, 'cerith-init'))
    const seconds = uniqueSeconds()
    const session = await engine.session()
    await session.run({ command: 'kept=1' })
    const outcome = await session.run({ command: `chmod +x cerith-init; ./cerith-init ${seconds}`, timeoutMs: 500 })
    expect(outcome.status).toBe('timeout')
    await until(() => processesNamed(seconds).length === 0)
    expect((await session.run({ command: 'echo $kept' })).stdout).toBe('1\n')
  })

  test('15: with the network of the machine its abstract sockets stay closed', async () => {
    const name = `cerith-test-${process.pid}`
    const server = createServer((socket) => socket.end('reached')).listen(`\0${name}`)
    await new Promise((resolve) => server.once('listening', resolve))
    try {
      const { engine } = await ground({ network: 'all' })
      const script = `require('net').connect('\\0${name}').on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code))`
      const outcome = await engine.run({ command: ['node', '-e', script], timeoutMs: 20_000 })
      expect(outcome.stdout).toBe('EPERM\n')
    } finally {
      server.close()
    }
  })

  test.each([{}, { tier: 'landlock' as const }])('21: no session reaches the pipes of another, %o', async (tier) => {
    const { engine, work } = await ground(tier)
    const [one, other] = [await engine.session('one'), await engine.session('other')]
    await other.run({ command: 'true' })
    const held = await one.run({ command: 'readlink /proc/$$/fd/* | grep -m1 ^/dev/shm/cerith-' })
    const files = dirname(dirname(held.stdout.trim()))
    const pipes = readdirSync(files, { recursive: true, encoding: 'utf8' })
      .map((name) => join(files, name))
      .filter((path) => lstatSync(path).isFIFO())
    expect(pipes.length).toBeGreaterThan(4)
    // In a script: the guard refuses the words alone.
    const each = pipes.map((path) => `{ : 9<>${path}; } 2>/dev/null && echo ${dirname(path)}`)
    writeFileSync(join(work, 'look.sh'), `${each.join('\n')}\n`)
    const look = { command: 'bash look.sh | sort -u' }
    // Its own can be opened; those of the other, and of the session that comes next, cannot.
    const [byOne, byOther] = [(await one.run(look)).stdout, (await other.run(look)).stdout]
    expect([byOne, byOther].map((text) => text.split('\n').length)).toEqual([2, 2])
    expect(byOne).not.toBe(byOther)
    expect((await engine.run({ ...look, sandbox: { profile: 'read-only' } })).stdout).toBe('')
  })

  test('22: a stricter policy has caches and a /tmp of its own', async () => {
    const { engine } = await ground()
    const look = { command: 'echo "$npm_config_cache"; ls /tmp' }
    await engine.run({ command: 'echo x >/tmp/of-the-first' })
    const [own, other] = [await engine.run(look), await engine.run({ ...look, sandbox: { profile: 'strict' } })]
    expect(own.stdout).toContain('of-the-first')
    expect(other.stdout).not.toContain('of-the-first')
    expect(other.stdout.split('\n')[0]).not.toBe(own.stdout.split('\n')[0])
  })

  test('25: no core is written, also not into a pipe', async () => {
    const { engine } = await ground()
    const { stdout } = await engine.run({ command: 'grep "Max core" /proc/self/limits' })
    expect(stdout).toMatch(/Max core file size\s+[01]\s+[01]\s/)
  })
})

/** However a client goes, nothing that was started for it stays; and stdout carries the protocol only. */
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, test } from 'vitest'
import { createEngine } from '../../../src/index.js'
import { bundled } from '../bundle.js'
import { processesWith, scratch, serverEnv, stdio, structuredOf, textOf, type Connected } from '../harness.js'
import { temporaryFolder } from '../../fixtures/folder.js'
import { until } from '../../fixtures/until.js'

const place = scratch()

/** A duration that no other process on the machine sleeps for. */
const mark = (): string => `987.${randomInt(1e6, 1e7)}`
const gone = (sleeping: string): Promise<boolean> => until(() => processesWith(sleeping).length === 0)
const running = (sleeping: string, count: number): Promise<boolean> =>
  until(() => processesWith(sleeping).length >= count)

/** A foreground command with a child that left by setsid, and one that ignores the polite signal. */
const family = (sleeping: string): string =>
  `setsid sleep ${sleeping} & (trap '' TERM; sleep ${sleeping}) & sleep ${sleeping}`

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

  test.each([
    [
      'that ends by itself',
      'echo one; sleep 0.05; echo two; exit 3',
      { status: 'failed', exit_code: 3, stdout: 'one\ntwo\n' },
    ],
    ['that would go on', `echo begun; sleep ${mark()}`, { status: 'killed', stdout: 'begun\n' }],
    [
      'that does not heed the end',
      `trap '' TERM; echo deaf; while :; do sleep ${mark()}; done`,
      { status: 'killed', stdout: 'deaf\n' },
    ],
  ])(
    'a call %s is answered when its client asks and closes its side, as `printf ... | cerith mcp` does',
    async (_, command, expected) => {
      const child = spawn(process.execPath, [await bundled('stdio')], {
        env: serverEnv(place.dir),
        cwd: place.dir,
        stdio: ['pipe', 'pipe', 'ignore'],
      })
      const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
      const messages = [
        { id: 1, method: 'initialize', params: hello },
        { method: 'notifications/initialized' },
        { id: 2, method: 'tools/call', params: { name: 'Bash', arguments: { command } } },
      ]
      child.stdin.end(messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''))
      const answers: { id: number; result: { structuredContent: object } }[] = []
      createInterface({ input: child.stdout }).on('line', (line) =>
        answers.push(JSON.parse(line) as (typeof answers)[number]),
      )
      const [code] = (await once(child, 'close')) as [number]
      expect(code).toBe(0)
      expect(answers.map(({ id }) => id)).toEqual([1, 2])
      expect(answers[1]?.result.structuredContent).toMatchObject(expected)
    },
  )

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
      const host = spawn(
        process.execPath,
        [
          await bundled('host'),
          JSON.stringify({ server: await bundled('stdio'), options: {}, command: family(sleeping), sibling }),
        ],
        {
          env: serverEnv(place.dir),
          cwd: place.dir,
          stdio: ['ignore', 'pipe', 'ignore'],
        },
      )
      const [line] = (await once(createInterface({ input: host.stdout }), 'line')) as [string]
      expect(await running(sleeping, 3)).toBe(true)
      host.kill('SIGKILL')
      expect(await gone(sleeping)).toBe(true)
      await until(() => !isAlive(Number(line)))
    })
  }
})

test('stdout carries the protocol only, whatever a dependency prints', async () => {
  const child = spawn(process.execPath, [await bundled('stdio')], {
    env: serverEnv(place.dir, { TEST_NOISE: '1' }),
    cwd: place.dir,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
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
  send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
  })
  send({ method: 'notifications/initialized' })
  send({ id: 2, method: 'tools/list' })
  send({
    id: 3,
    method: 'tools/call',
    params: { name: 'Bash', arguments: { command: 'echo hi >/dev/stderr; sleep 0.2; echo there' } },
  })
  await answered
  child.stdin.end()
  await once(child, 'exit')
  expect(lines.map((line) => (JSON.parse(line) as { id: number }).id)).toEqual([1, 2, 3])
  expect(noise).toContain('noise')
})

describe.each(['sockets', 'pipes'])('over %s', (kind) => {
  test('a client that is slow to read gets every answer whole and in order; a message in many pieces arrives as it was', async () => {
    const program = [process.execPath, await bundled('stdio')] as const
    const options = { env: serverEnv(place.dir), cwd: place.dir }
    const child =
      kind === 'sockets'
        ? spawn(program[0], [program[1]], options)
        : spawn('bash', ['-c', 'cat | "$0" "$1" | cat', ...program], options)
    const send = (message: object): void =>
      void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    send({
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    })
    send({ method: 'notifications/initialized' })
    const lists = Array.from({ length: 600 }, (_, at) => at + 2)
    for (const id of lists) send({ id, method: 'tools/list' })
    // The client stops reading: the server fills the pipe and has to keep the rest.
    expect(
      await until(
        () => child.stdout.read(0) === null && child.stdout.readableLength >= child.stdout.readableHighWaterMark,
      ),
    ).toBe(true)
    const long = 'é😀'.repeat(50_000)
    const lines: { id: number; result: { tools?: unknown[]; structuredContent?: { stdout: string } } }[] = []
    const answered = new Promise<void>((resolve) =>
      createInterface({ input: child.stdout }).on('line', (line) => {
        lines.push(JSON.parse(line) as (typeof lines)[number])
        if (lines.at(-1)?.id === lists.length + 1)
          send({
            id: 0,
            method: 'tools/call',
            params: { name: 'Bash', arguments: { command: `printf %s '${long}' | wc -c` } },
          })
        if (lines.at(-1)?.id === 0) resolve()
      }),
    )
    await answered
    child.stdin.end()
    await once(child, 'exit')
    expect(lines.map(({ id }) => id)).toEqual([1, ...lists, 0])
    expect(lines.slice(1, -1).every(({ result }) => result.tools?.length === 5)).toBe(true)
    expect(lines.at(-1)?.result.structuredContent?.stdout.trim()).toBe(String(Buffer.byteLength(long)))
  })
})

test('garbage, half a message and a forged answer on stdin do not stop the server', async () => {
  const child = spawn(process.execPath, [await bundled('stdio')], {
    env: serverEnv(place.dir),
    cwd: place.dir,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const lines = createInterface({ input: child.stdout })
  child.stdin.write('not json\n{"jsonrpc":"2.0"}\n[]\n{"jsonrpc":"2.0","id":99,"result":{}}\n\0\0\n')
  child.stdin.write(
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } } })}\n`,
  )
  const [line] = (await once(lines, 'line')) as [string]
  expect(JSON.parse(line)).toMatchObject({ id: 1, result: { serverInfo: { name: 'cerith' } } })
  child.stdin.end()
  const [code] = (await once(child, 'exit')) as [number]
  expect(code).toBe(0)
})

test('a server that cannot start says why on stderr and ends', async () => {
  const child = spawn(
    process.execPath,
    [await bundled('stdio'), JSON.stringify({ engine: { bash: '/nowhere/bash' } })],
    { env: serverEnv(place.dir), cwd: place.dir, stdio: ['pipe', 'pipe', 'pipe'] },
  )
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk))
  const [code] = (await once(child, 'exit')) as [number]
  expect(code).toBe(125)
  expect(said).toContain('/nowhere/bash')
})

test('a message that is too long to be true ends the connection and the server, not only one of them', async () => {
  const child = spawn(process.execPath, [await bundled('stdio')], {
    env: serverEnv(place.dir),
    cwd: place.dir,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  child.stdin.on('error', () => {})
  const exited = once(child, 'exit')
  child.stdin.write('{"x":"')
  const million = 'a'.repeat(1_048_576)
  for (let at = 0; at < 42; at++) child.stdin.write(million)
  const [code] = (await exited) as [number]
  expect(code).toBe(0)
})

test('a client that closes only its reading end is gone', async () => {
  const child = spawn(process.execPath, [await bundled('stdio')], {
    env: serverEnv(place.dir),
    cwd: place.dir,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const exited = once(child, 'exit')
  child.stdin.on('error', () => {})
  child.stdout.destroy()
  child.stdin.write(
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'raw', version: '1' } } })}\n`,
  )
  await exited
})

describe('what outlives a server', () => {
  test('jobs of the server end with it; detached ones live on and are listed, read and ended by the next', async () => {
    const own = { dir: temporaryFolder('mcp') }
    const [bound, free] = [mark(), mark()]
    const engine = await createEngine({ stateDir: join(own.dir, 'state'), cwd: own.dir })
    const detached = await engine.start({ command: `echo from before; sleep ${free}`, owner: 'detached' })
    await engine.close()

    const first = await stdio({ era: 'modern', dir: own.dir })
    const job = structuredOf(
      await first.call('Bash', { command: `setsid sleep ${bound} & sleep ${bound}`, run_in_background: true }),
    )
    expect(await running(bound, 2)).toBe(true)
    await first.client.close()
    expect(await gone(bound)).toBe(true)
    expect(processesWith(free)).toHaveLength(1)

    const second = await stdio({ era: 'legacy', dir: own.dir })
    const list = textOf(await second.call('ListShells'))
    expect(list).toContain(`${detached.id}  running`)
    expect(list).toMatch(new RegExp(`${String(job['id'])}  killed`))
    expect(textOf(await second.call('BashOutput', { bash_id: detached.id }))).toContain('from before')
    expect(textOf(await second.call('KillShell', { shell_id: detached.id }))).toContain('terminated')
    expect(await gone(free)).toBe(true)
    await second.client.close()
  })

  test('the next server sweeps up behind one that was killed', async () => {
    const own = { dir: temporaryFolder('mcp') }
    const first = await stdio({ era: 'legacy', dir: own.dir })
    await first.call('Bash', { command: 'true' })
    const [engineDir] = readdirSync(join(own.dir, 'state', 'run'))
    process.kill(first.pid, 'SIGKILL')
    await until(() => !isAlive(first.pid))
    const second = await stdio({ era: 'legacy', dir: own.dir })
    await second.call('Bash', { command: 'true' })
    // A moment later: the first command does not wait for that.
    await until(() => !readdirSync(join(own.dir, 'state', 'run')).includes(engineDir as string))
    await second.client.close()
    await first.client.close()
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

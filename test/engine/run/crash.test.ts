import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'
import type { Engine } from '../../../src/index.js'
import { processFacts } from '../../../src/os/process/proc.js'
import { ESCAPES } from '../../fixtures/escapes.js'
import { isAlive, processesNamed, temporaryFolder, testEngine, uniqueSeconds, until } from '../harness.js'

const hosts: ChildProcess[] = []
afterEach(() => {
  for (const host of hosts.splice(0)) host.kill('SIGKILL')
})

const BUILT = fileURLToPath(new URL('../../../dist/index.js', import.meta.url))

/** A host process of its own with an engine in it, so that it can be killed. */
async function startHost(
  stateDir: string,
  cwd: string,
): Promise<{
  pid: number
  child: ChildProcess
  send(message: object): void
  next(): Promise<Record<string, unknown>>
}> {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('../../fixtures/host.mjs', import.meta.url)), BUILT, stateDir, cwd],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  hosts.push(child)
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream })[Symbol.asyncIterator]()
  const next = async (): Promise<Record<string, unknown>> =>
    JSON.parse((await lines.next()).value as string) as Record<string, unknown>
  await next()
  return {
    pid: child.pid as number,
    child,
    send: (message) => void child.stdin?.write(`${JSON.stringify(message)}\n`),
    next,
  }
}

describe.skipIf(!existsSync(BUILT))('a host that dies', () => {
  test('F61 MGR-04 SIGKILL of the host ends foreground commands, sessions and everything that left them', async () => {
    const stateDir = join(temporaryFolder(), 'state')
    const host = await startHost(stateDir, temporaryFolder())
    const seconds = uniqueSeconds()
    for (const [, , escape] of ESCAPES)
      host.send({ verb: 'run', request: { command: `${escape(seconds)}\nsleep ${seconds}` } })
    host.send({ verb: 'session', request: { command: `setsid sleep ${seconds} & sleep ${seconds}` } })
    await until(() => processesNamed(seconds).length >= 2 * ESCAPES.length, 'everything being started')
    process.kill(host.pid, 'SIGKILL')
    await until(() => processesNamed(seconds).length === 0, 'everything being gone')
  })

  test('SIGKILL of the host ends the list of a session: nothing more of it begins', async () => {
    const cwd = temporaryFolder()
    for (const command of ['sleep SECONDS; touch late', 'x=1; sleep SECONDS | cat; touch late']) {
      const host = await startHost(join(temporaryFolder(), 'state'), cwd)
      const seconds = uniqueSeconds()
      host.send({ verb: 'session', request: { command: command.replace('SECONDS', seconds) } })
      await until(() => processesNamed(seconds).length > 0, 'the program')
      const shell = processFacts(processesNamed(seconds)[0] as number)?.parent as number
      process.kill(host.pid, 'SIGKILL')
      await until(() => !isAlive(shell), 'the shell being gone')
      expect(existsSync(join(cwd, 'late'))).toBe(false)
    }
  })

  test('F62 a host that simply exits leaves nothing either, and its folder is swept by the next engine', async () => {
    const stateDir = join(temporaryFolder(), 'state')
    const host = await startHost(stateDir, temporaryFolder())
    const seconds = uniqueSeconds()
    host.send({ verb: 'run', request: { command: `setsid sleep ${seconds} & sleep ${seconds}` } })
    await until(() => processesNamed(seconds).length === 2, 'it being started')
    process.kill(host.pid, 'SIGTERM')
    await until(() => processesNamed(seconds).length === 0, 'everything being gone')
    await until(() => !isAlive(host.pid), 'the host being gone')
    const before = readdirSync(join(stateDir, 'run'))
    expect(before.length).toBe(1)
    const engine = await testEngine({ stateDir })
    // A moment later: its first command does not wait for that.
    await expect.poll(() => readdirSync(join(stateDir, 'run')), { timeout: 60_000 }).toEqual([engine.id])
  })

  test('an idle engine does not keep its host alive', async () => {
    const child = spawn(
      process.execPath,
      [
        '--input-type=module',
        '-e',
        `const { createEngine } = await import(${JSON.stringify(BUILT)}); const e = await createEngine({ stateDir: ${JSON.stringify(join(temporaryFolder(), 's'))} }); const s = await e.session(); console.log((await s.run({ command: 'echo hi' })).stdout)`,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    hosts.push(child)
    const code = await new Promise((resolve) => child.once('exit', resolve))
    expect(code).toBe(0)
  })
})

describe('a command that attacks its surroundings', () => {
  test('F14 killing its parent is answered with a lost run, never with silence', async () => {
    const engine = await testEngine()
    // The guard cannot know what $PPID is here: it is the warden.
    const outcome = await engine.run({ command: 'p=$PPID; eval "kill -9 $p"; sleep 60', timeoutMs: 20_000 })
    expect(['lost', 'signal', undefined]).toContain(outcome.end?.kind)
    expect(['failed', 'refused']).toContain(outcome.status)
    expect(await engine.run({ command: 'echo next' })).toMatchObject({ status: 'completed', stdout: 'next\n' })
  })
})

describe('a machine that is out of something', () => {
  test('F54 F55 out of descriptors or processes is a system error, running work is unaffected, and it recovers', async () => {
    const engine = await testEngine()
    const handle = engine.stream({ command: 'echo up; sleep 1; echo unaffected' })
    for await (const chunk of handle) if (chunk.text.includes('up')) break
    const seconds = uniqueSeconds()
    // More pipes than the launcher has slots for: the request waits or fails clearly, it never becomes a failed
    // command.
    const { openSync, closeSync } = await import('node:fs')
    const held: number[] = []
    try {
      for (;;) held.push(openSync('/dev/null', 'r'))
    } catch {
      // Out of descriptors now.
    }
    let error: unknown
    try {
      await engine.run({ command: `sleep ${seconds}`, timeoutMs: 5_000 })
    } catch (thrown) {
      error = thrown
    }
    for (const fd of held) closeSync(fd)
    expect(error).toMatchObject({ code: 'SPAWN_FAILED' })
    expect(String(error)).toMatch(/EMFILE|files/)
    expect((await handle.outcome).stdout).toBe('up\nunaffected\n')
    expect((await engine.run({ command: 'echo again' })).stdout).toBe('again\n')
  })
})

describe('a launcher that is killed from outside', () => {
  test('the run in flight is lost and says so; the next ones get a new launcher, sessions their state', async () => {
    const engine = await testEngine()
    const session = await engine.session()
    await session.run({ command: 'x=5; cd /tmp' })
    await until(async () => (await session.info()).leftovers.length === 0)
    const running = engine.stream({ command: 'echo up; sleep 60' })
    for await (const chunk of running) if (chunk.text.includes('up')) break
    // Output and the report of the start come through different pipes: the pid may be known a moment after the first
    // output.
    await until(() => running.pid !== null)
    const warden = processFacts(running.pid as number)?.parent as number
    process.kill(processFacts(warden)?.parent as number, 'SIGKILL')
    const lost = await running.outcome
    expect(lost.status).toBe('failed')
    expect(lost.notes.map(({ text }) => text).join(' ')).toContain('destroyed from outside')
    expect((await engine.run({ command: 'echo next' })).stdout).toBe('next\n')
    expect((await session.run({ command: 'echo again' })).stdout).toBe('again\n')
  })
})

describe('a launcher whose death this process has not been told of yet', () => {
  const killUnseen = async (engine: Engine): Promise<void> => {
    const launcher = Number((await engine.run({ command: 'ps -o ppid= -p $PPID' })).stdout)
    process.kill(launcher, 'SIGKILL')
    // Without a turn of the event loop.
    while ((processFacts(launcher)?.state ?? 'Z') !== 'Z');
  }

  test('a run, a session and its successor start all the same', async () => {
    const engine = await testEngine()
    for (let round = 0; round < 3; round++) {
      await killUnseen(engine)
      expect((await engine.run({ command: 'echo ran' })).stdout).toBe('ran\n')
      await killUnseen(engine)
      const session = await engine.session(`s${round}`)
      expect((await session.run({ command: 'x=1; echo in a session' })).stdout).toBe('in a session\n')
      await killUnseen(engine)
      await until(async () => (await session.info()).pid === null)
      expect((await session.run({ command: 'echo $x' })).stdout).toBe('1\n')
    }
  })
})

describe('a state directory that cannot be written', () => {
  test('F56 commands still run, jobs say why they cannot', async () => {
    const stateDir = join(temporaryFolder(), 'state')
    const first = await testEngine({ stateDir })
    await first.close()
    const { rmSync, writeFileSync } = await import('node:fs')
    // A file where the folder should be: the same as a full or read-only disk, for root too.
    rmSync(join(stateDir, 'run'), { recursive: true })
    writeFileSync(join(stateDir, 'run'), '')
    rmSync(join(stateDir, 'jobs'), { recursive: true, force: true })
    writeFileSync(join(stateDir, 'jobs'), '')
    const engine = await testEngine({ stateDir })
    expect((await engine.run({ command: 'echo works' })).stdout).toBe('works\n')
    expect((await (await engine.session()).run({ command: 'echo works' })).stdout).toBe('works\n')
    await expect(engine.start({ command: 'true' })).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' })
  })
})

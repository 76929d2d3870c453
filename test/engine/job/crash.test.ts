/** Jobs outlive their engine, and any later process picks them up: the engine dies here in every way it can. */
import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createEngine, type Engine } from '../../../src/index.js'
import { isAlive, processesMarked, processFacts } from '../../../src/os/process/proc.js'
import { startHost, type EngineHost } from '../engine-host.js'
import { until } from '../../fixtures/until.js'
import { temporaryFolder } from '../../fixtures/folder.js'

let stateDir: string
const hosts: EngineHost[] = []
const engines: Engine[] = []

beforeEach(() => {
  stateDir = temporaryFolder('crash')
})

afterEach(async () => {
  for (const host of hosts.splice(0))
    if (host.child.exitCode === null && host.child.signalCode === null) await host.kill('SIGKILL')
  const engine = await open()
  for (const info of await engine.jobs()) await (await engine.job(info.id)).kill({ graceMs: 0 })
  for (const one of engines.splice(0)) await one.close()
})

async function open(): Promise<Engine> {
  const engine = await createEngine({ stateDir, cwd: '/tmp' })
  engines.push(engine)
  return engine
}

async function host(): Promise<EngineHost> {
  const one = await startHost(stateDir)
  hosts.push(one)
  return one
}

const numbers = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_, at) => `${from + at}\n`).join('')

test('F60 nothing is lost when the engine is killed with -9 while a detached job prints at full speed', async () => {
  const first = await host()
  const go = join(tmpdir(), `cerith-go-${process.pid}`)
  rmSync(go, { force: true })
  const { id } = await first.call('start', {
    command: `seq 1 400000; while [ ! -e ${go} ]; do sleep 0.02; done; seq 400001 450000; exit 5`,
    owner: 'detached',
    streams: 'merged',
  })
  await first.call('wait', id, { until: '^1000$' })
  await first.kill('SIGKILL')
  const engine = await open()
  const job = await engine.job(id)
  const ended: string[] = []
  engine.onJobEvent((event) => void (event.kind === 'ended' && ended.push(event.info.id)))
  expect(await job.info()).toMatchObject({ owner: 'detached', status: 'running' })
  writeFileSync(go, '')
  let text = ''
  let cursor = 0
  const read = async (): Promise<boolean> => {
    const part = await job.read({ since: cursor, maxBytes: 100_000 })
    text += part.text
    cursor = part.cursor
    return cursor < part.totalBytes
  }
  while ((await job.info()).isRunning) await read()
  while (await read());
  expect(text === numbers(1, 450_000)).toBe(true)
  expect((await job.wait()).info).toMatchObject({
    status: 'failed',
    exitCode: 5,
    bytes: { total: text.length, omitted: 0 },
  })
  await until(() => ended.length > 0)
  expect(ended).toEqual([id])
  rmSync(go)
})

test('F60 after another start the job is listed, running, readable and can be killed by a process that never knew it', async () => {
  const first = await host()
  const info = await first.call('start', { command: 'echo ready; sleep 300 & sleep 300', owner: 'detached' })
  await first.call('wait', info.id, { until: 'ready' })
  await first.kill('SIGKILL')
  const second = await host()
  expect((await second.call('list')).map(({ id, status, pid }) => [id, status, pid])).toEqual([
    [info.id, 'running', info.pid],
  ])
  expect((await second.call('read', info.id)).text).toBe('ready\n')
  expect(await second.call('kill', info.id)).toMatchObject({
    alreadyStopped: false,
    info: { status: 'killed' },
    notes: [],
  })
  expect(await second.call('kill', info.id)).toMatchObject({ alreadyStopped: true })
  expect(isAlive(info.pid as number)).toBe(false)
})

test('BG-02 MGR-04 F61 manager jobs, foreground commands and their grandchildren end with an engine that was killed with -9', async () => {
  const first = await host()
  const { id, pid } = await first.call('start', { command: 'setsid sleep 300 & echo $!; sleep 300' })
  await first.call('wait', id, { until: '\\d' })
  const grandchild = Number((await first.call('read', id)).text)
  void first.call('run', { command: 'sleep 300', timeoutMs: null }).catch(() => {})
  expect(isAlive(grandchild)).toBe(true)
  await first.kill('SIGKILL')
  await until(() => !isAlive(pid as number) && !isAlive(grandchild))
  const engine = await open()
  await until(async () => !(await (await engine.job(id)).info()).isRunning)
  expect(await (await engine.job(id)).info()).toMatchObject({ status: 'killed', end: { kind: 'kill', by: 'close' } })
})

test.each(['SIGTERM', 'SIGHUP', 'crash', 'EOF'] as const)(
  'F62 manager jobs end and detached ones stay when the engine ends by %s',
  async (how) => {
    const first = await host()
    const manager = await first.call('start', { command: 'sleep 300' })
    const detached = await first.call('start', { command: 'sleep 300', owner: 'detached' })
    if (how === 'crash') await first.call('crash').catch(() => {})
    else if (how === 'EOF') first.child.kill('SIGKILL')
    else first.child.kill(how)
    await first.exited
    await until(() => !isAlive(manager.pid as number))
    expect(isAlive(detached.pid as number)).toBe(true)
  },
)

test('close ends manager jobs, leaves detached ones, and says each end once', async () => {
  const engine = await open()
  const ends: string[] = []
  engine.onJobEvent((event) => void (event.kind === 'ended' && ends.push(event.info.id)))
  const manager = await engine.start({ command: 'sleep 300' })
  const detached = await engine.start({ command: 'sleep 300', owner: 'detached' })
  await engine.close()
  expect(ends).toEqual([manager.id])
  const after = await open()
  expect((await after.jobs()).map(({ id }) => id)).toEqual([detached.id])
  expect(await (await after.job(manager.id)).info()).toMatchObject({ status: 'killed', end: { by: 'close' } })
})

test('F81 two engines on one state directory see the same jobs, never the same id, and clean up without a fight', async () => {
  const [one, two] = await Promise.all([host(), host()])
  const started = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      (n % 2 ? one : two).call('start', { command: `echo ${n}`, owner: n % 3 ? 'manager' : 'detached' }),
    ),
  )
  expect(new Set(started.map(({ id }) => id)).size).toBe(30)
  for (const [n, { id }] of started.entries()) {
    expect((await (n % 2 ? two : one).call('wait', id)).info.status).toBe('completed')
    expect((await (n % 2 ? two : one).call('read', id)).text).toBe(`${n}\n`)
  }
  const [a, b] = (await Promise.all([one.call('clean', {}), two.call('clean', {})])) as { removed: string[] }[]
  expect([...(a?.removed ?? []), ...(b?.removed ?? [])].sort()).toEqual(started.map(({ id }) => id).sort())
  expect(readdirSync(join(stateDir, 'jobs'))).toEqual([])
})

test('F81 the jobs of a living engine are not touched by the start of another one', async () => {
  const one = await host()
  const job = await one.call('start', { command: 'sleep 300' })
  const folders = (): string[] => readdirSync(join(stateDir, 'run'))
  const living = folders()
  await (await host()).kill('SIGKILL')
  const dead = folders().filter((name) => !living.includes(name))
  expect(dead).toHaveLength(1)
  const two = await host()
  // It has swept when the folder of the engine that was killed is gone.
  await until(() => !folders().some((name) => dead.includes(name)))
  expect((await two.call('info', job.id)).status).toBe('running')
  const theirs = await two.call('start', { command: 'sleep 300' })
  await two.kill('SIGKILL')
  await until(() => !isAlive(theirs.pid as number))
  expect((await one.call('info', job.id)).status).toBe('running')
})

test('F63 torn, empty and foreign files are survived: the others are listed, the torn one still has its output and end', async () => {
  const engine = await open()
  const [torn, fine] = await Promise.all([
    engine.start({ command: 'echo kept; exit 2', owner: 'detached' }),
    engine.start({ command: 'true' }),
  ])
  await Promise.all([torn.wait(), fine.wait()])
  truncateSync(join(stateDir, 'jobs', torn.id, 'job.json'), 20)
  mkdirSync(join(stateDir, 'jobs', 'foreign'))
  writeFileSync(join(stateDir, 'jobs', 'foreign', 'status'), 'code=0\nsignal=0\n')
  mkdirSync(join(stateDir, 'jobs', 'empty'))
  writeFileSync(join(stateDir, 'jobs', 'a-file'), '')
  writeFileSync(join(stateDir, 'jobs', fine.id, 'started'), '\0\0\0\0')
  const later = await open()
  expect((await later.jobs({ all: true })).map(({ id, exitCode }) => [id, exitCode]).sort()).toEqual(
    [
      [torn.id, 2],
      [fine.id, 0],
    ].sort(),
  )
  expect((await (await later.job(torn.id)).read()).text).toBe('kept\n')
  await expect(later.job('empty')).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
})

test('F63 a status file that was cut does not count: the job is lost, not completed', async () => {
  const engine = await open()
  const job = await engine.start({ command: 'true' })
  await job.wait()
  const file = join(stateDir, 'jobs', job.id, 'status')
  const whole = readFileSync(file, 'utf8')
  for (const length of [0, 5, 30, whole.length - 2]) {
    writeFileSync(file, whole.slice(0, length))
    expect((await (await (await open()).job(job.id)).info()).status).toBe('lost')
  }
})

test('F64 after a reboot a job is lost, and a kill signals nothing even if its pid is somebody else now', async () => {
  const engine = await open()
  const job = await engine.start({ command: 'sleep 300', owner: 'detached' })
  const { pid } = await job.info()
  const file = join(stateDir, 'jobs', job.id, 'job.json')
  const record = readFileSync(file, 'utf8')
  writeFileSync(file, JSON.stringify({ ...JSON.parse(record), boot: '00000000-0000-0000-0000-000000000000' }))
  expect(await job.info()).toMatchObject({
    status: 'lost',
    isRunning: false,
    end: { kind: 'lost', reason: 'the machine was restarted while it ran' },
  })
  expect(await job.kill({ graceMs: 0 })).toMatchObject({ alreadyStopped: true })
  expect(isAlive(pid as number)).toBe(true)
  writeFileSync(file, record)
  expect(await job.kill({ graceMs: 0 })).toMatchObject({ alreadyStopped: false })
})

test('F11 a pid that belongs to another process now is never signalled', async () => {
  const engine = await open()
  const victim = await engine.start({ command: 'sleep 300' })
  const { pid } = await victim.info()
  const finished = await engine.start({ command: 'true' })
  await finished.wait()
  const dir = join(stateDir, 'jobs', finished.id)
  rmSync(join(dir, 'status'))
  // The record says that pid and keeper are the victim's, with other start times: what a wrapped pid counter leaves
  // behind.
  writeFileSync(
    join(dir, 'started'),
    `pid=${pid}\npgid=${pid}\nwarden=${pid}\nwarden_start=1\nleader_start=1\nat=${Date.now()}\n`,
  )
  expect(await finished.kill({ graceMs: 0 })).toMatchObject({ alreadyStopped: true, info: { status: 'lost' } })
  expect(isAlive(pid as number)).toBe(true)
})

test('an engine that died between the record and the start leaves a job that never started', async () => {
  const engine = await open()
  const done = await engine.start({ command: 'true' })
  await done.wait()
  const dir = join(stateDir, 'jobs', 'shell_00000000')
  mkdirSync(dir)
  const record = JSON.parse(readFileSync(join(stateDir, 'jobs', done.id, 'job.json'), 'utf8')) as Record<
    string,
    unknown
  >
  record['createdAt'] = Date.now()
  writeFileSync(join(dir, 'job.json'), JSON.stringify({ ...record, id: 'shell_00000000' }))
  expect((await (await engine.job('shell_00000000')).info()).status).toBe('pending')
  writeFileSync(
    join(dir, 'job.json'),
    JSON.stringify({ ...record, id: 'shell_00000000', engine: { id: 'x', pid: process.pid, start: '1' } }),
  )
  expect((await (await engine.job('shell_00000000')).info()).status).toBe('pending')
  writeFileSync(
    join(dir, 'job.json'),
    JSON.stringify({
      ...record,
      id: 'shell_00000000',
      createdAt: Date.now() - 10_000,
      engine: { id: 'x', pid: process.pid, start: '1' },
    }),
  )
  expect(await (await engine.job('shell_00000000')).info()).toMatchObject({
    status: 'lost',
    end: { reason: 'its engine ended before it was started' },
  })
  expect(await (await engine.job('shell_00000000')).kill()).toMatchObject({ alreadyStopped: true })
})

test('F14 a command that kills its keeper is recorded as lost; nothing hangs, nothing is left', async () => {
  const engine = await open()
  const job = await engine.start({ command: 'sleep 300 & sleep 0.1; kill -9 $PPID; sleep 300' })
  expect((await job.wait({ timeoutMs: 20_000 })).info).toMatchObject({ status: 'lost' })
  await until(() => processesMarked(`CERITH_JOB=${job.id}`).length === 0)
  expect(await job.kill({ graceMs: 0 })).toMatchObject({ alreadyStopped: true })
  expect((await engine.run({ command: 'echo fine' })).stdout).toBe('fine\n')
})

test('F14 a command that kills its keeper in its first moment never started or is lost, and leaves nothing', async () => {
  const engine = await open()
  for (let round = 0; round < 4; round++) {
    const job = await engine
      .start({ command: 'sleep 300 & kill -9 $PPID; sleep 300', newId: () => `early_${round}` })
      .catch((error: unknown) => error as Error)
    if (job instanceof Error) expect(job).toMatchObject({ code: 'SPAWN_FAILED' })
    else expect((await job.wait({ timeoutMs: 20_000 })).info).toMatchObject({ status: 'lost' })
    await until(() => processesMarked(`CERITH_JOB=early_${round}`).length === 0)
  }
})

test('F14 a detached job without its keeper is lost, but its processes are found by their mark and ended', async () => {
  const engine = await open()
  const job = await engine.start({ command: 'trap "" PIPE; setsid sleep 300 & echo up; sleep 300', owner: 'detached' })
  // Its keeper feeds it its command: only what runs can be without one.
  await job.wait({ until: 'up', timeoutMs: 20_000 })
  const { pid } = await job.info()
  const keeper = processFacts(pid as number)?.parent as number
  process.kill(keeper, 'SIGKILL')
  await until(async () => (await job.info()).status === 'lost')
  expect(isAlive(pid as number)).toBe(true)
  const killed = await job.kill({ graceMs: 200 })
  expect(killed).toMatchObject({ alreadyStopped: false, info: { status: 'lost' } })
  expect(killed.notes[0]?.text).toContain('were found and ended')
  expect(isAlive(pid as number)).toBe(false)
})

test('a stopped engine does not stop its jobs: output is stored and the end recorded all the same', async () => {
  const one = await host()
  const started = await Promise.all(
    Array.from({ length: 8 }, () =>
      one.call('start', { command: 'for ((i = 0; i < 60; i++)); do echo $i; sleep 0.02; done; exit 6' }),
    ),
  )
  one.child.kill('SIGSTOP')
  const engine = await open()
  for (const { id } of started)
    expect((await (await engine.job(id)).wait({ timeoutMs: 20_000 })).info).toMatchObject({
      status: 'failed',
      exitCode: 6,
    })
  one.child.kill('SIGCONT')
  await until(async () => (await one.call('events')).filter(({ kind }) => kind === 'ended').length === 8)
})

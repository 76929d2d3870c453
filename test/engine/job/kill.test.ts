/**
 * Kill means everything: the group, what left it, what ignores the polite signal; and it says so only when it is true.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findHelper } from '../../../src/os/helper/file.js'
import { isAlive, processesMarked } from '../../../src/os/process/proc.js'
import type { Job } from '../../../src/index.js'
import { until } from '../../fixtures/until.js'
import { withEngine } from './setup.js'

const place = withEngine()
const DAEMON = `perl -MPOSIX -e 'exit if fork; POSIX::setsid(); exit if fork; $| = 1; print "$$\\n"; sleep 300'`

async function started(command: string, until: string, more: object = {}): Promise<Job> {
  const job = await place.engine.start({ command, streams: 'merged', ...more })
  await job.wait({ until, timeoutMs: 20_000 })
  return job
}

const pidsIn = async (job: Job): Promise<number[]> => (await job.read()).text.match(/\d+/g)?.map(Number) ?? []

test('BG-12 kill ends the whole group, children and grandchildren included', async () => {
  const job = await started('sleep 300 & echo $!; (sleep 300 & echo $!; echo up; wait) & wait', 'up')
  const pids = await pidsIn(job)
  expect(pids).toHaveLength(2)
  expect(await job.kill()).toMatchObject({
    alreadyStopped: false,
    forced: false,
    notes: [],
    info: { status: 'killed', end: { kind: 'kill', by: 'caller', forced: false } },
  })
  expect(pids.filter((pid) => isAlive(pid))).toEqual([])
})

test('F04 a daemon that forked twice and left the session is ended too', async () => {
  const job = await started(`${DAEMON}; sleep 300`, '^\\d+$')
  const [daemon] = await pidsIn(job)
  expect(isAlive(daemon as number)).toBe(true)
  await job.kill()
  expect(isAlive(daemon as number)).toBe(false)
})

test.skipIf(findHelper() === null)('F05 a daemon that also cleared its environment is ended too', async () => {
  const job = await started(`env -i PATH="$PATH" ${DAEMON}; sleep 300`, '^\\d+$')
  const [daemon] = await pidsIn(job)
  expect(isAlive(daemon as number)).toBe(true)
  await job.kill()
  expect(isAlive(daemon as number)).toBe(false)
})

test('F12 what is left of the group after its leader ended is ended by a kill of the job', async () => {
  const job = await started('sleep 300 & echo $!', '^\\d+$')
  await job.wait()
  const [child] = await pidsIn(job)
  expect(isAlive(child as number)).toBe(true)
  const result = await job.kill()
  expect(result).toMatchObject({ alreadyStopped: true, info: { status: 'completed' } })
  expect(result.notes[0]?.text).toContain('left running')
  expect(isAlive(child as number)).toBe(false)
})

test('a job that ignores the polite signal is forced after its grace, and the record says so', async () => {
  const job = await started('trap "" TERM; echo up; while :; do sleep 1; done', 'up')
  expect(await job.kill({ graceMs: 100 })).toMatchObject({
    forced: true,
    info: { status: 'killed', end: { forced: true } },
  })
})

test('a program that catches every signal, as those in Go do, is told SIGTERM alone', async () => {
  const says = (name: string): string => `trap 'echo by ${name}; exit' ${name}`
  const job = await started(
    `${says('HUP')}; ${says('TERM')}; trap : RTMAX-9; echo up; while :; do sleep 0.05; done`,
    'up',
  )
  await job.kill({ graceMs: 5_000 })
  expect((await job.read()).text).toMatch(/^up\n(Terminated\n)?by TERM\n$/)
})

test('a job that cleans up on the polite signal may: its last words are stored', async () => {
  const job = await started('trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.05; done', 'up')
  expect(await job.kill()).toMatchObject({ forced: false, info: { status: 'killed' } })
  expect((await job.read()).text).toMatch(/^up\n(Terminated\n)?bye\n$/)
})

test('a stopped job can be killed', async () => {
  const job = await started('echo up; kill -STOP $$; sleep 300', 'up')
  expect(await job.kill({ graceMs: 5_000 })).toMatchObject({ forced: false, info: { status: 'killed' } })
})

test('BG-13 F10 kill of a finished job is a success that says so, and signals nothing', async () => {
  const job = await place.engine.start({ command: 'exit 3' })
  await job.wait()
  expect(await job.kill()).toMatchObject({
    alreadyStopped: true,
    forced: false,
    notes: [],
    info: { status: 'failed', exitCode: 3 },
  })
})

test('BG-11 an unknown id is an error that says "not found" and lists what exists; a path is not an id', async () => {
  const job = await place.engine.start({ command: 'sleep 60' })
  await expect(place.engine.job('shell_nope')).rejects.toMatchObject({
    code: 'JOB_NOT_FOUND',
    message: expect.stringContaining('not found'),
    hint: expect.stringContaining(job.id),
  })
  for (const id of [
    '../run',
    '..',
    '.',
    '',
    '/etc',
    'a/b',
    `${job.id}/`,
    'x'.repeat(1_000),
    'a\0b',
    7 as never,
    null as never,
  ])
    await expect(place.engine.job(id)).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
})

test('BG-04 kill -9 of the whole group by pgid is recorded as what it was, with the completion line', async () => {
  const job = await started('sleep 300 & echo up; sleep 300', 'up')
  const { pgid, outputFile } = await job.info()
  process.kill(-(pgid as number), 'SIGKILL')
  expect((await job.wait({ timeoutMs: 20_000 })).info).toMatchObject({
    status: 'failed',
    signal: 'SIGKILL',
    exitCode: null,
  })
  await until(() => readFileSync(outputFile, 'utf8').includes('signal 9'))
  expect(readFileSync(outputFile, 'utf8')).toBe('up\n[background process killed: signal 9]\n')
})

test('any other signal is only delivered: a program that goes on is still running, one that ends has ended', async () => {
  const job = await started(
    'trap "echo got it" USR1; trap "echo stop; exit 0" INT; echo up; while :; do sleep 0.02; done',
    'up',
  )
  const usr = await job.kill({ signal: 'USR1' })
  expect(usr).toMatchObject({ alreadyStopped: false, info: { status: 'running' } })
  expect(usr.notes[0]?.text).toContain('still running')
  expect(await job.wait({ until: 'got it', timeoutMs: 20_000 })).toMatchObject({ reason: 'until' })
  expect(await job.kill({ signal: 'SIGINT' })).toMatchObject({ info: { status: 'completed', exitCode: 0 } })
  await expect(job.kill({ signal: 'NOPE' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
})

test('a port that is still in use after the kill is named, with who holds it', async () => {
  const listen = (port: number): string =>
    `${process.execPath} -e 'const s = require("net").createServer(); s.listen(${port}, "127.0.0.1", () => console.log("port", s.address().port))'`
  const job = await started(listen(0), 'port \\d+')
  const [port] = await pidsIn(job)
  expect((await job.kill()).notes).toEqual([])
  // A listener outside of the job that shares the port (as a proxy or a second server would) outlives the kill.
  const shared = (n: number): string =>
    `exec perl -MSocket -e 'socket(S, PF_INET, SOCK_STREAM, 0); setsockopt(S, SOL_SOCKET, 15, pack("l", 1)); bind(S, sockaddr_in(${n}, INADDR_LOOPBACK)) or die $!; listen(S, 5); $| = 1; print "up\\n"; sleep 300'`
  const [outside, inside] = await Promise.all([
    started(shared(port as number), 'up'),
    started(shared(port as number), 'up'),
  ])
  const { notes } = await inside.kill()
  expect(notes[0]?.text).toMatch(new RegExp(`^Port ${port} is still in use by ${(await outside.info()).pid} \\(perl`))
})

test('kill from another engine, and two kills at once, end it once', async () => {
  const job = await started('trap "" TERM; echo up; sleep 300', 'up')
  const other = await (await place.another()).job(job.id)
  const results = await Promise.all([job.kill({ graceMs: 100 }), other.kill({ graceMs: 100 })])
  expect(results.map(({ info }) => info.status)).toEqual(['killed', 'killed'])
  expect(processesMarked(`CERITH_JOB=${job.id}`)).toEqual([])
})

test.each(['native', 'plain'] as const)(
  'at its deadline a job has the time to clean up that its request gives it (%s)',
  async (tier) => {
    const engine = tier === 'native' ? place.engine : await place.another({ tier: 'plain' })
    const job = await engine.start({
      command: "trap 'sleep 3; echo cleaned; exit 9' TERM; echo up; while :; do sleep 0.1; done",
      timeoutMs: 3_000,
      graceMs: 60_000,
    })
    expect((await job.wait({ timeoutMs: 60_000 })).info).toMatchObject({ status: 'timeout' })
    expect((await job.read()).text).toBe('up\ncleaned\n')
  },
)

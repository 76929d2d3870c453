/** What goes into a job: its input, a session's state, its environment, and large things. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isAlive } from '../../../../src/os/process/proc.js'
import type { Job } from '../../../../src/index.js'
import { until } from '../../harness.js'
import { withEngine } from '../setup.js'

const place = withEngine()

async function output(job: Job): Promise<string> {
  await job.wait({ timeoutMs: 20_000 })
  return (await job.read()).text
}

test('without input stdin is empty and nothing waits for it', async () => {
  expect(
    await output(
      await place.engine.start({
        command: 'cat; echo "end $?"; tty; test -e /dev/tty && (: </dev/tty) 2>/dev/null || echo no terminal',
      }),
    ),
  ).toBe('end 0\nnot a tty\nno terminal\n')
})

test('input of any size reaches the job, also after its engine is gone', async () => {
  const large = 'x'.repeat(3_000_000)
  expect(await output(await place.engine.start({ command: 'wc -c', input: 'hello' }))).toBe('5\n')
  const job = await place.engine.start({ command: 'sleep 0.2; wc -c', input: large, owner: 'detached' })
  await place.engine.close()
  expect(await output(await (await place.another()).job(job.id))).toBe('3000000\n')
})

test('a command larger than a pipe is run as it is, also after its engine is gone', async () => {
  const command = `sleep 0.1; x='${'y'.repeat(1_500_000)}'; echo \${#x}; exit 4`
  const job = await place.engine.start({ command, owner: 'detached' })
  await place.engine.close()
  const later = await (await place.another()).job(job.id)
  expect(await output(later)).toBe('1500000\n')
  expect(await later.info()).toMatchObject({ exitCode: 4, command })
})

test('with an open stdin text is typed into the job until its end is sent, from any engine', async () => {
  const job = await place.engine.start({
    command: 'while read -r line; do echo "got $line"; done; echo over',
    openStdin: true,
  })
  await job.send({ text: 'one', enter: true })
  expect(await job.wait({ until: 'got one', timeoutMs: 20_000 })).toMatchObject({ reason: 'until' })
  const other = await (await place.another()).job(job.id)
  await other.send({ text: 'two\nthree\n' })
  await other.wait({ until: 'got three', timeoutMs: 20_000 })
  await other.send({ eof: true })
  expect(await output(job)).toBe('got one\ngot two\ngot three\nover\n')
  await expect(job.send({ text: 'late' })).rejects.toMatchObject({ code: 'NOT_RUNNING' })
})

test('a job without an open stdin says so; C-c is what a keyboard would make of it', async () => {
  const job = await place.engine.start({
    command: 'trap "echo interrupted; exit 0" INT; echo up; while :; do sleep 0.02; done',
  })
  await job.wait({ until: 'up' })
  await expect(job.send({ text: 'x' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  await job.send({ keys: ['C-c'] })
  expect(await output(job)).toBe('up\ninterrupted\n')
})

test('a job can begin with the state of a session, and leaves the session alone', async () => {
  const session = await place.engine.session('work')
  await session.run({
    command: 'cd /usr; plain=1; export shown=2; greet() { echo "hi $1"; }; list=(a "b c"); shopt -s extglob',
  })
  const job = await place.engine.start({
    command: 'pwd; greet you; echo "$plain $shown ${list[1]}"; plain=9; cd /',
    session: 'work',
  })
  expect(await output(job)).toBe('/usr\nhi you\n1 2 b c\n')
  expect((await session.run({ command: 'echo $plain; pwd' })).stdout).toBe('1\n/usr\n')
  expect(await output(await place.engine.start({ command: 'pwd', session: 'work', cwd: 'lib' }))).toBe('/usr/lib\n')
})

test('F50 a command that a session left in the background is listed with the session and ends with it', async () => {
  const session = await place.engine.session('work')
  const outcome = await session.run({ command: 'sleep 300 & echo $!' })
  const pid = Number(outcome.stdout)
  expect((await session.info()).leftovers.map((left) => left.pid)).toContain(pid)
  expect(isAlive(pid)).toBe(true)
  await session.close()
  expect(isAlive(pid)).toBe(false)
})

test('the environment of a job carries its mark and no engine when it is detached', async () => {
  const [manager, detached] = await Promise.all(
    (['manager', 'detached'] as const).map((owner) =>
      place.engine.start({ command: 'echo "$CERITH_JOB ${CERITH_ENGINE:-none}"', owner }),
    ),
  )
  expect(await output(manager as Job)).toBe(`${manager?.id} ${place.engine.id}\n`)
  expect(await output(detached as Job)).toBe(`${detached?.id} none\n`)
  // Its keeper goes behind its end.
  await until(() => !existsSync(join(place.dir(detached?.id as string), 'control')))
})

test('a detached job carries no mark of an engine around this one either', async () => {
  const nested = await place.another({ env: { ...process.env, CERITH_ENGINE: 'outer', CERITH_JOB: 'outer_job' } })
  const job = await nested.start({ command: 'echo "$CERITH_JOB ${CERITH_ENGINE:-none}"', owner: 'detached' })
  expect(await output(job)).toBe(`${job.id} none\n`)
})

test('a start that cannot work is an error and leaves no job behind', async () => {
  await expect(place.engine.start({ command: 'echo x', cwd: '/nowhere' })).rejects.toMatchObject({
    code: 'CWD_NOT_FOUND',
  })
  await expect(place.engine.start({ command: '' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  await expect(place.engine.start({ command: 'echo x', wrong: 1 } as never)).rejects.toMatchObject({
    code: 'BAD_REQUEST',
  })
  expect(await place.engine.jobs({ all: true })).toEqual([])
})

test('an aborted request starts nothing; aborting later does not touch the job', async () => {
  const abort = new AbortController()
  const job = await place.engine.start({ command: 'sleep 0.2; echo done', signal: abort.signal })
  abort.abort()
  expect(await output(job)).toBe('done\n')
  const begun = await place.engine.begin({ command: 'echo x', signal: abort.signal })
  expect('outcome' in begun && begun.outcome.status).toBe('killed')
})

test('after close nothing starts', async () => {
  await place.engine.close()
  await expect(place.engine.start({ command: 'echo x' })).rejects.toMatchObject({ code: 'CLOSED' })
})

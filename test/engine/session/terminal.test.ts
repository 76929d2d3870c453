/** Commands of a session on a terminal. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine, type Engine } from '../../../src/index.js'
import { findHelper } from '../../../src/os/helper/file.js'
import { temporaryFolder } from '../../fixtures/folder.js'

describe.skipIf(!findHelper())('a session on a terminal', () => {
  const root = temporaryFolder('pty-session')
  let engine: Engine
  beforeAll(async () => {
    engine = await createEngine({ cwd: root, stateDir: join(root, 'state') })
  })
  afterAll(async () => {
    await engine.close()
  })

  test('the terminal sees the state of the session, and the session gets the changes back', async () => {
    const session = await engine.session('both')
    await session.run({
      command: 'mkdir -p sub/deep; cd sub; plain=1; export MODE=dev; hello() { echo "hello $1"; }; list=(a "b c")',
    })
    const outcome = await session.run({
      command:
        'tty >/dev/null && echo on a terminal; hello "$plain$MODE"; echo "${list[1]}"; echo $TERM; cd deep; plain=2; more=3; list+=(d)',
      pty: true,
    })
    expect(outcome).toMatchObject({
      status: 'completed',
      cwd: join(root, 'sub', 'deep'),
      session: 'both',
      output: 'on a terminal\r\nhello 1dev\r\nb c\r\nxterm-256color\r\n',
    })
    expect(session.cwd).toBe(join(root, 'sub', 'deep'))
    const after = await session.run({
      command: 'pwd; echo "$plain $more ${#list[@]} $TERM"; hello again; compgen -v | grep -c "__cerith_[tnp]\$"; tty',
    })
    expect(after.stdout).toBe(`${join(root, 'sub', 'deep')}\n2 3 3 dumb\nhello again\n0\nnot a tty\n`)
  })

  test('a session can begin on a terminal; exit reports its status and keeps the state', async () => {
    const session = await engine.session('first')
    expect(await session.run({ command: 'kept=yes; cd /tmp; exit 7', pty: true })).toMatchObject({
      exitCode: 7,
      cwd: '/tmp',
    })
    expect((await session.run({ command: 'echo "$kept $PWD ${CERITH_JOB-none}"' })).stdout).toBe('yes /tmp none\n')
  })

  test('a command that is destroyed leaves the session as it was', async () => {
    const session = await engine.session('killed')
    await session.run({ command: 'a=before' })
    const outcome = await session.run({
      command: 'a=after; trap "" TERM; sleep 30',
      pty: true,
      timeoutMs: 300,
      graceMs: 100,
    })
    expect(outcome.end).toMatchObject({ kind: 'timeout' })
    expect((await session.run({ command: 'echo $a' })).stdout).toBe('before\n')
  })

  test('a command that goes on as a job does not hold up the session', async () => {
    const session = await engine.session('yields')
    const outcome = await session.run({ command: 'read -p "Name? " n; echo "I am $n"', pty: true, reportInput: true })
    expect(outcome).toMatchObject({ status: 'running', waitingForInput: { prompt: 'Name?' } })
    expect((await session.run({ command: 'echo free' })).stdout).toBe('free\n')
    const job = await engine.job(outcome.id as string)
    await job.send({ text: 'Ann', enter: true })
    expect((await job.wait({ timeoutMs: 10_000 })).info.exitCode).toBe(0)
    expect((await job.read()).text).toContain('I am Ann')
  })
})

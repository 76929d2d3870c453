/** Helpers that are stopped (SIGSTOP), not dead: calls come back, say so, and closing leaves nothing. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { findHelper } from '../../../src/os/helper/file.js'
import { startHelper } from '../../../src/os/helper/native-launcher.js'
import { childrenOf, commandLine, processFacts } from '../../../src/os/process/proc.js'
import { processesNamed, testEngine, uniqueSeconds, until } from '../../engine/harness.js'

function parentOf(pid: number): number {
  return processFacts(pid)?.parent ?? -1
}

describe.skipIf(!findHelper())('a stopped helper', () => {
  test('a launcher: the call runs all the same, within its limits', async () => {
    const engine = await testEngine()
    const session = await engine.session()
    await session.run({ command: 'x=1' })
    const launcher = parentOf(parentOf((await session.info()).pid as number))
    process.kill(launcher, 'SIGSTOP')
    expect(await engine.run({ command: 'echo ran' })).toMatchObject({ status: 'completed', stdout: 'ran\n' })
    process.kill(launcher, 'SIGSTOP')
    const outcome = await engine.run({ command: 'sleep 60', timeoutMs: 200, graceMs: 500 })
    expect(outcome.status).toBe('timeout')
    process.kill(launcher, 'SIGSTOP')
    expect(await session.run({ command: 'echo $x' })).toMatchObject({ stdout: '1\n' })
  })

  test('a launcher that is to build a room', async () => {
    const engine = await testEngine({ sandbox: { profile: 'workspace' } })
    const launcher = childrenOf(process.pid).find((pid) => commandLine(pid).includes('cerith-helper')) as number
    process.kill(launcher, 'SIGSTOP')
    expect(await engine.run({ command: 'echo ran' })).toMatchObject({ status: 'completed', stdout: 'ran\n' })
  })

  test('a launcher before its first word: it is continued, and no weaker one takes its place', async () => {
    const stopped = ['-c', 'kill -STOP $$; exec "$0" "$@"', findHelper() as string]
    const launcher = await startHelper('bash', stopped, 'native')
    onTestFinished(() => launcher.close())
    ;(await launcher.pipe()).release()
    expect(launcher.alive).toBe(true)
  })

  test('a warden: the time limit holds, and the outcome says what was wrong', async () => {
    const engine = await testEngine()
    const seconds = uniqueSeconds()
    const handle = engine.stream({ command: `sleep ${seconds}`, timeoutMs: 1_000 })
    await until(() => handle.pid !== null && processesNamed(seconds).length > 0)
    process.kill(parentOf(handle.pid as number), 'SIGSTOP')
    const outcome = await handle.outcome
    expect(outcome.status).toBe('timeout')
    expect(outcome.notes.map(({ text }) => text).join(' ')).toContain('had been stopped (SIGSTOP)')
    expect(processesNamed(seconds)).toEqual([])
  })

  test('a warden whose launcher is killed: its command ends with it', async () => {
    const engine = await testEngine()
    const seconds = uniqueSeconds()
    const handle = engine.stream({ command: `sleep ${seconds}` })
    await until(() => handle.pid !== null && processesNamed(seconds).length > 0)
    const warden = parentOf(handle.pid as number)
    const launcher = parentOf(warden)
    process.kill(warden, 'SIGSTOP')
    await until(() => processFacts(warden)?.state === 'T')
    process.kill(launcher, 'SIGKILL')
    expect((await handle.outcome).end).toMatchObject({ kind: 'lost' })
    await until(() => processesNamed(seconds).length === 0 && processFacts(warden) === null)
  })

  test('all of them: close comes back and leaves nothing', async () => {
    const engine = await testEngine()
    const seconds = uniqueSeconds()
    const session = await engine.session()
    await session.run({ command: `sleep ${seconds} &` })
    const job = await engine.start({ command: `sleep ${seconds}` })
    const shell = parentOf((await session.info()).pid as number)
    const launcher = parentOf(shell)
    for (const pid of [shell, parentOf((await job.info()).pid as number), launcher]) process.kill(pid, 'SIGSTOP')
    await engine.close()
    expect(processesNamed(seconds)).toEqual([])
    expect(processFacts(launcher)).toBe(null)
  })
})

/** What is left when a warden is destroyed, and who reaps whom: nothing stays, as pid 1 of a container neither. */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isAlive, processFacts } from '../../src/os/process/proc.js'
import { startHost } from '../engine/engine-host.js'
import { until } from '../fixtures/until.js'
import { withEngine } from '../engine/job/setup.js'
import { temporaryFolder } from '../fixtures/folder.js'

const place = withEngine()
const DAEMON = `env -i perl -MPOSIX -e 'exit if fork; POSIX::setsid(); exit if fork; $| = 1; print "$$\\n"; sleep 300'`

test('F14 a foreground command that destroys its warden leaves neither children nor a daemon without a mark', async () => {
  const outcome = await place.engine.run({
    command: `sleep 300 & echo $!; ${DAEMON}; sleep 0.3; kill -9 $PPID; sleep 300`,
    timeoutMs: 20_000,
  })
  expect(outcome.end?.kind).toBe('lost')
  const pids = outcome.stdout.match(/\d+/g)?.map(Number) ?? []
  expect(pids).toHaveLength(2)
  await until(() => pids.every((pid) => !isAlive(pid)))
})

test('F14 a detached job whose keeper is destroyed is left alone, and its neighbours too', async () => {
  const [lonely, neighbour] = await Promise.all([
    place.engine.start({ command: 'echo up; sleep 300', owner: 'detached' }),
    place.engine.start({ command: 'sleep 300' }),
  ])
  // Its keeper feeds it its command: only what runs can be without one.
  await lonely.wait({ until: 'up', timeoutMs: 20_000 })
  const { pid } = await lonely.info()
  process.kill(processFacts(pid as number)?.parent as number, 'SIGKILL')
  await until(async () => (await lonely.info()).status === 'lost')
  const other = await place.engine.run({ command: 'sleep 0.1; kill -9 $PPID; sleep 300' })
  expect(other.end?.kind).toBe('lost')
  expect(isAlive(pid as number)).toBe(true)
  expect((await neighbour.info()).status).toBe('running')
  await lonely.kill({ graceMs: 0 })
  await until(() => !isAlive(pid as number))
})

function canUnshare(): boolean {
  try {
    execFileSync('unshare', ['--pid', '--fork', '--mount-proc', 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test.skipIf(!canUnshare())(
  'F59 MGR-04 an engine that is pid 1 of a container has no zombie after orphans, daemons and killed jobs (needs the right to unshare)',
  async () => {
    const stateDir = temporaryFolder('pid1')
    const host = await startHost(stateDir, {}, ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'])
    try {
      // Newer Nodes call their main thread by another name.
      expect((await host.call('run', { command: 'ps -o args= -p 1' })).stdout).toMatch(/^\S*node /)
      await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          host.call('run', {
            command:
              n % 2
                ? '(sleep 0.05 &) ; (sleep 0.1 & exit) & true'
                : `${DAEMON.replace('sleep 300', 'sleep 0.1')}; true`,
          }),
        ),
      )
      const { id } = await host.call('start', { command: '(sleep 300 &); sleep 300' })
      await host.call('kill', id)
      await until(async () => {
        const left = (
          await host.call('run', { command: "ps -eo stat=,comm= | grep -v -e ' ps' -e ' grep' -e ' bash'" })
        ).stdout
        return !/^Z/m.test(left) && !/sleep|perl/.test(left)
      })
    } finally {
      await host.kill('SIGKILL')
      rmSync(stateDir, { recursive: true, force: true })
    }
  },
)

/** Named sessions that are kept between calls: listed, copied, renamed, closed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { makeWorld } from '../../harness.js'

const world = makeWorld()
const { cli } = world

test('a named session is listed, forked with its state, renamed and closed', async () => {
  expect((await cli('sessions')).out).toContain('No sessions are kept')
  await cli('run', '--session', 'work', 'cd /usr; fruit=apple')
  expect((await cli('sessions')).out).toMatch(/^NAME +USED +STATE\nwork +\S+ ago +[\d.]+ \w+\n$/)
  // No client holds it: when it was kept belongs to its state.
  const [head = '', row = ''] = (await cli('ps')).out.split('\n').slice(-3)
  expect(row.slice(head.indexOf('STATE'), head.indexOf('CLIENT')).trim()).toMatch(/^saved \S+ ago$/)
  expect((await cli('sessions', 'fork', 'work', 'try')).out).toBe('Copied work to try.\n')
  await cli('run', '--session', 'try', 'fruit=pear')
  expect((await cli('run', '--session', 'try', 'echo $fruit in $PWD')).out).toBe('pear in /usr\n')
  expect((await cli('run', '--session', 'work', 'echo $fruit')).out).toBe('apple\n')
  expect((await cli('sessions', 'rename', 'try', 'tried')).out).toBe('Renamed try to tried.\n')
  const { sessions } = JSON.parse((await cli('sessions', '--json')).out) as { sessions: { name: string }[] }
  expect(sessions.map(({ name }) => name).toSorted()).toEqual(['tried', 'work'])
  expect((await cli('sessions', 'close', 'work')).out).toContain('Closed work')
  expect((await cli('run', '--session', 'work', 'echo "[$fruit]"')).out).toBe('[]\n')
})

test('a session that is not there, a name that is taken, and a wrong way to ask are said', async () => {
  await cli('run', '--session', 'one', 'x=1')
  await cli('run', '--session', 'two', 'x=1')
  expect(await cli('sessions', 'close', 'none')).toMatchObject({ code: 125, err: expect.stringContaining('one') })
  expect((await cli('sessions', 'rename', 'one', 'two')).err).toContain('There is a session two already')
  expect((await cli('sessions', 'fork', 'one', '../x')).err).toContain('Not a session name')
  expect((await cli('sessions', 'fork', 'one')).err).toContain('fork NAME NEW')
})

test('a state that cannot be read, or not be kept, is said to a pipe too, and leaves the exit code of the command', async () => {
  await cli('run', '--session', 'torn', 'x=1')
  const file = join(world.home, 'sessions', 'torn.state')
  writeFileSync(file, 'nothing of ours')
  expect(await cli('run', '--session', 'torn', 'echo "[$x]"; exit 3')).toMatchObject({
    code: 3,
    out: '[]\n',
    err: expect.stringContaining('could not be read'),
  })
  rmSync(file)
  mkdirSync(join(file, 'in the way'), { recursive: true })
  const kept = await cli('run', '--session', 'torn', 'x=2; exit 4')
  expect(kept).toMatchObject({ code: 4, out: '' })
  expect(kept.err).toContain('could not be read')
  expect(kept.err).toContain('The state of session torn could not be kept')
  expect(readdirSync(join(world.home, 'sessions')).filter((name) => name.startsWith('.'))).toEqual([])
})

test('a call that was killed before it could keep its state is told by the next one, once', async () => {
  const program = fileURLToPath(new URL('../../../../dist/cli.cjs', import.meta.url))
  await cli('run', '--session', 'cut', 'x=1')
  const killed = spawn(process.execPath, [program, 'run', '--session', 'cut', 'x=2; echo begun; sleep 60'], {
    env: { ...process.env, CERITH_HOME: world.home },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await once(killed.stdout, 'data')
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  const [next, later] = [
    await cli('run', '--session', 'cut', 'echo $x'),
    await cli('run', '--session', 'cut', 'echo $x'),
  ]
  expect(next).toMatchObject({ code: 0, out: '1\n', err: expect.stringContaining('session cut was killed') })
  expect(later).toMatchObject({ code: 0, out: '1\n', err: '' })
})

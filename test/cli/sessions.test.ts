/** Named sessions that are kept between calls: listed, copied, renamed, closed. */
import { expect, test } from 'vitest'
import { makeWorld } from './harness.js'

const world = makeWorld()
const { cli } = world

test('a named session is listed, forked with its state, renamed and closed', async () => {
  expect((await cli('sessions')).out).toContain('No sessions are kept')
  await cli('run', '--session', 'work', 'cd /usr; fruit=apple')
  expect((await cli('sessions')).out).toMatch(/^NAME +USED +STATE\nwork +\S+ ago +[\d.]+ \w+\n$/)
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

/** A copy of a session goes its own way from where the other one is. */
import { expect, test } from 'vitest'
import { testEngine } from '../harness.js'

test('a fork has directory, variables, functions and options of the other session, and neither changes the other', async () => {
  const engine = await testEngine()
  const session = await engine.session('a')
  await session.run({ command: 'cd /usr; x=5; export Y=6; f() { echo "f $x"; }; set -u; list=(1 "2 3")' })
  const copy = await session.fork('b')
  expect(copy.name).toBe('b')
  expect(copy.cwd).toBe('/usr')
  await copy.run({ command: 'x=7; cd /tmp' })
  expect((await copy.run({ command: 'f; echo $Y ${#list[@]} $PWD; set -o | grep nounset' })).stdout).toMatch(
    /^f 7\n6 2 \/tmp\nnounset\s+on\n$/,
  )
  expect((await session.run({ command: 'f; pwd' })).stdout).toBe('f 5\n/usr\n')
  expect(await engine.session('b')).toBe(copy)
  await expect(session.fork('b')).rejects.toMatchObject({ code: 'BAD_REQUEST' })
})

test('a fork of a session that has not run anything is a session', async () => {
  const engine = await testEngine()
  const copy = await (await engine.session('fresh')).fork('copy')
  expect((await copy.run({ command: 'echo here' })).stdout).toBe('here\n')
})

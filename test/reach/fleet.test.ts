/** A fleet: an engine per agent, chosen by room and labels; what is lost is replaced and said. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test } from 'vitest'
import { createFleet, type Fleet, type FleetPlace } from '../../src/index.js'
import { temporaryFolder, until } from './harness.js'

let fleet: Fleet | null = null
afterEach(async () => {
  await fleet?.close()
  fleet = null
})

const make = (...places: readonly Partial<FleetPlace>[]): Fleet => {
  const stateDir = join(temporaryFolder(), 'state')
  const reach = { uploadDir: join(tmpdir(), 'reach-code'), stateDir, leaseMs: 20_000 }
  return (fleet = createFleet({
    places: places.map((place) => ({ at: 'loop:', ...place })),
    engine: { stateDir, reach },
  }))
}

test('the same name is the same engine; places fill evenly and no further than they may', async () => {
  const made = make({ capacity: 1, labels: { zone: 'a' } }, { capacity: 1, labels: { zone: 'b' } })
  const one = await made.engine('one')
  expect(await made.engine('one')).toBe(one)
  await made.engine('two')
  expect(made.list().map(({ name }) => name)).toEqual(['one', 'two'])
  await expect(made.engine('three')).rejects.toMatchObject({ code: 'PLACE_FULL' })
  await made.release('one')
  const three = await made.engine('three')
  expect((await three.run({ command: 'echo here' })).stdout).toBe('here\n')
})

test('labels choose the place, and no place without them is taken', async () => {
  const made = make(
    { labels: { gpu: '0' } },
    { labels: { gpu: '1' }, engine: { env: { PATH: process.env['PATH'], WHICH: 'gpu' } } },
  )
  const engine = await made.engine('a', { labels: { gpu: '1' } })
  expect((await engine.run({ command: 'echo $WHICH' })).stdout).toBe('gpu\n')
  await expect(made.engine('b', { labels: { gpu: '8' } })).rejects.toMatchObject({ code: 'PLACE_FULL' })
  for (const name of ['../b', 'b-', '-b', 'b c', 'b\nc', 'b=c', '', 'b'.repeat(64)]) {
    await expect(made.engine(name)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    expect(() => createFleet({ places: [{ at: 'loop:' }], name })).toThrow(/cannot be the name of a fleet/)
  }
  await made.engine('b'.repeat(63))
})

test('an agent whose place was lost gets an empty one, and reads so once', async () => {
  const made = make({})
  const engine = await made.engine('a')
  const running = engine.run({ command: 'sleep 600' })
  await until(async () => (await engine.sessions()).length >= 0, 'it answers')
  process.kill(engine.place?.pid as number, 'SIGKILL')
  expect((await running).end).toMatchObject({ kind: 'lost' })
  await until(() => made.list()[0]?.isGone === true, 'the fleet knows')
  const next = await made.engine('a')
  expect(next).not.toBe(engine)
  expect((await next.run({ command: 'true' })).notes.map(({ text }) => text).join()).toContain('This is an empty one')
  expect((await next.run({ command: 'true' })).notes).toEqual([])
})

test('an agent whose place was lost reads so also when the next one could not be had at once', async () => {
  const made = make({ capacity: 1 })
  const lost = await made.engine('a')
  process.kill(lost.place?.pid as number, 'SIGKILL')
  await until(() => made.list()[0]?.isGone === true, 'the fleet knows')
  await made.engine('b')
  await expect(made.engine('a')).rejects.toMatchObject({ code: 'PLACE_FULL' })
  await made.release('b')
  const { notes } = await (await made.engine('a')).run({ command: 'true' })
  expect(notes.map(({ text }) => text).join()).toContain('This is an empty one')
})

test('a warm place that cannot be made after an agent took it costs no other one: all that were made are removed', async () => {
  const dir = temporaryFolder()
  const path = process.env['PATH']
  onTestFinished(() => void (process.env['PATH'] = path))
  // The first container fails late; each of the others is this machine.
  writeFileSync(
    join(dir, 'docker'),
    `#!/bin/sh
cd ${dir}
case $1 in
run) mkdir one 2>/dev/null && { while [ ! -e go ]; do sleep 0.05; done; echo "no such image" >&2; exit 1; }; echo c$$ | tee -a made;;
exec) shift 3; exec "$@";;
rm) echo $3 >> removed;;
esac
`,
    { mode: 0o755 },
  )
  process.env['PATH'] = `${dir}:${path}`
  const made = make({ at: 'docker://?image=i', warm: 1 })
  await until(() => existsSync(join(dir, 'one')), 'the first is being made')
  const opening = made.engine('a')
  await until(() => existsSync(join(dir, 'made')), 'the next one is made')
  writeFileSync(join(dir, 'go'), '')
  const engine = await opening
  expect((await engine.run({ command: 'echo here' })).stdout).toBe('here\n')
  await made.close()
  const lines = (name: string): string[] => readFileSync(join(dir, name), 'utf8').trim().split('\n').sort()
  expect(lines('made')).toHaveLength(2)
  // The one that failed has no id; it may be there under its name.
  expect(lines('removed')).toEqual([...lines('made'), expect.stringMatching(/^cerith-/)])
})

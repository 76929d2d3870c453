import { expect, test } from 'vitest'
import { limitRoom } from '../../../src/os/confine/limits.js'
import { canConfine, ground } from './harness.js'

test.skipIf(!canConfine)('a limit of processes holds and is told, or is told as missing', async () => {
  const { engine } = await ground({ limits: { processes: 12 } })
  const probe = limitRoom(`cerith-probe-${process.pid}`, { processes: 12 }, null)
  probe.close()
  const outcome = await engine.run({ command: 'for i in $(seq 40); do sleep 3 & done; wait; false', timeoutMs: 20_000 })
  const notes = outcome.notes.map(({ text }) => text).join(' ')
  if (probe.missing.length > 0) expect(notes).toContain('not in force')
  else {
    expect(outcome.stderr).toContain('Resource temporarily unavailable')
    expect(notes).toContain('reached its limit processes')
  }
})

test.skipIf(!canConfine)('/tmp holds no more than it may, and that is told', async () => {
  const { engine } = await ground({ limits: { tmpBytes: 1 << 20 } })
  const outcome = await engine.run({ command: 'head -c 3000000 /dev/zero >/tmp/fill; stat -c %s /tmp/fill; false' })
  expect(outcome.stderr).toContain('No space left')
  expect(Number(outcome.stdout)).toBeLessThanOrEqual(1 << 20)
  expect([outcome.sandbox?.blocked, outcome.notes.map(({ text }) => text).join(' ')]).toEqual([
    ['limit tmpBytes'],
    expect.stringContaining('reached its limit tmpBytes (1048576'),
  ])
  expect((await engine.run({ command: 'rm /tmp/fill; false' })).sandbox?.blocked).toEqual([])
})

test.skipIf(!canConfine).each([
  ['shared memory', 'head -c 3000000 /dev/zero >/dev/shm/fill; stat -c %s /dev/shm/fill', 1 << 20, 'rm /dev/shm/fill'],
  ['empty files', 'mkdir /tmp/d; for i in {1..3000}; do : >/tmp/d/$i; done; ls /tmp/d | wc -l', 600, 'rm -r /tmp/d'],
])('the limit of /tmp counts %s too', async (_, fill, most, free) => {
  const { engine } = await ground({ limits: { tmpBytes: 1 << 20 } })
  const outcome = await engine.run({ command: `${fill}; false` })
  expect(outcome.stderr).toContain('No space left')
  expect(Number(outcome.stdout)).toBeLessThanOrEqual(most)
  expect(outcome.sandbox?.blocked).toEqual(['limit tmpBytes'])
  expect((await engine.run({ command: `${free}; false` })).sandbox?.blocked).toEqual([])
})

test.skipIf(!canConfine)('a limit of /tmp is told as missing where the sandbox has none of its own', async () => {
  const { engine } = await ground({ tier: 'landlock', limits: { tmpBytes: 1 << 20 } })
  const { notes } = await engine.run({ command: 'true' })
  expect(notes.map(({ text }) => text).join(' ')).toContain('tmpBytes is not in force')
})

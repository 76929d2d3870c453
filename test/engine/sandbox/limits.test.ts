import { expect, test } from 'vitest'
import { limitRoom } from '../../../src/os/confine/limits.js'
import { canConfine, ground } from './harness.js'

test.skipIf(!canConfine)('a limit of processes holds and is told, or is told as missing', async () => {
  const { engine } = await ground({ limits: { processes: 12 } })
  const probe = limitRoom(`cerith-probe-${process.pid}`, { processes: 12 })
  probe.close()
  const outcome = await engine.run({ command: 'for i in $(seq 40); do sleep 3 & done; wait; false', timeoutMs: 20_000 })
  const notes = outcome.notes.map(({ text }) => text).join(' ')
  if (probe.missing.length > 0) expect(notes).toContain('not in force')
  else {
    expect(outcome.stderr).toContain('Resource temporarily unavailable')
    expect(notes).toContain('reached its limit processes')
  }
})

test.skipIf(!canConfine)('/tmp holds no more than it may', async () => {
  const { engine } = await ground({ limits: { tmpBytes: 1 << 20 } })
  const outcome = await engine.run({ command: 'head -c 3000000 /dev/zero >/tmp/fill; stat -c %s /tmp/fill' })
  expect(outcome.stderr).toContain('No space left')
  expect(Number(outcome.stdout)).toBeLessThanOrEqual(1 << 20)
})

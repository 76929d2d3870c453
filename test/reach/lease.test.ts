/** An engine that closes while the next client arrives: a new one is started, and no client hears of it. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { linked, temporaryFolder } from './harness.js'

const LEASE_MS = 300

test('a client that comes when the lease of the engine there ends gets that one or a new one', async () => {
  const folder = temporaryFolder()
  const options = { cwd: folder, stateDir: join(folder, 'state'), reach: { keep: 'kept', leaseMs: LEASE_MS } }
  const first = await linked(options)
  await first.engine.close()
  for (let round = 0; round < 12; round++) {
    // The lease ends somewhere on the way of the arrival, each time somewhere else; any moment must do.
    await new Promise((resolve) => setTimeout(resolve, LEASE_MS - round * 20))
    const next = await linked(options, first)
    expect(await next.engine.run({ command: 'echo here' }), `round ${round}`).toMatchObject({
      stdout: 'here\n',
      notes: [],
    })
    await next.engine.close()
  }
})

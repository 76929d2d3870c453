/** A call longer than a link carries says so at once: the other side would close each link on which it comes. */
import { expect, test } from 'vitest'
import { linked } from './harness.js'

test('a call that is too long is not sent, and others go on', async () => {
  const link = await linked()
  const input = Buffer.alloc(97 * 1024 * 1024, 'a')
  await expect(link.engine.run({ command: 'wc -c', input })).rejects.toMatchObject({
    code: 'BAD_REQUEST',
    message: expect.stringContaining('more than one message to another place can carry') as string,
  })
  expect((await link.engine.run({ command: 'echo here' })).stdout).toBe('here\n')
  expect(link.events).toEqual([])
})

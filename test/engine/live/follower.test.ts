/** What a watcher is told of output that did not reach it. */
import { expect, test } from 'vitest'
import type { OutputChunk } from '../../../src/contract/output.js'
import { Follower } from '../../../src/engine/live/follower.js'
import type { LiveCall } from '../../../src/engine/services/live-calls.js'
import type { LinePeer } from '../../../src/os/peer/live-socket.js'

test('what the link of a call elsewhere had no room for counts as missed, as does what its watcher did not take', () => {
  let show!: (chunk: OutputChunk) => void
  const call = { captures: [], follow: (listener: typeof show) => ((show = listener), () => {}) }
  const said: object[] = []
  const peer = { backlog: 0, send: (message: object) => void said.push(message) }
  const follower = new Follower(call as unknown as LiveCall, 1, peer as unknown as LinePeer)
  const stream = 'stdout'
  show({ stream, text: 'a', offset: 7, droppedBytes: 7 })
  peer.backlog = 2 ** 30
  show({ stream, text: 'bcd', offset: 20, droppedBytes: 12 })
  peer.backlog = 0
  show({ stream, text: 'e', offset: 23 })
  show({ stream, text: '', offset: 30, droppedBytes: 6 })
  follower.flush()
  expect(said).toMatchObject([
    { text: 'a', missed: 7 },
    { text: 'e', missed: 15 },
    { text: '', missed: 6 },
  ])
})

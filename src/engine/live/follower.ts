/**
 * Sends a peer what a call prints: first what memory holds, then what comes. A peer that is too
 * slow misses some and is told how much.
 */
import type { OutputChunk } from '../../contract/output.js'
import type { LinePeer } from '../../os/peer/live-socket.js'
import type { LiveCall } from '../services/live-calls.js'

/** A peer with so much unread is sent nothing more until it has read. */
const MAX_BACKLOG = 1024 * 1024
const SNAPSHOT_BYTES = 64 * 1024

export class Follower {
  readonly #run: number
  readonly #peer: LinePeer
  #missed = 0
  /** Ends it. */
  readonly stop: () => void

  constructor(call: LiveCall, run: number, peer: LinePeer) {
    this.#run = run
    this.#peer = peer
    for (const { stream, transcript } of call.captures) {
      const { head, tail, omittedBytes } = transcript.snapshot()
      const kept = Buffer.concat([head, tail])
      const bytes = kept.subarray(-SNAPSHOT_BYTES)
      const missed = omittedBytes + kept.length - bytes.length
      if (bytes.length > 0) peer.send({ t: 'out', run, stream, text: bytes.toString('utf8'), missed })
    }
    this.stop = call.follow((chunk) => this.#send(chunk))
  }

  /** The command never waits for a slow watcher. */
  #send({ stream, text, droppedBytes = 0 }: OutputChunk): void {
    // Of a call at another place: what its link had no room for.
    this.#missed += droppedBytes
    if (this.#peer.backlog > MAX_BACKLOG) {
      this.#missed += Buffer.byteLength(text)
      return
    }
    this.#peer.send({ t: 'out', run: this.#run, stream, text, missed: this.#missed })
    this.#missed = 0
  }

  /** Before the end is told: what was missed at last. */
  flush(): void {
    if (this.#missed > 0)
      this.#peer.send({ t: 'out', run: this.#run, stream: 'output', text: '', missed: this.#missed })
  }
}

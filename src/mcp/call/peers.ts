/**
 * The client of a request that belongs to no connection (2026 over HTTP) is the process at the other
 * end of its socket. Two windows of the same host are two processes, whatever they call themselves.
 */
import type { IncomingMessage } from 'node:http'
import { processBehind } from '../../os/process/tcp-peer.js'
import { isAlive } from '../../os/process/proc.js'

/** The headers by which the door tells what it knows; what a client sends under these names is dropped. */
export const PEER_HEADER = 'x-cerith-peer'
export const SESSION_HEADER = 'x-cerith-session'

const known = new WeakMap<IncomingMessage['socket'], string>()

/** The same for every request of a socket; where the process cannot be found, the address. */
export function peerOf({ socket }: IncomingMessage): string {
  const before = known.get(socket)
  if (before !== undefined) return before
  const { localPort = 0, remotePort = 0, remoteAddress = '' } = socket
  const behind = processBehind({ localPort, remotePort })
  const peer = behind === null ? `at ${remoteAddress}` : `pid ${behind}`
  known.set(socket, peer)
  return peer
}

/** False once the process of a peer is gone; one that is known by its address only is taken to be there. */
export function isPeerThere(peer: string): boolean {
  const [kind, pid, start] = peer.split(' ')
  return kind !== 'pid' || start === 'own' || isAlive(Number(pid), start)
}

/**
 * Tells whether a process that an engine started is at the other end of a connection on this
 * machine: such a process is the agent's.
 */
import type { Socket } from 'node:net'
import { processesBehind } from '../process/tcp-peer.js'
import { engineAbove } from './judge.js'

/** False also when the process cannot be found: another user's, a tunnel's. Those are kept out by the key. */
export function isAgentsConnection(socket: Socket): boolean {
  for (const pid of processesBehind(socket)) if (engineAbove(pid, null, []) !== null) return true
  return false
}

/** Whether a server that listens at this host can only be reached from this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host)
}

/** An address as it stands in a URL and in a Host header. */
export function bracketed(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}

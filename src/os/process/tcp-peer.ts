/** Which process on this machine is at the other end of a TCP connection. */
import { attempt } from '../../contract/attempt.js'
import { allPids, processFacts } from './proc.js'
import { connectionsOf, socketsOf } from './sockets.js'

export interface Ports {
  readonly localPort?: number | undefined
  readonly remotePort?: number | undefined
}

/** `pid start`, which no other process ever has in this boot. Null: on another machine, of another user, or gone. */
export function processBehind(ports: Ports): string | null {
  for (const pid of processesBehind(ports)) {
    if (pid === process.pid) return `${pid} own`
    const start = processFacts(pid)?.start
    if (start !== undefined) return `${pid} ${start}`
  }
  return null
}

/** This process last, because the machine's other processes are the usual ones. */
export function* processesBehind({ localPort, remotePort }: Ports): Generator<number> {
  if (localPort === undefined || remotePort === undefined) return
  const inode = inodeOf(remotePort, localPort)
  if (inode === null) return
  const others = attempt(allPids, []).filter((pid) => pid !== process.pid)
  for (const pid of [...others, process.pid]) if (socketsOf(pid).includes(inode)) yield pid
}

/** Of the other end: there our remote port is the local one. */
function inodeOf(from: number, to: number): string | null {
  const ends = [from, to].map((port) => port.toString(16).toUpperCase().padStart(4, '0'))
  const found = connectionsOf('self').find(
    ({ local, remote, inode }) => local.endsWith(`:${ends[0]}`) && remote.endsWith(`:${ends[1]}`) && inode !== '0',
  )
  return found?.inode ?? null
}

/** Which process on this machine is at the other end of a TCP connection. */
import { readdirSync, readFileSync } from 'node:fs'
import { attempt } from '../../contract/attempt.js'
import { processFacts } from './proc.js'
import { socketsOf } from './sockets.js'

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
  const others = attempt(() => readdirSync('/proc'), []).filter((name) => /^\d+$/.test(name) && +name !== process.pid)
  for (const pid of [...others.map(Number), process.pid]) if (socketsOf(pid).includes(inode)) yield pid
}

/** Of the other end: there our remote port is the local one. */
function inodeOf(from: number, to: number): string | null {
  const ends = [from, to].map((port) => port.toString(16).toUpperCase().padStart(4, '0'))
  for (const table of ['tcp', 'tcp6'])
    for (const line of attempt(() => readFileSync(`/proc/self/net/${table}`, 'latin1'), '')
      .split('\n')
      .slice(1)) {
      const [, local = '', remote = '', , , , , , , inode = ''] = line.trim().split(/\s+/)
      if (local.endsWith(`:${ends[0]}`) && remote.endsWith(`:${ends[1]}`) && inode !== '0') return inode
    }
  return null
}

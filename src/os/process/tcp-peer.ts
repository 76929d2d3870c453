/** Which process on this machine is at the other end of a TCP connection. */
import { readdirSync, readFileSync } from 'node:fs'
import { processFacts } from './proc.js'
import { socketsOf } from './sockets.js'

/** `pid start`, which no other process ever has in this boot. Null: on another machine, of another user, or gone. */
export function processBehind({ localPort, remotePort }: { localPort: number; remotePort: number }): string | null {
  const inode = inodeOf(remotePort, localPort)
  if (inode === null) return null
  for (const name of processIds()) {
    const pid = Number(name)
    if (pid === process.pid || !socketsOf(pid).includes(inode)) continue
    const start = processFacts(pid)?.start
    if (start !== undefined) return `${pid} ${start}`
  }
  // Last, because the machine's other processes are the usual ones.
  return socketsOf(process.pid).includes(inode) ? `${process.pid} own` : null
}

/** Of the other end: there our remote port is the local one. */
function inodeOf(from: number, to: number): string | null {
  const ends = [from, to].map((port) => port.toString(16).toUpperCase().padStart(4, '0'))
  for (const table of ['tcp', 'tcp6']) {
    for (const line of readTable(table)) {
      const [, local = '', remote = '', , , , , , , inode = ''] = line.trim().split(/\s+/)
      if (local.endsWith(`:${ends[0]}`) && remote.endsWith(`:${ends[1]}`) && inode !== '0') return inode
    }
  }
  return null
}

function readTable(name: string): string[] {
  try {
    return readFileSync(`/proc/self/net/${name}`, 'latin1').split('\n').slice(1)
  } catch {
    return []
  }
}

function processIds(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/**
 * Tells whether a process that an engine started is at the other end of a connection on this
 * machine: such a process is the agent's.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Socket } from 'node:net'
import { engineAbove } from './judge.js'

/** False also when the process cannot be found: another user's, a tunnel's. Those are kept out by the key. */
export function isAgentsConnection(socket: Socket): boolean {
  const { remotePort, localPort } = socket
  if (remotePort === undefined || localPort === undefined) return false
  const inode = inodeOf(remotePort, localPort)
  if (inode === null) return false
  for (const pid of ownersOf(`socket:[${inode}]`)) if (engineAbove(pid, null, []) !== null) return true
  return false
}

/** Of the peer's end: what is remote here is local there. */
function inodeOf(port: number, peer: number): string | null {
  const hex = (number: number): string => number.toString(16).toUpperCase().padStart(4, '0')
  for (const table of ['tcp', 'tcp6'])
    for (const line of read(`/proc/net/${table}`).split('\n')) {
      const [, local = '', remote = '', , , , , , , inode] = line.trim().split(/\s+/)
      if (local.endsWith(`:${hex(port)}`) && remote.endsWith(`:${hex(peer)}`) && inode) return inode
    }
  return null
}

function ownersOf(link: string): number[] {
  const found: number[] = []
  for (const name of list('/proc')) {
    if (!/^\d+$/.test(name)) continue
    if (list(`/proc/${name}/fd`).some((fd) => linkOf(`/proc/${name}/fd/${fd}`) === link)) found.push(Number(name))
  }
  return found
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return [] // Another user's, or gone.
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

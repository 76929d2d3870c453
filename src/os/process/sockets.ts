/** Sockets: those that a process holds, as inodes, and the machine's tables of them. */
import { readdirSync, readFileSync } from 'node:fs'
import { attempt } from '../../contract/attempt.js'
import { linkOf } from './proc.js'

export interface Connection {
  /** As the kernel prints them: the address in hexadecimal, a colon, the port. */
  readonly local: string
  readonly remote: string
  readonly state: string
  readonly inode: string
}

/** TCP sockets as a process sees them: in a sandbox it has a network of its own. */
export function connectionsOf(seenBy: number | 'self'): Connection[] {
  return ['tcp', 'tcp6'].flatMap((table) => {
    const text = attempt(() => readFileSync(`/proc/${seenBy}/net/${table}`, 'latin1'), '')
    const lines = text.split('\n').slice(1)
    return lines.map((line) => {
      const [, local = '', remote = '', state = '', , , , , , inode = ''] = line.trim().split(/\s+/)
      return { local, remote, state, inode }
    })
  })
}

/** Empty when it is gone, or belongs to another user. One that is closed meanwhile is left out. */
export function socketsOf(pid: number): string[] {
  const names = attempt(() => readdirSync(`/proc/${pid}/fd`), [])
  return names.flatMap((fd) => /^socket:\[(\d+)\]$/.exec(linkOf(pid, `fd/${fd}`) ?? '')?.[1] ?? [])
}

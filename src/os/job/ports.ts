/** Which TCP ports are listened on, and by whom: so that "stopped" can also mean that the port is free again. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const LISTEN = '0A'

/** Listening sockets of this network namespace: port by inode. */
function listeners(): Map<string, number> {
  const found = new Map<string, number>()
  for (const table of ['tcp', 'tcp6']) {
    let text: string
    try {
      text = readFileSync(`/proc/net/${table}`, 'latin1')
    } catch {
      continue
    }
    for (const line of text.split('\n').slice(1)) {
      const fields = line.trim().split(/\s+/)
      const port = fields[1]?.split(':')[1]
      if (fields[3] === LISTEN && port && fields[9]) found.set(fields[9], Number.parseInt(port, 16))
    }
  }
  return found
}

export function isListening(port: number): boolean {
  for (const open of listeners().values()) if (open === port) return true
  return false
}

/** The ports that these processes listen on. */
export function portsOf(pids: readonly number[]): number[] {
  if (pids.length === 0) return []
  const open = listeners()
  if (open.size === 0) return []
  const ports = new Set<number>()
  for (const pid of pids) for (const inode of socketsOf(pid)) if (open.has(inode)) ports.add(open.get(inode) as number)
  return [...ports].sort((a, b) => a - b)
}

/** Who listens on a port now, as far as their descriptors may be looked at. */
export function listenersOn(port: number): number[] {
  const inodes = new Set([...listeners()].filter(([, open]) => open === port).map(([inode]) => inode))
  if (inodes.size === 0) return []
  const found: number[] = []
  for (const entry of readdirSync('/proc'))
    if (/^\d+$/.test(entry) && socketsOf(Number(entry)).some((inode) => inodes.has(inode))) found.push(Number(entry))
  return found
}

function socketsOf(pid: number): string[] {
  const found: string[] = []
  try {
    for (const fd of readdirSync(`/proc/${pid}/fd`)) {
      try {
        const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]
        if (inode) found.push(inode)
      } catch {
        // Closed meanwhile.
      }
    }
  } catch {
    // Gone, or somebody else's.
  }
  return found
}

/**
 * Which TCP ports are listened on, and by which processes: so that "stopped" can also mean that the port is free again.
 */
import { spawnSync } from 'node:child_process'
import { allPids, hasProc, ownTools } from '../process/proc.js'
import { connectionsOf, socketsOf } from '../process/sockets.js'

const LISTEN = '0A'

interface Listener {
  readonly port: number
  /** As the kernel prints it: hexadecimal, each group of four bytes in the byte order of the machine. */
  readonly address: string
}

/** Listening sockets as a process sees them (in a sandbox it has a network of its own), by inode. */
function listeners(seenBy: number | 'self' = 'self'): Map<string, Listener> {
  const found = new Map<string, Listener>()
  for (const { local, state, inode } of connectionsOf(seenBy)) {
    const [address, port] = local.split(':')
    if (state === LISTEN && address && port && inode) found.set(inode, { port: Number.parseInt(port, 16), address })
  }
  return found
}

/** Whether something listens on a port, in the network of this process or of another. */
export function isListening(port: number, seenBy?: number | null): boolean {
  if (!hasProc) {
    const { stdout } = spawnSync('netstat', ['-an', '-p', 'tcp'], { encoding: 'latin1', env: ownTools() })
    return listenedIn(stdout ?? '', port)
  }
  for (const open of listeners(seenBy ?? 'self').values()) if (open.port === port) return true
  return false
}

/** In the words of `netstat` on macOS and the BSDs: `tcp4  0  0  127.0.0.1.5173  *.*  LISTEN`. */
export function listenedIn(table: string, port: number): boolean {
  return new RegExp(`^tcp\\S* .*\\.${port} +\\S+ +LISTEN`, 'm').test(table)
}

/** The ports that these processes listen on. */
export function portsOf(pids: readonly number[]): number[] {
  const ports = new Set(heldBy(pids).map(({ port }) => port))
  return [...ports].sort((a, b) => a - b)
}

/** The addresses that these processes listen on: `127.0.0.1:5173`, `[::]:80`. */
export function addressesOf(pids: readonly number[]): string[] {
  const found = heldBy(pids).map(({ address, port }) => `${readableAddress(address)}:${port}`)
  return [...new Set(found)].sort()
}

function heldBy(pids: readonly number[]): Listener[] {
  if (pids.length === 0) return []
  const open = listeners(pids[0])
  if (open.size === 0) return []
  return pids.flatMap((pid) => socketsOf(pid).flatMap((inode) => open.get(inode) ?? []))
}

function readableAddress(hex: string): string {
  const groups = hex.match(/.{8}/g) ?? []
  const bytes = groups.flatMap((group) => [...Buffer.from(group, 'hex').reverse()])
  if (bytes.length === 4) return bytes.join('.')
  const tail = bytes.slice(12)
  if (bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 255 && bytes[11] === 255) return tail.join('.')
  if (bytes.every((byte) => byte === 0)) return '[::]'
  if (bytes.slice(0, 15).every((byte) => byte === 0)) return `[::${bytes[15]!.toString(16)}]`
  const words = Array.from({ length: 8 }, (_, at) => ((bytes[at * 2]! << 8) | bytes[at * 2 + 1]!).toString(16))
  return `[${words.join(':')}]`
}

/** The processes that listen on a port now, as far as their descriptors may be looked at. */
export function listenersOn(port: number): number[] {
  const inodes = new Set([...listeners()].filter(([, open]) => open.port === port).map(([inode]) => inode))
  if (inodes.size === 0) return []
  return allPids().filter((pid) => socketsOf(pid).some((inode) => inodes.has(inode)))
}

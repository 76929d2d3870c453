/**
 * Judges which process connected to an engine's socket: one of the person, or one that an
 * engine started. A process never vouches for itself.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { findHelper } from '../helper/file.js'
import { fieldsIn } from '../helper/frames.js'
import { isOfEngine } from '../process/inside-engine.js'
import { linkOf, processFacts, statFields } from '../process/proc.js'
import { attempt } from '../../contract/attempt.js'

const ASK_LIMIT_MS = 5_000
/** Start times are counted in hundredths of a second; one of them may have begun at the moment of the connection. */
const TICKS = 100
const UNKNOWN = 'the kernel does not say which process this is (the native helper is needed; see `cerith doctor`)'
/** As the helper calls them, the kernel, and a reader. */
const NAMESPACES = [
  ['user', 'ns/user', 'user'],
  ['pids', 'ns/pid', 'pid'],
  ['mnt', 'ns/mnt', 'mount'],
] as const

export interface Peer {
  readonly pid: number
  /** The program and its ancestors, nearest first, e.g. `node 812 < bash 640 < sshd 12`. */
  readonly chain: string
  readonly program: string
  /** `pts/3`, or null without a terminal. */
  readonly terminal: string | null
  /** Why the peer may neither look nor answer; null for a process of the person. */
  readonly refused: string | null
}

/** Seconds since boot, read when the connection was made: a process that started later cannot have made it. */
export function uptime(): number {
  return attempt(() => Number.parseFloat(readFileSync('/proc/uptime', 'latin1')), 0)
}

/**
 * Asks the kernel through the helper, then walks up the ancestors in our own pid namespace.
 * Whatever is not known counts against the peer.
 */
export async function judgePeer(socket: Socket, connectedAt: number): Promise<Peer> {
  const facts = await askKernel(socket)
  if (!facts) return { pid: 0, chain: '', program: 'unknown', terminal: null, refused: UNKNOWN }
  const pid = Number(facts['pid'])
  const start = facts['start'] ?? ''
  const chain: string[] = []
  const peer = (refused: string | null): Peer => ({
    pid,
    chain: chain.join(' < '),
    program: processFacts(pid)?.name ?? 'unknown',
    terminal: terminalOf(pid),
    refused,
  })
  if (Number(facts['uid']) !== process.getuid?.()) return peer('it belongs to another user')
  for (const [fact, link, name] of NAMESPACES) {
    const own = linkOf(process.pid, link)
    if (own === null || facts[fact] !== own) return peer(`it is in another ${name} namespace`)
  }
  if (facts['sure'] !== '1' && Number(start) / TICKS > connectedAt + 1 / TICKS)
    return peer('it is not the process that connected')
  const inside = engineAbove(pid, start, chain)
  if (inside) return peer(inside)
  return processFacts(pid)?.start === start ? peer(null) : peer('it has ended')
}

/** Why a process counts as an agent's; null when no ancestor, and not itself, was started by an engine. */
export function engineAbove(from: number, start: string | null, chain: string[]): string | null {
  for (let pid = from, steps = 0; steps < 256; steps++) {
    const facts = processFacts(pid)
    if (!facts || (pid === from && start !== null && facts.start !== start))
      return `process ${pid} above it cannot be looked at`
    chain.push(`${facts.name} ${pid}`)
    if (isOfEngine(facts)) return 'an engine started it: it is the agent’s, not the person’s'
    // 0: it came in from outside of this container, where no engine of this container could have started it.
    if (facts.parent <= 1) return null
    pid = facts.parent
  }
  return 'it has too many ancestors'
}

/**
 * The connection is given to the helper as a descriptor above 2: lower ones would be switched
 * to blocking for both of us.
 */
function askKernel(socket: Socket): Promise<Record<string, string> | null> {
  const helper = findHelper()
  if (!helper) return Promise.resolve(null)
  return new Promise((resolve) => {
    let text = ''
    const child = spawn(helper, ['peer'], {
      stdio: ['ignore', 'pipe', 'ignore', socket],
      env: {},
      cwd: '/',
      timeout: ASK_LIMIT_MS,
    })
    child.stdout?.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
    child.once('error', () => resolve(null))
    child.once('close', (code) => resolve(code === 0 ? fieldsIn(text) : null))
  })
}

/** From the number of the device: major 136 to 143 are the terminals under /dev/pts. */
function terminalOf(pid: number): string | null {
  const device = Number(statFields(pid)?.[4] ?? 0)
  if (device === 0) return null
  const major = (device >> 8) & 0xfff
  const minor = (device & 0xff) | ((device >> 12) & 0xfff00)
  if (major >= 136 && major <= 143) return `pts/${(major - 136) * 256 + minor}`
  return major === 4 ? `tty${minor}` : `tty ${major}:${minor}`
}

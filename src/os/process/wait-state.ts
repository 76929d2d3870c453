/**
 * Whether a process waits for typed input, as the kernel sees it: which system call it sleeps
 * in, and on which descriptor.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { fileName } from './open-files.js'
import { childrenOf, linkOf, processFacts } from './proc.js'
import { attempt } from '../../contract/attempt.js'

/**
 * `reads`: a main thread sleeps in a read of the input, so nothing happens before input comes.
 * `listens`: the input is among the things that it waits for (an event loop, an editor, a
 * connection); whether it asks is for the screen to say.
 * `hidden`: the kernel allows no look (another user's process, e.g. sudo).
 */
export type InputWait = 'reads' | 'listens' | 'hidden' | 'none'

export interface InputOf {
  /** The terminal's path (`/dev/pts/3`), or null when the command has none. */
  readonly terminal: string | null
  /** The FIFO that feeds stdin, or null. */
  readonly fifo: string | null
  /** Only this process group may read from the terminal; 0 when unknown. */
  readonly foreground?: number
}

const STRENGTH: Readonly<Record<InputWait, number>> = { reads: 3, listens: 2, hidden: 1, none: 0 }

/** The strongest wait of all processes below `root`, with the process it was found in. */
export function inputWaitBelow(root: number, input: InputOf): { wait: InputWait; pid: number | null } {
  const fifo = input.fifo === null ? null : identityOf(input.fifo)
  let found: { wait: InputWait; pid: number | null } = { wait: 'none', pid: null }
  const queue = childrenOf(root)
  for (let at = 0; at < queue.length; at++) {
    const pid = queue[at] as number
    queue.push(...childrenOf(pid))
    const wait = inputWaitOf(pid, { ...input, fifo: null }, fifo)
    if (STRENGTH[wait] > STRENGTH[found.wait]) found = { wait, pid }
  }
  return found
}

function inputWaitOf(pid: number, { terminal, foreground = 0 }: InputOf, fifo: string | null): InputWait {
  const facts = processFacts(pid)
  if (!facts || facts.state !== 'S') return 'none'
  // The kernel stops a background process that reads the terminal; it gives it no input.
  if (terminal !== null && foreground > 0 && facts.group !== foreground) return 'none'
  const isInput = (fd: number): boolean => {
    const target = linkOf(pid, `fd/${fd}`)
    if (target === null) return false
    if (terminal !== null && (target === terminal || target === '/dev/tty')) return true
    return fifo !== null && identityOf(`/proc/${pid}/fd/${fd}`) === fifo
  }
  let wait: InputWait = 'none'
  for (const thread of attempt(() => readdirSync(`/proc/${pid}/task`).map(Number), [])) {
    const call = systemCallOf(pid, thread)
    if (call === 'hidden') return 'hidden'
    if (call === null) continue
    const kind = KINDS.get(call.number)
    if (!kind) continue
    if (kind === 'read') {
      if (!isInput(call.args[0] as number)) continue
      // A further thread that only copies its input on (docker, kubectl) says nothing about the program.
      if (thread === pid) return 'reads'
      wait = 'listens'
    } else if (watchedBy(pid, kind, call.args).some(isInput)) wait = 'listens'
  }
  return wait
}

type Kind = 'read' | 'poll' | 'select' | 'epoll'

/** Numbers of the calls that can wait for input; every architecture has its own. */
const TABLES: Readonly<Record<string, Readonly<Record<Kind, readonly number[]>>>> = {
  x64: { read: [0, 17, 19, 295], poll: [7, 271], select: [23, 270], epoll: [232, 281, 441] },
  arm64: { read: [63, 65], poll: [73], select: [72], epoll: [22, 441] },
}
const KINDS = new Map(
  Object.entries(TABLES[process.arch] ?? {}).flatMap(([kind, numbers]) =>
    numbers.map((number) => [number, kind as Kind] as const),
  ),
)
const READABLE = 0x001
const MOST_WATCHED = 1_024

/**
 * The descriptors whose reading end a sleeping call waits for. They stand in the process's own
 * memory, or in its epoll's description.
 */
function watchedBy(pid: number, kind: Kind, args: readonly number[]): number[] {
  if (kind === 'epoll') {
    const text = attempt(() => readFileSync(`/proc/${pid}/fdinfo/${args[0]}`, 'latin1'), '')
    return [...text.matchAll(/^tfd:\s*(\d+) events:\s*([0-9a-f]+)/gm)]
      .filter(([, , events]) => Number.parseInt(events as string, 16) & READABLE)
      .map(([, fd]) => Number(fd))
  }
  const [first, second] = args as [number, number]
  if (kind === 'poll') {
    const memory = memoryOf(pid, first, Math.min(second, MOST_WATCHED) * 8)
    const found: number[] = []
    for (let at = 0; memory && at + 8 <= memory.length; at += 8)
      if (memory.readInt16LE(at + 4) & READABLE) found.push(memory.readInt32LE(at))
    return found
  }
  const count = Math.min(first, MOST_WATCHED)
  const set = second === 0 ? null : memoryOf(pid, second, Math.ceil(count / 64) * 8)
  return set
    ? Array.from({ length: count }, (_, fd) => fd).filter((fd) => ((set[fd >> 3] as number) >> (fd & 7)) & 1)
    : []
}

function memoryOf(pid: number, address: number, length: number): Buffer | null {
  if (length <= 0 || address === 0) return null
  return attempt(() => {
    const fd = openSync(`/proc/${pid}/mem`, 'r')
    try {
      const bytes = Buffer.alloc(length)
      return bytes.subarray(0, readSync(fd, bytes, 0, length, address))
    } finally {
      closeSync(fd)
    }
  }, null)
}

/** `running`, or the number of the call and its arguments in hexadecimal. */
function systemCallOf(pid: number, thread: number): { number: number; args: number[] } | 'hidden' | null {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/task/${thread}/syscall`, 'latin1')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return code === 'EACCES' || code === 'EPERM' ? 'hidden' : null
  }
  const [number, ...args] = text.trim().split(' ')
  if (number === undefined || !/^\d+$/.test(number)) return null
  return { number: Number(number), args: args.slice(0, 6).map(Number) }
}

/** Device and inode: a FIFO that was removed or reached through another path is still the same one. */
function identityOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat ? fileName(stat) : null
}

/** What a process holds that nothing but the process itself could hand on: open files and limits. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface OpenFile {
  readonly fd: number
  /** As the kernel names it: a path, or `pipe:[123]`. */
  readonly name: string
}

/** Bash itself, and the lines of a session, use higher numbers for pipes. */
const OWN_PIPES_FROM = 10
/** An interactive bash keeps its input here. */
const BASH_INPUT = 255
/** The mark of the lower tier: a file without a name, of the plain helper's folder. */
const WARD_MARK = /\/cerith-pipes-\w+\/ward-\d+ \(deleted\)$/
/** Of `flags` in fdinfo. What bash and its builtin keep for themselves is handed to no program. */
const CLOSED_ON_EXEC = 0o2000000

/**
 * Its descriptors above 2 that a command opened: files, and pipes with a number that commands
 * use. `ours`: the folder of our own.
 */
export function openFiles(pid: number, ours: string): OpenFile[] {
  const found: OpenFile[] = []
  try {
    for (const entry of readdirSync(`/proc/${pid}/fd`)) {
      const fd = Number(entry)
      if (fd <= 2) continue
      const name = readlinkSync(`/proc/${pid}/fd/${fd}`)
      const isOwn =
        name.startsWith('anon_inode') ||
        name.startsWith(ours) ||
        WARD_MARK.test(name) ||
        (name.startsWith('pipe:') && fd >= OWN_PIPES_FROM) ||
        (name === '/dev/null' && (fd === BASH_INPUT || isClosedOnExec(pid, fd)))
      if (!isOwn) found.push({ fd, name })
    }
  } catch {
    // It is gone, or there is no /proc.
  }
  return found
}

function isClosedOnExec(pid: number, fd: number): boolean {
  const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1'))?.[1] ?? '0'
  return (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0
}

/** By the kernel's names, e.g. `Max open files`. */
export function limitsOf(pid: number): ReadonlyMap<string, string> {
  try {
    const lines = readFileSync(`/proc/${pid}/limits`, 'latin1').split('\n').slice(1)
    return new Map(lines.filter(Boolean).map((line) => [line.slice(0, 26).trim(), line.slice(26).trim()]))
  } catch {
    return new Map()
  }
}

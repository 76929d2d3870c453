/** What a process holds that nothing but the process itself could hand on: open files and limits. */
import { readdirSync, readFileSync } from 'node:fs'
import { attempt } from '../../contract/attempt.js'
import { linkOf } from './proc.js'

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
  const isOwn = ({ fd, name }: OpenFile): boolean =>
    name.startsWith('anon_inode') ||
    name.startsWith(ours) ||
    WARD_MARK.test(name) ||
    (name.startsWith('pipe:') && fd >= OWN_PIPES_FROM) ||
    (name === '/dev/null' && (fd === BASH_INPUT || isClosedOnExec(pid, fd)))
  // One that is closed meanwhile is left out.
  return attempt(() => readdirSync(`/proc/${pid}/fd`), [])
    .map((entry) => ({ fd: Number(entry), name: linkOf(pid, `fd/${entry}`) }))
    .filter((file): file is OpenFile => file.fd > 2 && file.name !== null && !isOwn(file as OpenFile))
}

function isClosedOnExec(pid: number, fd: number): boolean {
  const text = attempt(() => readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1'), '')
  const flags = /^flags:\s*([0-7]+)/m.exec(text)?.[1] ?? '0'
  return (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0
}

/** By the kernel's names, e.g. `Max open files`. */
export function limitsOf(pid: number): ReadonlyMap<string, string> {
  const lines = attempt(() => readFileSync(`/proc/${pid}/limits`, 'latin1'), '')
    .split('\n')
    .slice(1)
  return new Map(lines.filter(Boolean).map((line) => [line.slice(0, 26).trim(), line.slice(26).trim()]))
}

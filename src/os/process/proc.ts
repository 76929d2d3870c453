/**
 * Looks at processes through /proc, or `ps` where there is none. A pid names a process only
 * together with its start time; a zombie is not alive.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { ShellError } from '../../contract/errors.js'
import { attempt } from '../../contract/attempt.js'

export interface ProcessFacts {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly session: number
  /** Ticks since boot: pid + start time name one process for ever. */
  readonly start: string
  /** R, S, D, T, Z, X ... */
  readonly state: string
  readonly name: string
}

/** False where there is no /proc (macOS): there `ps` is asked, and what only /proc knows is not known. */
export const hasProc: boolean = existsSync('/proc/self/stat')

/** What is said where a Linux without /proc was met, by every door and by the doctor. */
export const NO_PROC = {
  what: '/proc is not mounted',
  fix:
    'Mount it (`mount -t proc proc /proc`, or start the container with it): commands are given their pipes, ' +
    'found and ended through it.',
} as const

/** Without /proc nothing works on Linux; elsewhere there is none, and groups and signals do. */
export function checkProc(): void {
  if (process.platform === 'linux' && !hasProc) throw new ShellError('SPAWN_FAILED', NO_PROC.what, NO_PROC.fix)
}

/**
 * By its first thread, whose file tells the same: emulators (qemu) make up what a process reads in the file of its own.
 */
export function processFacts(pid: number): ProcessFacts | null {
  if (!hasProc) return askPs().find((one) => one.pid === pid) ?? null
  const text = attempt(() => readFileSync(`/proc/${pid}/task/${pid}/stat`, 'latin1'), null)
  if (text === null) return null
  const fields = fieldsOf(text)
  return {
    pid,
    name: text.slice(text.indexOf('(') + 1, text.lastIndexOf(')')),
    state: fields[0] ?? '?',
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    start: fields[19] ?? '',
  }
}

/** What `stat` says behind the name of a process: the state first. The name may hold spaces and brackets. */
export function fieldsOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

/** The same of a process; null where it is gone. */
export function statFields(pid: number): string[] | null {
  return attempt(() => fieldsOf(readFileSync(`/proc/${pid}/stat`, 'latin1')), null)
}

/** Alive means: it exists, it is the same process, and it is not a zombie. */
export function isAlive(pid: number, start?: string): boolean {
  const facts = hasProc ? processFacts(pid) : null
  // What cannot be looked at (no descriptor is left) may still be there, and is not taken for dead.
  if (!facts) return exists(pid)
  return facts.state !== 'Z' && facts.state !== 'X' && (start === undefined || facts.start === start)
}

/** Whether no thread of it can do anything: stopped, or a zombie. What ended while it was asked did something. */
export function isStopped(pid: number): boolean {
  const isStill = (task: string): boolean =>
    /^[TtZX]/.test(fieldsOf(readFileSync(`/proc/${pid}/task/${task}/stat`, 'latin1'))[0] ?? '')
  return attempt(() => readdirSync(`/proc/${pid}/task`).every(isStill), false)
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Sessions are not told by the `ps` of macOS and the BSDs, and start times only to the second. */
function askPs(): ProcessFacts[] {
  const columns = 'pid=,ppid=,pgid=,stat=,lstart=,ucomm='
  const { stdout } = spawnSync('ps', ['-axo', columns], { encoding: 'utf8', env: ownTools() })
  const line = /^ *(\d+) +(\d+) +(\d+) +(\S)\S* +(\S+ +\S+ +\S+ +\S+ +\S+) +(.*?) *$/gm
  return [...(stdout ?? '').matchAll(line)].map(([, pid, parent, group, state = '?', start = '', name = '']) => {
    return { pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, start, state, name }
  })
}

/** The environment of programs that are asked about the system: found as usual, and always in the same words. */
export function ownTools(): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], LC_ALL: 'C' }
}

export function childrenOf(pid: number): number[] {
  if (!hasProc) return askPs().flatMap((one) => (one.parent === pid ? [one.pid] : []))
  // Children stand under the thread that forked them. A thread that ended while we looked has left its own to others.
  const threads = attempt(() => readdirSync(`/proc/${pid}/task`), [])
  return threads.flatMap((thread) => {
    const text = attempt(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1'), '')
    return text.split(' ').filter(Boolean).map(Number)
  })
}

/** Whether this process was started by that one, or by one that it started. */
export function isAncestor(pid: number): boolean {
  for (let above = process.ppid, steps = 0; above > 1 && steps < 256; steps++) {
    if (above === pid) return true
    above = processFacts(above)?.parent ?? 0
  }
  return false
}

export function descendantsOf(pid: number): number[] {
  const found = childrenOf(pid)
  for (let at = 0; at < found.length; at++) found.push(...childrenOf(found[at] as number))
  return found
}

export function allProcesses(): ProcessFacts[] {
  return hasProc ? allPids().flatMap((pid) => processFacts(pid) ?? []) : askPs()
}

/** Throws where there is no /proc, or it cannot be read now. */
export function allPids(): number[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []))
}

/**
 * Processes whose environment holds `NAME=value`, e.g. a run's mark; finds daemons that left
 * group, session and parent behind.
 */
export function processesMarked(mark: string): ProcessFacts[] {
  return allProcesses().filter(
    ({ pid, state }) => state !== 'Z' && state !== 'X' && pid !== process.pid && hasVariable(pid, mark),
  )
}

function hasVariable(pid: number, text: string): boolean {
  return attempt(() => readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(text), false)
}

/**
 * The file that the plain helper opens for a command under this number, or the variable, is inherited by what it
 * starts.
 */
export function isMarked(pid: number, mark: string): boolean {
  return linkOf(pid, 'fd/97') === `${mark} (deleted)` || hasVariable(pid, `CERITH_WARD=${mark}`)
}

/** The command line as `ps` shows it, or the name in brackets. */
export function commandLine(pid: number): string {
  const text = attempt(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'), '')
  return text.replaceAll('\0', ' ').trim() || `[${processFacts(pid)?.name ?? '?'}]`
}

/** A process as people are shown it. A copy of a shell that has not become a program, or never will, has no name. */
export function shownName(pid: number): string {
  const line = commandLine(pid)
  return line.startsWith(OWN_SHELL) ? 'a subshell' : line
}

/** The words that every bash of an engine is started with. */
const OWN_SHELL = 'bash --norc --noprofile '

/** `12 (sleep 60), 13 (a subshell)`, the first five. */
export function shownProcesses(pids: readonly number[]): string {
  const more = pids.length > 5 ? ` and ${pids.length - 5} more` : ''
  return `${pids
    .slice(0, 5)
    .map((pid) => `${pid} (${shownName(pid).slice(0, 60)})`)
    .join(', ')}${more}`
}

export function linkOf(pid: number, what: string): string | null {
  return attempt(() => readlinkSync(`/proc/${pid}/${what}`), null)
}

/** Sends a signal to exactly this process, or to none. */
export function signalProcess(pid: number, signal: NodeJS.Signals | number, start?: string): boolean {
  if (start !== undefined && hasProc && processFacts(pid)?.start !== start) return false
  return attempt(() => process.kill(pid, signal), false)
}

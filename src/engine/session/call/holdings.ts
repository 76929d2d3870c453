/**
 * What goes with a shell when it ends: its jobs, descriptors and limits. Looked at between calls, told when it is gone.
 */
import { limitsOf, openFiles, type OpenFile } from '../../../os/process/holdings.js'
import { processesOf } from '../../../os/helper/processes.js'
import { isAlive, processFacts, shownName } from '../../../os/process/proc.js'
import type { SessionShell } from '../shell/shell.js'

interface Process {
  readonly pid: number
  readonly start: string
  readonly command: string
}

export class Holdings {
  #files: readonly OpenFile[] = []
  #limits: readonly string[] = []
  #processes: readonly Process[] = []
  #initial: ReadonlyMap<string, string> | null = null

  /** A new shell, which has the limits of this process. */
  begin(): void {
    this.#initial ??= limitsOf(process.pid)
    this.#files = this.#limits = this.#processes = []
  }

  look(shell: SessionShell, ours: string): void {
    const files = openFiles(shell.pid, ours)
    const initial = this.#initial ?? new Map<string, string>()
    const limits = [...limitsOf(shell.pid)]
      .filter(([name, value]) => initial.get(name) !== value && !USUAL.test(`${name} ${value}`))
      .map(([name]) => name.replace(/^Max /, ''))
    const others = shell.hasOtherProcesses ? processesOf(shell.ward) : []
    // A shell that was killed a moment ago holds nothing any more: what went with it is what it held before.
    if (!isAlive(shell.pid)) return
    this.#files = files
    this.#limits = limits
    this.#processes = others
      .filter((pid) => pid !== shell.pid && isAlive(pid))
      .map((pid) => ({ pid, start: processFacts(pid)?.start ?? '', command: shownName(pid).slice(0, 60) }))
  }

  /** What went with the shell; empty when there was nothing. */
  lost(): string {
    const alive = this.#processes.filter(({ pid, start }) => isAlive(pid, start))
    const ended = this.#processes.filter((one) => !alive.includes(one))
    const parts = [
      list(ended.length > 1 ? 'background processes' : 'a background process', ended.map(named)),
      list(
        this.#files.length > 1 ? 'descriptors' : 'descriptor',
        this.#files.map(({ fd, name }) => `${fd} (${name})`),
      ),
      list(this.#limits.length > 1 ? 'limits of' : 'the limit of', this.#limits),
    ].filter(Boolean)
    const gone = parts.length > 0 ? ` With it went ${parts.join('; ')}.` : ''
    return alive.length > 0
      ? `${gone} Still running, but no job of the new shell: ${list('', alive.map(named)).trim()}.`
      : gone
  }
}

/** The shell of a session dumps no core: a limit of 0 or 1 byte. */
const USUAL = /^Max core file size [01] +[01] /

function named({ pid, command }: Process): string {
  return `${pid} (${command})`
}

function list(what: string, names: readonly string[]): string {
  const more = names.length > 8 ? `, and ${names.length - 8} more` : ''
  return names.length > 0 ? `${what} ${names.slice(0, 8).join(', ')}${more}` : ''
}

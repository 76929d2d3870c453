/** The variables of the directory that a session is in: given when it comes, taken back when it goes. */
import type { Note } from '../../../contract/note.js'
import type { Directories } from '../../services/world.js'
import { quoteWord } from '../../../contract/quote.js'
import { valueOf } from '../shell/declarations.js'
import { bytesOf, utf8, type ShellState } from '../shell/state.js'

interface Given {
  readonly value: string | null
  /** Null: it was not exported. */
  readonly before: string | null
}

export class SessionDirectoryEnv {
  #mark: string | null = null
  #given = new Map<string, Given>()

  /** Something may have changed since the last command. */
  isDue(directories: Directories, cwd: string): boolean {
    return directories.mark(cwd) !== this.#mark
  }

  /** Bash code (latin1) for the change; empty when there is none. */
  async enter(
    directories: Directories,
    cwd: string,
    state: ShellState | null,
    initial: Readonly<Record<string, string>>,
    notes: Note[],
  ): Promise<string> {
    this.#mark = directories.mark(cwd)
    const now = state ? exportedOf(state) : { ...initial }
    const changes = new Map<string, string | null>()
    // What a command has changed meanwhile is the agent's, and stays.
    for (const [name, { value, before }] of this.#given)
      if ((now[name] ?? null) === value) {
        changes.set(name, before)
        if (before === null) delete now[name]
        else now[name] = before
      }
    const { set, unset, notes: told } = await directories.of(cwd, now)
    notes.push(...told)
    const wanted = new Map<string, string | null>([
      ...unset.map((name) => [name, null] as const),
      ...Object.entries(set),
    ])
    this.#given = new Map([...wanted].map(([name, value]) => [name, { value, before: now[name] ?? null }]))
    for (const [name, value] of wanted) changes.set(name, value)
    const lines = [...changes].map(([name, value]) =>
      value === null ? `\\builtin unset -v ${name}` : `\\builtin export ${name}=${quoteWord(bytesOf(value))}`,
    )
    return lines.length === 0 ? '' : `${lines.join('\n')}\n`
  }
}

function exportedOf(state: ShellState): Record<string, string> {
  return Object.fromEntries(
    state.variables.flatMap((one) => {
      const value = one.flags.includes('x') ? valueOf(one.text) : null
      return value === null ? [] : [[one.name, utf8(value)] as const]
    }),
  )
}

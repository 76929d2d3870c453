/**
 * What a model should know of a running job besides its output: where it listens, what it asks, what is on its screen.
 */
import { ShellError } from '../../contract/errors.js'
import type { Doing, Job, JobInfo, Screen } from '../../contract/job.js'

export interface Look extends Doing {
  /**
   * What a full-screen program shows; after the first look only the rows that changed, when
   * they are few. Null: no such program.
   */
  readonly screen: string | null
}

const NOTHING: Look = { listening: [], waitingForInput: null, screen: null }

/** Remembers for one set of tools which version of each screen was shown. */
export class Looks {
  readonly #versions = new Map<string, number>()

  async at(job: Job, info: JobInfo): Promise<Look> {
    if (!info.isRunning) return NOTHING
    const [doing, screen] = await Promise.all([job.doing(), info.pty ? this.screen(job) : null])
    return { ...doing, screen }
  }

  async screen(job: Job): Promise<string | null> {
    const since = this.#versions.get(job.id)
    const screen = await screenOf(job, since)
    if (!screen?.alternate) return null
    this.#versions.set(job.id, screen.version)
    return since === undefined ? wholeScreen(screen) : changedScreen(screen)
  }
}

/** Null where no screen can be drawn: its output is read as text then. */
async function screenOf(job: Job, since: number | undefined): Promise<Screen | null> {
  try {
    return await job.screen(since === undefined ? {} : { since })
  } catch (error) {
    if (ShellError.is(error) && error.code === 'PTY_UNAVAILABLE') return null
    throw error
  }
}

function wholeScreen(screen: Screen): string {
  const { cursor, size } = screen
  return `[screen ${size.cols}x${size.rows}, cursor ${place(cursor)}]\n${rowsOf(screen).join('\n')}\n`
}

/** Programs fill rows with blanks up to the edge, which cost as much as words. */
function rowsOf({ text }: Screen): string[] {
  return text.split('\n').map((row) => row.trimEnd())
}

function changedScreen(screen: Screen): string {
  const rows = rowsOf(screen)
  const { changedRows, cursor } = screen
  if (changedRows.length > rows.length / 2) return wholeScreen(screen)
  if (changedRows.length === 0) return `[screen unchanged, cursor ${place(cursor)}]\n`
  const changed = changedRows.map((row) => `${row + 1}| ${rows[row] ?? ''}`)
  return `[screen, changed rows only, cursor ${place(cursor)}]\n${changed.join('\n')}\n`
}

function place({ row, col }: Screen['cursor']): string {
  return `${row + 1},${col + 1}`
}

/** What the audit log tells a page: lines by search, the commands of a session as blocks, the verdict on the chain. */
import { statSync } from 'node:fs'
import { blocksOf, textOf, toneOf, whatCame, withoutStarts } from '../audit/blocks.js'
import { auditFiles, readAudit, verifyAudit, type AuditLine } from '../audit/chain.js'
import type { BlockRow, Line, Lines } from './words.js'

const MAX_LINES = 5_000
const SHOWN_COMMAND = 2_000
const KEPT_ANSWERS = 16
const SEARCHED = ['command', 'cwd', 'status', 'rule', 'session', 'kind', 'by', 'client', 'signal', 'job']

export interface Wanted {
  readonly query: string
  readonly session: string | null
  readonly engine: string | null
  readonly limit: number
}

/** Pages ask again and again: the log is read anew only when it has grown. */
export class Records {
  readonly #file: string
  readonly #headCopy: string | undefined
  readonly #answers = new Map<string, { readonly mark: string; readonly answer: Promise<unknown> }>()

  constructor(file: string, headCopy: string | undefined) {
    this.#file = file
    this.#headCopy = headCopy
  }

  /** The newest that fit, oldest first. */
  lines(wanted: Wanted): Promise<Lines> {
    return this.#once('lines', wanted, async () => {
      const { kept, total } = await this.#fitting(wanted)
      const lines = withoutStarts(kept).map(lineOf)
      const shown = lines.sort((a, b) => a.at - b.at).slice(-limitOf(wanted))
      return { lines: shown, total: total - (kept.length - lines.length) }
    })
  }

  /** Commands, how each ended and what people did to it, oldest first. */
  blocks(wanted: Wanted): Promise<readonly BlockRow[]> {
    return this.#once('blocks', wanted, async () => {
      const { kept } = await this.#fitting(wanted)
      const rows = blocksOf(kept).map(({ entry, isOpen, deeds }) => ({
        ...lineOf(entry),
        ...(isOpen ? { came: 'running', tone: 'ok' as const } : {}),
        isOpen,
        deeds: deeds.map(lineOf),
      }))
      return rows.slice(-limitOf(wanted))
    })
  }

  verdict() {
    return this.#once('verdict', null, async () => {
      const { lines, files, head, problems, intact } = await verifyAudit(this.#file, this.#headCopy)
      return {
        intact,
        lines,
        files: files.length,
        head,
        problems: problems.slice(0, 20).map(({ message, line }) => ({ message, line })),
      }
    })
  }

  async #fitting(wanted: Wanted): Promise<{ kept: AuditLine[]; total: number }> {
    const words = wanted.query.toLowerCase().split(/\s+/).filter(Boolean)
    const most = limitOf(wanted) * 2
    const kept: AuditLine[] = []
    let total = 0
    for await (const entry of readAudit(this.#file)) {
      if (entry['kind'] === 'rotated') continue
      if (wanted.session !== null && entry['session'] !== wanted.session) continue
      if (wanted.engine !== null && entry['engine'] !== wanted.engine) continue
      if (words.length > 0 && !fits(entry, words)) continue
      total += 1
      kept.push(entry)
      if (kept.length > most * 2) kept.splice(0, kept.length - most)
    }
    return { kept, total }
  }

  #once<T>(what: string, wanted: Wanted | null, find: () => Promise<T>): Promise<T> {
    const key = `${what} ${JSON.stringify(wanted)}`
    const mark = this.#mark()
    const known = this.#answers.get(key)
    if (known?.mark === mark) return known.answer as Promise<T>
    const answer = find()
    this.#answers.delete(key)
    this.#answers.set(key, { mark, answer })
    answer.catch(() => this.#answers.delete(key))
    if (this.#answers.size > KEPT_ANSWERS) this.#answers.delete(this.#answers.keys().next().value as string)
    return answer
  }

  /** Changes with every line that is written, and with every file that is put aside. */
  #mark(): string {
    return auditFiles(this.#file)
      .map((file) => {
        const stat = statSync(file, { throwIfNoEntry: false })
        return `${file} ${stat?.size} ${stat?.mtimeMs} ${stat?.ctimeMs}`
      })
      .join('\n')
  }
}

function limitOf({ limit }: Wanted): number {
  return Math.min(Math.max(1, Math.floor(limit) || 1), MAX_LINES)
}

function fits(entry: AuditLine, words: readonly string[]): boolean {
  const text = SEARCHED.map((key) => textOf(entry, key))
    .join(' ')
    .toLowerCase()
  return words.every((word) => text.includes(word))
}

function lineOf(entry: AuditLine): Line {
  const number = (key: string): number => (typeof entry[key] === 'number' ? (entry[key] as number) : 0)
  const maybe = (key: string): string | null => textOf(entry, key) || null
  return {
    at: number('at'),
    kind: textOf(entry, 'kind'),
    engine: textOf(entry, 'engine'),
    client: maybe('client'),
    session: maybe('session'),
    command: textOf(entry, 'command').slice(0, SHOWN_COMMAND),
    cwd: textOf(entry, 'cwd'),
    came: whatCame(entry),
    tone: toneOf(entry),
    job: maybe('job'),
    bytes: number('bytes'),
    ms: number('durationMs'),
    by: maybe('by'),
    waitedMs: typeof entry['waitedMs'] === 'number' ? entry['waitedMs'] : null,
  }
}

/** Reads the audit log and checks its chain: each line carries the hash of the one before it. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { headFile, readHead, type AuditHead } from './head.js'
import { namesIn } from '../os/files/quietly.js'
import { parseRecord } from '../contract/attempt.js'

export const START_OF_CHAIN = '0'.repeat(64)

/** Of the line without its own hash, which holds the hash of the line before. */
export function chainHash(body: string): string {
  return createHash('sha256').update(body).digest('hex')
}

export type AuditLine = Readonly<Record<string, unknown>> & {
  readonly at?: number
  readonly prev?: string
  readonly hash?: string
  readonly lost?: number
}

/** The log and its rotated parts, oldest first. */
export function auditFiles(file: string): string[] {
  const dir = dirname(file)
  const names = namesIn(dir)
  const rotated = names.filter((name) => /^audit\.\d+\.jsonl$/.test(name)).sort()
  return [...rotated, ...(names.includes(basename(file)) ? [basename(file)] : [])].map((name) => join(dir, name))
}

export interface AuditProblem {
  readonly file: string
  readonly line: number
  readonly what: 'torn' | 'changed' | 'missing' | 'lost'
  readonly message: string
}

export interface AuditCheck {
  readonly lines: number
  readonly files: readonly string[]
  /** Note it somewhere else: a process that can write the file can also write a new chain. */
  readonly head: string | null
  readonly problems: readonly AuditProblem[]
  /**
   * False when lines were changed or taken out. Torn lines and lines lost to a full disk are told, and are no forgery.
   */
  readonly intact: boolean
}

/** Every entry, oldest first; unreadable lines are left out. */
export async function* readAudit(file: string): AsyncGenerator<AuditLine> {
  for (const path of auditFiles(file)) {
    for await (const { entry } of linesOf(path)) if (entry) yield entry
  }
}

/** `headCopy`: where the end of the log was noted a second time. */
export async function verifyAudit(file: string, headCopy?: string): Promise<AuditCheck> {
  const files = auditFiles(file)
  const problems: AuditProblem[] = []
  let lines = 0
  let head: string | null = null
  let firstSeq: number | null = null
  let at: { readonly file: string; readonly line: number } = { file, line: 0 }
  const recorded = [readHead(headFile(file)), headCopy === undefined ? null : readHead(headCopy)]
  const found = new Set<string>()
  for (const path of files) {
    for await (const { text, entry, number } of linesOf(path)) {
      const tell = (what: AuditProblem['what'], message: string): void =>
        void problems.push({ file: path, line: number, what, message })
      if (!entry || typeof entry.hash !== 'string') {
        // An honest line has its own hash at its end; half a line has none.
        tell('torn', 'an unfinished or unreadable line')
        continue
      }
      lines++
      const body = text.replace(/,"hash":"[0-9a-f]{64}"\}$/, '}')
      if (chainHash(body) !== entry.hash) tell('changed', 'this line is not what was written')
      if (head !== null && entry.prev !== head)
        tell('missing', 'lines before this one were taken out, changed or reordered')
      // The oldest part may have been removed by rotation; an unrotated log starts at the beginning.
      if (head === null && entry.prev !== START_OF_CHAIN && path === file && entry['kind'] !== 'rotated')
        tell('missing', 'the beginning of the log is missing')
      if (entry.lost) tell('lost', `${entry.lost} lines before this one could not be written`)
      head = entry.hash
      at = { file: path, line: number }
      firstSeq ??= typeof entry['seq'] === 'number' ? entry['seq'] : null
      for (const end of recorded) if (end?.hash === head) found.add(head)
    }
  }
  for (const end of recorded)
    if (end && !found.has(end.hash)) problems.push({ ...at, what: 'missing', message: endMissing(end) })
  const isWhole = problems.every(({ what }) => what !== 'missing')
  if (isWhole && firstSeq !== null && recorded[0] && firstSeq > recorded[0].first)
    problems.push({ ...at, line: 1, what: 'missing', message: `the lines before number ${firstSeq} were taken out` })
  if (firstSeq !== null && !recorded[0])
    problems.push({ ...at, what: 'missing', message: 'the record of the log’s end (audit.head) was taken out' })
  return {
    lines,
    files,
    head,
    problems,
    intact: !problems.some(({ what }) => what === 'changed' || what === 'missing'),
  }
}

function endMissing({ lines }: AuditHead): string {
  return `lines after this one were taken out: the log had ${lines} lines, and its recorded end is not there`
}

async function* linesOf(path: string): AsyncGenerator<{ text: string; entry: AuditLine | null; number: number }> {
  let number = 0
  for await (const text of createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity })) {
    number++
    if (text !== '') yield { text, entry: parseRecord(text), number }
  }
}

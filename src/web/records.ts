/** What the audit log tells a page: lines by search, commands of a session as blocks, series for the plots, the verdict on the chain. */
import { readAudit, verifyAudit, type AuditLine } from '../audit/chain.js'

const MAX_LINES = 5_000
const SHOWN_COMMAND = 2_000

export interface Line {
  readonly at: number
  readonly kind: string
  readonly engine: string
  readonly door: string
  readonly client: string | null
  readonly session: string | null
  readonly command: string
  readonly cwd: string
  readonly status: string
  readonly exitCode: number | null
  readonly signal: string | null
  readonly rule: string | null
  readonly job: string | null
  readonly bytes: number
  readonly ms: number
  readonly by: string | null
  readonly waitedMs: number | null
}

export interface Lines {
  readonly lines: readonly Line[]
  /** How many there are that fit, shown or not. */
  readonly total: number
}

/** The newest that fit, oldest first. */
export async function auditLines(
  file: string,
  wanted: { query: string; session: string | null; engine: string | null; limit: number },
): Promise<Lines> {
  const words = wanted.query.toLowerCase().split(/\s+/).filter(Boolean)
  const limit = Math.min(Math.max(1, wanted.limit), MAX_LINES)
  const found: Line[] = []
  let total = 0
  const ended = new Set<string>()
  const keep: AuditLine[] = []
  for await (const entry of readAudit(file)) {
    if (entry['kind'] === 'rotated') continue
    if (wanted.session !== null && entry['session'] !== wanted.session) continue
    if (wanted.engine !== null && entry['engine'] !== wanted.engine) continue
    if (words.length > 0 && !fits(entry, words)) continue
    if (entry['kind'] !== 'start') ended.add(keyOf(entry))
    keep.push(entry)
    if (keep.length > limit * 3) keep.splice(0, keep.length - limit * 2)
    total += 1
  }
  // The end of a command says when it began: its start counts only while there is no end.
  for (const entry of keep) {
    if (entry['kind'] === 'start' && ended.has(keyOf(entry))) total -= 1
    else found.push(lineOf(entry))
  }
  return { lines: found.sort((a, b) => a.at - b.at).slice(-limit), total }
}

export async function chainVerdict(file: string, headCopy: string | undefined) {
  const { lines, files, head, problems, intact } = await verifyAudit(file, headCopy)
  return {
    intact,
    lines,
    files: files.length,
    head,
    problems: problems.slice(0, 20).map(({ message, line }) => ({ message, line })),
  }
}

function fits(entry: AuditLine, words: readonly string[]): boolean {
  const keys = ['command', 'cwd', 'status', 'rule', 'session', 'kind', 'by', 'client', 'signal', 'job']
  const text = keys
    .map((key) => textOf(entry, key))
    .join(' ')
    .toLowerCase()
  return words.every((word) => text.includes(word))
}

function keyOf(entry: AuditLine): string {
  return [textOf(entry, 'engine'), textOf(entry, 'at'), textOf(entry, 'command')].join(' ')
}

function lineOf(entry: AuditLine): Line {
  const number = (key: string): number => (typeof entry[key] === 'number' ? (entry[key] as number) : 0)
  const maybe = (key: string): string | null => textOf(entry, key) || null
  return {
    at: number('at'),
    kind: textOf(entry, 'kind'),
    engine: textOf(entry, 'engine'),
    door: textOf(entry, 'door'),
    client: maybe('client'),
    session: maybe('session'),
    command: textOf(entry, 'command').slice(0, SHOWN_COMMAND),
    cwd: textOf(entry, 'cwd'),
    status: textOf(entry, 'status'),
    exitCode: typeof entry['exitCode'] === 'number' ? entry['exitCode'] : null,
    signal: maybe('signal'),
    rule: maybe('rule'),
    job: maybe('job'),
    bytes: number('bytes'),
    ms: number('durationMs'),
    by: maybe('by'),
    waitedMs: typeof entry['waitedMs'] === 'number' ? entry['waitedMs'] : null,
  }
}

function textOf(entry: AuditLine, key: string): string {
  const value = entry[key]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

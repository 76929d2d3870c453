/**
 * The audit log: one masked JSON line per decision, appended, hash-chained and rotated; a full
 * disk costs lines, never commands.
 */
import { closeSync, constants, fchmodSync, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { auditFiles, chainHash, START_OF_CHAIN } from './chain.js'
import { headFile, readHead, writeHead, type AuditHead } from './head.js'
import { takeLockFile } from '../os/files/lock.js'
import { ensurePrivateDirectory } from '../os/files/state-dir.js'
import { userName } from '../os/user/name.js'

export interface AuditLogOptions {
  readonly file: string
  readonly maxBytes?: number
  readonly keepFiles?: number
  /** A second place for the end of the log, which a process that can write the first should not reach. */
  readonly headCopy?: string
  /** Told once when lines cannot be written, and why. */
  readonly onProblem?: (message: string) => void
}

export interface AuditLog {
  write(entry: object): void
  /**
   * Written unless the returned function is called before the next lines are: what has begun
   * and ended between two writes needs one line.
   */
  started(entry: object): () => void
  /** Resolves when everything written so far is in the file, or known to be lost. */
  flush(): Promise<void>
  close(): Promise<void>
}

/** Entries wait this long for company; a host that is killed without warning loses those of its last moment. */
const GATHER_MS = 25

/** Lines that waited together are written together, up to about this many characters. */
const WRITE_CHARS = 262_144

/** Nothing is opened until the first line is written. */
export function openAuditLog(options: AuditLogOptions): AuditLog {
  const { file, maxBytes = 16 * 1024 * 1024, keepFiles = 8, headCopy } = options
  const waiting: { readonly entry: object; over: boolean }[] = []
  let lost = 0
  let complained = false
  let running: Promise<void> | null = null
  let hurried = false
  let hurry: () => void = () => {}
  const who = { user: userName(), pid: process.pid }

  const pour = async (): Promise<void> => {
    // A little later, off the path of the answer that the entry is about, and so that a burst
    // of entries shares one lock.
    if (!hurried) await new Promise<void>((resolve) => (hurry = resolve) && setTimeout(resolve, GATHER_MS))
    ensurePrivateDirectory(dirname(file))
    const lock = await takeLockFile(`${file}.lock`, { waitMs: 1_000, heldAtMostMs: 10_000 })
    let fd: number | null = null
    try {
      fd = openLog(file)
      let { head, torn } = endOf(fd, furthest(readHead(headFile(file)), headCopy ? readHead(headCopy) : null))
      const note = (): void => {
        writeHead(headFile(file), head)
        if (headCopy) writeHead(headCopy, head)
      }
      if (fstatSync(fd).size >= maxBytes) {
        // The first line of the new file carries on the chain of the old one.
        closeSync(fd)
        fd = null
        const first = rotate(file, keepFiles) ?? head.first
        fd = openLog(file)
        const next = chained({ kind: 'rotated', at: Date.now(), ...who }, head)
        append(fd, [next.line])
        head = { ...next.head, first }
        torn = false
        note()
      }
      for (;;) {
        for (let at = waiting.length - 1; at >= 0; at--) if (waiting[at]!.over) waiting.splice(at, 1)
        if (waiting.length === 0) break
        const heads: AuditHead[] = []
        const lines: string[] = []
        for (let chars = 0; lines.length < waiting.length && chars < WRITE_CHARS; chars += lines.at(-1)!.length) {
          const isFirst = lines.length === 0
          const next = chained(
            {
              ...waiting[lines.length]!.entry,
              ...who,
              ...(isFirst && lost > 0 ? { lost } : {}),
              ...(lock.held ? {} : { unlocked: true }),
            },
            heads.at(-1) ?? head,
          )
          // A line that another process did not finish is closed first; it stays as it is and
          // is reported by `audit --verify`.
          lines.push(torn ? `\n${next.line}` : next.line)
          heads.push(next.head)
          torn = false
        }
        const whole = append(fd, lines)
        waiting.splice(0, whole)
        head = heads[whole - 1] ?? head
        note()
        if (whole > 0) lost = 0
        // The disk filled up in the middle of a line: the next writer closes it, and it counts as torn.
        if (whole < lines.length) throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' })
      }
    } finally {
      if (fd !== null) closeSync(fd)
      lock.release()
    }
  }

  const start = (): Promise<void> =>
    (running ??= pour()
      .catch((error: NodeJS.ErrnoException) => {
        lost += waiting.length
        waiting.length = 0
        if (!complained)
          options.onProblem?.(`The audit log cannot be written (${error.code ?? error.message}): ${file}`)
        complained = true
      })
      .finally(() => {
        running = null
      }))

  const flush = async (): Promise<void> => {
    hurried = true
    hurry()
    while (running || waiting.length > 0) await start()
    hurried = false
  }

  const started = (entry: object): (() => void) => {
    const line = { entry, over: false }
    waiting.push(line)
    void start()
    return () => void (line.over = true)
  }

  return { write: (entry) => void started(entry), started, flush, close: flush }
}

function openLog(file: string): number {
  const fd = openSync(file, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
  if ((fstatSync(fd).mode & 0o077) !== 0) fchmodSync(fd, 0o600)
  return fd
}

function chained(entry: object, { hash: prev, lines, first }: AuditHead): { line: string; head: AuditHead } {
  const body = JSON.stringify({ ...entry, seq: lines + 1, prev })
  const hash = chainHash(body)
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}\n`, head: { lines: lines + 1, hash, first } }
}

/**
 * One write for whole lines only, so that those of two processes never mix even without the
 * lock. Returns how many lines are in the file.
 */
function append(fd: number, lines: readonly string[]): number {
  const bytes = Buffer.from(lines.join(''))
  let left = writeSync(fd, bytes)
  if (left === bytes.length) return lines.length
  return lines.findIndex((line) => (left -= Buffer.byteLength(line)) < 0)
}

/** Whichever of the two records knows more lines: taking one of them away does not start a new count. */
function furthest(one: AuditHead | null, other: AuditHead | null): AuditHead | null {
  return one && other ? (other.lines > one.lines ? other : one) : (one ?? other)
}

/** A host that was killed between the two writes left so much of the log behind its recorded end, at most. */
const AHEAD_BYTES = 1024 * 1024

/**
 * Where the chain goes on, and whether something unfinished stands at the end of the file. A recorded end that is not
 * in the file means that lines were taken out: the chain goes on from it all the same, so that the gap stays visible.
 */
function endOf(fd: number, recorded: AuditHead | null): { head: AuditHead; torn: boolean } {
  const found = lastLineOf(fd)
  const inFile = { lines: found.seq, hash: found.hash, first: recorded?.first ?? 1 }
  if (!recorded || recorded.hash === found.hash) return { head: recorded ?? inFile, torn: found.torn }
  const { size } = fstatSync(fd)
  const isAhead = tailOf(fd, Math.min(size, AHEAD_BYTES)).includes(`"hash":"${recorded.hash}"`)
  return { head: isAhead ? inFile : recorded, torn: found.torn }
}

function lastLineOf(fd: number): { hash: string; seq: number; torn: boolean } {
  const { size } = fstatSync(fd)
  for (let span = 4 * 1024; ; span *= 8) {
    const whole = span >= size
    const lines = tailOf(fd, Math.min(size, span)).split('\n')
    const torn = lines.at(-1) !== ''
    for (const line of lines.slice(whole ? 0 : 1, -1).reverse()) {
      const [, seq = '0', hash] = /(?:,"seq":(\d+),"prev":"\w*")?,"hash":"([0-9a-f]{64})"\}$/.exec(line) ?? []
      if (hash) return { hash, seq: Number(seq), torn }
    }
    if (whole) return { hash: START_OF_CHAIN, seq: 0, torn: torn && size > 0 }
  }
}

function tailOf(fd: number, bytes: number): string {
  const tail = Buffer.alloc(bytes)
  readSync(fd, tail, 0, bytes, fstatSync(fd).size - bytes)
  return tail.toString('utf8')
}

/** Gives the number of the first line that is left, when older files had to go. */
function rotate(file: string, keepFiles: number): number | null {
  const rotated = auditFiles(file).filter((path) => path !== file)
  const next = rotated.length === 0 ? 1 : Number(/\.(\d+)\.jsonl$/.exec(rotated.at(-1) as string)?.[1]) + 1
  renameSync(file, join(dirname(file), `audit.${String(next).padStart(6, '0')}.jsonl`))
  const old = rotated.slice(0, Math.max(0, rotated.length + 1 - keepFiles))
  for (const path of old) rmSync(path, { force: true })
  return old.length === 0 ? null : firstLineOf(auditFiles(file)[0])
}

function firstLineOf(path: string | undefined): number | null {
  if (path === undefined) return null
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    const start = Buffer.alloc(256 * 1024)
    const text = start.toString('utf8', 0, readSync(fd, start, 0, start.length, 0))
    return Number(/,"seq":(\d+),"prev":"\w*","hash":"[0-9a-f]{64}"\}(?:\n|$)/.exec(text)?.[1] ?? 1)
  } finally {
    closeSync(fd)
  }
}

/** The audit log: one masked JSON line per decision, appended, hash-chained and rotated; a full disk costs lines, never commands. */
import { closeSync, constants, fchmodSync, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { auditFiles, chainHash, START_OF_CHAIN } from './chain.js'
import { takeLockFile } from '../os/lock-file.js'
import { ensurePrivateDirectory } from '../os/state-dir.js'

export interface AuditLogOptions {
  readonly file: string
  readonly maxBytes?: number
  readonly keepFiles?: number
  /** Told once when lines cannot be written, and why. */
  readonly onProblem?: (message: string) => void
}

export interface AuditLog {
  write(entry: object): void
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
  const { file, maxBytes = 16 * 1024 * 1024, keepFiles = 8 } = options
  const waiting: object[] = []
  let lost = 0
  let complained = false
  let running: Promise<void> | null = null
  let hurried = false
  let hurry: () => void = () => {}
  const who = { user: userName(), pid: process.pid }

  const pour = async (): Promise<void> => {
    // A little later, off the path of the answer that the entry is about, and so that a burst of entries shares one lock.
    if (!hurried) await new Promise<void>((resolve) => (hurry = resolve) && setTimeout(resolve, GATHER_MS))
    ensurePrivateDirectory(dirname(file))
    const lock = await takeLockFile(`${file}.lock`, { waitMs: 1_000, heldAtMostMs: 10_000 })
    let fd: number | null = null
    try {
      fd = openLog(file)
      if (fstatSync(fd).size >= maxBytes) {
        // The first line of the new file carries on the chain of the old one.
        const { hash } = endOf(fd)
        closeSync(fd)
        fd = null
        rotate(file, keepFiles)
        fd = openLog(file)
        append(fd, [chained({ kind: 'rotated', at: Date.now(), ...who }, hash).line])
      }
      let { hash, torn } = endOf(fd)
      if (fstatSync(fd).size === 0) hash = START_OF_CHAIN
      while (waiting.length > 0) {
        const lines: string[] = []
        for (let chars = 0; lines.length < waiting.length && chars < WRITE_CHARS; chars += lines.at(-1)!.length) {
          const isFirst = lines.length === 0
          const next = chained(
            {
              ...waiting[lines.length],
              ...who,
              ...(isFirst && lost > 0 ? { lost } : {}),
              ...(lock.held ? {} : { unlocked: true }),
            },
            hash,
          )
          // A line that another process did not finish is closed first; it stays as it is and is reported by `audit --verify`.
          lines.push(torn ? `\n${next.line}` : next.line)
          hash = next.hash
          torn = false
        }
        const whole = append(fd, lines)
        waiting.splice(0, whole)
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

  return {
    write(entry) {
      waiting.push(entry)
      void start()
    },
    flush,
    close: flush,
  }
}

function openLog(file: string): number {
  const fd = openSync(file, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)
  if ((fstatSync(fd).mode & 0o077) !== 0) fchmodSync(fd, 0o600)
  return fd
}

function chained(entry: object, prev: string): { line: string; hash: string } {
  const body = JSON.stringify({ ...entry, prev })
  const hash = chainHash(body)
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}\n`, hash }
}

/** One write for whole lines only, so that those of two processes never mix even without the lock. Returns how many lines are in the file. */
function append(fd: number, lines: readonly string[]): number {
  const bytes = Buffer.from(lines.join(''))
  let left = writeSync(fd, bytes)
  if (left === bytes.length) return lines.length
  return lines.findIndex((line) => (left -= Buffer.byteLength(line)) < 0)
}

/** The hash of the last whole line, and whether something unfinished follows it. */
function endOf(fd: number): { hash: string; torn: boolean } {
  const { size } = fstatSync(fd)
  for (let span = 4 * 1024; ; span *= 8) {
    const from = Math.max(0, size - span)
    const bytes = Buffer.alloc(size - from)
    readSync(fd, bytes, 0, bytes.length, from)
    const lines = bytes.toString('utf8').split('\n')
    const torn = lines.at(-1) !== ''
    for (const line of lines.slice(from === 0 ? 0 : 1, -1).reverse()) {
      const hash = /,"hash":"([0-9a-f]{64})"\}$/.exec(line)?.[1]
      if (hash) return { hash, torn }
    }
    if (from === 0) return { hash: START_OF_CHAIN, torn: torn && size > 0 }
  }
}

function rotate(file: string, keepFiles: number): void {
  const rotated = auditFiles(file).filter((path) => path !== file)
  const next = rotated.length === 0 ? 1 : Number(/\.(\d+)\.jsonl$/.exec(rotated.at(-1) as string)?.[1]) + 1
  renameSync(file, join(dirname(file), `audit.${String(next).padStart(6, '0')}.jsonl`))
  for (const old of rotated.slice(0, Math.max(0, rotated.length + 1 - keepFiles))) rmSync(old, { force: true })
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown') // A uid without a passwd entry, as in containers.
  }
}

/** The end of the audit log, kept apart from it: so that lines taken from its end, or the whole of it, are missed. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { attempt, parseRecord } from '../contract/attempt.js'

export interface AuditHead {
  /** How many lines were ever written. */
  readonly lines: number
  /** Of the last of them. */
  readonly hash: string
  /** The number of the first line that rotation has left. */
  readonly first: number
}

/** Beside the log, in the state directory. */
export function headFile(file: string): string {
  return join(dirname(file), 'audit.head')
}

/** Null when there is none, or nothing that could be one. */
export function readHead(path: string): AuditHead | null {
  const { lines, hash, first } = parseRecord(attempt(() => readFileSync(path, 'utf8'), '')) ?? {}
  if (typeof lines !== 'number' || typeof first !== 'number' || typeof hash !== 'string') return null
  return { lines, hash, first }
}

/** Whole or not at all. A head that cannot be written costs a warning of `audit --verify`, never a command. */
export function writeHead(path: string, head: AuditHead): void {
  // A full disk, or a sink elsewhere that is not there now.
  attempt(() => {
    const temporary = `${path}.${process.pid}`
    writeFileSync(temporary, `${JSON.stringify(head)}\n`, { mode: 0o600 })
    renameSync(temporary, path)
  })
}

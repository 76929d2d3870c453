/**
 * What a person is asked about, and its digest. A question lives in the memory of the engine
 * that asks; the file under `approvals/` only leads there. An answer carries the digest of what
 * was shown: it is worth nothing for any other text.
 */
import { createHash } from 'node:crypto'
import { readFileSync, statSync, unlinkSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { attempt, isRecord, parseRecord } from '../contract/attempt.js'
import { replacePrivateFile } from '../os/files/private.js'
import { ensurePrivateDirectory } from '../os/files/state-dir.js'
import { namesIn, removeQuietly } from '../os/files/quietly.js'

/** How long a question can be answered, and how long an answer that came after the call had ended can be used. */
export const QUESTION_LIVES_MS = 15 * 60_000

/** Everything that an approval binds; every field is shown to the person. Values of secrets are masked. */
export interface Shown {
  readonly command: string
  readonly cwd: string
  readonly session: string | null
  /** `NAME=value`, sorted. */
  readonly env: readonly string[]
  readonly envMode: 'merge' | 'replace'
  readonly pty: boolean
  readonly reason: string
  readonly rule: string | null
}

export interface WaitingApproval extends Shown {
  readonly id: string
  readonly askedAt: number
  /** The engine that asks. */
  readonly engine: string
}

/** Of the fields by name, so that two ends that read the same question compute the same. */
export function shownDigest({ command, cwd, session, env, envMode, pty, reason, rule }: Shown): string {
  return createHash('sha256')
    .update(JSON.stringify([command, cwd, session, env, envMode, pty, reason, rule]))
    .digest('hex')
}

/**
 * The same directory, not only the same name. Null when it is gone. One at another place
 * (`ssh://build /srv`) is never looked for here.
 */
export function directoryMark(path: string): string | null {
  if (!isAbsolute(path)) return path
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stat?.isDirectory() ? `${stat.dev}:${stat.ino}` : null
}

/**
 * Says where the question can be answered. The engine does not trust what it repeats of the
 * question: an approval counts for that text only.
 */
export function notePending(stateDir: string, waiting: WaitingApproval): void {
  // On a full disk the question can still be answered over the socket.
  attempt(() => {
    const dir = ensurePrivateDirectory(join(stateDir, 'approvals'))
    forgetOld(dir)
    replacePrivateFile(join(dir, `${waiting.id}.json`), JSON.stringify(waiting))
  })
}

export function forgetPending(stateDir: string, id: string): void {
  removeQuietly(join(stateDir, 'approvals', `${id}.json`))
}

/** Pointers to questions, newest last. For those whose engine still lives, that engine is to be asked. */
export function pendingNotes(stateDir: string): WaitingApproval[] {
  const dir = join(stateDir, 'approvals')
  const found = namesIn(dir).flatMap((name) => {
    if (!/^ask_[0-9a-f]+\.json$/.test(name)) return []
    // Torn or foreign: as if it were not there.
    const note = waitingOf(parseRecord(attempt(() => readFileSync(join(dir, name), 'utf8'), '')))
    return note && `${note.id}.json` === name && Date.now() - note.askedAt < QUESTION_LIVES_MS ? [note] : []
  })
  return found.sort((a, b) => a.askedAt - b.askedAt)
}

/** A question as it comes from a file or a socket; null when it is none. */
export function waitingOf(value: unknown): WaitingApproval | null {
  if (!isRecord(value)) return null
  const { id, askedAt, engine, command, cwd, session, env, envMode, pty, reason, rule } = value
  if (typeof id !== 'string' || typeof askedAt !== 'number' || typeof engine !== 'string') return null
  if (typeof command !== 'string' || typeof cwd !== 'string' || typeof reason !== 'string' || typeof pty !== 'boolean')
    return null
  if (
    !Array.isArray(env) ||
    !env.every((each) => typeof each === 'string') ||
    (envMode !== 'merge' && envMode !== 'replace')
  )
    return null
  if ((session !== null && typeof session !== 'string') || (rule !== null && typeof rule !== 'string')) return null
  return { id, askedAt, engine, command, cwd, session, env: env as string[], envMode, pty, reason, rule }
}

function forgetOld(dir: string): void {
  for (const name of namesIn(dir))
    // Another engine may do it too.
    attempt(() => {
      if (Date.now() - statSync(join(dir, name)).mtimeMs > QUESTION_LIVES_MS * 2) unlinkSync(join(dir, name))
    })
}

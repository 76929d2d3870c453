/** Approvals that a person gives from another terminal: asked for in one process, answered in another, used once. */
import { randomBytes } from 'node:crypto'
import { linkSync, readdirSync, readFileSync, renameSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePrivateDirectory } from '../os/state-dir.js'

const LIVES_MS = 15 * 60_000

export interface PendingApproval {
  readonly id: string
  /** Of the exact command, directory and environment: an approval is worth nothing for anything else. */
  readonly digest: string
  readonly command: string
  readonly cwd: string
  readonly reason: string
  readonly askedAt: number
}

/** Notes that somebody should be asked; gives the id for `cerith approve`. */
export function requestApproval(stateDir: string, about: Omit<PendingApproval, 'id' | 'askedAt'>): PendingApproval {
  const dir = ensurePrivateDirectory(join(stateDir, 'approvals'))
  forgetOld(dir)
  const existing = listApprovals(stateDir).find(({ digest }) => digest === about.digest)
  if (existing) return existing
  const pending: PendingApproval = { ...about, id: `ask_${randomBytes(6).toString('hex')}`, askedAt: Date.now() }
  const temporary = join(dir, `.${pending.id}`)
  writeFileSync(temporary, JSON.stringify(pending), { mode: 0o600, flag: 'wx' })
  renameSync(temporary, join(dir, `${pending.id}.json`))
  return pending
}

export function listApprovals(stateDir: string): PendingApproval[] {
  const dir = join(stateDir, 'approvals')
  const found: PendingApproval[] = []
  for (const name of names(dir)) {
    if (!name.endsWith('.json') || name.startsWith('.')) continue
    try {
      const pending = JSON.parse(readFileSync(join(dir, name), 'utf8')) as PendingApproval
      if (Date.now() - pending.askedAt < LIVES_MS) found.push(pending)
    } catch {
      // Torn or foreign: as if it were not there.
    }
  }
  return found
}

/** Says yes, once. Null when there is no such question (any more). */
export function grantApproval(stateDir: string, id: string): PendingApproval | null {
  const pending = listApprovals(stateDir).find((one) => one.id === id)
  if (!pending) return null
  const dir = join(stateDir, 'approvals')
  const file = join(dir, `${pending.id}.json`)
  try {
    linkSync(file, join(dir, `${pending.digest}.granted`))
    unlinkSync(file)
  } catch {
    return null
  }
  return pending
}

/** True when exactly this was approved; the approval is gone afterwards, whoever asks first gets it. */
export function takeApproval(stateDir: string, digest: string): boolean {
  const granted = join(stateDir, 'approvals', `${digest}.granted`)
  try {
    const fresh = Date.now() - statSync(granted).ctimeMs < LIVES_MS
    // unlink succeeds for one process only: that is what makes it single use.
    unlinkSync(granted)
    return fresh
  } catch {
    return false
  }
}

function forgetOld(dir: string): void {
  for (const name of names(dir)) {
    try {
      if (Date.now() - statSync(join(dir, name)).mtimeMs > LIVES_MS * 2) unlinkSync(join(dir, name))
    } catch {
      // Somebody else did.
    }
  }
}

function names(dir: string): string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}

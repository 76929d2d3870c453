/**
 * Ends of servers in good order, kept as long as their host lives: a host that starts another
 * one goes on with a model that remembers shells.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine, isAlive, processFacts } from '../process/proc.js'
import { bootId } from '../process/world.js'
import { ensurePrivateDirectory } from '../files/state-dir.js'
import { attempt } from '../../contract/attempt.js'
import { namesIn } from '../files/quietly.js'

interface ServerEnd {
  readonly pid: number
  readonly start: string
  readonly boot: string
  readonly cwd: string
}

/** Written when a server that had a session ends. */
export function noteServerEnd(stateDir: string, cwd: string): void {
  const host = hostProcess()
  if (!host) return
  const end: ServerEnd = { ...host, boot: bootId(), cwd }
  // On a full disk the next server says nothing.
  attempt(() => {
    const file = join(ensurePrivateDirectory(join(stateDir, 'ended')), `${host.pid}`)
    writeFileSync(file, JSON.stringify(end), { mode: 0o600 })
  })
}

/**
 * Whether this host ended a server of this directory before, told once. Forgets the ends that dead hosts brought about.
 */
export function takeServerEnd(stateDir: string, cwd: string): boolean {
  const dir = join(stateDir, 'ended')
  const host = hostProcess()
  let found = false
  for (const name of namesIn(dir)) {
    const file = join(dir, name)
    const end = attempt(() => JSON.parse(readFileSync(file, 'utf8')) as ServerEnd, null)
    const lives = end !== null && end.boot === bootId() && isAlive(end.pid, end.start || undefined)
    const isOurs = lives && end.pid === host?.pid && end.start === host.start && end.cwd === cwd
    if (lives && !isOurs) continue
    found ||= isOurs
    rmSync(file, { force: true })
  }
  return found
}

/** Hosts start servers through shells and package runners, which live as long as the server. */
const RUNNERS = /^(?:\S*\/)?(?:sh|dash|bash|zsh|fish|npx|npm|pnpm|yarn|bunx)\b|^(?:\S*\/)?node \S*(?:npx|npm)/
const MOST_RUNNERS = 4

function hostProcess(): { readonly pid: number; readonly start: string } | null {
  let pid = process.ppid
  for (let step = 0; step < MOST_RUNNERS && pid > 1 && RUNNERS.test(commandLine(pid)); step++)
    pid = processFacts(pid)?.parent ?? 0
  const start = pid > 1 ? processFacts(pid)?.start : undefined
  return start === undefined ? null : { pid, start }
}

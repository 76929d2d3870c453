/**
 * Tells engines that a person is there to answer (`approve --watch`, `top`, the page): then a
 * call may wait for an answer.
 */
import { removeQuietly, namesIn } from '../os/files/quietly.js'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive, processFacts } from '../os/process/proc.js'
import { ensurePrivateDirectory } from '../os/files/state-dir.js'
import { attempt } from '../contract/attempt.js'

/**
 * Until the returned function is called, or this process ends. A wrong note costs a call a
 * short wait, and nothing else.
 */
export function announcePresence(stateDir: string): () => void {
  const file = join(ensurePrivateDirectory(join(ensurePrivateDirectory(stateDir), 'watching')), String(process.pid))
  writeFileSync(file, processFacts(process.pid)?.start ?? '', { mode: 0o600 })
  return () => removeQuietly(file)
}

export function isAnyonePresent(stateDir: string): boolean {
  const dir = join(stateDir, 'watching')
  return namesIn(dir).some((name) => {
    const start = attempt(() => readFileSync(join(dir, name), 'utf8'), null)
    if (start === null) return false // It has just left.
    if (isAlive(Number(name), start || undefined)) return true
    removeQuietly(join(dir, name))
    return false
  })
}

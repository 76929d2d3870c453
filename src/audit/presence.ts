/**
 * Tells engines that a person is there to answer (`approve --watch`, `top`, the page): then a
 * call may wait for an answer.
 */
import { removeQuietly, namesIn } from '../os/files/quietly.js'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive, processFacts } from '../os/process/proc.js'
import { thisWorld, whereIs } from '../os/process/world.js'
import { ensurePrivateDirectory } from '../os/files/state-dir.js'
import { attempt } from '../contract/attempt.js'

/**
 * Until the returned function is called, or this process ends. A wrong note costs a call a
 * short wait, and nothing else.
 */
export function announcePresence(stateDir: string): () => void {
  const dir = ensurePrivateDirectory(join(ensurePrivateDirectory(stateDir), 'watching'))
  const { boot, host } = thisWorld()
  // Two machines that share the directory have processes of the same number.
  const file = join(dir, `${process.pid}.${randomBytes(4).toString('hex')}`)
  writeFileSync(file, [processFacts(process.pid)?.start ?? '', host, boot].join(' '), { mode: 0o600 })
  return () => removeQuietly(file)
}

export function isAnyonePresent(stateDir: string): boolean {
  const dir = join(stateDir, 'watching')
  return namesIn(dir).some((name) => {
    const note = attempt(() => readFileSync(join(dir, name), 'utf8'), null)
    if (note === null) return false // It has just left.
    const [start, host, ...boot] = note.split(' ')
    const where = host === undefined ? 'here' : whereIs({ host, boot: boot.join(' ') })
    // A person at another machine cannot answer for this one, and stays announced there.
    if (where === 'elsewhere') return false
    if (where === 'here' && isAlive(Number.parseInt(name, 10), start || undefined)) return true
    removeQuietly(join(dir, name))
    return false
  })
}

/** What is remembered here about places: the key of an engine that is kept, the part of names that nobody guesses, what was made. */
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensurePrivateDirectory } from '../os/state-dir.js'
import { replacePrivateFile } from '../os/private-file.js'
import type { Made } from './places/place.js'

export interface EngineRecord {
  /** Of its run directory there, and of what is made for it. */
  readonly name: string
  readonly key: Buffer
}

export function recordsIn(stateDir: string) {
  const dir = ensurePrivateDirectory(join(ensurePrivateDirectory(stateDir), 'reach'))
  const read = (file: string): Record<string, string> | null => {
    try {
      return JSON.parse(readFileSync(join(dir, file), 'utf8')) as Record<string, string>
    } catch {
      return null
    }
  }
  const write = (file: string, value: object): void => replacePrivateFile(join(dir, file), JSON.stringify(value))
  return {
    salt(): string {
      const known = read('salt.json')?.['salt']
      if (known) return known
      const salt = randomBytes(8).toString('hex')
      write('salt.json', { salt })
      return salt
    },
    /** The same engine for the same words, so that a later process joins it; a new one without. */
    engine(keep: string | undefined, about: unknown): EngineRecord {
      if (keep === undefined) return { name: randomBytes(8).toString('hex'), key: randomBytes(32) }
      const digest = createHash('sha256')
        .update(JSON.stringify([keep, about]))
        .digest('hex')
        .slice(0, 32)
      const file = `engine-${digest}.json`
      const known = read(file)
      if (known?.['name'] && known['key']) return { name: known['name'], key: Buffer.from(known['key'], 'hex') }
      const fresh = { name: randomBytes(8).toString('hex'), key: randomBytes(32).toString('hex') }
      write(file, fresh)
      return { name: fresh.name, key: Buffer.from(fresh.key, 'hex') }
    },
    made(name: string): Made {
      const file = `made-${name}.json`
      return {
        read: () => read(file),
        write: (made) => write(file, made),
        forget: () => rmSync(join(dir, file), { force: true }),
      }
    },
  }
}

/** Files that processes have open, as the kernel tells them apart. */
import { lstatSync, readdirSync, statSync } from 'node:fs'
import { attempt } from '../../contract/attempt.js'

export interface OpenFile {
  readonly file: string
  readonly pipe: boolean
  /** Open for reading. */
  readonly reads: boolean
}

export function fileName({ dev, ino }: { dev: number; ino: number }): string {
  return `${dev}:${ino}`
}

/** The file behind a descriptor of a process. */
export function openFile(pid: number, fd: number): string | undefined {
  return attempt(() => fileName(statSync(`/proc/${pid}/fd/${fd}`)))
}

/** All descriptors of a process; none where there is no /proc, or the process is gone. */
export function openFiles(pid: number): Map<number, OpenFile> {
  const found = new Map<number, OpenFile>()
  for (const name of attempt(() => readdirSync(`/proc/${pid}/fd`), [])) {
    // It may be closed while we look.
    attempt(() => {
      const path = `/proc/${pid}/fd/${name}`
      const seen = statSync(path)
      const reads = (lstatSync(path).mode & 0o400) !== 0
      found.set(Number(name), { file: fileName(seen), pipe: seen.isFIFO(), reads })
    })
  }
  return found
}

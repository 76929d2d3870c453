/** Files that processes have open, as the kernel tells them apart. */
import { lstatSync, readdirSync, statSync } from 'node:fs'

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
  try {
    return fileName(statSync(`/proc/${pid}/fd/${fd}`))
  } catch {
    return undefined
  }
}

/** All descriptors of a process; none where there is no /proc, or the process is gone. */
export function openFiles(pid: number): Map<number, OpenFile> {
  const found = new Map<number, OpenFile>()
  try {
    for (const name of readdirSync(`/proc/${pid}/fd`)) {
      try {
        const path = `/proc/${pid}/fd/${name}`
        const seen = statSync(path)
        found.set(Number(name), {
          file: fileName(seen),
          pipe: seen.isFIFO(),
          reads: (lstatSync(path).mode & 0o400) !== 0,
        })
      } catch {
        // Closed while we looked.
      }
    }
  } catch {
    // No /proc, or no such process.
  }
  return found
}

/** What is mounted where, as this process sees it. */
import { lstatSync, readFileSync } from 'node:fs'
import { join } from '../../confine/paths.js'
import { isInside } from '../../contract/names/inside.js'
import { attempt } from '../../contract/attempt.js'

export interface Mount {
  readonly place: string
  readonly type: string
  readonly device: string
  /** Which directory of the file system it shows. */
  readonly root: string
}

export function mountsNow(): Mount[] {
  const text = attempt(() => readFileSync('/proc/self/mountinfo', 'utf8'), '')
  return text.split('\n').flatMap((line) => {
    const words = line.split(' ')
    const type = words[words.indexOf('-') + 1]
    const [, , device = '', root = '', place] = words.map((word) =>
      word.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))),
    )
    return place && type ? [{ place, type, device, root }] : []
  })
}

/** Of several at one place the last one is seen. */
export function holderOf(path: string, mounts: readonly Mount[]): Mount | undefined {
  return mounts
    .filter(({ place }) => isInside(path, place))
    .sort((a, b) => a.place.length - b.place.length)
    .at(-1)
}

/** A file system can be mounted more than once, or a directory of it a second time: where else these paths are seen. */
export function otherPlacesOf(paths: readonly string[]): string[] {
  const all = mountsNow()
  const several = all.filter((one) => all.some((other) => other !== one && other.device === one.device))
  if (several.length === 0) return []
  return paths.flatMap((path) => {
    const holder = holderOf(path, all)
    if (!holder) return []
    const inner = join(holder.root, path.slice(holder.place === '/' ? 0 : holder.place.length))
    return several.flatMap((other) => {
      if (other === holder || other.device !== holder.device || !isInside(inner, other.root)) return []
      const place = join(other.place, inner.slice(other.root === '/' ? 0 : other.root.length))
      return place !== path && markOf(place) === markOf(path) ? [place] : []
    })
  })
}

/** Whether two names are the same thing, also where there is none yet. */
function markOf(path: string): string {
  return attempt(() => {
    const { dev, ino } = lstatSync(path)
    return `${dev} ${ino}`
  }, '')
}

/** Which try a verb is about, and changes as lines. */
import type { TryInfo } from '../../contract/changes.js'
import type { Engine } from '../../contract/engine.js'
import { ShellError } from '../../contract/errors.js'
import { isInside } from '../../contract/names/inside.js'
import { UsageError, type Io } from '../io/io.js'
import { visible } from '../../output/terminal/visible.js'

const TRY_ID = /^try_[0-9a-f]{10}$/

interface NamedTry {
  readonly id: string
  /** Absent: all. */
  readonly paths?: readonly string[]
}

/** `cerith diff [ID] [PATH...]`: without an id the one of this directory. Null: there is none. */
export async function tryNamed(words: readonly string[], engine: Engine, io: Io): Promise<NamedTry | null> {
  const [first = '', ...rest] = words
  const cwd = engine.place ? engine.cwd : io.cwd
  const named = (id: string, given: readonly string[]): NamedTry =>
    given.length === 0 ? { id } : { id, paths: given.map((path) => (path.startsWith('/') ? path : `${cwd}/${path}`)) }
  if (TRY_ID.test(first)) return named(first, rest)
  const all = await engine.tries()
  const here = all.filter(({ roots }) => roots.some((root) => isInside(cwd, root)))
  if (here.length === 1) return named(here[0]!.id, words)
  if (here.length > 1)
    throw new UsageError(
      `${here.length} tries are open for this directory; name one`,
      here.map((one) => `${one.id}  ${aboutTry(one)}`).join('\n  '),
    )
  if (words.length === 0) return null
  throw noneHere(all)
}

function noneHere(all: readonly TryInfo[]): ShellError {
  return new ShellError(
    'TRY_NOT_FOUND',
    'Nothing was tried in this directory',
    all.length > 0 ? `There are: ${all.map(({ id }) => id).join(', ')}.` : 'Try something with `cerith run --try`.',
  )
}

/** For verbs that do something with it. */
export async function tryToSettle(words: readonly string[], engine: Engine, io: Io): Promise<NamedTry> {
  const named = await tryNamed(words, engine, io)
  if (named === null) throw noneHere(await engine.tries())
  return named
}

export function aboutTry({ roots, usedAt, keptUntil, inUse }: TryInfo): string {
  const day = (at: number): string => new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  return `${visible(roots.join(', '))}, used ${day(usedAt)}, kept until ${day(keptUntil)}${inUse ? ', in use' : ''}`
}

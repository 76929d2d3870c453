/** Which try a verb is about, and changes as lines. */
import type { Change, ChangedFile, TryInfo } from '../contract/changes.js'
import type { Engine } from '../contract/engine.js'
import { ShellError } from '../contract/errors.js'
import { UsageError, type Io } from './io.js'
import type { Paint } from './paint.js'
import { visible } from '../output/visible.js'

const TRY_ID = /^try_[0-9a-f]{10}$/

/** `cerith diff [ID] [PATH...]`: without an id the one of this directory. Null: there is none. */
export async function tryNamed(
  words: readonly string[],
  engine: Engine,
  io: Io,
): Promise<{ readonly id: string; readonly paths: readonly string[] } | null> {
  const [first = '', ...rest] = words
  const paths = (given: readonly string[]): string[] => given.map((path) => absolute(path, engine, io))
  if (TRY_ID.test(first)) return { id: first, paths: paths(rest) }
  const all = await engine.tries()
  const here = all.filter(({ roots }) => roots.some((root) => isInside(engine.place ? engine.cwd : io.cwd, root)))
  if (here.length === 1) return { id: here[0]!.id, paths: paths(words) }
  if (here.length > 1)
    throw new UsageError(
      `${here.length} tries are open for this directory; name one`,
      here.map((one) => `${one.id}  ${aboutTry(one)}`).join('\n  '),
    )
  if (words.length === 0) return null
  throw new ShellError(
    'TRY_NOT_FOUND',
    'Nothing was tried in this directory',
    all.length > 0 ? `There are: ${all.map(({ id }) => id).join(', ')}.` : 'Try something with `cerith run --try`.',
  )
}

export function aboutTry({ roots, usedAt, keptUntil, inUse }: TryInfo): string {
  const day = (at: number): string => new Date(at).toISOString().slice(0, 16).replace('T', ' ')
  return `${visible(roots.join(', '))}, used ${day(usedAt)}, kept until ${day(keptUntil)}${inUse ? ', in use' : ''}`
}

function absolute(path: string, engine: Engine, io: Io): string {
  return path.startsWith('/') ? path : `${engine.place ? engine.cwd : io.cwd}/${path}`
}

function isInside(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`)
}

const LETTERS = { added: 'A', changed: 'M', deleted: 'D', replaced: 'T' } as const
const STYLES = { added: 'green', changed: 'cyan', deleted: 'red', replaced: 'yellow' } as const

/** One line: what, where, and everything that a person should know before it counts. */
export function changeLine(change: Change, paint: Paint): string {
  const { kind, path, before, after } = change
  const details = [
    ...(before && after && before.type !== after.type ? [`${before.type} -> ${after.type}`] : []),
    ...(kind === 'added' || kind === 'deleted' ? typeWords((after ?? before)!) : []),
    ...(before && after && change.parts.includes('mode') ? [`mode ${octal(before)} -> ${octal(after)}`] : []),
    ...(change.parts.includes('owner') ? ['owner'] : []),
    ...(change.parts.includes('attributes') ? ['attributes'] : []),
    ...(after?.target ? [`-> ${after.target}`] : []),
    ...change.notes,
  ]
  const alarms = [
    ...(change.conflict ? [`CONFLICT: ${change.conflict}`] : []),
    ...(change.protected ? ['PROTECTED'] : []),
    ...(change.refused ? [`not accepted: ${change.refused}`] : []),
  ]
  const tail = details.length > 0 ? paint('dim', `  (${visible(details.join('; '))})`) : ''
  const alarm = alarms.length > 0 ? paint('yellow', `  ${alarms.join('; ')}`) : ''
  return `${paint(STYLES[kind], LETTERS[kind])} ${visible(path)}${tail}${alarm}`
}

function typeWords({ type, mode }: ChangedFile): string[] {
  if (type === 'file') return (mode & 0o111) === 0 ? [] : ['executable']
  return [type]
}

function octal({ mode }: ChangedFile): string {
  return mode.toString(8).padStart(4, '0')
}

export function countWords(changes: readonly Change[]): string {
  const count = (kind: Change['kind']): number => changes.filter((change) => change.kind === kind).length
  const words = [
    [count('added'), 'added'],
    [count('changed'), 'changed'],
    [count('replaced'), 'replaced'],
    [count('deleted'), 'deleted'],
  ] as const
  return words.flatMap(([number, word]) => (number > 0 ? [`${number} ${word}`] : [])).join(', ') || 'nothing changed'
}

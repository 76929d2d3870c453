/**
 * Records of a try's helper as changes, and which of them an accept may take. Pure; paths are
 * bytes, one character each.
 */
import type { Change, ChangedFile, ChangedType, ChangeKind } from '../contract/changes.js'
import { isBelow, isInside } from '../contract/names/inside.js'
import { join, nameOf, parentOf } from './paths.js'
import { PROTECTED_NAMES } from './protected.js'
import { attempt } from '../contract/attempt.js'

/** A change with what the helper needs to accept exactly that. */
export interface Entry {
  readonly index: number
  /** Relative to its root, as bytes. */
  readonly bytes: string
  readonly upper: string
  readonly lower: string
  readonly change: Change
}

export interface TriedRoot {
  readonly path: string
}

/** What was accepted before, by `INDEX PATH`: the mark under which it stands in the original since. */
export type Known = ReadonlyMap<string, ReadonlySet<string>>

const KINDS: Readonly<Record<string, ChangeKind>> = { A: 'added', C: 'changed', D: 'deleted', T: 'replaced' }
const TYPES: Readonly<Record<string, ChangedType>> = { f: 'file', d: 'directory', l: 'link', p: 'pipe', s: 'socket' }
const PARTS = { d: 'content', m: 'mode', o: 'owner', x: 'attributes' } as const
const CONFLICTS: Readonly<Record<string, string>> = {
  c: 'the original changed since the try began',
  s: 'something in the original directory changed since the try began',
  g: 'the original was removed since the try began',
  m: 'it cannot be compared: unreadable, too deep, or something is mounted there',
}
const REFUSED: Readonly<Record<string, string>> = {
  pipe: 'a named pipe is not accepted: it lives as long as the processes that use it',
  socket: 'a socket is not accepted: the process that listened on it is not there',
  device: 'a device is not accepted',
}

/** `fields`: four texts per record, bytes as characters. */
export function entriesOf(
  fields: readonly string[],
  roots: readonly TriedRoot[],
  protectedPaths: readonly string[],
  known: Known,
): Entry[] {
  const entries: Entry[] = []
  for (let at = 0; at + 3 < fields.length; at += 4) {
    const [header, bytes, from, to] = fields.slice(at, at + 4) as [string, string, string, string]
    const entry = entryOf(header.split(' '), bytes, [from, to], roots, protectedPaths, known)
    if (entry) entries.push(entry)
  }
  return entries.sort((a, b) => a.index - b.index || (a.bytes < b.bytes ? -1 : 1))
}

function entryOf(
  words: readonly string[],
  bytes: string,
  [from, to]: readonly [string, string],
  roots: readonly TriedRoot[],
  protectedPaths: readonly string[],
  known: Known,
): Entry | null {
  const [index, kind, , , , , , , parts = '-', conflict = '-', below = '0', above = '0', upper = '', lower = ''] = words
  const root = roots[Number(index)]
  if (!root) return null
  const before = sideOf(words[2], words[4], words[6], from)
  const after = sideOf(words[3], words[5], words[7], to)
  const text = shownPath(bytes)
  const path = join(root.path, text)
  const marks = known.get(`${index} ${bytes}`)
  const around = known.get(`${index} ${bytes.includes('/') ? bytes.slice(0, bytes.lastIndexOf('/')) : ''}`)
  const ours = marks?.has(lower) || (conflict === 'g' && around?.has(`p${words[14]}`))
  const lost = kind === 'X' ? 'it lies too deep to be accepted' : null
  const change: Change = {
    path,
    kind: KINDS[kind ?? ''] ?? 'changed',
    before,
    after,
    parts: [...parts].flatMap((part) => PARTS[part as keyof typeof PARTS] ?? []),
    conflict: ours && conflict !== 'm' ? null : (CONFLICTS[conflict] ?? null),
    protected: isProtected(root.path, text, kind === 'D' || kind === 'T', protectedPaths),
    refused: lost ?? (after ? (REFUSED[after.type] ?? null) : null),
    notes: [
      ...(after?.target && leadsOutside(after.target, path, roots) ? ['a link that leads outside the roots'] : []),
      ...(kind === 'C' && Number(below) > 1 && before?.type === 'file'
        ? [`one of ${below} names of the same file; the others keep the old content`]
        : []),
      ...(Number(above) > 1 && after?.type === 'file' ? [`one of ${above} names of the same new file`] : []),
      ...(after && (after.mode & 0o6000) !== 0 && after.type === 'file'
        ? ['set-user-id and set-group-id are taken off']
        : []),
    ],
  }
  return { index: Number(index), bytes, upper, lower, change }
}

function sideOf(type = '-', mode = '0', size = '0', target: string): ChangedFile | null {
  if (type === '-') return null
  return {
    type: TYPES[type] ?? 'device',
    mode: Number.parseInt(mode, 8),
    size: Number(size),
    target: type === 'l' ? shownPath(target) : null,
  }
}

/** The bytes as text; what is no UTF-8, and what a terminal would act on, as `\xNN`. */
export function shownPath(bytes: string): string {
  if (/^[\x20-\x7e]*$/.test(bytes)) return bytes.replaceAll('\\', '\\\\')
  return bytes
    .replaceAll('\\', '\\\\')
    .replace(/[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[^]/g, (part) => {
      if (part.length === 1) return /[\x20-\x7e]/.test(part) ? part : escaped(part)
      const text = attempt(() => decodeURIComponent([...part].map((one) => `%${hex(one)}`).join('')), '')
      const isSeen =
        /[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]/u.test(text) && !/[\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/.test(text)
      return isSeen ? text : escaped(part)
    })
}

function escaped(bytes: string): string {
  return [...bytes].map((one) => `\\x${hex(one)}`).join('')
}

function hex(one: string): string {
  return one.charCodeAt(0).toString(16).padStart(2, '0')
}

function leadsOutside(target: string, path: string, roots: readonly TriedRoot[]): boolean {
  const end = target.startsWith('/') ? join('/', target) : join(parentOf(path), target)
  return !roots.some((root) => isInside(end, root.path))
}

/** Names that git, editors and agents run or believe, wherever they stand below a root. */
const GIT_BELIEVED =
  /(?:^|\/)\.git(?:\/(?:.*\/)?(?:hooks|config|config\.worktree|commondir|attributes|info|branches|(?<!refs\/)remotes)(?:\/.*)?)?$/
const REPOSITORY_PARTS = ['hooks', 'config', 'commondir']

function isProtected(root: string, relative: string, takesAway: boolean, listed: readonly string[]): boolean {
  const path = join(root, relative)
  if (listed.some((one) => isInside(path, one) || (takesAway && isBelow(one, path)))) return true
  if (GIT_BELIEVED.test(relative)) return true
  // With it a directory becomes a repository, whose configuration git believes.
  if (nameOf(path) === 'HEAD' && !relative.split('/').includes('.git')) return true
  // A root that becomes a repository itself.
  if (!relative.includes('/') && REPOSITORY_PARTS.includes(nameOf(path))) return true
  const parts = relative.split('/')
  return PROTECTED_NAMES.some((name) => {
    const wanted = name.split('/')
    return parts.some((_, at) => wanted.every((one, offset) => parts[at + offset] === one))
  })
}

/** The entries that the paths name: a directory stands for everything below it. Relative paths count from `cwd`. */
export function chosen(entries: readonly Entry[], paths: readonly string[] | undefined, cwd: string): Entry[] {
  if (!paths || paths.length === 0) return [...entries]
  // As it was typed, or as it was shown. An empty word, as of an unset variable, names nothing.
  const wanted = paths
    .filter((path) => path !== '')
    .map((path) => (path.startsWith('/') ? join('/', path) : join(cwd, path)))
    .flatMap((path) => [path, shownPath(bytesOf(path))])
  return entries.filter(({ change }) => wanted.some((path) => isInside(change.path, path)))
}

/** With the new directories on the way to what was chosen. */
export function withDirectories(picked: readonly Entry[], all: readonly Entry[]): Entry[] {
  const set = new Set(picked)
  for (const entry of all) {
    const { after, kind } = entry.change
    const makesWay = after?.type === 'directory' && (kind === 'added' || kind === 'replaced')
    if (makesWay && picked.some((one) => isBelow(one.change.path, entry.change.path) && one.change.refused === null))
      set.add(entry)
  }
  return all.filter((entry) => set.has(entry))
}

/** The UTF-8 of a text, one character per byte. */
function bytesOf(text: string): string {
  return attempt(
    () =>
      encodeURIComponent(text).replace(/%([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(parseInt(code, 16))),
    text,
  )
}

/** Asks the native helper about a try: what changed, what files hold, and to accept or remove. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { entriesOf, type Entry, type Known } from '../../confine/changes.js'
import { attempt } from '../../contract/attempt.js'
import { ShellError } from '../../contract/errors.js'
import { startChild } from '../process/child.js'
import { findHelper } from '../helper/file.js'
import type { TryFolder } from './try-store.js'
import { errnoName } from '../helper/ward.js'

export async function scanTry(folder: TryFolder): Promise<Entry[]> {
  const { record } = folder
  const text = (await ask(folder, 'scan')).toString('latin1')
  return entriesOf(text.split('\0').slice(0, -1), record.roots, record.protect, knownIn(folder))
}

/** Both sides of files, null for what is no file or too large. Each is read through no link. */
export async function readSides(
  folder: TryFolder,
  entries: readonly Entry[],
): Promise<[Buffer | null, Buffer | null][]> {
  const sides = entries.flatMap(({ index, bytes }) => [`l ${index} ${bytes}\0`, `u ${index} ${bytes}\0`])
  const answer = await ask(folder, 'read', Buffer.from(sides.join(''), 'latin1'))
  const found: (Buffer | null)[] = []
  for (let at = 0; found.length < sides.length;) {
    const end = answer.indexOf(10, at)
    if (end < 0) throw broken('read', 'a short answer')
    const size = Number(answer.toString('latin1', at, end))
    at = end + 1 + Math.max(0, size)
    found.push(size < 0 ? null : answer.subarray(end + 1, at))
  }
  return entries.map((_, at) => [found[at * 2] ?? null, found[at * 2 + 1] ?? null])
}

export interface Done {
  readonly entry: Entry
  /** Null: the change is in the original now. */
  readonly problem: string | null
}

/** One after the other; ends at the first that finds no room. */
export async function acceptEntries(folder: TryFolder, entries: readonly Entry[], force: boolean): Promise<Done[]> {
  const orders = entries.map(
    ({ index, bytes, upper, lower }) => `${index} ${force ? 'f' : '-'} ${upper} ${lower}\0${bytes}\0`,
  )
  const answer = (await ask(folder, 'accept', Buffer.from(orders.join(''), 'latin1'))).toString('latin1').split('\0')
  return entries.map((entry, at) => {
    const said = answer[at * 2]
    if (!said) return { entry, problem: 'not tried any more' }
    const [what = '', errno = '0'] = said.split(' ')
    return { entry, problem: what === 'ok' ? null : problemText(what, Number(errno)) }
  })
}

/** The folder, with everything in it. */
export async function removeTry(folder: TryFolder): Promise<void> {
  await ask(folder, 'remove')
}

/** Whether no process lives in its room and no accept is under way. */
export async function isFree(folder: TryFolder): Promise<boolean> {
  try {
    await ask(folder, 'free')
    return true
  } catch (error) {
    if (ShellError.is(error) && error.code === 'TRY_BUSY') return false
    throw error
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  moved: 'it changed after it was looked at; look again',
  way: 'a directory on the way to it is not there, is a link, or is on another file system',
  layer: 'it is not in the try any more',
  kind: 'only files, directories and links are accepted',
}

function problemText(what: string, errno: number): string {
  const code = errno === 0 ? '' : errnoName(errno)
  if (code === 'ENOSPC' || code === 'EDQUOT') return `the disk is full (${code}); make room and accept again`
  return PROBLEMS[what] ?? `it could not be accepted (${what}${code ? `: ${code}` : ''})`
}

/** Marks under which accepted things stand in the original since. A torn last line is no mark. */
function knownIn({ dir }: TryFolder): Known {
  const known = new Map<string, Set<string>>()
  const text = attempt(() => readFileSync(join(dir, 'known'), 'latin1'), '')
  for (const line of text.split('\0').slice(0, -1)) {
    const [, index = '', mark = '', path = ''] = /^(\d+) (\S+) ([^]*)$/.exec(line) ?? []
    const key = `${index} ${path}`
    known.set(key, (known.get(key) ?? new Set()).add(mark))
  }
  return known
}

async function ask(folder: TryFolder, verb: string, input: Buffer | null = null): Promise<Buffer> {
  const helper = findHelper()
  if (helper === null)
    throw new ShellError(
      'SANDBOX_UNAVAILABLE',
      'What was tried can only be looked at with the native helper of cerith',
      'Build it with a C compiler (npm run build); see `cerith doctor`.',
    )
  const { dir, record } = folder
  const since = BigInt(record.since)
  const roots = record.roots.map(({ path, dev, ino }) => `${dev}:${ino}:${path}`)
  const times = [String(since / 1_000_000_000n), String(since % 1_000_000_000n)]
  const child = startChild(helper, ['try', verb, dir, ...times, ...roots], { stdio: ['pipe', 'pipe', 'inherit'] })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  // A helper that ends before it has read everything says why by its answer.
  child.stdin.on('error', () => {})
  child.stdin.end(input ?? '')
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  const answer = Buffer.concat(chunks)
  if (code === 0) return answer
  if (code !== 3) throw broken(verb, `exit ${code}`)
  // What failed is the last thing that was said.
  const [said = '', detail = ''] = answer.toString('latin1').split('\0').slice(-3)
  throw failure(folder, said, detail)
}

function failure({ record }: TryFolder, said: string, detail: string): ShellError {
  const [what = '', errno = '0'] = said.split(' ')
  if (what === 'busy') return tryBusy(record.id)
  if (what === 'root')
    return new ShellError(
      'TRY_FAILED',
      `A root of ${record.id} is not the directory that it was: ${detail.replace(/^\d+:\d+:/, '')}`,
      'Put it back where it was, or `cerith discard` the try.',
    )
  return broken(what, errnoName(Number(errno)))
}

export function tryBusy(id: string, hint = 'End its sessions and jobs (or wait for them), then repeat.'): ShellError {
  return new ShellError('TRY_BUSY', `${id} is in use: commands live in its room, or it is being accepted`, hint)
}

function broken(what: string, why: string): ShellError {
  return new ShellError(
    'TRY_FAILED',
    `The try could not be looked at (${what}: ${why})`,
    'Repeat; see `cerith doctor`.',
  )
}

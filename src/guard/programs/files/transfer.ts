/**
 * Tools that put files elsewhere: what they overwrite, what they take away, and which name means which file afterwards.
 */
import { nameList } from '../../../contract/quote.js'
import { resolvePath } from '../../words/paths.js'
import { ANYTHING, ASIDE, AT_HOME, EMPTY, isConstant, NOTHING, plain, UNKNOWN } from '../../words/text.js'
import { basename, type Call, options, type Program } from '../row/call.js'

const TRANSFER = { short: 'tSZ', long: ['target-directory', 'suffix'] }

export const mv: Program = (call) => {
  const given = options(call.args, TRANSFER)
  if (given.has('help', 'version')) return
  const to = destination(given)
  // One operand alone is an error: nothing is moved anywhere.
  if (!to) return NOTHING
  const { sources, target, lands } = to
  const atHome = staysAtHome(call, target)
  for (const source of sources) call.effect('move', source, isAside(source, target) ? ASIDE : atHome)
  if (plain(target) === '/dev/null') call.effects('delete-tree', sources)
  else
    for (const landing of lands)
      call.effect(sources.every((source) => isAside(source, target)) ? 'create' : 'overwrite', landing)
  sources.forEach((source) => carry(call, source, lands))
  // A later command of the text that removes the new name removes what stood at the old one.
  if (atHome)
    for (const cwd of call.shell.cwd)
      for (const place of [target, ...lands])
        for (const source of sources)
          call.walker.namesakes.stands(resolvePath(place, cwd), resolvePath(source, cwd), 'mount')
  return NOTHING
}

function isAside(source: string, target: string): boolean {
  const name = source.replace(/\/+$/, '').replace(/(?<=[^/])\.\w+$/, (end) => (target.endsWith(end) ? '' : end))
  return target.startsWith(name) && /^[._~-][^/]*\/?$/.test(target.slice(name.length))
}

/** `mv ~/.gnupg ~/sync/gnupg`, but not into a cache, a trash or a temporary directory: programs empty those. */
function staysAtHome({ shell }: Call, target: string): typeof AT_HOME | undefined {
  const places = shell.cwd.map((cwd) => resolvePath(target, cwd))
  const kept = (place: string): boolean =>
    isConstant(place) &&
    shell.ownHomes.some((home) => home.length > 1 && place.startsWith(`${home}/`)) &&
    !/\/(?:\.?trash|\.?cache|\.?te?mp)(?:\/|$)/i.test(place)
  return places.every(kept) ? AT_HOME : undefined
}

export const cp: Program = (call) => {
  const given = options(call.args, TRANSFER)
  if (given.has('help', 'version')) return
  const to = destination(given)
  if (!to) return NOTHING
  const { sources, lands } = to
  const empty = sources.every((source) => source === '/dev/null') ? EMPTY : undefined
  call.effects('overwrite', lands, empty)
  sources.forEach((source) => carry(call, source, lands))
  return NOTHING
}

export const install: Program = (call) => {
  const given = options(call.args, { short: 'gmotS', long: ['group', 'mode', 'owner', 'target-directory', 'suffix'] })
  if (given.has('d', 'directory', 'help', 'version')) return
  const to = destination(given)
  call.effects('overwrite', to?.lands ?? [])
  for (const source of to?.sources ?? []) carry(call, source, to?.lands ?? [])
  return NOTHING
}

export const ln: Program = (call) => {
  const given = options(call.args, TRANSFER)
  const to = destination(given)
  if (!to) return NOTHING
  const { sources, target, intoDirectory, lands } = to
  const forced = given.has('f', 'force')
  // With -n or -T the name itself becomes the link, also where a directory is.
  if (forced && given.has('n', 'T', 'no-dereference', 'no-target-directory') && !intoDirectory)
    if (!call.walker.guesses) call.effect('move', target)
  // `/boot/vmlinuz -> vmlinuz-6.1`: which of the kernels beside it is started.
  const version = /^\/boot\/[^/]+$/.test(target) && sources.every((source) => isAside(basename(target), source))
  for (const landing of lands) {
    // `/bin/sh -> dash` is how systems choose their programs.
    const program = /^(?:\/usr)?\/s?bin\//.test(landing) && sources.every((source) => PROGRAM_HOME.test(source))
    if (!program && !version && (forced || /^(?:\/usr)?\/s?bin\/sh$/.test(landing)))
      call.effect('overwrite', landing, sources.every((source) => plain(source) === '/dev/null') ? EMPTY : undefined)
    else call.effect('create', landing)
  }
  sources.forEach((source) => carry(call, source, lands))
  return NOTHING
}

/** Where programs live; a link to anything else under a program's name breaks it. */
const PROGRAM_HOME =
  /^(?!.*\/(?:true|false|nologin)$)(?:(?!\/)|\/(?:usr\/|bin\/|sbin\/|lib|opt\/|etc\/alternatives\/|nix\/|snap\/|home\/|root\/)|\uFDD0)/

/** What cp, mv, ln and install are given; `lands`: the files that appear. Without a target there is nothing to do. */
interface Destination {
  readonly sources: readonly string[]
  readonly target: string
  readonly intoDirectory: boolean
  readonly lands: readonly string[]
}

function destination(given: ReturnType<typeof options>): Destination | undefined {
  const directory = given.get('t', 'target-directory')
  const target = directory ?? (given.operands.length > 1 ? given.operands.at(-1) : undefined)
  if (target === undefined) return undefined
  const sources = directory === undefined ? given.operands.slice(0, -1) : given.operands
  const intoDirectory = directory !== undefined || given.operands.length > 2 || target.endsWith('/')
  return { sources, target, intoDirectory, lands: landings(sources, target, intoDirectory) }
}

/** The file that really appears: `cp x /etc/` writes /etc/x. */
function landings(sources: readonly string[], target: string, intoDirectory: boolean): string[] {
  if (/^\/dev\/\w+$/.test(target)) return [target]
  const direct = intoDirectory ? [] : [target]
  // Which names a pattern or a search brings is not known; they come beside what is there.
  const names = sources.map((source) => basename(source))
  return [...direct, ...names.map((name) => `${target}/${isConstant(name) ? name : UNKNOWN}`)]
}

const PROGRAM = /^(?:\/usr)?\/s?bin\/[\w.-]+$/

/** A copy of a program, a script or a link keeps its meaning under the new name. */
function carry(call: Call, source: string, targets: readonly string[]): void {
  const from = call.resolve(source)
  for (const target of targets) {
    const path = call.resolve(target)
    if (path === '' || !isConstant(path)) continue
    const text = from === '/dev/stdin' ? (call.stdin ?? undefined) : call.shell.files.get(from)
    if (text) call.write(path, text)
    // A directory takes what is in it along.
    else
      for (const [inside, held] of Array.from(call.shell.files))
        if (inside.startsWith(`${from}/`)) call.shell.files.set(path + inside.slice(from.length), held)
    // Also the commands after this one know what the copy is.
    if (PROGRAM.test(from)) call.shell.files.set(path, [`exec ${from} "$@"\n`])
    const link = basename(call.argv[0] ?? '') === 'ln'
    if (link || from !== '/dev/stdin') call.walker.namesakes.stands(path, from, link ? 'link' : 'copy')
  }
}

export const dd: Program = (call) => {
  for (const word of call.args) {
    const target = /^(?:of|hof|wipe)=(.*)$/s.exec(word)?.[1]
    if (target !== undefined) call.effect('overwrite', target)
  }
  const output = call.argv.find((word) => word.startsWith('of='))
  const input = call.argv.find((word) => word.startsWith('if='))
  const text = input === undefined ? (call.stdin ?? ANYTHING) : call.contents(input.slice(3))
  if (output === undefined) return text
  call.write(output.slice(3), text)
  if (input !== undefined) carry(call, input.slice(3), [output.slice(3)])
  return NOTHING
}

/** The last operand is written: ddrescue, dcfldd style tools take if=/of= as well. */
export const lastOperandWritten =
  (short: string): Program =>
  (call) => {
    const given = options(call.args, { short })
    const target = given.operands[1]
    if (target !== undefined) call.effect('overwrite', target)
    return dd(call, 'dd')
  }

/** Options with a value. */
const RSYNC_VALUES = nameList(`
  rsh exclude include filter files-from exclude-from include-from backup-dir suffix log-file rsync-path chown chmod
  bwlimit timeout port partial-dir temp-dir compare-dest link-dest info out-format
`)

export const rsync: Program = (call) => {
  const given = options(call.args, { short: 'efBTM', long: RSYNC_VALUES })
  for (const line of given.all('e', 'rsh', 'rsync-path')) call.tryScript(plain(line))
  const target = given.operands.length > 1 ? given.operands[given.operands.length - 1] : undefined
  if (target === undefined || given.has('n', 'dry-run', 'list-only')) return
  const deletes = given.flags.some((flag) => /^del(ete.*)?$/.test(flag))
  if (deletes) call.effect('delete-tree', target.replace(/^[\w.@-]+:(?=\/)/, ''))
  else call.effects('overwrite', landings(given.operands.slice(0, -1), target, false))
  for (const source of given.operands.slice(0, -1)) carry(call, source, landings([source], target, false))
  if (given.has('remove-source-files')) call.effects('delete-tree', given.operands.slice(0, -1))
}

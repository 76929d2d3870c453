/**
 * Tools that put files elsewhere: what they overwrite, what they take away, and which name means which file afterwards.
 */
import { nameList } from '../../../contract/quote.js'
import { resolvePath } from '../../words/paths.js'
import { ANYTHING, ASIDE, AT_HOME, EMPTY, isConstant, NOTHING, plain, UNKNOWN } from '../../words/text.js'
import { basename, type Call, options, type Program } from '../row/call.js'

const TRANSFER = { short: 'tSZ', long: ['target-directory', 'suffix'] }

export const mv: Program = (call) => {
  const given = options(call.argv.slice(1), TRANSFER)
  if (given.has('help', 'version')) return undefined
  const { sources, target, intoDirectory } = destination(given)
  // One operand alone is an error: nothing is moved anywhere.
  if (target === undefined) return NOTHING
  const atHome = staysAtHome(call, target)
  for (const source of sources)
    call.walker.effect('move', source, call.shell, call.argv, isAside(source, target) ? ASIDE : atHome)
  if (plain(target) === '/dev/null')
    for (const source of sources) call.walker.effect('delete-tree', source, call.shell, call.argv)
  else
    for (const landing of landings(sources, target, intoDirectory))
      call.walker.effect(
        sources.every((source) => isAside(source, target)) ? 'create' : 'overwrite',
        landing,
        call.shell,
        call.argv,
      )
  sources.forEach((source) => carry(call, source, landings(sources, target, intoDirectory)))
  // Whoever removes it under its new name removes it.
  if (atHome)
    for (const cwd of call.shell.cwd)
      for (const place of [target, ...landings(sources, target, intoDirectory)])
        for (const source of sources)
          call.walker.namesakes.stands(resolvePath(place, cwd), resolvePath(source, cwd), 'mount')
  return NOTHING
}

function isAside(source: string, target: string): boolean {
  const name = source.replace(/\/+$/, '').replace(/(?<=[^/])\.\w+$/, (end) => (target.endsWith(end) ? '' : end))
  return target.startsWith(name) && /^[._~-][^/]*\/?$/.test(target.slice(name.length))
}

/** `mv ~/.gnupg ~/sync/gnupg`; what is put where caches and trash are, somebody clears. */
function staysAtHome({ shell }: Call, target: string): typeof AT_HOME | undefined {
  const places = shell.cwd.map((cwd) => resolvePath(target, cwd))
  const kept = (place: string): boolean =>
    isConstant(place) &&
    shell.ownHomes.some((home) => home.length > 1 && place.startsWith(`${home}/`)) &&
    !/\/(?:\.?trash|\.?cache|\.?te?mp)(?:\/|$)/i.test(place)
  return places.every(kept) ? AT_HOME : undefined
}

export const cp: Program = (call) => {
  const given = options(call.argv.slice(1), TRANSFER)
  if (given.has('help', 'version')) return undefined
  const { sources, target, intoDirectory } = destination(given)
  if (target === undefined) return NOTHING
  // A list of found files behind the source: the last of them is no directory, and cp says so.
  if (/[\uFDD5\uFDD8]/.test(target) && !sources.every((source) => source.startsWith('/dev/'))) return NOTHING
  const empty = sources.every((source) => source === '/dev/null') ? EMPTY : undefined
  for (const landing of landings(sources, target, intoDirectory))
    call.walker.effect('overwrite', landing, call.shell, call.argv, empty)
  sources.forEach((source) => carry(call, source, landings(sources, target, intoDirectory)))
  return NOTHING
}

export const install: Program = (call) => {
  const given = options(call.argv.slice(1), {
    short: 'gmotS',
    long: ['group', 'mode', 'owner', 'target-directory', 'suffix'],
  })
  if (given.has('d', 'directory', 'help', 'version')) return undefined
  const { sources, target, intoDirectory } = destination(given)
  if (target !== undefined)
    for (const landing of landings(sources, target, intoDirectory))
      call.walker.effect('overwrite', landing, call.shell, call.argv)
  if (target !== undefined) sources.forEach((source) => carry(call, source, landings(sources, target, intoDirectory)))
  return NOTHING
}

export const ln: Program = (call) => {
  const given = options(call.argv.slice(1), TRANSFER)
  const { sources, target, intoDirectory } = destination(given)
  if (target === undefined) return NOTHING
  const forced = given.has('f', 'force')
  // With -n or -T the name itself becomes the link, also where a directory is.
  if (forced && given.has('n', 'T', 'no-dereference', 'no-target-directory') && !intoDirectory)
    if (!call.walker.guesses) call.walker.effect('move', target, call.shell, call.argv)
  // `/boot/vmlinuz -> vmlinuz-6.1`: which of the kernels beside it is started.
  const version = /^\/boot\/[^/]+$/.test(target) && sources.every((source) => isAside(basename(target), source))
  for (const landing of landings(sources, target, intoDirectory)) {
    // `/bin/sh -> dash` is how systems choose their programs.
    const program = /^(?:\/usr)?\/s?bin\//.test(landing) && sources.every((source) => PROGRAM_HOME.test(source))
    if (!program && !version && (forced || /^(?:\/usr)?\/s?bin\/sh$/.test(landing)))
      call.walker.effect(
        'overwrite',
        landing,
        call.shell,
        call.argv,
        sources.every((source) => plain(source) === '/dev/null') ? EMPTY : undefined,
      )
    else call.walker.effect('create', landing, call.shell, call.argv)
  }
  sources.forEach((source) => carry(call, source, landings(sources, target, intoDirectory)))
  return NOTHING
}

/** Where programs live; a link to anything else under a program's name breaks it. */
const PROGRAM_HOME =
  /^(?!.*\/(?:true|false|nologin)$)(?:(?!\/)|\/(?:usr\/|bin\/|sbin\/|lib|opt\/|etc\/alternatives\/|nix\/|snap\/|home\/|root\/)|\uFDD0)/

/** Sources and destination of cp, mv, ln, install, scp. */
function destination(given: ReturnType<typeof options>): {
  sources: string[]
  target: string | undefined
  intoDirectory: boolean
} {
  const directory = given.get('t', 'target-directory')
  if (directory !== undefined) return { sources: given.operands, target: directory, intoDirectory: true }
  const target = given.operands.length > 1 ? given.operands[given.operands.length - 1] : undefined
  return {
    sources: target === undefined ? given.operands : given.operands.slice(0, -1),
    target,
    intoDirectory: given.operands.length > 2 || (target ?? '').endsWith('/'),
  }
}

/** The file that really appears: `cp x /etc/` writes /etc/x. */
function landings(sources: readonly string[], target: string, intoDirectory: boolean): string[] {
  if (/^\/dev\/\w+$/.test(target)) return [target]
  const direct = intoDirectory ? [] : [target]
  // Which names a pattern or a search brings is not known; they come beside what is there.
  return [...direct, ...sources.map((source) => `${target}/${landingName(basename(source))}`)]
}

function landingName(name: string): string {
  return isConstant(name) ? name : UNKNOWN
}

const PROGRAM = /^(?:\/usr)?\/s?bin\/[\w.-]+$/

/** A copy of a program, a script or a link keeps its meaning under the new name. */
function carry(call: Call, source: string, targets: readonly string[]): void {
  const from = call.shell.cwd.map((cwd) => resolvePath(source, cwd))[0] ?? ''
  for (const target of targets) {
    const path = call.shell.cwd.map((cwd) => resolvePath(target, cwd))[0] ?? ''
    if (path === '' || !isConstant(path)) continue
    const text = from === '/dev/stdin' ? (call.stdin ?? undefined) : call.shell.files.get(from)
    if (text) call.walker.streams.write(path, text, false, call.shell)
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
  for (const word of call.argv.slice(1)) {
    const target = /^(?:of|hof|wipe)=(.*)$/s.exec(word)?.[1]
    if (target !== undefined) call.walker.effect('overwrite', target, call.shell, call.argv)
  }
  const output = call.argv.find((word) => word.startsWith('of='))
  const input = call.argv.find((word) => word.startsWith('if='))
  const text = input === undefined ? (call.stdin ?? ANYTHING) : call.walker.streams.contents(input.slice(3), call.shell)
  if (output === undefined) return text
  call.walker.streams.write(output.slice(3), text, false, call.shell)
  if (input !== undefined) carry(call, input.slice(3), [output.slice(3)])
  return NOTHING
}

/** The last operand is written: ddrescue, dcfldd style tools take if=/of= as well. */
export const lastOperandWritten =
  (short: string): Program =>
  (call) => {
    const given = options(call.argv.slice(1), { short })
    const target = given.operands[1]
    if (target !== undefined) call.walker.effect('overwrite', target, call.shell, call.argv)
    return dd(call, 'dd')
  }

/** Options with a value. */
const RSYNC_VALUES = nameList(`
  rsh exclude include filter files-from exclude-from include-from backup-dir suffix log-file rsync-path chown chmod
  bwlimit timeout port partial-dir temp-dir compare-dest link-dest info out-format
`)

export const rsync: Program = (call) => {
  const given = options(call.argv.slice(1), {
    short: 'efBTM',
    long: RSYNC_VALUES,
  })
  for (const line of [...given.all('e', 'rsh'), ...given.all('rsync-path')])
    call.walker.tryScript(plain(line), call.shell)
  const target = given.operands.length > 1 ? given.operands[given.operands.length - 1] : undefined
  if (target === undefined || given.has('n', 'dry-run', 'list-only')) return undefined
  const deletes = given.flags.some((flag) => /^del(ete.*)?$/.test(flag))
  if (deletes) call.walker.effect('delete-tree', target.replace(/^[\w.@-]+:(?=\/)/, ''), call.shell, call.argv)
  else
    for (const landing of landings(given.operands.slice(0, -1), target, false))
      call.walker.effect('overwrite', landing, call.shell, call.argv)
  for (const source of given.operands.slice(0, -1)) carry(call, source, landings([source], target, false))
  if (given.has('remove-source-files'))
    for (const source of given.operands.slice(0, -1)) call.walker.effect('delete-tree', source, call.shell, call.argv)
  return undefined
}

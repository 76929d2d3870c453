/** Tools that take files away: rm and everything that removes, empties or shreds what it names. */
import { activate, ANYTHING, EMPTY, hasUnknown, NOTHING, plain, STAR, UNKNOWN } from '../../words/text.js'
import { onlyTalks, options, type Program } from '../row/call.js'

export const rm: Program = (call) => {
  const given = options(call.argv.slice(1))
  if (given.has('help', 'version')) return undefined
  const recursive = given.has('r', 'R', 'recursive')
  // Flags that are not known here might be -rf; naming a directory says that they are.
  const perhaps = given.operands.some((word) => word.startsWith(UNKNOWN) && !word.includes('/'))
  // rm itself refuses `./`: with an empty variable `rm -rf "./$X"` does nothing.
  const gone = given.operands.filter((word) => !(call.walker.guesses && /^\.\/*$/.test(plain(word))))
  // With `globstar` two stars name everything below.
  for (const word of gone)
    call.walker.effect(
      recursive || word.includes(STAR + STAR) || (perhaps && !hasUnknown(word) && !call.walker.guesses)
        ? 'delete-tree'
        : 'delete',
      word,
      call.shell,
      call.argv,
    )
  return given.has('v', 'verbose') ? ANYTHING : NOTHING
}

/** Tools whose operands all disappear with what is in them. */
export const removeTrees =
  (spec: { short?: string; long?: string[] } = {}): Program =>
  (call) => {
    if (onlyTalks(call.argv.slice(1))) return undefined
    // These tools expand wildcards themselves, quoted or not.
    for (const word of options(call.argv.slice(1), spec).operands)
      call.walker.effect('delete-tree', activate(word), call.shell, call.argv)
    return undefined
  }

export const removeFiles: Program = (call) => {
  for (const word of options(call.argv.slice(1)).operands) call.walker.effect('delete', word, call.shell, call.argv)
  return NOTHING
}

export const shred: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'nsT', long: ['iterations', 'size', 'random-source'] })
  for (const word of given.operands)
    call.walker.effect(
      given.has('r', 'R', 'recursive') ? 'delete-tree' : 'overwrite',
      word,
      call.shell,
      call.argv,
      EMPTY,
    )
  return NOTHING
}

/** PowerShell's Remove-Item on any system. */
export const removeItem: Program = (call) => {
  const words = call.argv.slice(1)
  const recursive = words.some((word) => /^-r(e(c(u(r(se?)?)?)?)?)?$/i.test(word))
  for (const word of words)
    if (!word.startsWith('-'))
      call.walker.effect(recursive ? 'delete-tree' : 'delete', activate(word), call.shell, call.argv)
  return NOTHING
}

/** `rclone purge PATH`, `rclone sync A PATH`: local paths have no colon in front of the first slash. */
export const rclone: Program = (call) => {
  const [verb = '', ...paths] = options(call.argv.slice(1), {
    long: ['exclude', 'include', 'filter', 'transfers', 'config'],
  }).operands
  if (call.argv.some((word) => word === '-n' || word === '--dry-run')) return undefined
  const target = /^(purge|delete|rmdirs)$/.test(plain(verb))
    ? paths[0]
    : /^(sync|bisync)$/.test(plain(verb))
      ? paths[1]
      : /^move(?:to)?$/.test(plain(verb))
        ? paths[0]
        : undefined
  if (target !== undefined && !/^[\w-]+:/.test(target)) call.walker.effect('delete-tree', target, call.shell, call.argv)
  return undefined
}

/** `cmake -E rm|remove_directory PATHS`: its own portable file tools. */
export const cmake: Program = (call) => {
  const [tool = '', ...words] = call.argv[1] === '-E' ? call.argv.slice(2) : []
  if (/^(rm|remove_directory)$/.test(tool))
    for (const word of words) if (!word.startsWith('-')) call.walker.effect('delete-tree', word, call.shell, call.argv)
  const [from, to] = words.filter((word) => !word.startsWith('-'))
  if (tool === 'remove') for (const word of words) call.walker.effect('delete', word, call.shell, call.argv)
  if (tool === 'rename' && from !== undefined) call.walker.effect('move', from, call.shell, call.argv)
  if (/^(?:copy|copy_if_different|rename|create_symlink)$/.test(tool) && to !== undefined)
    call.walker.effect('overwrite', to, call.shell, call.argv, from === '/dev/null' ? EMPTY : undefined)
  if (tool === 'env' || tool === 'time' || tool === 'chdir')
    call.walker.argv(tool === 'chdir' ? words.slice(1) : [tool, ...words], call.shell.fork(), call.stdin)
  return undefined
}

export const truncate: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'sr', long: ['size', 'reference'] })
  const size = given.get('s', 'size') ?? ''
  for (const word of given.operands)
    call.walker.effect(
      size.startsWith('+') ? 'append' : 'overwrite',
      word,
      call.shell,
      call.argv,
      /^0+\D*$/.test(size) ? EMPTY : undefined,
    )
  return NOTHING
}

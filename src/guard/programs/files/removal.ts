/** Tools that take files away: rm and everything that removes, empties or shreds what it names. */
import { activate, ANYTHING, EMPTY, hasUnknown, NOTHING, plain, STAR, UNKNOWN } from '../../words/text.js'
import { onlyTalks, options, type Program } from '../row/call.js'

export const rm: Program = (call) => {
  const given = options(call.args)
  if (given.has('help', 'version')) return
  const recursive = given.has('r', 'R', 'recursive')
  // Flags that are not known here might be -rf; naming a directory says that they are.
  const perhaps = given.operands.some((word) => word.startsWith(UNKNOWN) && !word.includes('/'))
  // rm itself refuses `./`: with an empty variable `rm -rf "./$X"` does nothing.
  const gone = given.operands.filter((word) => !(call.walker.guesses && /^\.\/*$/.test(plain(word))))
  // With `globstar` two stars name everything below.
  for (const word of gone)
    call.effect(
      recursive || word.includes(STAR + STAR) || (perhaps && !hasUnknown(word) && !call.walker.guesses)
        ? 'delete-tree'
        : 'delete',
      word,
    )
  return given.has('v', 'verbose') ? ANYTHING : NOTHING
}

/** Tools whose operands all disappear with what is in them. They expand wildcards themselves, quoted or not. */
export const removeTrees: Program = (call) => {
  if (!onlyTalks(call.args)) call.effects('delete-tree', options(call.args).operands.map(activate))
}

export const removeFiles: Program = (call) => {
  call.effects('delete', options(call.args).operands)
  return NOTHING
}

export const shred: Program = (call) => {
  const given = options(call.args, { short: 'nsT', long: ['iterations', 'size', 'random-source'] })
  call.effects(given.has('r', 'R', 'recursive') ? 'delete-tree' : 'overwrite', given.operands, EMPTY)
  return NOTHING
}

/** PowerShell's Remove-Item on any system. */
export const removeItem: Program = (call) => {
  const words = call.args
  const recursive = words.some((word) => /^-r(e(c(u(r(se?)?)?)?)?)?$/i.test(word))
  for (const word of words) if (!word.startsWith('-')) call.effect(recursive ? 'delete-tree' : 'delete', activate(word))
  return NOTHING
}

/** `rclone purge PATH`, `rclone sync A PATH`: local paths have no colon in front of the first slash. */
export const rclone: Program = (call) => {
  const [verb = '', from, to] = options(call.args, {
    long: ['exclude', 'include', 'filter', 'transfers', 'config'],
  }).operands
  if (call.argv.some((word) => word === '-n' || word === '--dry-run')) return
  const empties = /^(?:purge|delete|rmdirs|move|moveto)$/.test(plain(verb))
  const target = empties ? from : /^(?:sync|bisync)$/.test(plain(verb)) ? to : undefined
  if (target !== undefined && !/^[\w-]+:/.test(target)) call.effect('delete-tree', target)
}

/** `cmake -E rm|remove_directory PATHS`: its own portable file tools. */
export const cmake: Program = (call) => {
  const [tool = '', ...words] = call.argv[1] === '-E' ? call.argv.slice(2) : []
  const operands = words.filter((word) => !word.startsWith('-'))
  const [from, to] = operands
  if (/^(rm|remove_directory)$/.test(tool)) call.effects('delete-tree', operands)
  if (tool === 'remove') call.effects('delete', words)
  if (tool === 'rename' && from !== undefined) call.effect('move', from)
  if (/^(?:copy|copy_if_different|rename|create_symlink)$/.test(tool) && to !== undefined)
    call.effect('overwrite', to, from === '/dev/null' ? EMPTY : undefined)
  if (tool === 'env' || tool === 'time' || tool === 'chdir')
    call.start(tool === 'chdir' ? words.slice(1) : [tool, ...words], call.stdin)
}

export const truncate: Program = (call) => {
  const given = options(call.args, { short: 'sr', long: ['size', 'reference'] })
  const size = given.get('s', 'size') ?? ''
  call.effects(size.startsWith('+') ? 'append' : 'overwrite', given.operands, /^0+\D*$/.test(size) ? EMPTY : undefined)
  return NOTHING
}

/** Tools that change who may do what with a file. */
import { hasUnknown, NOTHING } from '../../words/text.js'
import { onlyTalks, options, type Program } from '../row/call.js'

export const chmod: Program = (call) => {
  const words = call.args
  if (onlyTalks(words)) return
  const reference = words.some((word) => word.startsWith('--reference'))
  // A mode may begin with a dash (`chmod -x f`): it is not an option.
  const modes = words.filter(
    (word) => /^[-+=ugoa]*[-+=][rwxXstugo,+=-]*$/.test(word) && !/^--/.test(word) && !/^-[RfvcHLPR]+$/.test(word),
  )
  const given = options(words.filter((word) => !modes.includes(word)))
  const [mode, targets] = reference
    ? [undefined, given.operands]
    : modes.length > 0
      ? [modes[0], given.operands]
      : [given.operands[0], given.operands.slice(1)]
  const kind = given.has('R', 'recursive') ? 'mode-tree' : 'mode'
  call.effects(kind, targets, mode)
  return NOTHING
}

export const chown: Program = (call) => {
  const given = options(call.args, { long: ['from', 'reference'] })
  if (given.has('help', 'version')) return
  // Only what belongs to one other user or group.
  if (/^:?(?!root|0+(?:\D|$))./.test(given.get('from') ?? '')) return NOTHING
  const targets = given.flags.includes('reference') ? given.operands : given.operands.slice(1)
  const owner = given.operands[0]
  call.effects(given.has('R', 'recursive') ? 'owner-tree' : 'owner', targets, owner)
  return NOTHING
}

export const setfacl: Program = (call) => {
  const given = options(call.args, {
    short: 'mxMX',
    long: ['modify', 'remove', 'modify-file', 'remove-file', 'set', 'set-file', 'restore'],
  })
  call.effects(given.has('R', 'recursive') ? 'owner-tree' : 'owner', given.operands)
  return NOTHING
}

/** `chcon "$(matchpathcon -n F)" F` gives one file the label back that it should have. */
export const chcon: Program = (call, name) =>
  call.argv.some((word) => /^-\w*R|^--recursive/.test(word)) || !call.argv.slice(1, -1).some(hasUnknown)
    ? setfacl(call, name)
    : NOTHING

export const chattr: Program = (call) => {
  const words = call.args
  const operands = words.filter((word) => !/^[-+=]/.test(word))
  if (words.some((word) => /^-\w*R/.test(word))) call.effects('owner-tree', operands)
  return NOTHING
}

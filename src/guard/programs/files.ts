/** The file tools by name, and those that only write one file or make a new name. */
import { resolvePath } from '../words/paths.js'
import { ANYTHING, NOTHING } from '../words/text.js'
import { tar, zip } from './archives.js'
import { options, type Program } from './call.js'
import { fd, find } from './find.js'
import { chattr, chmod, chown, setfacl } from './permissions.js'
import { cmake, rclone, removeFiles, removeItem, removeTrees, rm, shred, truncate } from './removal.js'
import { cp, dd, install, lastOperandWritten, ln, mv, rsync } from './transfer.js'

/** Programs that write the file named by an option: `sort -o f`, `curl -o f`, `wget -O f`. */
const writesOption =
  (short: string, long: readonly string[], takes: string): Program =>
  (call) => {
    const given = options(call.argv.slice(1), { short: takes, long: [...long] })
    for (const file of [
      ...[...short].flatMap((letter) => given.all(letter)),
      ...long.flatMap((name) => given.all(name)),
    ])
      if (file !== '-') call.walker.effect('overwrite', file, call.shell, call.argv)
    return ANYTHING
  }

const sponge: Program = (call) => {
  for (const word of options(call.argv.slice(1)).operands) call.walker.effect('overwrite', word, call.shell, call.argv)
  return NOTHING
}

const fallocate: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'lo', long: ['length', 'offset'] })
  if (given.has('p', 'z', 'c', 'punch-hole', 'zero-range', 'collapse-range', 'd'))
    for (const word of given.operands) call.walker.effect('overwrite', word, call.shell, call.argv)
  return NOTHING
}

const chsh: Program = () => undefined

/** `mkdir`, `touch`, `mkfifo`: new names, nothing lost. */
const create: Program = (call) => {
  for (const word of options(call.argv.slice(1), { short: 'mdrt', long: ['mode', 'date', 'reference'] }).operands)
    call.walker.effect('create', word, call.shell, call.argv)
  return NOTHING
}

/** `mount --bind / x`, `mount -o remount,ro /`, `mount /dev/sda1 /usr`: what is below changes; bind mounts keep their meaning. */
const mount: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'otLU', long: ['options', 'types', 'source', 'target'] })
  const bind =
    given.has('bind', 'rbind', 'B', 'R', 'move', 'M') ||
    given.all('o', 'options').some((value) => /\b(r?bind)\b/.test(value))
  const [source, target] = given.operands
  if (bind && source !== undefined && target !== undefined)
    call.walker.namesakes.stands(
      call.shell.cwd.map((cwd) => resolvePath(target, cwd))[0] ?? '',
      call.shell.cwd.map((cwd) => resolvePath(source, cwd))[0] ?? '',
      'mount',
    )
  return undefined
}

export const FILE_PROGRAMS: Readonly<Record<string, Program>> = {
  rm,
  rimraf: removeTrees(),
  'rimraf.js': removeTrees(),
  del: removeTrees(),
  'del-cli': removeTrees(),
  trash: removeTrees(),
  'trash-put': removeTrees(),
  rip: removeTrees(),
  srm: removeTrees(),
  sfill: removeTrees(),
  wipe: removeTrees(),
  unlink: removeFiles,
  'Remove-Item': removeItem,
  'remove-item': removeItem,
  ri: removeItem,
  rclone,
  cmake,
  shred,
  scrub: shred,
  truncate,
  mv,
  cp,
  gcp: cp,
  install,
  ginstall: install,
  ln,
  dd,
  dcfldd: dd,
  dc3dd: dd,
  ddrescue: lastOperandWritten('bcdDeEikKlLmopPrRsStTvxyz'),
  dd_rescue: lastOperandWritten('bBmsSAy'),
  pv: writesOption('o', ['output'], 'o'),
  chmod,
  chown,
  chgrp: chown,
  setfacl,
  chattr,
  find,
  gfind: find,
  fd,
  fdfind: fd,
  rsync,
  tar,
  bsdtar: tar,
  gtar: tar,
  zip,
  sponge,
  fallocate,
  mkdir: create,
  touch: create,
  mkfifo: create,
  sort: writesOption('o', ['output'], 'okStTC'),
  curl: writesOption('oD', ['output', 'dump-header', 'cookie-jar'], 'oDHXdFuAebcTKmrxwzE'),
  wget: writesOption('Oo', ['output-document', 'output-file'], 'OoaPUtTQe'),
  split: writesOption('', [], 'abCln'),
  mount,
  chsh,
}

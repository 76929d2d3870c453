/** What the file tools do to the paths they name: remove, move, overwrite, change modes. */
import { criticalBelow, resolvePath } from '../paths.js'
import { activate, ANYTHING, hasUnknown, isConstant, NOTHING, plain, TREE, UNKNOWN } from '../text.js'
import { basename, type Call, onlyTalks, options, type Program } from './call.js'
import { foundPaths } from './printing.js'

const rm: Program = (call) => {
  const given = options(call.argv.slice(1))
  if (given.has('help', 'version')) return undefined
  // Flags that are not known here might be -rf; naming a directory says that they are.
  const recursive = given.has('r', 'R', 'recursive') || given.operands.some((word) => word.startsWith(UNKNOWN))
  for (const word of given.operands) call.walker.effect(recursive ? 'delete-tree' : 'delete', word, call.shell, call.argv)
  return given.has('v', 'verbose') ? ANYTHING : NOTHING
}

/** Tools whose operands all disappear with what is in them. */
const removeTrees =
  (spec: { short?: string; long?: string[] } = {}): Program =>
  (call) => {
    if (onlyTalks(call.argv.slice(1))) return undefined
    // These tools expand wildcards themselves, quoted or not.
    for (const word of options(call.argv.slice(1), spec).operands) call.walker.effect('delete-tree', activate(word), call.shell, call.argv)
    return undefined
  }

const removeFiles: Program = (call) => {
  for (const word of options(call.argv.slice(1)).operands) call.walker.effect('delete', word, call.shell, call.argv)
  return NOTHING
}

const shred: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'nsT', long: ['iterations', 'size', 'random-source'] })
  for (const word of given.operands) call.walker.effect(given.has('r', 'R', 'recursive') ? 'delete-tree' : 'overwrite', word, call.shell, call.argv)
  return NOTHING
}

/** PowerShell's Remove-Item on any system. */
const removeItem: Program = (call) => {
  const words = call.argv.slice(1)
  const recursive = words.some((word) => /^-r(e(c(u(r(se?)?)?)?)?)?$/i.test(word))
  for (const word of words) if (!word.startsWith('-')) call.walker.effect(recursive ? 'delete-tree' : 'delete', activate(word), call.shell, call.argv)
  return NOTHING
}

/** `rclone purge PATH`, `rclone sync A PATH`: local paths have no colon in front of the first slash. */
const rclone: Program = (call) => {
  const [verb = '', ...paths] = options(call.argv.slice(1), { long: ['exclude', 'include', 'filter', 'transfers', 'config'] }).operands
  if (call.argv.some((word) => word === '-n' || word === '--dry-run')) return undefined
  const target = /^(purge|delete|rmdirs)$/.test(plain(verb)) ? paths[0] : /^(sync|bisync)$/.test(plain(verb)) ? paths[1] : plain(verb) === 'move' ? paths[0] : undefined
  if (target !== undefined && !/^[\w-]+:/.test(target)) call.walker.effect('delete-tree', target, call.shell, call.argv)
  return undefined
}

/** `cmake -E rm|remove_directory PATHS`: its own portable file tools. */
const cmake: Program = (call) => {
  const [tool = '', ...words] = call.argv[1] === '-E' ? call.argv.slice(2) : []
  if (/^(rm|remove_directory)$/.test(tool)) for (const word of words) if (!word.startsWith('-')) call.walker.effect('delete-tree', word, call.shell, call.argv)
  if (tool === 'env' || tool === 'time' || tool === 'chdir') call.walker.argv(tool === 'chdir' ? words.slice(1) : [tool, ...words], call.shell.fork(), call.stdin)
  return undefined
}

const truncate: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'sr', long: ['size', 'reference'] })
  const grows = (given.get('s', 'size') ?? '').startsWith('+')
  for (const word of given.operands) call.walker.effect(grows ? 'append' : 'overwrite', word, call.shell, call.argv)
  return NOTHING
}

/** Sources and destination of cp, mv, ln, install, scp. */
function destination(given: ReturnType<typeof options>): { sources: string[]; target: string | undefined; intoDirectory: boolean } {
  const directory = given.get('t', 'target-directory')
  if (directory !== undefined) return { sources: given.operands, target: directory, intoDirectory: true }
  const target = given.operands.length > 1 ? given.operands[given.operands.length - 1] : undefined
  return { sources: target === undefined ? given.operands : given.operands.slice(0, -1), target, intoDirectory: given.operands.length > 2 || (target ?? '').endsWith('/') }
}

/** The file that really appears: `cp x /etc/` writes /etc/x. */
function landings(sources: readonly string[], target: string, intoDirectory: boolean): string[] {
  if (/^\/dev\/\w+$/.test(target)) return [target]
  const direct = intoDirectory ? [] : [target]
  return [...direct, ...sources.map((source) => `${target}/${basename(source)}`)]
}

const TRANSFER = { short: 'tSZ', long: ['target-directory', 'suffix'] }

const mv: Program = (call) => {
  const given = options(call.argv.slice(1), TRANSFER)
  if (given.has('help', 'version')) return undefined
  const { sources, target, intoDirectory } = destination(given)
  for (const source of sources) call.walker.effect('move', source, call.shell, call.argv)
  if (target === undefined) return NOTHING
  if (plain(target) === '/dev/null') for (const source of sources) call.walker.effect('delete-tree', source, call.shell, call.argv)
  else for (const landing of landings(sources, target, intoDirectory)) call.walker.effect('overwrite', landing, call.shell, call.argv)
  sources.forEach((source) => carry(call, source, landings(sources, target, intoDirectory)))
  return NOTHING
}

const cp: Program = (call) => {
  const given = options(call.argv.slice(1), TRANSFER)
  if (given.has('help', 'version')) return undefined
  const { sources, target, intoDirectory } = destination(given)
  if (target === undefined) return NOTHING
  for (const landing of landings(sources, target, intoDirectory)) call.walker.effect('overwrite', landing, call.shell, call.argv)
  sources.forEach((source) => carry(call, source, landings(sources, target, intoDirectory)))
  return NOTHING
}

const install: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'gmotS', long: ['group', 'mode', 'owner', 'target-directory', 'suffix'] })
  if (given.has('d', 'directory', 'help', 'version')) return undefined
  const { sources, target, intoDirectory } = destination(given)
  if (target !== undefined) for (const landing of landings(sources, target, intoDirectory)) call.walker.effect('overwrite', landing, call.shell, call.argv)
  if (target !== undefined) sources.forEach((source) => carry(call, source, landings(sources, target, intoDirectory)))
  return NOTHING
}

const ln: Program = (call) => {
  const given = options(call.argv.slice(1), TRANSFER)
  const { sources, target, intoDirectory } = destination(given)
  if (target === undefined) return NOTHING
  for (const landing of landings(sources, target, intoDirectory)) {
    const program = /^(?:\/usr)?\/s?bin\//.test(landing) && sources.every((source) => !source.startsWith('/dev/'))
    if (given.has('f', 'force') && !program) call.walker.effect('overwrite', landing, call.shell, call.argv)
    else call.walker.effect('create', landing, call.shell, call.argv)
  }
  sources.forEach((source) => carry(call, source, landings(sources, target, intoDirectory)))
  return NOTHING
}

/** A copy of a program, a script or a link keeps its meaning under the new name. */
function carry(call: Call, source: string, targets: readonly string[]): void {
  const from = call.shell.cwd.map((cwd) => resolvePath(source, cwd))[0] ?? ''
  for (const target of targets) {
    const path = call.shell.cwd.map((cwd) => resolvePath(target, cwd))[0] ?? ''
    if (path === '' || !isConstant(path)) continue
    const text = from === '/dev/stdin' ? (call.stdin ?? undefined) : call.shell.files.get(from)
    if (text) call.shell.files.set(path, text)
    if (from !== '/dev/stdin') call.walker.namesakes.stands(path, from, basename(call.argv[0] ?? '') === 'ln' ? 'link' : 'copy')
  }
}

const dd: Program = (call) => {
  for (const word of call.argv.slice(1)) {
    const target = /^of=(.*)$/s.exec(word)?.[1]
    if (target !== undefined) call.walker.effect('overwrite', target, call.shell, call.argv)
  }
  const output = call.argv.find((word) => word.startsWith('of='))
  const input = call.argv.find((word) => word.startsWith('if='))
  const text = input === undefined ? (call.stdin ?? ANYTHING) : call.walker.streams.contents(input.slice(3), call.shell)
  if (output === undefined) return text
  call.walker.streams.write(output.slice(3), text, false, call.shell)
  return NOTHING
}

/** The last operand is written: ddrescue, dcfldd style tools take if=/of= as well. */
const lastOperandWritten =
  (short: string): Program =>
  (call) => {
    const given = options(call.argv.slice(1), { short })
    const target = given.operands[1]
    if (target !== undefined) call.walker.effect('overwrite', target, call.shell, call.argv)
    return dd(call, 'dd')
  }

const chmod: Program = (call) => {
  const words = call.argv.slice(1)
  if (onlyTalks(words)) return undefined
  const reference = words.some((word) => word.startsWith('--reference'))
  // A mode may begin with a dash (`chmod -x f`): it is not an option.
  const modes = words.filter((word) => /^[-+=ugoa]*[-+=][rwxXstugo,+=-]*$/.test(word) && !/^--/.test(word) && !/^-[RfvcHLPR]+$/.test(word))
  const given = options(words.filter((word) => !modes.includes(word)))
  const [mode, targets] = reference ? [undefined, given.operands] : modes.length > 0 ? [modes[0], given.operands] : [given.operands[0], given.operands.slice(1)]
  const kind = given.has('R', 'recursive') ? 'mode-tree' : 'mode'
  for (const word of targets) call.walker.effect(kind, word, call.shell, call.argv, mode)
  return NOTHING
}

const chown: Program = (call) => {
  const given = options(call.argv.slice(1), { long: ['from', 'reference'] })
  if (given.has('help', 'version')) return undefined
  const targets = given.flags.includes('reference') ? given.operands : given.operands.slice(1)
  for (const word of targets) call.walker.effect(given.has('R', 'recursive') ? 'owner-tree' : 'owner', word, call.shell, call.argv)
  return NOTHING
}

const setfacl: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'mxMX', long: ['modify', 'remove', 'modify-file', 'remove-file', 'set', 'set-file', 'restore'] })
  for (const word of given.operands) call.walker.effect(given.has('R', 'recursive') ? 'owner-tree' : 'owner', word, call.shell, call.argv)
  return NOTHING
}

const chattr: Program = (call) => {
  const words = call.argv.slice(1)
  const operands = words.filter((word) => !/^[-+=]/.test(word))
  if (words.some((word) => /^-\w*R/.test(word))) for (const word of operands) call.walker.effect('owner-tree', word, call.shell, call.argv)
  return NOTHING
}

/** Tests of find that pick out particular names; the others (-type, -user, -mtime ...) match the system itself. */
const NAME_TESTS = /^-(i?name|i?path|i?wholename|i?regex|i?lname|samefile|inum|newer\w*|cnewer|anewer)$/

const find: Program = (call) => {
  const words = call.argv.slice(1)
  let at = 0
  while (/^-([HLP-]|D|O\d*)$/.test(words[at] ?? '')) at += words[at] === '-D' ? 2 : 1
  const starts: string[] = []
  for (; at < words.length && !/^[-(!,]/.test(words[at] ?? ''); at++) starts.push(words[at] ?? '')
  if (starts.length === 0) starts.push('.')
  let narrowed = false
  let names: string[] = []
  let negated = false
  let prints = true
  for (; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '!' || word === '-not') {
      negated = !negated
      continue
    }
    if (word === '-o' || word === '-or' || word === ',') {
      narrowed = false
      names = []
    }
    if (NAME_TESTS.test(word)) {
      const pattern = words[at + 1] ?? ''
      if (!negated && !/^[*?./]*$/.test(plain(pattern)) && !(hasUnknown(pattern) && pattern.length === 1)) {
        narrowed = true
        if (/^-i?name$/.test(word)) names.push(activate(pattern))
      }
      at++
    } else if (word === '-maxdepth' && words[at + 1] === '0') at++
    else if (word === '-delete') {
      for (const path of targets(starts, narrowed, names)) call.walker.effect('delete-tree', path, call.shell, call.argv)
      prints = false
    } else if (/^-(exec|execdir|ok|okdir)$/.test(word)) {
      const end = words.findIndex((other, i) => i > at && (other === ';' || (other === '+' && words[i - 1] === '{}')))
      const template = words.slice(at + 1, end < 0 ? undefined : end)
      for (const path of targets(starts, narrowed, names)) run(call, template, path, word)
      at = end < 0 ? words.length : end
      prints = false
    } else if (/^-(fprint|fprint0|fls)$/.test(word)) call.walker.effect('overwrite', words[++at] ?? '', call.shell, call.argv)
    else if (word === '-fprintf') {
      call.walker.effect('overwrite', words[at + 1] ?? '', call.shell, call.argv)
      at += 2
    } else if (/^-(printf|type|user|group|size|mtime|atime|ctime|mmin|perm|mindepth|maxdepth|uid|gid|links)$/.test(word)) at++
    negated = false
  }
  if (!prints) return undefined
  const printed = foundPaths(starts, narrowed)
  return words.includes('-print0') ? printed.map((text) => text.replaceAll('\n', '\0')) : printed
}

/** What an action of find is applied to: everything, what a name test selects, and what it selects right at the start. */
function targets(starts: readonly string[], narrowed: boolean, names: readonly string[]): string[] {
  if (!narrowed) return foundPaths(starts, false).flatMap((text) => text.trim().split('\n'))
  return starts.flatMap((start) => [selected(start), ...names.flatMap((name) => [`${start}/${name}`, ...criticalBelow(start, name)])])
}

function selected(start: string): string {
  return foundPaths([start], true)[0]?.trim() ?? start
}

function run(call: Call, template: readonly string[], path: string, action: string): void {
  const inner = call.shell.fork()
  if (action.endsWith('dir')) inner.cwd = [UNKNOWN]
  if (template.length > 0)
    call.walker.argv(
      template.map((word) => word.replaceAll('{}', path)),
      inner,
      null,
    )
}

const fd: Program = (call) => {
  const words = call.argv.slice(1)
  const at = words.findIndex((word) => /^(-x|-X|--exec|--exec-batch)$/.test(word))
  if (at < 0) return undefined
  const operands = options(words.slice(0, at), { short: 'eEtdjcSo', long: ['extension', 'exclude', 'type', 'max-depth', 'threads', 'size', 'owner'] }).operands
  const narrowed = operands.length > 0 && !/^[.*]*$/.test(plain(operands[0] ?? ''))
  const start = operands[1] ?? '.'
  const template = words.slice(at + 1)
  const path = narrowed ? selected(start) : `${start}/${TREE}`
  call.walker.argv(template.some((word) => word.includes('{}')) ? template.map((word) => word.replaceAll('{}', path)) : [...template, path], call.shell.fork(), null)
  return undefined
}

const rsync: Program = (call) => {
  const given = options(call.argv.slice(1), {
    short: 'efBTM',
    long: [
      'rsh',
      'exclude',
      'include',
      'filter',
      'files-from',
      'exclude-from',
      'include-from',
      'backup-dir',
      'suffix',
      'log-file',
      'rsync-path',
      'chown',
      'chmod',
      'bwlimit',
      'timeout',
      'port',
      'partial-dir',
      'temp-dir',
      'compare-dest',
      'link-dest',
      'info',
      'out-format',
    ],
  })
  for (const line of [...given.all('e', 'rsh'), ...given.all('rsync-path')]) call.walker.tryScript(plain(line), call.shell)
  const target = given.operands.length > 1 ? given.operands[given.operands.length - 1] : undefined
  if (target === undefined || given.has('n', 'dry-run', 'list-only')) return undefined
  const deletes = given.flags.some((flag) => /^del(ete.*)?$/.test(flag))
  if (deletes) call.walker.effect('delete-tree', target.replace(/^[\w.@-]+:(?=\/)/, ''), call.shell, call.argv)
  else for (const landing of landings(given.operands.slice(0, -1), target, false)) call.walker.effect('overwrite', landing, call.shell, call.argv)
  if (given.has('remove-source-files')) for (const source of given.operands.slice(0, -1)) call.walker.effect('delete-tree', source, call.shell, call.argv)
  return undefined
}

const tar: Program = (call) => {
  const words = call.argv.slice(1)
  // `tar czf x y`: the first word may be a bundle of options without a dash.
  const bundled = words[0] !== undefined && !words[0].startsWith('-') && /^[A-Za-z]+$/.test(words[0]) ? [`-${words[0]}`, ...words.slice(1)] : words
  const given = options(bundled, {
    short: 'fFCTXIbgHKLNV',
    long: [
      'file',
      'directory',
      'files-from',
      'exclude-from',
      'exclude',
      'use-compress-program',
      'checkpoint-action',
      'to-command',
      'rsh-command',
      'info-script',
      'new-volume-script',
      'transform',
      'owner',
      'group',
      'mode',
    ],
  })
  for (const action of given.all('checkpoint-action')) {
    const command = /^exec=(.*)$/s.exec(plain(action))?.[1]
    if (command !== undefined) call.walker.script(command, call.shell.fork())
  }
  for (const line of [...given.all('to-command'), ...given.all('use-compress-program', 'I'), ...given.all('rsh-command'), ...given.all('info-script', 'new-volume-script', 'F')])
    call.walker.tryScript(plain(line), call.shell)
  if (given.has('c', 'create')) for (const file of given.all('f', 'file')) if (file !== '-') call.walker.effect('overwrite', file, call.shell, call.argv)
  if (given.has('remove-files')) for (const word of given.operands) call.walker.effect('delete-tree', word, call.shell, call.argv)
  if (given.has('recursive-unlink')) for (const word of given.all('C', 'directory')) call.walker.effect('delete-tree', word, call.shell, call.argv)
  return undefined
}

const zip: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'xibtnP', long: ['unzip-command', 'exclude', 'include'] })
  const at = call.argv.findIndex((arg) => arg === '-TT' || arg === '--unzip-command')
  if (at >= 0) call.walker.tryScript(plain(call.argv[at + 1] ?? ''), call.shell)
  if (given.has('m', 'move')) for (const word of given.operands.slice(1)) call.walker.effect('delete-tree', word, call.shell, call.argv)
  return undefined
}

/** Programs that write the file named by an option: `sort -o f`, `curl -o f`, `wget -O f`. */
const writesOption =
  (short: string, long: readonly string[], takes: string): Program =>
  (call) => {
    const given = options(call.argv.slice(1), { short: takes, long: [...long] })
    for (const file of [...[...short].flatMap((letter) => given.all(letter)), ...long.flatMap((name) => given.all(name))])
      if (file !== '-') call.walker.effect('overwrite', file, call.shell, call.argv)
    return ANYTHING
  }

const sponge: Program = (call) => {
  for (const word of options(call.argv.slice(1)).operands) call.walker.effect('overwrite', word, call.shell, call.argv)
  return NOTHING
}

const fallocate: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'lo', long: ['length', 'offset'] })
  if (given.has('p', 'z', 'c', 'punch-hole', 'zero-range', 'collapse-range', 'd')) for (const word of given.operands) call.walker.effect('overwrite', word, call.shell, call.argv)
  return NOTHING
}

const chsh: Program = () => undefined

/** `mkdir`, `touch`, `mkfifo`: new names, nothing lost. */
const create: Program = (call) => {
  for (const word of options(call.argv.slice(1), { short: 'mdrt', long: ['mode', 'date', 'reference'] }).operands) call.walker.effect('create', word, call.shell, call.argv)
  return NOTHING
}

/** `mount --bind / x`, `mount -o remount,ro /`, `mount /dev/sda1 /usr`: what is below changes; bind mounts keep their meaning. */
const mount: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'otLU', long: ['options', 'types', 'source', 'target'] })
  const bind = given.has('bind', 'rbind', 'B', 'R', 'move', 'M') || given.all('o', 'options').some((value) => /\b(r?bind)\b/.test(value))
  const [source, target] = given.operands
  if (bind && source !== undefined && target !== undefined)
    call.walker.namesakes.stands(call.shell.cwd.map((cwd) => resolvePath(target, cwd))[0] ?? '', call.shell.cwd.map((cwd) => resolvePath(source, cwd))[0] ?? '', 'mount')
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

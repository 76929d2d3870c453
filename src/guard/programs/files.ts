/** The file tools by name, and those that only write one file or make a new name. */
import { type Alternatives, ANYTHING, FIFO, isConstant, NOTHING, plain, unique } from '../words/text.js'
import { rar, tar, unpacks, zip } from './files/archives.js'
import { basename, type Call, options, type Program } from './row/call.js'
import { fd, find } from './files/find.js'
import { fsfreeze, fuser, mount, umount } from './files/mounts.js'
import { chattr, chcon, chmod, chown, setfacl } from './files/permissions.js'
import { cmake, qemuImage, sevenZip } from './code/recipes.js'
import { rclone, removeFiles, removeItem, removeTrees, rm, shred, truncate } from './files/removal.js'
import { cp, dd, install, lastOperandWritten, ln, mv, rsync } from './files/transfer.js'

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
    return undefined
  }

/** `split --filter=CMD`: a shell runs it for each piece. */
const split: Program = (call) => {
  for (const line of options(call.argv.slice(1), { long: ['filter'] }).all('filter'))
    call.walker.script(plain(line), call.shell.fork(), call.stdin)
  // The pieces: `xaa`, `xab` ..., or with another name in front.
  const given = options(call.argv.slice(1), { short: 'abClnt', long: ['bytes', 'lines'] })
  const [file = '-', prefix = 'x'] = given.operands
  const [text, ...others] = (file === '-' ? call.stdin : call.walker.streams.contents(file, call.shell)) ?? []
  if (text === undefined) return ANYTHING
  const size = Number(given.get('b', 'bytes'))
  const lines = Number(given.get('l', 'lines'))
  const whole = others.length > 0 || !isConstant(text)
  const pieces = whole ? [] : piecesOf(text, size > 0 ? `[^]{1,${size}}` : lines > 0 ? `(?:.*\n?){1,${lines}}` : '[^]+')
  for (const [at, piece] of (pieces.length > 0 ? pieces : [text]).slice(0, 26).entries())
    call.walker.streams.write(`${prefix}a${String.fromCharCode(97 + at)}`, [piece], false, call.shell)
  return ANYTHING
}

function piecesOf(text: string, piece: string): string[] {
  return (text.match(new RegExp(piece, 'g')) ?? []).filter((part) => part !== '')
}

/** `gio trash FILES`, `gio remove FILES`. */
const gio: Program = (call) => {
  const [verb = '', ...words] = options(call.argv.slice(1)).operands
  if (/^(?:trash|remove)$/.test(verb))
    for (const word of words) call.walker.effect('delete-tree', word, call.shell, call.argv)
  return undefined
}

const sponge: Program = (call) => {
  const given = options(call.argv.slice(1))
  for (const word of given.operands) {
    call.walker.effect('overwrite', word, call.shell, call.argv)
    call.walker.streams.write(word, call.stdin ?? ANYTHING, given.has('a'), call.shell)
  }
  return NOTHING
}

/** `sort --compress-program=FILE` starts it for its temporary files. */
const sort: Program = (call, name) => {
  for (const program of options(call.argv.slice(1), { short: 'okStTC', long: ['compress-program'] }).all(
    'compress-program',
  ))
    call.walker.external([program], call.shell.fork(), null)
  const given = options(call.argv.slice(1), { short: 'okStTC', long: ['output'] })
  const [file] = given.operands
  const text = file === undefined ? (call.stdin ?? ANYTHING) : call.walker.streams.contents(file, call.shell)
  for (const output of given.all('o', 'output')) call.walker.streams.write(output, text, false, call.shell)
  return writesOption('o', ['output'], 'okStTC')(call, name)
}

/** `csplit - N`: two pieces of its input. */
const csplit: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'bfn', long: ['prefix'] })
  const [file = '-'] = given.operands
  const text = file === '-' ? (call.stdin ?? ANYTHING) : call.walker.streams.contents(file, call.shell)
  for (const piece of ['00', '01', '02'])
    call.walker.streams.write(`${given.get('f', 'prefix') ?? 'xx'}${piece}`, text, false, call.shell)
  return undefined
}

const fallocate: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'lo', long: ['length', 'offset'] })
  if (given.has('p', 'z', 'c', 'punch-hole', 'zero-range', 'collapse-range', 'd'))
    for (const word of given.operands) call.walker.effect('overwrite', word, call.shell, call.argv)
  return NOTHING
}

/** `mkdir`, `touch`, `mkfifo`: new names, nothing lost. */
const create: Program = (call) => {
  for (const word of options(call.argv.slice(1), { short: 'mdrt', long: ['mode', 'date', 'reference'] }).operands)
    call.walker.effect('create', word, call.shell, call.argv)
  return NOTHING
}

/** `curl -O URL`, `wget URL`: the last name of the address, in the working directory. */
const downloads =
  (named: Program, always: boolean): Program =>
  (call, name) => {
    const given = options(call.argv.slice(1), {
      short: always ? 'OoaPUtTQeB' : 'oDHXdFuAebcTKmrxwzE',
      long: ['output', 'output-dir', 'output-document', 'directory-prefix', 'header', 'data', 'user', 'request', 'url'],
    })
    const chosen = given.get('o', 'output', 'output-document') !== undefined || (always && given.get('O') !== undefined)
    if (always ? !chosen : given.has('O', 'remote-name', 'remote-name-all', 'J')) {
      const directory = given.get('directory-prefix', 'output-dir', ...(always ? ['P'] : []))
      for (const address of given.operands) {
        const file = basename(plain(address).replace(/[?#].*$/, ''))
        if (file !== '' && /\//.test(address))
          call.walker.effect(
            directory?.startsWith('/') ? 'overwrite' : 'create',
            `${directory ?? '.'}/${file}`,
            call.shell,
            call.argv,
          )
      }
    }
    const written = named(call, name)
    return always ? written : (copied(call, [...given.operands, ...given.all('url')], given) ?? written)
  }

/** `curl file:///tmp/f`: what it prints, or writes into the file that is named, is a file of this machine. */
function copied(call: Call, addresses: readonly string[], given: ReturnType<typeof options>): Alternatives | undefined {
  const printed = addresses.flatMap((address) => {
    const path = /^file:\/\/(?:localhost|127\.0\.0\.1)?(\/.*)$/is.exec(plain(address))?.[1]
    if (path === undefined) return []
    const isInput = /^\/(?:dev|proc\/self)\/(?:stdin|fd\/0)$/.test(path)
    const text = isInput ? (call.stdin ?? ANYTHING) : call.walker.streams.contents(path, call.shell)
    const files = [
      ...given.all('o'),
      ...given.all('output'),
      ...(given.has('O', 'remote-name') ? [basename(path)] : []),
    ]
    for (const file of files) call.walker.streams.write(file, text, false, call.shell)
    return files.length > 0 ? [] : [...text]
  })
  return printed.length > 0 ? unique(printed) : undefined
}

export const FILE_PROGRAMS: Readonly<Record<string, Program>> = {
  rm,
  rimraf: removeTrees(),
  'rimraf.js': removeTrees(),
  'del-cli': removeTrees(),
  trash: removeTrees(),
  'trash-put': removeTrees(),
  rip: removeTrees(),
  srm: removeTrees(),
  sfill: removeTrees(),
  wipe: removeTrees(),
  unlink: removeFiles,
  exch: (call) => {
    for (const word of options(call.argv.slice(1)).operands) call.walker.effect('move', word, call.shell, call.argv)
    return NOTHING
  },
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
  sg_dd: dd,
  sgp_dd: dd,
  dc3dd: dd,
  ddrescue: lastOperandWritten('bcdDeEikKlLmopPrRsStTvxyz'),
  dd_rescue: lastOperandWritten('bBmsSAy'),
  pv: writesOption('o', ['output'], 'o'),
  chmod,
  chown,
  chgrp: chown,
  setfacl,
  chattr,
  chcon,
  find,
  gfind: find,
  bfs: find,
  fd,
  fdfind: fd,
  rsync,
  openrsync: rsync,
  tar,
  bsdtar: tar,
  gtar: tar,
  zip,
  unzip: unpacks('dxP', [], []),
  cpio: unpacks('DFEHCIMORW', ['directory', 'file', 'pattern-file', 'format'], ['i', 'extract']),
  rar,
  gio,
  sponge,
  fallocate,
  mkdir: create,
  touch: create,
  mkfifo: (call, name) => {
    for (const word of options(call.argv.slice(1), { short: 'mZ', long: ['mode'] }).operands)
      call.walker.streams.write(word, [FIFO], false, call.shell)
    return create(call, name)
  },
  sort,
  curl: downloads(writesOption('oD', ['output', 'dump-header', 'cookie-jar'], 'oDHXdFuAebcTKmrxwzE'), false),
  wget: downloads(writesOption('Oo', ['output-document', 'output-file'], 'OoaPUtTQe'), true),
  split,
  csplit,
  mount,
  umount,
  fsfreeze,
  fuser,
  '7z': sevenZip,
  '7za': sevenZip,
  '7zr': sevenZip,
  '7zz': sevenZip,
  'qemu-img': qemuImage,
}

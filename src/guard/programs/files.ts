/** The file tools by name, and those that only write one file or make a new name. */
import { nameList } from '../../contract/quote.js'
import { type Alternatives, ANYTHING, FIFO, isConstant, NOTHING, plain, unique } from '../words/text.js'
import { rar, tar, unpacks, zip } from './files/archives.js'
import { basename, type Call, options, type Program, table } from './row/call.js'
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
    const given = options(call.args, { short: takes, long })
    for (const file of given.all(...short, ...long)) if (file !== '-') call.effect('overwrite', file)
  }

/** `split --filter=CMD`: a shell runs it for each piece. */
const split: Program = (call) => {
  for (const line of options(call.args, { long: ['filter'] }).all('filter')) call.script(plain(line), call.stdin)
  // The pieces: `xaa`, `xab` ..., or with another name in front.
  const given = options(call.args, { short: 'abClnt', long: ['bytes', 'lines'] })
  const [file = '-', prefix = 'x'] = given.operands
  const [text, ...others] = (file === '-' ? call.stdin : call.contents(file)) ?? []
  if (text === undefined) return ANYTHING
  const size = Number(given.get('b', 'bytes'))
  const lines = Number(given.get('l', 'lines'))
  const whole = others.length > 0 || !isConstant(text)
  const piece = size > 0 ? `[^]{1,${size}}` : lines > 0 ? `(?:.*\n?){1,${lines}}` : '[^]+'
  const pieces = whole ? [] : (text.match(new RegExp(piece, 'g')) ?? []).filter((part) => part !== '')
  for (const [at, piece] of (pieces.length > 0 ? pieces : [text]).slice(0, 26).entries())
    call.write(`${prefix}a${String.fromCharCode(97 + at)}`, [piece])
  return ANYTHING
}

/** `gio trash FILES`, `gio remove FILES`. */
const gio: Program = (call) => {
  const [verb = '', ...words] = options(call.args).operands
  if (/^(?:trash|remove)$/.test(verb)) call.effects('delete-tree', words)
}

const sponge: Program = (call) => {
  const given = options(call.args)
  for (const word of given.operands) {
    call.effect('overwrite', word)
    call.write(word, call.stdin ?? ANYTHING, given.has('a'))
  }
  return NOTHING
}

/** `sort --compress-program=FILE` starts it for its temporary files. */
const sort: Program = (call, name) => {
  const given = options(call.args, { short: 'okStTC', long: ['output', 'compress-program'] })
  for (const program of given.all('compress-program')) call.startExternal([program])
  const [file = '-'] = given.operands
  const text = call.input(file)
  for (const output of given.all('o', 'output')) call.write(output, text)
  return writesOption('o', ['output'], 'okStTC')(call, name)
}

/** `csplit - N`: two pieces of its input. */
const csplit: Program = (call) => {
  const given = options(call.args, { short: 'bfn', long: ['prefix'] })
  const [file = '-'] = given.operands
  const text = call.input(file)
  for (const piece of ['00', '01', '02']) call.write(`${given.get('f', 'prefix') ?? 'xx'}${piece}`, text)
}

const fallocate: Program = (call) => {
  const given = options(call.args, { short: 'lo', long: ['length', 'offset'] })
  if (given.has('p', 'z', 'c', 'punch-hole', 'zero-range', 'collapse-range', 'd'))
    call.effects('overwrite', given.operands)
  return NOTHING
}

/** `mkdir`, `touch`, `mkfifo`: new names, nothing lost. */
const create: Program = (call) => {
  call.effects('create', options(call.args, { short: 'mdrt', long: ['mode', 'date', 'reference'] }).operands)
  return NOTHING
}

/** `curl -O URL`, `wget URL`: the last name of the address, in the working directory. */
const downloads =
  (named: Program, always: boolean): Program =>
  (call, name) => {
    const given = options(call.args, {
      short: always ? 'OoaPUtTQeB' : 'oDHXdFuAebcTKmrxwzE',
      long: ['output', 'output-dir', 'output-document', 'directory-prefix', 'header', 'data', 'user', 'request', 'url'],
    })
    const chosen = given.get('o', 'output', 'output-document') !== undefined || (always && given.get('O') !== undefined)
    if (always ? !chosen : given.has('O', 'remote-name', 'remote-name-all', 'J')) {
      const directory = given.get('directory-prefix', 'output-dir', ...(always ? ['P'] : []))
      for (const address of given.operands) {
        const file = basename(plain(address).replace(/[?#].*$/, ''))
        if (file !== '' && /\//.test(address))
          call.effect(directory?.startsWith('/') ? 'overwrite' : 'create', `${directory ?? '.'}/${file}`)
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
    const text = isInput ? (call.stdin ?? ANYTHING) : call.contents(path)
    const files = [...given.all('o', 'output'), ...(given.has('O', 'remote-name') ? [basename(path)] : [])]
    for (const file of files) call.write(file, text)
    return files.length > 0 ? [] : [...text]
  })
  return printed.length > 0 ? unique(printed) : undefined
}

export const FILE_PROGRAMS: Readonly<Record<string, Program>> = {
  rm,
  ...table(nameList('rimraf rimraf.js del-cli trash trash-put rip srm sfill wipe'), removeTrees),
  unlink: removeFiles,
  exch: (call) => {
    call.effects('move', options(call.args).operands)
    return NOTHING
  },
  ...table(nameList('Remove-Item remove-item ri'), removeItem),
  rclone,
  cmake,
  ...table(nameList('shred scrub'), shred),
  truncate,
  mv,
  ...table(nameList('cp gcp'), cp),
  ...table(nameList('install ginstall'), install),
  ln,
  ...table(nameList('dd dcfldd sg_dd sgp_dd dc3dd'), dd),
  ddrescue: lastOperandWritten('bcdDeEikKlLmopPrRsStTvxyz'),
  dd_rescue: lastOperandWritten('bBmsSAy'),
  pv: writesOption('o', ['output'], 'o'),
  chmod,
  ...table(nameList('chown chgrp'), chown),
  setfacl,
  chattr,
  chcon,
  ...table(nameList('find gfind bfs'), find),
  ...table(nameList('fd fdfind'), fd),
  ...table(nameList('rsync openrsync'), rsync),
  ...table(nameList('tar bsdtar gtar'), tar),
  zip,
  unzip: unpacks('dxP', [], []),
  cpio: unpacks('DFEHCIMORW', ['directory', 'file', 'pattern-file', 'format'], ['i', 'extract']),
  rar,
  gio,
  sponge,
  fallocate,
  ...table(nameList('mkdir touch'), create),
  mkfifo: (call, name) => {
    for (const word of options(call.args, { short: 'mZ', long: ['mode'] }).operands) call.write(word, [FIFO])
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
  ...table(nameList('7z 7za 7zr 7zz'), sevenZip),
  'qemu-img': qemuImage,
}

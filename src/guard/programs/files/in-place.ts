/**
 * Programs that put something else in the place of the files they are given: compressors,
 * renamers; and those whose option names an output.
 */
import { nameList } from '../../../contract/quote.js'
import { activate, hasUnknown, plain, TREE } from '../../words/text.js'
import { basename, longOption, options, type Program, table } from '../row/call.js'
import { PACKED } from '../row/decoding.js'

const SUFFIX: Readonly<Record<string, string>> = { bzip2: '.bz2', xz: '.xz', zstd: '.zst', lzma: '.lzma', lz4: '.lz4' }

/** `gzip FILE` leaves FILE.gz and takes FILE away; to standard output, or with -k, it does not. */
const compress: Program = (call, name) => {
  const given = options(call.args, { short: 'bSTM', long: ['suffix', 'threads', 'memlimit'] })
  const keeps = /^(?:zstd|lz4|brotli)$/.test(name)
    ? !given.has('rm')
    : given.has('c', 'k', 'stdout', 'to-stdout', 'keep')
  if (keeps || given.has('l', 'list', 't', 'test', 'h', 'help', 'V', 'version')) return
  for (const word of given.operands) {
    const texts = call.contents(word).filter((text) => !hasUnknown(text))
    const packed = `${word}${SUFFIX[name] ?? '.gz'}`
    if (texts.length > 0)
      call.write(
        packed,
        texts.map((text) => PACKED + text),
      )
  }
  // A directory is passed over without -r: only what a pattern or a name picks out is taken.
  call.effects(given.has('r', 'recursive') ? 'delete-tree' : 'delete', given.operands)
}

/** Perl's and util-linux's rename: one or two words say how, the others are the files. */
const rename: Program = (call) => {
  const given = options(call.args, { short: 'e', long: ['expr'] })
  if (given.has('n', 'no-act', 'nono', 'just-print', 'dry-run', 'h', 'help')) return
  const byExpression = given.get('e', 'expr') !== undefined || /^[sy]\W|^tr\W/.test(plain(given.operands[0] ?? ''))
  call.effects('move', given.operands.slice(given.get('e', 'expr') !== undefined ? 0 : byExpression ? 1 : 2))
}

/** Also behind another program's name: `strace ls -o FILE` is not told from `strace -o FILE ls`. */
const writesAfter =
  (...names: readonly string[]): Program =>
  (call) => {
    call.argv.forEach((word, at) => {
      const [option = '', given] = word.split(/=(.*)/s)
      const isNamed = longOption(option, names) !== undefined
      const joined = isNamed ? given : names.some((name) => word.startsWith(name) && name.length === 2) && word.slice(2)
      const target = joined === false ? undefined : joined || call.argv[at + 1]
      if (target === undefined || target === '-') return
      // `strace -o '|command'` writes into a pipe.
      if (/^[|!]/.test(target)) call.tryScript(plain(target).slice(1))
      else call.effect('overwrite', target)
    })
  }

/** The operand at that place, counted from the end where it is negative, is written. */
const writesOperand =
  (at: number, kind: 'overwrite' | 'edit' = 'overwrite', short = ''): Program =>
  (call) => {
    const { operands } = options(call.args, { short })
    const target = operands.length > 1 || at === 0 ? operands.at(at) : undefined
    if (target !== undefined && target !== '-') call.effect(kind, target)
  }

/** `aria2c -d DIR -o NAME`, or the name in the address. */
const aria2c: Program = (call) => {
  const given = options(call.args, { short: 'dox', long: ['dir', 'out'] })
  const out = given.get('o', 'out')
  for (const name of out === undefined ? given.operands.map((url) => basename(url)) : [out])
    call.effect('overwrite', `${given.get('d', 'dir') ?? '.'}/${name}`)
}

/** `install -d -m MODE DIR` changes what is there already. */
const install: Program = (call) => {
  const given = options(call.args, { short: 'mogSt', long: ['mode', 'owner', 'group'] })
  const mode = given.get('m', 'mode')
  if (given.has('d', 'directory') && mode !== undefined) call.effects('mode', given.operands, mode)
}

/** `stat -c %n FILE...` prints the names that it was given. */
const stat: Program = (call) => {
  const given = options(call.args, { short: 'cf', long: ['format', 'printf'] })
  if (given.get('c', 'format') === '%m') return ['/\n']
  return given.get('c', 'format') === '%n' ? [`${given.operands.join('\n')}\n`] : undefined
}

/** `grep -rl '' DIR` prints the name of every file below it. */
const grep: Program = (call) => {
  const given = options(call.args, { short: 'efABCmdD', long: ['regexp', 'file', 'include', 'exclude'] })
  const lists = given.has('l', 'files-with-matches') && given.has('r', 'R', 'recursive')
  const pattern = given.get('e', 'regexp') ?? given.operands[0]
  if (!lists || given.has('include') || !/^(?:|\.|\^|\$|\.\*)$/.test(plain(pattern ?? 'x'))) return
  const places = given.get('e', 'regexp') === undefined ? given.operands.slice(1) : given.operands
  return [`${places.map((place) => `${place.replace(/\/$/, '')}/${TREE}`).join('\n')}\n`]
}

export const IN_PLACE_PROGRAMS: Readonly<Record<string, Program>> = {
  ...table(
    nameList(`
      gzip gunzip pigz bzip2 bunzip2 pbzip2 lbzip2 xz unxz lzma unlzma lzop lzip plzip zstd lz4 brotli compress
      uncompress
    `),
    compress,
  ),
  ...table(['rename', 'prename', 'file-rename', 'perl-rename', 'rename.ul'], rename),
  ...table(['strace', 'ltrace', 'perf', 'time'], writesAfter('-o', '--output')),
  ...table(['uniq', 'xxd'], writesOperand(1)),
  ...table(['convert', 'magick', 'ffmpeg', 'ditto'], writesOperand(-1)),
  ...table(['axel', 'shuf', 'iconv', 'ld', 'as', 'strip'], writesAfter('-o', '--output')),
  // These programs change the last file that they are given.
  ...table(['patchelf', 'upx', 'elfedit', 'objcopy'], (call) => {
    if (call.argv.length > 2 && !call.argv.some((word) => /^--print/.test(word)))
      call.effect('overwrite', call.argv.at(-1) ?? '')
  }),
  ...table(['ccrypt', 'ccencrypt'], (call) => {
    const given = options(call.args, { short: 'EKkHyS' })
    if (given.has('r', 'R', 'recursive')) call.effects('delete-tree', given.operands)
  }),
  mmv: (call) => {
    const { operands } = options(call.args)
    call.effect('move', activate(operands[0] ?? ''))
  },
  ...table(['pax', 'star'], (call, name) => {
    for (const word of call.argv) if (word.startsWith('f=')) call.effect('overwrite', word.slice(2))
    if (call.argv.some((word) => /^-\w*w/.test(word))) return writesAfter('-f')(call, name)
  }),
  patch: writesOperand(0, 'edit', 'pdioBDFgrVYz'),
  script: writesOperand(0, 'overwrite', 'cBEIOTto'),
  aria2c,
  install,
  openssl: writesAfter('-out', '-keyout'),
  ...table(['gpg', 'gpg2', 'age'], writesAfter('-o', '--output')),
  stat,
  ...table(['grep', 'egrep', 'fgrep'], grep),
}

/** What text tools print, by name. Only so far as to follow text into a shell or a path into rm. */
import { nameList } from '../../contract/quote.js'
import { beforeEnd, unescape } from '../words/escapes.js'
import { resolvePath, RUNNING } from '../words/paths.js'
import {
  type Alternatives,
  ANYTHING,
  DEVICES,
  EMPTY,
  hasWildcard,
  isConstant,
  plain,
  SELECTED,
  STAR,
  TREE,
  unique,
  UNKNOWN,
} from '../words/text.js'
import { basename, listed, options, type Program, table } from './row/call.js'
import { jq, locate } from './code/recipes.js'
import {
  base32,
  base64,
  basenc,
  cat,
  comm,
  cut,
  grep,
  headTail,
  opaqueFilter,
  compressed,
  openssl,
  paste,
  rev,
  tac,
  through,
  tr,
  hexes,
  xxd,
} from './filters.js'

const echo: Program = ({ argv }) => {
  let args = argv.slice(1)
  let escapes = false
  let newline = true
  while (/^-[neE]+$/.test(args[0] ?? '')) {
    const flags = args[0] ?? ''
    if (flags.includes('n')) newline = false
    if (flags.includes('e')) escapes = true
    if (flags.includes('E')) escapes = false
    args = args.slice(1)
  }
  // Wildcards were expanded before echo saw them: they stay marks for names.
  const text = args.join(' ')
  const cut = escapes ? beforeEnd(text) : undefined
  return [(escapes ? unescape(cut ?? text, 'behind-zero') : text) + (newline && cut === undefined ? '\n' : '')]
}

const tee: Program = (call) => {
  const given = options(call.args)
  const text = call.stdin ?? ANYTHING
  const append = given.has('a', 'append')
  for (const file of given.operands) {
    const empty = text.every((one) => one.trim() === '') ? EMPTY : undefined
    call.effect(append ? 'append' : 'overwrite', file, empty)
    call.write(file, text, append)
  }
  return text
}

const seq: Program = ({ argv }) => {
  const format = options(argv.slice(1), { short: 'fs', long: ['format', 'separator'] }).get('f', 'format')
  // The same text for each number: once is enough.
  if (format !== undefined) return [`${format.replace(/%[^%a-zA-Z]*[efgEFG]/, '1')}\n`]
  const numbers = argv
    .slice(1)
    .filter((arg) => /^-?\d+$/.test(arg))
    .map(Number)
  const [from, to] = numbers.length === 1 ? [1, numbers[0] ?? 0] : [numbers[0] ?? 0, numbers[numbers.length - 1] ?? 0]
  // Too many numbers to be meant one by one: as pids, that is every process.
  if (numbers.length > 0 && to - from > 1_000) return [`${TREE}\n`]
  if (numbers.length === 0) return ANYTHING
  return [Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => `${from + i}\n`).join('')]
}

const whoami: Program = ({ shell }) => [`${shell.get('USER').values[0] ?? UNKNOWN}\n`]

const id: Program = (call) =>
  (/^-(un|nu)$/.test(call.argv[1] ?? '') && call.argv.length === 2) ||
  (call.argv.includes('-u') && call.argv.includes('-n'))
    ? whoami(call, 'whoami')
    : ANYTHING

const printenv: Program = ({ argv, shell }) =>
  argv.length === 2 ? shell.get(argv[1] ?? '').values.map((value) => `${value}\n`) : (listed(shell) ?? ANYTHING)

const dirname: Program = ({ argv }) =>
  argv
    .slice(1, 2)
    .map((path) =>
      isConstant(path)
        ? `${path.replace(/\/+$/, '').replace(/\/?[^/]*$/, '') || (path.startsWith('/') ? '/' : '.')}\n`
        : UNKNOWN,
    )

const baseName: Program = ({ argv }) => [
  isConstant(argv[1] ?? '') ? `${basename(argv[1] ?? '').replace(argv[2] ?? '\0', '')}\n` : UNKNOWN,
]

const realpath: Program = ({ argv, shell, walker }) => {
  const [path] = options(argv.slice(1)).operands
  if (path === undefined) return ANYTHING
  const paths = shell.cwd.map((cwd) => resolvePath(path, cwd))
  return paths.map((named) => `${walker.disk.behind(named, true) ?? named}\n`)
}

/** `du -a`, `tree -fi`, `rg --files`: every path below the directories they are given. */
const lists =
  (asked: RegExp, short: string): Program =>
  ({ argv }) => {
    if (!argv.slice(1).some((word) => asked.test(word))) return ANYTHING
    const { operands } = options(argv.slice(1), { short })
    return foundPaths(operands.length > 0 ? operands : ['.'], false)
  }

/** Names in a directory that was not looked at. */
const ls: Program = ({ argv }) => {
  const given = options(argv.slice(1), { short: 'ITw' })
  if (given.operands.some((path) => /^\/proc\/?$/.test(path))) return [`${TREE}\n`]
  // Names given with wildcards or -d are printed as they are; of a directory, every name in it.
  const named = given.has('d', 'directory') || given.operands.some(hasWildcard)
  const itself = given.operands.map((path) => `${path}\n`).join('')
  if (named) return [itself]
  return given.operands.some((path) => /^(?:\/usr)?\/s?bin\/[^/]/.test(path)) ? [itself, `${STAR}\n`] : [`${STAR}\n`]
}

const getent: Program = ({ argv, shell }) => {
  if (argv[1] !== 'passwd' || argv[2] === undefined) return ANYTHING
  const user = plain(argv[2])
  const home =
    user === 'root' ? '/root' : user === shell.get('USER').values[0] ? (shell.home[0] ?? '') : `/home/${user}`
  return [`${user}:x:1000:1000::${home}:/bin/bash\n`]
}

/** The path a name would be found at; which one does not matter, the program does. */
const which: Program = ({ argv }) => [
  options(argv.slice(1))
    .operands.map((name) => `${name.includes('/') ? name : `/usr/bin/${name}`}\n`)
    .join(''),
]

/** Which file system a path is on, and where that is mounted: the root, as far as is known. */
const mounted: Program = (call, name) => {
  const words = call.args.join(' ')
  if (/(?:^|[\s,=])SOURCE\b|--output=source/i.test(words)) return [DEVICES]
  if (/\bTARGET\b|--output=target/i.test(words)) return ['/\n']
  return tableOfDisks(call, name)
}

/** `df /`, `mount`, `fdisk -l`: a line for each file system or disk, which begins with its device. */
const tableOfDisks: Program = ({ argv }, name) =>
  name === 'df' || argv.length === (name === 'mount' ? 1 : 2) ? [DEVICES] : ANYTHING

/** Names of disks, with `/dev/` in front where it is asked for. */
const disks: Program = ({ argv }, name) =>
  name === 'blkid' || argv.some((word) => /^-\w*p|PATH/.test(word)) ? [DEVICES] : ANYTHING

/** What every program is linked with. */
const LIBRARIES = '\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x0)\n\t/lib64/ld-linux-x86-64.so.2 (0x0)\n'

const userDirectory: Program = ({ argv, shell }) => {
  const name = plain(argv[1] ?? '').toLowerCase()
  return shell.home.map((home) => `${home}${name === '' ? '' : `/${name[0]?.toUpperCase()}${name.slice(1)}`}\n`)
}

/** What `find` prints: its starting points and all below them, or only what a name test selects. */
export function foundPaths(starts: readonly string[], narrowed: boolean): Alternatives {
  return [starts.map((start) => `${start.replace(/\/$/, '')}/${narrowed ? SELECTED : TREE}`).join('\n') + '\n']
}

/** Variables of the environment in the text that comes in. */
const envsubst: Program = (call) =>
  unique(
    (call.stdin ?? ANYTHING).map((text) =>
      text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (_, braced?: string, bare?: string) => {
        const [value = ''] = call.shell.get(braced ?? bare ?? '').values
        return value
      }),
    ),
  )

export const PRINTING: Readonly<Record<string, Program>> = {
  echo,
  cat,
  tac,
  ...table(['head', 'tail'], headTail),
  base64,
  base32,
  basenc,
  xxd,
  ...table(['od', 'hexdump'], hexes),
  openssl,
  tr,
  rev,
  cut,
  paste,
  tee,
  seq,
  pwd: ({ shell }) => shell.cwd.map((cwd) => `${cwd}\n`),
  ...table(['whoami', 'logname'], whoami),
  id,
  printenv,
  dirname,
  basename: baseName,
  ...table(['realpath', 'readlink'], realpath),
  ...table(['ls', 'dir', 'vdir'], ls),
  ...table(['findmnt', 'df'], mounted),
  ...table(['mount', 'fdisk'], tableOfDisks),
  ...table(['lsblk', 'blkid'], disks),
  'xdg-user-dir': userDirectory,
  du: lists(/^(-\w*a\w*|--all)$/, 'dtBX'),
  tree: lists(/^-\w*f/, 'LPIo'),
  rg: lists(/^--files$/, 'efgtTABCMjrm'),
  yes: ({ args }) => [`${args.map(plain).join(' ') || 'y'}\n`],
  uname: ({ argv }) => (/^-(?:r|-kernel-release)$/.test(argv[1] ?? '') ? [`${RUNNING}\n`] : undefined),
  ldd: ({ argv }) => (argv.length > 1 ? [UNKNOWN, LIBRARIES] : ANYTHING),
  getent,
  mktemp: () => [`/tmp/${UNKNOWN}\n`],
  ...table(['jq', 'yq'], jq),
  ...table(['locate', 'mlocate', 'plocate', 'slocate'], locate),
  which,
  whereis: ({ argv }) =>
    options(argv.slice(1), { short: 'BMS' }).operands.map((name) => `${name}: /usr/bin/${name} /usr/share/${name}\n`),
  sort: through('kotTS'),
  uniq: through('fsw'),
  shuf: through('ino'),
  column: through('ceNOos'),
  unexpand: through('t'),
  comm,
  nl: through('bdfhilnpsvw'),
  ...table(['fold', 'fmt'], through('w')),
  expand: through('t'),
  ...table(['grep', 'egrep', 'fgrep'], grep),
  pv: through('LBs'),
  envsubst,
  iconv: through('fto'),
  dos2unix: through(''),
  ...table(nameList('gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat zstd unzstd zstdcat'), compressed),
  ...table(['uudecode', 'gpg'], opaqueFilter),
  // What these programs print about their files is not followed.
  ...table(nameList('wc diff cmp file md5sum sha1sum sha256sum date sleep'), () => undefined),
}

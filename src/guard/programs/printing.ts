/** What text tools print for known input: echo, printf, decoders, filters. Only so far as to follow text into a shell. */
import { basename, options, type Program } from './call.js'
import { unescape } from '../escapes.js'
import { type Alternatives, ANYTHING, hasUnknown, hasWildcard, isConstant, NOTHING, plain, SELECTED, STAR, TREE, UNKNOWN, unique } from '../text.js'
import { resolvePath } from '../paths.js'

/** printf: the format is used again until the arguments are gone. */
export function formatted(args: readonly string[]): Alternatives {
  const [format, ...values] = args
  if (format === undefined) return NOTHING
  let out = ''
  let next = 0
  for (let round = 0; round < 1_000; round++) {
    const start = next
    out += unescape(format).replace(/%(?:%|\(([^)]*)\)T|[-+ #0]*(\*|\d+)?(?:\.(\*|\d+))?([a-zA-Z]))/g, (whole, time?: string, width?: string, precision?: string, letter?: string) => {
      if (whole === '%%') return '%'
      if (time !== undefined) return UNKNOWN
      if (width === '*') next++
      const limit = precision === '*' ? Number(values[next++]) : precision === undefined ? undefined : Number(precision)
      const value = values[next++] ?? ''
      return converted(letter ?? 's', value, limit).padStart(Math.min(Number(width) || 0, 1_000))
    })
    if (next >= values.length || next === start || out.length > 1_000_000) break
  }
  return [out]
}

function converted(letter: string, value: string, precision: number | undefined): string {
  if (letter === 's' || letter === 'b' || letter === 'q') {
    const text = letter === 'b' ? unescape(value) : value
    return precision === undefined ? text : text.slice(0, precision)
  }
  if (letter === 'c') return value.slice(0, 1)
  if (hasUnknown(value)) return UNKNOWN
  const number = /^['"]./.test(value) ? value.charCodeAt(1) : Number(value || 0)
  if (Number.isNaN(number)) return '0'
  if (letter === 'x') return Math.trunc(number).toString(16)
  if (letter === 'X') return Math.trunc(number).toString(16).toUpperCase()
  if (letter === 'o') return Math.trunc(number).toString(8)
  return 'diu'.includes(letter) ? String(Math.trunc(number)) : String(number)
}

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
  return [(escapes ? unescape(text, true) : text) + (newline ? '\n' : '')]
}

/** The input of a filter: named files, or stdin. */
function inputs(call: Parameters<Program>[0], files: readonly string[]): Alternatives {
  if (files.length === 0) return call.stdin ?? ANYTHING
  let all: Alternatives = ['']
  for (const file of files) {
    const text = file === '-' || /^\/dev\/(stdin|fd\/0)$/.test(file) ? (call.stdin ?? ANYTHING) : call.walker.streams.contents(file, call.shell)
    all = unique(all.flatMap((before) => text.map((more) => before + more)))
  }
  return all
}

const cat: Program = (call) => inputs(call, options(call.argv.slice(1)).operands)

/** Passes its input on unchanged, as far as a shell reading it would notice. */
const through =
  (short: string): Program =>
  (call) =>
    inputs(call, options(call.argv.slice(1), { short }).operands)

const headTail: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'nc', long: ['lines', 'bytes'] })
  const count = Number(given.get('n', 'lines') ?? (given.flags.find((flag) => /^\d$/.test(flag)) ? given.flags.filter((flag) => /^\d$/.test(flag)).join('') : 10))
  const bytes = given.get('c', 'bytes')
  return unique(
    inputs(call, given.operands).map((text) => {
      if (!isConstant(text)) return text
      const last = basename(call.argv[0] ?? '') === 'tail'
      if (bytes !== undefined) return last ? (bytes.startsWith('+') ? text.slice(Number(bytes) - 1) : text.slice(-Number(bytes))) : text.slice(0, Number(bytes))
      const lines = text.split('\n')
      const end = lines[lines.length - 1] === '' ? lines.length - 1 : lines.length
      const kept = last ? lines.slice(given.get('n', 'lines')?.startsWith('+') ? count - 1 : Math.max(0, end - count), end) : lines.slice(0, Math.min(count, end))
      return kept.length === 0 ? '' : `${kept.join('\n')}\n`
    }),
  )
}

/** A decoder that worked on known text gives known text; on unknown text nobody knows. */
function decode(texts: Alternatives, work: (text: string) => string | undefined): Alternatives {
  return unique(texts.map((text) => (isConstant(text) ? (work(text) ?? UNKNOWN) : text.includes(TREE) ? text : UNKNOWN)))
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

export function decodeBase64(text: string): string | undefined {
  return fromBits(text.replace(/[\s=]/g, '').replaceAll('-', '+').replaceAll('_', '/'), BASE64, 6)
}

function decodeBase32(text: string): string | undefined {
  return fromBits(text.replace(/[\s=]/g, '').toUpperCase(), BASE32, 5)
}

export function decodeHex(text: string): string | undefined {
  const digits = text.replace(/^[0-9a-f]+:\s/gim, '').replace(/\\x|0x|[\s,:]/g, '')
  return fromBits(digits.toLowerCase(), '0123456789abcdef', 4)
}

function fromBits(text: string, alphabet: string, bits: number): string | undefined {
  const bytes: number[] = []
  let buffer = 0
  let held = 0
  for (const char of text) {
    const value = alphabet.indexOf(char)
    if (value < 0) return undefined
    buffer = (buffer << bits) | value
    held += bits
    if (held >= 8) {
      held -= 8
      bytes.push((buffer >> held) & 0xff)
      buffer &= (1 << held) - 1
    }
  }
  return new TextDecoder().decode(new Uint8Array(bytes))
}

const base64: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'wio', long: ['wrap', 'input', 'output'] })
  const texts = inputs(call, [...given.operands, ...given.all('i', 'input')])
  return given.has('d', 'D', 'decode') ? decode(texts, decodeBase64) : ANYTHING
}

const base32: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'w' })
  return given.has('d', 'decode') ? decode(inputs(call, given.operands), decodeBase32) : ANYTHING
}

const xxd: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'cgls' })
  return given.has('r') ? decode(inputs(call, given.operands.slice(0, 1)), decodeHex) : ANYTHING
}

const openssl: Program = (call) => {
  const [verb, ...rest] = call.argv.slice(1)
  const words = rest.map((word) => word.replace(/^--/, '-'))
  const plainBase64 = verb === 'base64' || (verb === 'enc' && (words.includes('-base64') || words.includes('-a')) && !words.some((word) => /^-(aes|des|camellia|chacha|bf|rc4)/.test(word)))
  const at = words.indexOf('-in')
  const texts = inputs(call, at >= 0 ? [words[at + 1] ?? ''] : [])
  if (plainBase64 && words.includes('-d')) return decode(texts, decodeBase64)
  return texts.every(isConstant) && words.includes('-d') ? ['\uFFFC'] : ANYTHING
}

const tr: Program = (call) => {
  const given = options(call.argv.slice(1))
  const [from = '', to = ''] = given.operands.map((set) => trSet(plain(set)))
  return decode(call.stdin ?? ANYTHING, (text) => {
    const source = [...from]
    const target = [...to]
    const complement = given.has('c', 'C', 'complement')
    const inSet = (char: string): boolean => source.includes(char) !== complement
    if (given.has('d', 'delete')) return [...text].filter((char) => !inSet(char)).join('')
    if (target.length === 0) return text
    return [...text].map((char) => (inSet(char) ? (target[complement ? target.length - 1 : Math.min(source.lastIndexOf(char), target.length - 1)] ?? char) : char)).join('')
  })
}

function trSet(set: string): string {
  const classes: Readonly<Record<string, string>> = { upper: 'A-Z', lower: 'a-z', digit: '0-9', alpha: 'A-Za-z', space: ' \t\n\r', blank: ' \t' }
  return unescape(set.replace(/\[:(\w+):\]/g, (_, name: string) => classes[name] ?? '')).replace(/([^-])-([^-])/gs, (_, low: string, high: string) => {
    const out: string[] = []
    for (let code = low.charCodeAt(0); code <= high.charCodeAt(0) && out.length < 256; code++) out.push(String.fromCharCode(code))
    return out.join('')
  })
}

const rev: Program = (call) =>
  decode(inputs(call, options(call.argv.slice(1)).operands), (text) =>
    text
      .split('\n')
      .map((line) => [...line].reverse().join(''))
      .join('\n'),
  )

const tac: Program = (call) => decode(inputs(call, options(call.argv.slice(1)).operands), (text) => `${text.replace(/\n$/, '').split('\n').reverse().join('\n')}\n`)

const cut: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'dfcb', long: ['delimiter', 'fields', 'characters', 'bytes'] })
  const list = given.get('f', 'fields') ?? given.get('c', 'characters') ?? given.get('b', 'bytes') ?? ''
  const separator = given.get('f', 'fields') === undefined ? '' : (given.get('d', 'delimiter') ?? '\t')
  return decode(inputs(call, given.operands), (text) =>
    text
      .split('\n')
      .map((line) => {
        const pieces = line.split(separator)
        return pieces.filter((_, i) => list.split(',').some((range) => inRange(range, i + 1))).join(separator)
      })
      .join('\n'),
  )
}

function inRange(range: string, index: number): boolean {
  const ends = /^(\d*)(-?)(\d*)$/.exec(range)
  if (!ends) return true
  if (!ends[2]) return Number(ends[1]) === index
  return index >= Number(ends[1] || 1) && index <= Number(ends[3] || Number.MAX_SAFE_INTEGER)
}

const tee: Program = (call) => {
  const given = options(call.argv.slice(1))
  const text = call.stdin ?? ANYTHING
  const append = given.has('a', 'append')
  for (const file of given.operands) {
    call.walker.effect(append ? 'append' : 'overwrite', file, call.shell, call.argv)
    call.walker.streams.write(file, text, append, call.shell)
  }
  return text
}

const seq: Program = ({ argv }) => {
  const numbers = argv
    .slice(1)
    .filter((arg) => /^-?\d+$/.test(arg))
    .map(Number)
  const [from, to] = numbers.length === 1 ? [1, numbers[0] ?? 0] : [numbers[0] ?? 0, numbers[numbers.length - 1] ?? 0]
  // More numbers than anybody means one by one: as pids, that is every process.
  if (numbers.length > 0 && to - from > 1_000) return [`${TREE}\n`]
  if (numbers.length === 0) return ANYTHING
  return [Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => `${from + i}\n`).join('')]
}

const pwd: Program = ({ shell }) => shell.cwd.map((cwd) => `${cwd}\n`)
const whoami: Program = ({ shell }) => [`${shell.get('USER').values[0] ?? UNKNOWN}\n`]
const id: Program = (call) => (/^-(un|nu)$/.test(call.argv[1] ?? '') || (call.argv.includes('-u') && call.argv.includes('-n')) ? whoami(call, 'whoami') : ANYTHING)
const printenv: Program = ({ argv, shell }) => (argv.length === 2 ? shell.get(argv[1] ?? '').values.map((value) => `${value}\n`) : ANYTHING)
const dirname: Program = ({ argv }) => argv.slice(1, 2).map((path) => (isConstant(path) ? `${path.replace(/\/+$/, '').replace(/\/?[^/]*$/, '') || (path.startsWith('/') ? '/' : '.')}\n` : UNKNOWN))
const baseName: Program = ({ argv }) => [isConstant(argv[1] ?? '') ? `${basename(argv[1] ?? '').replace(argv[2] ?? '\0', '')}\n` : UNKNOWN]
const realpath: Program = ({ argv, shell }) => {
  const [path] = options(argv.slice(1)).operands
  return path === undefined ? ANYTHING : shell.cwd.map((cwd) => `${resolvePath(path, cwd)}\n`)
}
/** `du -a`, `tree -fi`, `rg --files`: every path below the directories they are given. */
const lists =
  (asked: RegExp, short: string): Program =>
  ({ argv }) => {
    if (!argv.slice(1).some((word) => asked.test(word))) return ANYTHING
    const { operands } = options(argv.slice(1), { short })
    return foundPaths(operands.length > 0 ? operands : ['.'], false)
  }
/** Names in a directory that nobody looked at. */
const ls: Program = ({ argv }) => {
  const given = options(argv.slice(1), { short: 'ITw' })
  if (given.operands.some((path) => /^\/proc\/?$/.test(path))) return [`${TREE}\n`]
  // Names given with wildcards or -d are printed as they are; of a directory, every name in it.
  const named = given.has('d', 'directory') || given.operands.some(hasWildcard)
  return [named ? given.operands.map((path) => `${path}\n`).join('') : `${STAR}\n`]
}
/** A pattern that lets every pid through keeps "everything" everything; any other picks something out. */
const grep: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'ABCefmdD', long: ['regexp', 'file', 'max-count'] })
  const pattern = given.get('e', 'regexp') ?? given.operands[0] ?? ''
  const files = given.get('e', 'regexp') === undefined ? given.operands.slice(1) : given.operands
  const texts = inputs(call, files)
  if (texts.some((text) => text.includes(TREE)) && (/^\^?\[?(0-9|\[:digit:\]|\\d)/.test(plain(pattern)) || given.has('v', 'invert-match'))) return texts
  return decode(
    texts.map((text) => (text.includes(TREE) ? UNKNOWN : text)),
    (text) => matchingLines(text, plain(pattern), given.has('v', 'invert-match'), given.has('F', 'fixed-strings')),
  )
}

function matchingLines(text: string, pattern: string, inverted: boolean, fixed: boolean): string | undefined {
  if (!fixed && !/^[\w /=:-]*$/.test(pattern)) return undefined
  const lines = text
    .replace(/\n$/, '')
    .split('\n')
    .filter((line) => line.includes(pattern) !== inverted)
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

const yes: Program = ({ argv }) => [`${argv.slice(1).map(plain).join(' ') || 'y'}\n`]
const getent: Program = ({ argv, shell }) => {
  if (argv[1] !== 'passwd' || argv[2] === undefined) return ANYTHING
  const user = plain(argv[2])
  const home = user === 'root' ? '/root' : user === shell.get('USER').values[0] ? (shell.home[0] ?? '') : `/home/${user}`
  return [`${user}:x:1000:1000::${home}:/bin/bash\n`]
}
/** The path a name would be found at; which one does not matter, the program does. */
const which: Program = ({ argv }) => [
  options(argv.slice(1))
    .operands.map((name) => `${name.includes('/') ? name : `/usr/bin/${name}`}\n`)
    .join(''),
]
const mktemp: Program = () => [`/tmp/${UNKNOWN}\n`]

/** Filters whose effect on text is not computed: known input becomes text that nobody has read. */
const opaqueFilter: Program = (call) => {
  const given = options(call.argv.slice(1))
  const texts = inputs(call, given.operands)
  return texts.every((text) => isConstant(text) && text !== '') ? ['\uFFFC'] : ANYTHING
}

/** Marks text that was decoded by something the guard cannot follow. */
export const UNREADABLE = '\uFFFC'

export function isReadable(text: string): boolean {
  return !text.includes(UNREADABLE)
}

export const PRINTING: Readonly<Record<string, Program>> = {
  echo,
  cat,
  tac,
  head: headTail,
  tail: headTail,
  base64,
  base32,
  xxd,
  openssl,
  tr,
  rev,
  cut,
  tee,
  seq,
  pwd,
  whoami,
  logname: whoami,
  id,
  printenv,
  dirname,
  basename: baseName,
  realpath,
  readlink: realpath,
  ls,
  du: lists(/^(-\w*a\w*|--all)$/, 'dtBX'),
  tree: lists(/^-\w*f/, 'LPIo'),
  rg: lists(/^--files$/, 'efgtTABCMjrm'),
  yes,
  getent,
  mktemp,
  which,
  whereis: which,
  sort: through('kotTS'),
  uniq: through('fsw'),
  nl: through('bdfhilnpsvw'),
  fold: through('w'),
  fmt: through('w'),
  expand: through('t'),
  grep,
  egrep: grep,
  fgrep: grep,
  pv: through('LBs'),
  iconv: through('fto'),
  dos2unix: through(''),
  gunzip: opaqueFilter,
  zcat: opaqueFilter,
  bunzip2: opaqueFilter,
  bzcat: opaqueFilter,
  xzcat: opaqueFilter,
  unxz: opaqueFilter,
  uudecode: opaqueFilter,
  gpg: opaqueFilter,
}

/** What `find` prints: its starting points and all below them, or only what a name test selects. */
export function foundPaths(starts: readonly string[], narrowed: boolean): Alternatives {
  return [starts.map((start) => `${start.replace(/\/$/, '')}/${narrowed ? SELECTED : TREE}`).join('\n') + '\n']
}

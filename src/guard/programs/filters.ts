/** Filters: what comes out of cat, head, tr, cut, grep and decoders for input that is known. */
import { unescape } from '../words/escapes.js'
import {
  type Alternatives,
  ANYTHING,
  DEVICES,
  isConstant,
  isEverything,
  plain,
  TREE,
  unique,
  UNKNOWN,
} from '../words/text.js'
import { basename, homesOf, options, type Program } from './row/call.js'
import {
  decodeBase32,
  decodeBase64,
  decodeHex,
  encodeBase32,
  encodeBase64,
  encodeHex,
  PACKED,
  UNREADABLE,
} from './row/decoding.js'

/** The input of a filter: named files, or stdin. */
function inputs(call: Parameters<Program>[0], files: readonly string[]): Alternatives {
  if (files.length === 0) return call.stdin ?? ANYTHING
  let all: Alternatives = ['']
  for (const file of files) all = unique(all.flatMap((before) => call.input(file).map((more) => before + more)))
  return all
}

export const cat: Program = (call) => {
  const { operands } = options(call.args)
  const [file = ''] = operands
  // A program that is copied this way stays what it is.
  if (operands.length === 1 && /^(?:\/usr)?\/s?bin\/[\w.-]+$/.test(file)) return [`exec ${file} "$@"\n`]
  return inputs(call, operands)
}

/** Passes its input on unchanged, as far as a shell reading it would notice. */
export const through =
  (short: string): Program =>
  (call) =>
    inputs(call, options(call.args, { short }).operands)

export const headTail: Program = (call) => {
  const given = options(call.args, { short: 'nc', long: ['lines', 'bytes'] })
  const digits = given.flags.filter((flag) => /^\d$/.test(flag)).join('')
  const count = Number(given.get('n', 'lines') ?? (digits || 10))
  const bytes = given.get('c', 'bytes')
  return unique(
    inputs(call, given.operands).map((text) => {
      if (!isConstant(text)) return text
      const last = basename(call.argv[0] ?? '') === 'tail'
      if (bytes !== undefined)
        return last
          ? bytes.startsWith('+')
            ? text.slice(Number(bytes) - 1)
            : text.slice(-Number(bytes))
          : text.slice(0, Number(bytes))
      const lines = text.split('\n')
      const end = lines[lines.length - 1] === '' ? lines.length - 1 : lines.length
      const kept = last
        ? lines.slice(given.get('n', 'lines')?.startsWith('+') ? count - 1 : Math.max(0, end - count), end)
        : lines.slice(0, Math.min(count, end))
      return kept.length === 0 ? '' : `${kept.join('\n')}\n`
    }),
  )
}

/** A decoder gives known text for known text, and unknown text for unknown; of all names nearly all are left. */
function decode(texts: Alternatives, work: (text: string) => string | undefined): Alternatives {
  return unique(
    texts.map((text) => {
      // What was a secret before it was changed is one afterwards.
      if (text.includes('{{') && text.includes('}}')) return text
      return isConstant(text) ? (work(text) ?? UNKNOWN) : isEverything(text) || text === DEVICES ? text : UNKNOWN
    }),
  )
}

/** Encoded text that is known can be decoded again. */
function encode(texts: Alternatives, work: (text: string) => string): Alternatives {
  return unique(texts.map((text) => (isConstant(text) && text.length < 100_000 ? `${work(text)}\n` : UNKNOWN)))
}

export const base64: Program = (call) => {
  const given = options(call.args, { short: 'wio', long: ['wrap', 'input', 'output'] })
  const texts = inputs(call, [...given.operands, ...given.all('i', 'input')])
  return given.has('d', 'D', 'decode') ? decode(texts, decodeBase64) : encode(texts, encodeBase64)
}

export const base32: Program = (call) => {
  const given = options(call.args, { short: 'w' })
  const texts = inputs(call, given.operands)
  return given.has('d', 'decode') ? decode(texts, decodeBase32) : encode(texts, encodeBase32)
}

/** The encoding is an option. */
export const basenc: Program = (call, name) => {
  const words = call.args.map(plain)
  const decodes = words.some((word) => /^(?:-\w*d\w*|--decode)$/.test(word))
  const texts = inputs(call, options(words, { short: 'w' }).operands)
  if (words.includes('--base16')) return decodes ? decode(texts, decodeHex) : encode(texts, encodeHex)
  return words.includes('--base32') ? base32(call, name) : base64(call, name)
}

export const xxd: Program = (call) => {
  const given = options(call.args, { short: 'cgls' })
  const texts = inputs(call, given.operands.slice(0, 1))
  return given.has('r') ? decode(texts, decodeHex) : encode(texts, encodeHex)
}

/** od and hexdump. */
export const hexes: Program = (call) =>
  encode(inputs(call, options(call.args, { short: 'AjNStwens' }).operands), encodeHex)

export const openssl: Program = (call) => {
  const [verb, ...rest] = call.args
  const words = rest.map((word) => word.replace(/^--/, '-'))
  const plainBase64 =
    verb === 'base64' ||
    (verb === 'enc' &&
      (words.includes('-base64') || words.includes('-a')) &&
      !words.some((word) => /^-(aes|des|camellia|chacha|bf|rc4)/.test(word)))
  const at = words.indexOf('-in')
  const texts = inputs(call, at >= 0 ? [words[at + 1] ?? ''] : [])
  if (plainBase64) return words.includes('-d') ? decode(texts, decodeBase64) : encode(texts, encodeBase64)
  return texts.every(isConstant) && words.includes('-d') ? [UNREADABLE] : ANYTHING
}

export const tr: Program = (call) => {
  const given = options(call.args)
  const [from = '', to = ''] = given.operands.map((set) => trSet(plain(set)))
  return decode(call.stdin ?? ANYTHING, (text) => {
    const source = [...from]
    const target = [...to]
    const complement = given.has('c', 'C', 'complement')
    const inSet = (char: string): boolean => source.includes(char) !== complement
    if (given.has('d', 'delete')) return [...text].filter((char) => !inSet(char)).join('')
    if (target.length === 0) return text
    return [...text]
      .map((char) =>
        inSet(char)
          ? (target[complement ? target.length - 1 : Math.min(source.lastIndexOf(char), target.length - 1)] ?? char)
          : char,
      )
      .join('')
  })
}

function trSet(set: string): string {
  const classes: Readonly<Record<string, string>> = {
    upper: 'A-Z',
    lower: 'a-z',
    digit: '0-9',
    alpha: 'A-Za-z',
    space: ' \t\n\r',
    blank: ' \t',
  }
  return unescape(set.replace(/\[:(\w+):\]/g, (_, name: string) => classes[name] ?? '')).replace(
    /([^-])-([^-])/gs,
    (_, low: string, high: string) => {
      const out: string[] = []
      for (let code = low.charCodeAt(0); code <= high.charCodeAt(0) && out.length < 256; code++)
        out.push(String.fromCharCode(code))
      return out.join('')
    },
  )
}

export const rev: Program = (call) =>
  decode(inputs(call, options(call.args).operands), (text) =>
    text
      .split('\n')
      .map((line) => [...line].reverse().join(''))
      .join('\n'),
  )

export const tac: Program = (call) =>
  decode(
    inputs(call, options(call.args).operands),
    (text) => `${text.replace(/\n$/, '').split('\n').reverse().join('\n')}\n`,
  )

/** Columns of several files side by side, or with -s the lines of each in one. */
export const paste: Program = (call) => {
  const given = options(call.args, { short: 'd', long: ['delimiters'] })
  const glue = unescape(plain(given.get('d', 'delimiters') ?? '\t')).slice(0, 1)
  const texts = (given.operands.length > 0 ? given.operands : ['-']).map((file) => inputs(call, [file])[0] ?? UNKNOWN)
  if (!texts.every(isConstant)) return texts.some(isEverything) ? texts.filter(isEverything) : ANYTHING
  const columns = texts.map((text) => text.replace(/\n$/, '').split('\n'))
  const rows = given.has('s', 'serial')
    ? columns
    : Array.from({ length: Math.max(...columns.map(({ length }) => length)) }, (_, i) =>
        columns.map((column) => column[i] ?? ''),
      )
  return [`${rows.map((row) => row.join(glue)).join('\n')}\n`]
}

export const cut: Program = (call) => {
  const given = options(call.args, { short: 'dfcb', long: ['delimiter', 'fields', 'characters', 'bytes'] })
  const list = given.get('f', 'fields') ?? given.get('c', 'characters') ?? given.get('b', 'bytes') ?? ''
  const separator = given.get('f', 'fields') === undefined ? '' : (given.get('d', 'delimiter') ?? '\t')
  const texts = inputs(call, given.operands)
  // The sixth field between colons is a home, and the first one between blanks a device.
  if (list === '6' && separator === ':' && texts.includes(UNKNOWN)) return homesOf(call.shell)
  if (list !== '1' && texts.includes(DEVICES)) return ANYTHING
  return decode(texts, (text) =>
    text
      .split('\n')
      .map((line) => {
        // A line without the separator is passed on whole.
        if (separator !== '' && !line.includes(separator)) return line
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

/** A pattern that lets every pid or name through keeps "everything" everything; any other picks something out. */
export const grep: Program = (call) => {
  const given = options(call.args, { short: 'ABCefmdD', long: ['regexp', 'file', 'max-count'] })
  const pattern = given.get('e', 'regexp') ?? given.operands[0] ?? ''
  const files = given.get('e', 'regexp') === undefined ? given.operands.slice(1) : given.operands
  const texts = inputs(call, files)
  const inverted = given.has('v', 'invert-match')
  // All names of a directory but some (`ls | grep -v keep`) are nearly all of them.
  if (texts.some(isEverything) && (inverted || /^\^?(?:\.[*+]?)?\$?$/.test(plain(pattern)))) return texts
  if (texts.some((text) => text.includes(TREE)) && /^\^?\[?(0-9|\[:digit:\]|\\d)/.test(plain(pattern))) return texts
  return decode(
    texts.map((text) => (isEverything(text) ? UNKNOWN : text)),
    (text) => matchingLines(text, plain(pattern), inverted, given.has('F', 'fixed-strings')),
  )
}

function matchingLines(text: string, pattern: string, inverted: boolean, fixed: boolean): string {
  // Any line may be one of those that an expression picks out.
  if (!fixed && !/^[\w /=:-]*$/.test(pattern)) return text
  const lines = text
    .replace(/\n$/, '')
    .split('\n')
    .filter((line) => line.includes(pattern) !== inverted)
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`
}

/** `comm -23 <(ls) keep`: of the lines of one file those that the other has not. */
export const comm: Program = (call) => {
  const { operands } = options(call.args)
  const all = operands.flatMap((file) => inputs(call, [file])).filter(isEverything)
  return all.length > 0 ? all : undefined
}

/** Filters whose effect on text is not computed: known input becomes unknown text. */
export const opaqueFilter: Program = (call) => {
  const given = options(call.args)
  const texts = inputs(call, given.operands)
  return texts.every((text) => isConstant(text) && text !== '') ? [UNREADABLE] : ANYTHING
}

/** Compressors and their way back: what went in comes out again; packed text from elsewhere is unknown. */
export const compressed: Program = (call, name) => {
  const given = options(call.args, { short: 'bSTM' })
  const unpacks = /^(?:un|gunz|bunz)|cat$/.test(name) || given.has('d', 'decompress', 'uncompress')
  if (given.operands.length > 0 && !unpacks) return
  const texts = inputs(call, given.operands)
  if (!unpacks) return unique(texts.map((text) => (text === UNKNOWN ? text : PACKED + text)))
  return texts.some((text) => text.startsWith(PACKED))
    ? unique(texts.map((text) => (text.startsWith(PACKED) ? text.slice(PACKED.length) : UNKNOWN)))
    : opaqueFilter(call, name)
}

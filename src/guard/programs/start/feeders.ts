/** Programs that make command lines of their input: xargs, parallel, at, and tools that run each of their arguments. */
import { nameList } from '../../../contract/quote.js'
import { type Alternatives, NOTHING, plain, unique, UNKNOWN } from '../../words/text.js'
import { type Call, options, type Program } from '../row/call.js'

/** Options with a value. */
const XARGS_VALUES = nameList('arg-file delimiter eof replace max-lines max-args max-procs max-chars process-slot-var')

/** xargs: the words of stdin become arguments. */
export const xargs: Program = (call) => {
  const given = options(call.args, { short: 'adEILnPsJR', long: XARGS_VALUES, stop: true })
  const template = given.operands.length > 0 ? given.operands : ['echo']
  const file = given.get('a', 'arg-file')
  const texts = file === undefined ? (call.stdin ?? [UNKNOWN]) : call.contents(file)
  const replace = given.get('I', 'J', 'replace') ?? (given.has('i') ? '{}' : undefined)
  const nul = given.has('0', 'null')
  const delimiter = given.get('d', 'delimiter')
  let out: Alternatives = []
  for (const text of texts) {
    const items = nul
      ? text.split('\0')
      : delimiter !== undefined
        ? text.split(plain(delimiter).replace('\\n', '\n').replace('\\0', '\0'))
        : replace !== undefined
          ? text.split('\n').map((line) => line.trim())
          : unquotedFields(text)
    const words = items.map((item) => item.replace(/\n$/, '')).filter((item) => item !== '')
    if (replace === undefined || replace === '')
      out = unique([...out, ...call.start([...template, ...words.slice(0, 2_000)], NOTHING)])
    else
      for (const word of unique(words))
        call.start(
          template.map((part) => part.replaceAll(replace, word)),
          NOTHING,
        )
  }
  return out.length > 0 ? out : undefined
}

/** xargs' own splitting: blanks separate, quotes and backslashes protect. */
function unquotedFields(text: string): string[] {
  const words = text.match(/(?:"[^"\n]*"|'[^'\n]*'|\\.|[^\s"'\\])+/gs) ?? []
  return words.map((word) => word.replace(/["']/g, '').replace(/\\(.)/g, '$1'))
}

/** Options with a value. */
const PARALLEL_VALUES = nameList(`
  jobs sshlogin arg-file delay timeout joblog tmpdir results retries colsep max-args wd workdir
`)

/** GNU parallel: a command line, then `::: arguments`, or arguments from stdin. */
export const parallel: Program = (call) => {
  const at = call.argv.findIndex((arg) => /^:::?[:+]?\+?$/.test(arg))
  const head = at < 0 ? call.args : call.argv.slice(1, at)
  const given = options(head, { short: 'jSaIdNnLlPx', long: PARALLEL_VALUES, stop: true })
  const template = given.operands.map(plain).join(' ')
  const items =
    at < 0
      ? (call.stdin ?? [UNKNOWN]).flatMap((text) => text.split('\n')).filter((item) => item !== '')
      : itemsOf(call, at)
  // The input goes to each command as a whole.
  if (given.has('pipe')) return call.script(template, call.stdin)
  for (const item of unique(items)) {
    const quoted = item.replace(/([^\w@%+=:,./*~\uFDD0-\uFDDF-])/g, '\\$1')
    const line =
      template === ''
        ? plain(item)
        : /\{[^}]*\}/.test(template)
          ? template.replace(/\{(?:[./#%]*|\d+)\}/g, () => quoted)
          : `${template} ${quoted}`
    call.script(line)
  }
}

/** `::: ITEMS`, `:::: FILES`. */
function itemsOf(call: Call, at: number): string[] {
  const words = call.argv.slice(at + 1).filter((arg) => !/^:::/.test(arg))
  if (!/^::::/.test(call.argv[at] ?? '')) return words
  const texts = call.texts(words)
  return texts.flatMap((text) => text.split('\n')).filter((item) => item !== '')
}

/** Options with a value. */
const HYPERFINE_VALUES = nameList(`
  warmup runs min-runs max-runs shell names prefix export-json export-markdown prepare setup cleanup conclude
`)

/** Each argument is a command line: hyperfine, concurrently. */
export const eachLine: Program = (call) => {
  const given = options(call.args, { short: 'wrmMSpcnkN', long: HYPERFINE_VALUES })
  for (const line of [...given.operands, ...given.all('p', 'c', 'prepare', 'setup', 'cleanup', 'conclude')])
    call.tryScript(plain(line))
}

/** at, batch, and the queues of clusters: stdin is a script for later. */
export const later: Program = (call, name) => {
  const queue = !/^(?:at|batch)$/.test(name)
  const given = options(
    call.args,
    queue ? { short: 'JonNqptcmWPRAleab', long: ['wrap'], stop: true } : { short: 'fqt' },
  )
  if (queue)
    for (const line of [...given.all('wrap'), given.operands.map(plain).join(' ')])
      if (/\s/.test(line)) call.tryScript(plain(line))
  if (!queue && given.has('l', 'd', 'r', 'c')) return
  const file = queue ? given.operands[0] : given.get('f')
  for (const text of file === undefined ? (call.stdin ?? []) : call.contents(file))
    if (text !== UNKNOWN) call.tryScript(text)
}

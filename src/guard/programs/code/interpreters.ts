/** Programs with a language of their own: finds shell commands, file calls and fork loops inside inline code. */
import { isEverything, plain, UNKNOWN } from '../../words/text.js'
import { type Call, known, onlyTalks, options, type Program, table } from '../row/call.js'
import { awk } from './awk.js'
import { editor, emacs } from './editors.js'
import { judgeCode, outsideOf, printedBy } from './inline.js'
import { decodeBase64 } from '../row/decoding.js'
import { sed, sedOutput } from './sed.js'
import { foldedCode } from './text.js'

interface Interpreter {
  /** Short options whose value is code. */
  readonly code: string
  readonly long?: readonly string[]
  /** Other short options with a value. */
  readonly short?: string
  /** With this option the operands are files edited in place. */
  readonly inPlace?: string
}

const INTERPRETERS: Readonly<Record<string, Interpreter>> = {
  python: { code: 'c', short: 'mWXQ' },
  perl: { code: 'eE', short: 'IMmFl', inPlace: 'i' },
  ruby: { code: 'e', short: 'IrCEFKT', inPlace: 'i' },
  node: { code: 'ep', long: ['eval', 'print'], short: 'rC' },
  deno: { code: '', long: [] },
  bun: { code: 'ep', long: ['eval', 'print'] },
  php: { code: 'rRB', short: 'dcfgESFz' },
  lua: { code: 'e', short: 'l' },
  Rscript: { code: 'e' },
  R: { code: 'e', short: 'gd' },
  julia: { code: 'eE', long: ['eval', 'print'], short: 'pLtJ' },
  groovy: { code: 'e' },
  scala: { code: 'e' },
  osascript: { code: 'e', short: 'ls' },
  tclsh: { code: '' },
  guile: { code: 'c', short: 'els' },
  racket: { code: 'e', short: 'tlr' },
  elixir: { code: 'e', long: ['eval'] },
  erl: { code: '', long: ['eval'] },
  ghc: { code: 'e' },
  raku: { code: 'e' },
  kotlin: { code: 'e' },
  clojure: { code: 'e', long: ['eval'] },
  ocaml: { code: 'e' },
  sbcl: { code: '', long: ['eval'] },
  nim: { code: '' },
  crystal: { code: '' },
  swift: { code: 'e' },
  pwsh: { code: 'c', long: ['Command', 'EncodedCommand'] },
  iex: { code: 'e', long: ['eval'] },
  zx: { code: 'e', long: ['eval'] },
  coffee: { code: 'e', long: ['eval'] },
  dart: { code: '' },
  kotlinc: { code: '' },
  swipl: { code: 'gt' },
  emacs: { code: '', long: ['eval', 'execute'] },
  gnuplot: { code: 'e' },
  octave: { code: '', long: ['eval'] },
  maxima: { code: '', long: ['batch-string', 'run-string'] },
  mongo: { code: '', long: ['eval'] },
  mongosh: { code: '', long: ['eval'] },
  jshell: { code: '' },
  irb: { code: 'e' },
  pry: { code: 'e' },
  ts: { code: 'ep' },
  sage: { code: 'c' },
  matlab: { code: 'r', long: ['batch'] },
  jrunscript: { code: 'e' },
  jjs: { code: '' },
  gp: { code: '' },
  clisp: { code: 'x' },
  ecl: { code: '', long: ['eval'] },
  gprolog: { code: '', long: ['query-goal', 'init-goal'] },
  bb: { code: 'e', long: ['eval'] },
}

/** Other names of the same languages. */
const OTHER_NAMES = new Map([
  ['pypy', 'python'],
  ['nodejs', 'node'],
  ['luajit', 'lua'],
  ['jruby', 'ruby'],
  ['ts-node', 'ts'],
  ['tsx', 'ts'],
  ['ipython', 'python'],
  ['micropython', 'python'],
  ['powershell', 'pwsh'],
  ['texlua', 'lua'],
  ['runghc', 'ghc'],
  ['runhaskell', 'ghc'],
  ['wish', 'tclsh'],
  ['expect', 'tclsh'],
  ['clj', 'clojure'],
  ['esno', 'ts'],
  ['esrun', 'ts'],
])

/** `python3.12`, `perl5.36`, `lua5.4`, `ruby3.1` are the same languages. */
export function interpreterName(name: string): string | undefined {
  const bare = name.replace(/-?[\d.]+$/, '')
  const found = OTHER_NAMES.get(bare) ?? bare
  return Object.hasOwn(INTERPRETERS, found) ? found : undefined
}

export const interpret: Program = (call, name) => {
  const language = interpreterName(name)
  const spec = language === undefined ? undefined : INTERPRETERS[language]
  if (!spec || language === undefined) return undefined
  const args = call.argv.slice(1)
  if (onlyTalks(args)) return undefined
  const perlish = language === 'perl' || language === 'ruby'
  const given = options(args, {
    short: spec.code + (spec.short ?? ''),
    long: [...(spec.long ?? [])],
    stop: !perlish,
    singleDash: /^(?:erl|matlab|ecl|pwsh)$/.test(language),
  })
  const codes = [
    ...[...spec.code].flatMap((letter) => given.all(letter)),
    ...(spec.long ?? []).flatMap((option) => given.all(option)),
  ]
  // Every Python begins with these, where it finds one on its path.
  const begins = language === 'python' ? [...call.shell.files.keys()].filter((path) => CUSTOMIZES.test(path)) : []
  for (const file of [...preloaded(args, call), ...begins])
    for (const text of call.walker.streams.contents(file, call.shell))
      if (text !== UNKNOWN) runText(text, language, call)
  // `perl -pi.bak -e`, `perl -lane`: letters bundled before the one that takes the code.
  if (language === 'perl')
    for (const [i, arg] of args.entries())
      if (/^-[a-zA-Z0-9]*e$/.test(arg) && args[i + 1] !== undefined && !codes.includes(args[i + 1] ?? ''))
        codes.push(args[i + 1] ?? '')
  if (/^(?:deno|crystal)$/.test(language) && given.operands[0] === 'eval') codes.push(...given.operands.slice(1, 2))
  if (language === 'bb') codes.push(...given.operands.filter((word) => word.startsWith('(')))
  if (language === 'nim')
    codes.push(...args.flatMap((arg) => (/^--eval[:=]/.test(arg) ? [arg.replace(/^--eval[:=]/, '')] : [])))
  // Bytes of two to a character.
  if (language === 'pwsh')
    for (const coded of given.all('EncodedCommand')) codes.push((decodeBase64(plain(coded)) ?? '').replaceAll('\0', ''))
  // IPython's own: `!CMD` and `%sx CMD`.
  if (/^ipython/.test(name))
    for (const code of codes)
      for (const [, line = ''] of plain(code).matchAll(/^\s*(?:!{1,2}|%sx |%system |%(?=rm |mv |cp ))(.*)$/gm))
        call.walker.tryScript(line, call.shell)
  // `find / | perl -ne unlink`: each line names a file.
  if (perlish && codes.some((code) => /\bunlink\b\s*(?:\$_\s*)?(?:[;}]|$)/.test(plain(code))))
    for (const text of call.stdin ?? [])
      for (const file of text.split(/[\n\0]/))
        if (file !== '') call.walker.effect('delete', file, call.shell, call.argv)
  // `perl -ne CODE`: each line of the input is `$_`.
  const named = given.operands.flatMap((file) => [...call.walker.streams.contents(file, call.shell)])
  const lines = [...(call.stdin ?? []), ...named]
  const line = perlish && args.some((arg) => /^-[a-zA-Z0-9]*[np]/.test(arg)) ? lines.find(known) : undefined
  const before = line === undefined ? '' : `$_ = ${JSON.stringify(line.trim())};\n`
  for (const code of codes) runText(code, language, call, before)
  namedByModule(args, codes, given.operands, call)
  if (spec.inPlace && args.some((arg) => /^-[a-z0-9]*i/.test(arg) && !arg.startsWith('-I')) && codes.length > 0) {
    for (const file of given.operands.filter((word) => !codes.includes(word)))
      call.walker.effect('edit', file, call.shell, call.argv)
  }
  // `node -p '"/"'` prints the value of its expression.
  const value =
    language === 'node' && given.has('p', 'print')
      ? /^\s*(["'`])([^"'`\\]*)\1\s*$/.exec(foldedCode(plain(codes[0] ?? ''), 'node', outsideOf(call)))?.[2]
      : undefined
  if (value !== undefined) return [`${value}\n`]
  if (codes.length > 0 && language === 'perl' && args.some((arg) => /^-[a-zA-Z0-9]*p[a-zA-Z0-9]*$/.test(arg)))
    return sedOutput(codes.map(plain), call, given.operands)
  // `perl -ne 'print unless /keep/'`: every name but some.
  const all =
    codes.some((code) => /^\s*(?:print|puts \$_)\s*(?:;|$|unless\b|if\s*!)/.test(code)) && lines.filter(isEverything)
  if (all && all.length > 0) return all
  // What comes in is decoded and goes on.
  const coded = codes.some((code) => /b64decode|decode_base64|\batob\b|Base64\.|decode64/.test(code))
    ? call.stdin?.find(known)
    : undefined
  if (coded !== undefined) return [decodeBase64(coded.trim()) ?? UNKNOWN]
  if (codes.length > 0) return printedBy(codes.map(plain).join('\n'), call)
  const [file] =
    /^(?:deno|dart|nim)$/.test(language) && /^(?:run|e|r)$/.test(given.operands[0] ?? '')
      ? given.operands.slice(1).filter((word) => word === '-' || !word.startsWith('-'))
      : given.operands
  const module = language === 'python' ? given.get('m') : undefined
  if (module !== undefined) {
    // A directory that is emptied first.
    if (module === 'venv' && given.operands.includes('--clear'))
      for (const word of options(given.operands).operands)
        call.walker.effect('delete-tree', word, call.shell, call.argv)
    if (module === 'timeit')
      for (const code of options(given.operands, { short: 'snru' }).operands.concat(given.all('s')))
        runText(code, language, call)
    const path = plain(module).replaceAll('.', '/')
    for (const name of [`${path}.py`, `${path}/__main__.py`])
      for (const text of call.walker.streams.contents(name, call.shell))
        if (text !== UNKNOWN) runText(text, language, call)
    return undefined
  }
  const readsStdin = file === undefined || file === '-' || /^\/dev\/(stdin|fd\/0)$/.test(file)
  const texts = readsStdin
    ? (call.stdin ?? [])
    : [file, `${file}.js`, `${file}/__main__.py`].flatMap((name) => [...call.walker.streams.contents(name, call.shell)])
  for (const text of texts) {
    if (text !== UNKNOWN) runText(text, language, call)
  }
  return undefined
}

/** `ruby -run -e rm -- -rf DIR`, `perl -MExtUtils::Command -e rm_rf DIR`: the code is the name of a program. */
function namedByModule(
  args: readonly string[],
  codes: readonly string[],
  operands: readonly string[],
  call: Call,
): void {
  if (!/(?:^|\s)(?:-r ?un|-MExtUtils::Command)(?:\s|$)/.test(args.join(' '))) return
  const at = args.indexOf('--')
  const words = at < 0 ? operands : args.slice(at + 1)
  for (const code of codes) {
    const [name = '', mode] = plain(code).trim().split('_')
    if (/^\w+$/.test(name))
      call.walker.external([name, ...(mode ? [`-${mode}`] : []), ...words], call.shell.fork(), null)
  }
}

const CUSTOMIZES = /\/(?:site|user)customize(?:\/__init__)?\.py$/

/** Files that run before the code: `node -r FILE`, also by NODE_OPTIONS. */
function preloaded(args: readonly string[], { shell }: Call): string[] {
  const words = [...args, ...shell.get('NODE_OPTIONS').values].map(plain).join(' ')
  return [
    ...words.matchAll(
      /(?:^|\s)(?:-[rl] ?|--(?:require|import|(?:experimental-)?loader)[= ]|-d ?auto_prepend_file=)(\S+)/g,
    ),
  ].flatMap(([, file = '']) => [file, `${file}.js`, `${file}.rb`, `${file}.lua`])
}

function runText(text: string, language: string, call: Call, before = ''): void {
  call.walker.code(plain(text))
  judgeCode(before + plain(text), language, call)
  for (const module of imported(plain(text), language))
    for (const loaded of call.walker.streams.contents(module, call.shell))
      if (loaded !== UNKNOWN && loaded !== text) call.walker.budget.deeper(() => runText(loaded, language, call))
}

/** Files that the code loads by name: beside it, where this command or its session has written one. */
function imported(text: string, language: string): string[] {
  if (language === 'python')
    return [...text.matchAll(/^\s*(?:import|from)\s+([\w.]+)|;\s*import\s+([\w.]+)/gm)].map(
      (match) => `${(match[1] ?? match[2] ?? '').replaceAll('.', '/')}.py`,
    )
  if (!/^(?:node|bun|ts|deno)$/.test(language)) return []
  return [...text.matchAll(/\b(?:require|import)\s*\(?\s*["'](\.[^"']*)["']/g)].flatMap(([, name = '']) => [
    name,
    `${name}.js`,
  ])
}

export const INTERPRETER_PROGRAMS: Readonly<Record<string, Program>> = {
  ...table(['awk', 'gawk', 'mawk', 'nawk', 'original-awk', 'goawk'], awk),
  ...table(['sed', 'gsed', 'ssed'], sed),
  ...table(['vim', 'vi', 'nvim', 'ex', 'ed', 'view', 'gvim', 'vimdiff', 'rvim', 'red', 'less', 'more', 'most'], editor),
  emacs,
  emacsclient: emacs,
  // `%sh{CMD}` of Kakoune.
  kak: (call) => {
    for (const word of call.argv.slice(1))
      for (const [, line = ''] of plain(word).matchAll(/%sh\{([^}]*)\}/g)) call.walker.tryScript(line, call.shell)
    return undefined
  },
}

/** Programs with a language of their own: finds shell commands, file calls and fork loops inside inline code. */
import { nameList } from '../../../contract/quote.js'
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
  ...table(nameList('deno tclsh nim crystal dart kotlinc jshell jjs gp'), { code: '' }),
  ...table(nameList('Rscript groovy scala ghc raku kotlin ocaml swift gnuplot irb pry jrunscript'), { code: 'e' }),
  ...table(nameList('elixir clojure iex zx coffee bb'), { code: 'e', long: ['eval'] }),
  ...table(nameList('erl sbcl octave mongo mongosh ecl'), { code: '', long: ['eval'] }),
  python: { code: 'c', short: 'mWXQ' },
  perl: { code: 'eE', short: 'IMmFl', inPlace: 'i' },
  ruby: { code: 'e', short: 'IrCEFKT', inPlace: 'i' },
  node: { code: 'ep', long: ['eval', 'print'], short: 'rC' },
  bun: { code: 'ep', long: ['eval', 'print'] },
  php: { code: 'rRB', short: 'dcfgESFz' },
  lua: { code: 'e', short: 'l' },
  R: { code: 'e', short: 'gd' },
  julia: { code: 'eE', long: ['eval', 'print'], short: 'pLtJ' },
  osascript: { code: 'e', short: 'ls' },
  guile: { code: 'c', short: 'els' },
  racket: { code: 'e', short: 'tlr' },
  pwsh: { code: 'c', long: ['Command', 'EncodedCommand'] },
  swipl: { code: 'gt' },
  emacs: { code: '', long: ['eval', 'execute'] },
  maxima: { code: '', long: ['batch-string', 'run-string'] },
  ts: { code: 'ep' },
  sage: { code: 'c' },
  matlab: { code: 'r', long: ['batch'] },
  clisp: { code: 'x' },
  gprolog: { code: '', long: ['query-goal', 'init-goal'] },
}

/** Other names of the same languages. */
const OTHER_NAMES = new Map(
  Object.entries({
    ...table(nameList('pypy ipython micropython'), 'python'),
    ...table(nameList('luajit texlua'), 'lua'),
    ...table(nameList('ts-node tsx esno esrun'), 'ts'),
    ...table(nameList('runghc runhaskell'), 'ghc'),
    ...table(nameList('wish expect'), 'tclsh'),
    nodejs: 'node',
    jruby: 'ruby',
    powershell: 'pwsh',
    clj: 'clojure',
  }),
)

/** `python3.12`, `perl5.36`, `lua5.4`, `ruby3.1` are the same languages. */
export function interpreterName(name: string): string | undefined {
  const bare = name.replace(/-?[\d.]+$/, '')
  const found = OTHER_NAMES.get(bare) ?? bare
  return Object.hasOwn(INTERPRETERS, found) ? found : undefined
}

export const interpret: Program = (call, name) => {
  const language = interpreterName(name)
  const spec = language === undefined ? undefined : INTERPRETERS[language]
  if (!spec || language === undefined) return
  const { args } = call
  if (onlyTalks(args)) return
  const perlish = language === 'perl' || language === 'ruby'
  const given = options(args, {
    short: spec.code + (spec.short ?? ''),
    long: spec.long ?? [],
    stop: !perlish,
    singleDash: /^(?:erl|matlab|ecl|pwsh)$/.test(language),
  })
  const codes = given.all(...spec.code, ...(spec.long ?? []))
  // Every Python begins with these, where it finds one on its path.
  const begins = language === 'python' ? [...call.shell.files.keys()].filter((path) => CUSTOMIZES.test(path)) : []
  runTexts(call.texts([...preloaded(args, call), ...begins]), language, call)
  // `perl -pi.bak -e`, `perl -lane`: letters bundled before the one that takes the code.
  if (language === 'perl')
    for (const [i, arg] of args.entries())
      if (/^-[a-zA-Z0-9]*e$/.test(arg) && args[i + 1] !== undefined && !codes.includes(args[i + 1] ?? ''))
        codes.push(args[i + 1] ?? '')
  if (/^(?:deno|crystal)$/.test(language) && given.operands[0] === 'eval') codes.push(...given.operands.slice(1, 2))
  if (language === 'bb') codes.push(...given.operands.filter((word) => word.startsWith('(')))
  if (language === 'nim') codes.push(...args.flatMap((arg) => /^--eval[:=](.*)$/s.exec(arg)?.[1] ?? []))
  // Bytes of two to a character.
  if (language === 'pwsh')
    for (const coded of given.all('EncodedCommand')) codes.push((decodeBase64(plain(coded)) ?? '').replaceAll('\0', ''))
  // IPython's own: `!CMD` and `%sx CMD`.
  if (/^ipython/.test(name))
    for (const code of codes) call.tryMatches(code, /^\s*(?:!{1,2}|%sx |%system |%(?=rm |mv |cp ))(.*)$/gm)
  // `find / | perl -ne unlink`: each line names a file.
  if (perlish && codes.some((code) => /\bunlink\b\s*(?:\$_\s*)?(?:[;}]|$)/.test(plain(code))))
    for (const text of call.stdin ?? [])
      for (const file of text.split(/[\n\0]/)) if (file !== '') call.effect('delete', file)
  // `perl -ne CODE`: each line of the input is `$_`.
  const named = call.texts(given.operands)
  const lines = [...(call.stdin ?? []), ...named]
  const line = perlish && args.some((arg) => /^-[a-zA-Z0-9]*[np]/.test(arg)) ? lines.find(known) : undefined
  const before = line === undefined ? '' : `$_ = ${JSON.stringify(line.trim())};\n`
  for (const code of codes) runText(code, language, call, before)
  namedByModule(codes, given.operands, call)
  const edited = given.operands.filter((word) => !codes.includes(word))
  if (spec.inPlace && args.some((arg) => /^-[a-z0-9]*i/.test(arg) && !arg.startsWith('-I')) && codes.length > 0)
    call.effects('edit', edited)
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
      call.effects('delete-tree', options(given.operands).operands)
    if (module === 'timeit')
      for (const code of options(given.operands, { short: 'snru' }).operands.concat(given.all('s')))
        runText(code, language, call)
    const path = plain(module).replaceAll('.', '/')
    return runTexts(call.texts([`${path}.py`, `${path}/__main__.py`]), language, call)
  }
  const readsStdin = file === undefined || file === '-' || /^\/dev\/(stdin|fd\/0)$/.test(file)
  const texts = readsStdin ? (call.stdin ?? []) : call.texts([file, `${file}.js`, `${file}/__main__.py`])
  runTexts(texts, language, call)
}

/** `ruby -run -e rm -- -rf DIR`, `perl -MExtUtils::Command -e rm_rf DIR`: the code is the name of a program. */
function namedByModule(codes: readonly string[], operands: readonly string[], call: Call): void {
  const { args } = call
  if (!/(?:^|\s)(?:-r ?un|-MExtUtils::Command)(?:\s|$)/.test(args.join(' '))) return
  const at = args.indexOf('--')
  const words = at < 0 ? operands : args.slice(at + 1)
  for (const code of codes) {
    const [name = '', mode] = plain(code).trim().split('_')
    if (/^\w+$/.test(name)) call.startExternal([name, ...(mode ? [`-${mode}`] : []), ...words])
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

function runTexts(texts: readonly string[], language: string, call: Call): void {
  for (const text of texts) if (text !== UNKNOWN) runText(text, language, call)
}

function runText(text: string, language: string, call: Call, before = ''): void {
  call.walker.code(plain(text))
  judgeCode(before + plain(text), language, call)
  for (const module of imported(plain(text), language))
    for (const loaded of call.contents(module))
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
  ...table(['emacs', 'emacsclient'], emacs),
  // `%sh{CMD}` of Kakoune.
  kak: (call) => {
    for (const word of call.args) call.tryMatches(word, /%sh\{([^}]*)\}/g)
  },
}

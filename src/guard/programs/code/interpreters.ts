/** Programs with a language of their own: finds shell commands, file calls and fork loops inside inline code. */
import { DEVICES, hasUnknown, isConstant, plain, TREE, UNKNOWN } from '../../words/text.js'
import { basename, type Call, fieldsOf, homesOf, known, onlyTalks, options, type Program, table } from '../row/call.js'
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
  for (const file of preloaded(args, call))
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
  const line = perlish && args.some((arg) => /^-[a-zA-Z0-9]*[np]/.test(arg)) ? call.stdin?.find(known) : undefined
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
function namedByModule(args: readonly string[], codes: readonly string[], operands: readonly string[], call: Call): void {
  if (!/(?:^|\s)(?:-r ?un|-MExtUtils::Command)(?:\s|$)/.test(args.join(' '))) return
  const at = args.indexOf('--')
  const words = at < 0 ? operands : args.slice(at + 1)
  for (const code of codes) {
    const [name = '', mode] = plain(code).trim().split('_')
    if (/^\w+$/.test(name)) call.walker.external([name, ...(mode ? [`-${mode}`] : []), ...words], call.shell.fork(), null)
  }
}

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

const awk: Program = (call) => {
  const given = options(call.argv.slice(1), {
    short: 'Ffvieom',
    long: ['field-separator', 'file', 'assign', 'source', 'include', 'exec'],
    stop: true,
  })
  const programs = [
    ...given.all('e', 'source'),
    ...(given.get('f', 'file') === undefined && given.get('e', 'source') === undefined
      ? given.operands.slice(0, 1)
      : []),
  ]
  for (const file of given.all('f', 'file'))
    for (const text of call.walker.streams.contents(file, call.shell)) if (text !== UNKNOWN) programs.push(text)
  const assigned = given
    .all('v', 'assign')
    .map((word) => plain(word).replace(/^(\w+)=(.*)$/s, (_, name: string, value: string) => `${name}="${value}";`))
    .join('')
  for (const program of programs) {
    call.walker.code(plain(program))
    judgeCode(assigned + plain(program), 'awk', call)
    if (/\bsystem\b|\|/.test(program))
      for (const line of knownLines(call)) judgeCode(assigned + withFields(plain(program), line), 'awk', call)
    // Lines of the input that the program hands to a shell.
    if (/system\s*\(\s*\$|\|&?\s*"(?:\/bin\/)?(?:ba|da|z)?sh"/.test(program))
      for (const text of call.stdin ?? []) if (text !== UNKNOWN) call.walker.tryScript(text, call.shell)
  }
  const everything =
    (call.stdin ?? []).some((text) => text.includes(TREE)) &&
    programs.every((program) => !/[/~]|==/.test(plain(program)))
  const files = given.operands.slice(1).flatMap((file) => [...call.walker.streams.contents(file, call.shell)])
  const read = [...(call.stdin ?? []), ...files]
  // The first column of a table of disks; the homes in a table of accounts.
  if (read.includes(DEVICES) && /\bprint\s*\(?\$1\s*[;)}]/.test(plain(programs[0] ?? ''))) return [DEVICES]
  if (
    given.get('F', 'field-separator') === ':' &&
    /^[^=/~]*(?:>=[^=/~]*)?\bprint\s+\$6\s*\}\s*$/.test(plain(programs[0] ?? ''))
  )
    return homesOf(call.shell)
  const column = /^\s*(?:\/[^/]*\/\s*)?\{\s*print\s*\(?\$(\d)\)?;?\s*\}\s*$/.exec(plain(programs[0] ?? ''))?.[1]
  if (column !== undefined && given.get('F', 'field-separator') === undefined && read.some(isConstant))
    return read.filter(isConstant).map((text) => columnOf(text, Number(column)))
  const recased = /^\s*\{\s*print\s+to(low|upp)er\(\s*\$0\s*\)\s*\}\s*$/.exec(plain(programs[0] ?? ''))?.[1]
  if (recased !== undefined && call.stdin)
    return call.stdin.map((text) => (recased === 'low' ? text.toLowerCase() : text.toUpperCase()))
  const printed = everything ? (call.stdin ?? undefined) : printedBy(programs.map(plain).join('\n'), call)
  if (given.all('i').includes('inplace'))
    for (const file of given.operands.slice(1)) call.walker.effect('edit', file, call.shell, call.argv)
  return printed
}

/** The first lines of an input that is known. */
function knownLines(call: Call): string[] {
  return (call.stdin ?? [])
    .filter((text) => !hasUnknown(text))
    .flatMap((text) => text.split('\n').filter((line) => line !== ''))
    .slice(0, 20)
}

/** One word of each line; any line may be one of those that a pattern picks out. */
function columnOf(text: string, at: number): string {
  return text
    .split('\n')
    .map((line) => `${at === 0 ? line : (fieldsOf(line)[at - 1] ?? '')}\n`)
    .join('')
}

/** `$0`, `$1`, ... of a program as the strings that one line makes of them. */
function withFields(program: string, line: string): string {
  const fields = fieldsOf(line)
  return program.replace(
    /\$(\d)/g,
    (_, number: string) =>
      `"${(number === '0' ? line : (fields[Number(number) - 1] ?? '')).replace(/["\\]/g, '\\$&')}"`,
  )
}

const LINE_EDITORS = /^(?:vim?|nvim|ex|ed|red|gvim|rvim)$/

/** vim -c '!cmd', +'!cmd', ex scripts on stdin. */
const editor: Program = (call) => {
  const words = call.argv.slice(1).map(plain)
  const lines = words.flatMap((word, i) =>
    /^(-\w*c|--cmd)$/.test(words[i - 1] ?? '') ? [word] : word.startsWith('+') ? [word.slice(1)] : [],
  )
  // A file of commands, or of keys.
  for (const [i, word] of call.argv.slice(1).entries())
    if (/^-[Ssl]$/.test(words[i - 1] ?? ''))
      for (const text of call.walker.streams.contents(word, call.shell))
        if (text !== UNKNOWN) lines.push(...(words[i - 1] === '-l' ? [`lua ${plain(text)}`] : plain(text).split('\n')))
  const batch =
    words.some((word) => /^-(es|s|e|E|Es)$/.test(word)) || /^(?:ex|ed|red)$/.test(basename(call.argv[0] ?? ''))
  if (batch) for (const text of call.stdin ?? []) lines.push(...text.split('\n'))
  const files = words.filter(
    (word, i) => !/^[-+]/.test(word) && !/^(-\w*[cST]|--cmd|-u|-i|-p|--prompt|-o)$/.test(words[i - 1] ?? ''),
  )
  const saves = lines.some((line) => /(?:^|\||:|\s)(?:w|wq|x|xit|wa|wqa|xa|ZZ|up|update|write)!?\s*(?:\||$)/.test(line))
  const empties = lines.some((line) =>
    /^:?\s*(?:silent!?\s*)?(?:%|,|1,\$|0,\$|g\/.*\/)\s*d(?:elete)?\b|\bggdG\b/.test(line),
  )
  if (saves && LINE_EDITORS.test(basename(call.argv[0] ?? '')))
    for (const file of files) call.walker.effect(empties ? 'overwrite' : 'edit', file, call.shell, call.argv)
  for (const line of lines) {
    const shell =
      /^:?\s*(?:sil(?:ent)?!?\s*)?(?:exec?(?:ute)?\s*["'])?(?:[%\d,$.]*|r(?:ead)?\s*|w(?:rite)?\s*|term(?:inal)?\s*|te\s*)!\s*(.+?)["']?$/s.exec(
        line,
      )
    if (shell?.[1]) call.walker.tryScript(shell[1], call.shell)
    const writes = /^:?\s*(?:w|write|wq|sav(?:eas)?|x)!?\s+(\/[^\s|]+)/.exec(line)
    if (writes?.[1]) call.walker.effect('overwrite', writes[1], call.shell, call.argv)
    if (/\b(system|systemlist|jobstart|termopen|os\.execute|job_start|term_start|delete|writefile)\s*\(/.test(line))
      judgeCode(line.replace(/^:?\s*(call|lua|py3?|python3?)\s+/, ''), 'vim', call)
    const rust = /^:?\s*(?:py3?|python3?|perl|ruby|lua)\s+(.*)$/s.exec(line)
    if (rust?.[1]) judgeCode(rust[1], 'python', call)
  }
  return undefined
}

const emacs: Program = (call) => {
  for (const [i, word] of call.argv.entries())
    if (/^(?:--?(?:eval|execute)|-e)$/.test(word)) judgeCode(plain(call.argv[i + 1] ?? ''), 'lisp', call)
  for (const word of call.argv) {
    const code = /^--(?:eval|execute)=(.*)$/s.exec(plain(word))?.[1]
    if (code) judgeCode(code, 'lisp', call)
  }
  const text = call.argv.join('\n')
  if (/-batch\b/.test(text) && /save-buffer/.test(text))
    for (const word of call.argv.slice(1))
      if (word.startsWith('/'))
        call.walker.effect(/erase-buffer/.test(text) ? 'overwrite' : 'edit', word, call.shell, call.argv)
  return undefined
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

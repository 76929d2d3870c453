/**
 * Says which words of a command are read as code (by another interpreter, or by bash itself),
 * because data put there would become syntax.
 */
import { nameSet } from '../../contract/quote.js'

/** What a command does with its words and with its standard input. Indexes count from the command's first word. */
export interface CodePlaces {
  readonly code: ReadonlySet<number>
  /** Words that are names of variables: bash evaluates a subscript in them. */
  readonly names: ReadonlySet<number>
  /** Words that are arithmetic. */
  readonly numbers: ReadonlySet<number>
  /** Words that make would expand: harmless unless the value holds a `$`. */
  readonly make: ReadonlySet<number>
  readonly stdin: boolean
}

/** Programs that run the command that follows somewhere among their own words. */
const WRAPPERS = nameSet(`
  sudo doas env nohup nice ionice timeout time stdbuf setsid chroot xargs command builtin exec find docker podman
  nerdctl kubectl oc nsenter unshare systemd-run busybox strace ltrace gdb chrt taskset flock unbuffer script runuser
  su sg torsocks proxychains proxychains4 firejail bwrap ssh mosh sshpass watch entr parallel npx npm pnpm yarn uv
  poetry pipenv conda mise direnv dotenv op doppler vault aws-vault chpst setpriv capsh fakeroot dbus-run-session
  xvfb-run caffeinate script
`)

/** Fetchers send a secret to a server; what comes back is not the secret, even when it is piped into a shell. */
const FETCHERS = nameSet('curl wget http https xh gh glab aws gcloud az vault git ssh scp kubectl docker')

const SHELLS = /^(?:r?bash|sh|dash|ash|zsh|[mp]?ksh|ksh93|fish|csh|tcsh|yash|elvish|nu|pwsh)$/
const NAMED_ASSIGNMENT = /^[A-Za-z_]\w*\+?=/

/**
 * Options after which the next word (or the rest of the same word) is code, per interpreter;
 * `operand` when the first operand is code as well.
 */
const INTERPRETERS: readonly {
  names: RegExp
  code: RegExp
  takesValue?: RegExp
  operand?: 'code' | 'file' | 'code-from-second'
  stdin: boolean
}[] = [
  {
    names: /^(?:python|pypy)[\d.]*$/,
    code: /^-[bBdEiIOPqRsSuvx]*c/,
    takesValue: /^-[WXm]$/,
    operand: 'file',
    stdin: true,
  },
  { names: /^perl[\d.]*$/, code: /^-[acfilnpstTuUwWX\d]*[eEMm]/, takesValue: /^-I$/, operand: 'file', stdin: true },
  { names: /^j?ruby[\d.]*$/, code: /^-[acdlnpsSvwW\d]*e/, takesValue: /^-[IrCE]$/, operand: 'file', stdin: true },
  {
    names: /^(?:node|nodejs|bun|deno|tsx|ts-node)$/,
    code: /^-p?[ep]e?$|^--(?:eval|print)(?:=|$)|^eval$/,
    takesValue: /^(?:-r|-C|--require|--import|--loader)$/,
    operand: 'file',
    stdin: true,
  },
  { names: /^php[\d.]*$/, code: /^-[rBRE]/, takesValue: /^-[dcfzt]$/, operand: 'file', stdin: true },
  {
    names:
      /^(?:lua[\d.]*|luajit|julia|elixir|groovy|scala|ghc|Rscript|R|osascript|raku|swipl|octave|guile|racket|sbcl|clojure|bb|ocaml)$/,
    code: /^-[eEc]|^--(?:eval|expr|execute)(?:=|$)/,
    operand: 'file',
    stdin: true,
  },
  { names: /^(?:tclsh|wish|expect)[\d.]*$/, code: /^-c/, operand: 'file', stdin: true },
  {
    names: /^[gmn]?awk$/,
    code: /^(?:-e|--source(?:=|$))/,
    takesValue: /^(?:-[vFfil]|--(?:assign|field-separator|file|include))$/,
    operand: 'code',
    stdin: false,
  },
  {
    names: /^g?sed$/,
    code: /^-[nErsuz]*e|^--expression(?:=|$)/,
    takesValue: /^(?:-[fl]|--file)$/,
    operand: 'code',
    stdin: false,
  },
  {
    names: /^(?:jq|gojq|jaq|yq)$/,
    code: /^$/,
    takesValue: /^(?:-f|-L|--from-file|--indent)$/,
    operand: 'code',
    stdin: false,
  },
  { names: /^(?:psql|pgcli|cockroach)$/, code: /^-c|^--command(?:=|$)/, stdin: true },
  {
    names: /^(?:mysql|mariadb|mycli|clickhouse-client|snowsql)$/,
    code: /^-e|^--(?:execute|query)(?:=|$)/,
    stdin: true,
  },
  {
    names: /^sqlite3?$|^duckdb$/,
    code: /^--?(?:cmd|c|s)$/,
    takesValue: /^-(?:separator|newline|nullvalue|init)$/,
    operand: 'code-from-second',
    stdin: true,
  },
  { names: /^(?:mongo|mongosh)$/, code: /^--eval(?:=|$)/, stdin: true },
  { names: /^g?db$|^lldb$/, code: /^--?(?:ex|eval-command|iex|o|one-line)(?:=|$)/, stdin: true },
  { names: /^(?:vim?|nvim|ex|view|emacs)$/, code: /^-c$|^--(?:cmd|eval|command)(?:=|$)|^\+/, stdin: false },
  { names: /^(?:ed|red|m4|at|batch)$/, code: /^$/, stdin: true },
  { names: /^dc$/, code: /^-e|^--expression(?:=|$)/, operand: 'file', stdin: true },
  {
    names: /^(?:su|runuser|script|flock|sg|npm|npx|pnpm)$/,
    code: /^-c$|^--(?:command|call|session-command)(?:=|$)/,
    stdin: false,
  },
  { names: /^(?:env)$/, code: /^-[iv0]*S|^--split-string(?:=|$)/, stdin: false },
  { names: /^nix(?:-shell)?$/, code: /^--(?:run|command)(?:=|$)|^-c$/, stdin: false },
  { names: /^git$/, code: /^(?:--exec(?:=|$)|foreach$|--(?:tree|index|msg|env|commit|parent)-filter$)/, stdin: false },
  {
    names: /^hyperfine$/,
    code: /^-[pcS]$|^--(?:prepare|setup|cleanup|conclude)(?:=|$)/,
    operand: 'code',
    stdin: false,
  },
]

/** Looks at the dequoted words of one simple command (`\ue000` is an expansion, `\ue001` a token). */
export function findCodePlaces(words: readonly string[]): CodePlaces {
  const places: Places = { code: new Set(), names: new Set(), numbers: new Set(), make: new Set(), stdin: false }
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*(?:\[\])?\+?=/.test(word))
  if (first < 0) return places
  const isWrapped = WRAPPERS.has(baseName(words[first] ?? ''))
  for (let at = first; at < words.length; at++) {
    const name = baseName(words[at] ?? '')
    // Behind a wrapper any later word may be the program; `docker run image bash -c ...` shows no other mark.
    if (at > first && !isWrapped) break
    judgeBuiltin(name, words, at, places)
    if (SHELLS.test(name)) judgeShell(words, at, places)
    else if (name.includes('\ue000')) judgeUnknown(words, at, places)
    for (const interpreter of INTERPRETERS)
      if (interpreter.names.test(name)) judgeInterpreter(interpreter, words, at, places)
    judgeCarrier(name, words, at, places)
  }
  const isTemplate = words.some((word) => /^-(?:I|i|-replace)/.test(word))
  if (baseName(words[first] ?? '') === 'xargs' && places.code.size > 0 && isTemplate) places.stdin = true
  return places
}

/** Whether the words of this command go to a server, so that its output is not the secret. */
export function isFetcher(words: readonly string[]): boolean {
  return words.some((word, index) => index < 3 && FETCHERS.has(baseName(word)))
}

type Places = { code: Set<number>; names: Set<number>; numbers: Set<number>; make: Set<number>; stdin: boolean }

function judgeShell(words: readonly string[], at: number, places: Places): void {
  let wantsCode = false
  for (let index = at + 1; index < words.length; index++) {
    const word = words[index] ?? ''
    if (/^--(?:command|init-command)=/.test(word)) places.code.add(index)
    if (/^-[A-Za-z]*c[A-Za-z]*[oO]$/.test(word)) wantsCode = true
    if (/^[-+][A-Za-z]*[oO]$|^--(?:rcfile|init-file)$/.test(word)) index++
    else if (/^-[A-Za-z\ue000\ue001]*[c\ue001]/.test(word) || /^--?(?:command|Command)$/.test(word)) wantsCode = true
    else if (/^-[a-z]*s/.test(word)) places.stdin = true
    else if (word === '-' || word === '--' || !/^[-+]/.test(word)) {
      if (wantsCode && (word === '-' || word === '--')) continue
      if (wantsCode) places.code.add(index)
      else if (word === '-' || word === '/dev/stdin') places.stdin = true
      else if (word === '\ue000') places.code.add(index) // `bash <(...)`: the script comes from a substitution
      return
    }
  }
  if (!wantsCode) places.stdin = true
}

function judgeInterpreter(
  interpreter: (typeof INTERPRETERS)[number],
  words: readonly string[],
  at: number,
  places: Places,
): void {
  let operands = 0
  let hasCode = false
  for (let index = at + 1; index < words.length; index++) {
    const word = words[index] ?? ''
    const option = interpreter.code.exec(word)
    if (option) {
      hasCode = true
      const isAttached = option[0].length < word.length || option[0].endsWith('=')
      places.code.add(isAttached ? index : ++index)
    } else if (interpreter.takesValue?.test(word)) {
      if (/^-[fm]$|^--(?:from-)?file$/.test(word)) hasCode = true
      index++
    } else if (/^--(?:arg|argjson|slurpfile|rawfile)$/.test(word)) index += 2
    else if (!word.startsWith('-') || word === '-') {
      operands++
      if (interpreter.operand === 'code' && operands === 1 && !hasCode) places.code.add(index)
      if (interpreter.operand === 'code-from-second' && operands > 1) places.code.add(index)
      if (interpreter.operand === 'file' && !hasCode && word === '\ue000') places.code.add(index)
      if (interpreter.operand === 'file') {
        if (!hasCode && (word === '-' || word === '/dev/stdin')) places.stdin = true
        return
      }
    }
  }
  const readsFile =
    interpreter.operand === 'code-from-second' ? operands > 1 : interpreter.operand === 'file' && operands > 0
  if (interpreter.stdin && !hasCode && !readsFile) places.stdin = true
}

/** The program is not known (`$PYTHON -c ...`): an option that usually announces code is taken at its word. */
function judgeUnknown(words: readonly string[], at: number, places: Places): void {
  words.forEach((word, index) => {
    if (index > at && /^-[a-z]*[ce]$|^--(?:eval|command|execute)$/.test(word)) places.code.add(index + 1)
  })
}

/** Programs that hand all or most of their words to a shell. */
function judgeCarrier(name: string, words: readonly string[], at: number, places: Places): void {
  if (!/^(?:ssh|mosh|watch|parallel|entr|tmux|screen|crontab|[gbn]?make)$/.test(name)) return
  const rest = indexesAfter(words, at)
  if (name === 'ssh' || name === 'mosh') {
    const host = rest.find(
      (index) => !words[index]?.startsWith('-') && !/^-[BbcDEeFIiJLlmOopQRSWw]$/.test(words[index - 1] ?? ''),
    )
    for (const index of rest) {
      if (host !== undefined && index > host) places.code.add(index)
      if (/^(?:-o)?\s*(?:ProxyCommand|LocalCommand|KnownHostsCommand|RemoteCommand|Match)\b/i.test(words[index] ?? ''))
        places.code.add(index)
    }
    if (host === words.length - 1) places.stdin = true
  }
  if (name === 'watch' || name === 'parallel' || name === 'entr') for (const index of rest) places.code.add(index)
  if (name === 'parallel') places.stdin = true
  if ((name === 'tmux' || name === 'screen') && rest.length > 1) for (const index of rest) places.code.add(index)
  if (name === 'crontab' && words[at + 1] === '-') places.stdin = true
  if (/^[gbn]?make$/.test(name)) for (const index of rest) places.make.add(index)
}

/** Builtins of bash that evaluate their words: as code, as arithmetic, or as names whose subscript is evaluated. */
function judgeBuiltin(name: string, words: readonly string[], at: number, places: Places): void {
  if (!BUILTINS.has(name)) return
  const rest = indexesAfter(words, at)
  if (/^(?:eval|alias|complete|compgen|compopt|bind|fc)$/.test(name)) for (const index of rest) places.code.add(index)
  if (name === 'trap') {
    const handler = rest.find((index) => words[index] !== '--')
    if (handler !== undefined) places.code.add(handler)
  }
  if (/^(?:source|\.)$/.test(name) && words[at + 1] === '\ue000') places.code.add(at + 1)
  if (/^(?:source|\.)$/.test(name) && words[at + 1] === '/dev/stdin') places.stdin = true
  if (name === 'let') for (const index of rest) places.numbers.add(index)
  if (/^(?:declare|typeset|local|readonly|export)$/.test(name)) {
    const evaluates = rest.some(
      (index) =>
        /^-[A-Za-z]*[in\ue000\ue001]/.test(words[index] ?? '') && !(name === 'export' && words[index] === '-n'),
    )
    for (const index of rest) if (evaluates || !isHarmlessAssignment(words[index] ?? '')) places.names.add(index)
  }
  if (/^(?:read|unset|getopts|mapfile|readarray)$/.test(name))
    for (const index of rest) if (!/^-[A-Za-z]*[ptdnNiu]$/.test(words[index - 1] ?? '')) places.names.add(index)
  if (name === 'printf' && words[at + 1] === '-v') places.names.add(at + 2)
  if (name === 'printf' && /^-v./s.test(words[at + 1] ?? '')) places.names.add(at + 1)
  if (name === 'wait' || name === 'test' || name === '[')
    for (const index of rest) if (/^-[vpR]$/.test(words[index - 1] ?? '')) places.names.add(index)
}

const BUILTINS = nameSet(`
  eval alias complete compgen compopt bind fc trap source . let declare typeset local readonly export read unset
  getopts mapfile readarray printf wait test [
`)

function isHarmlessAssignment(word: string): boolean {
  const name = NAMED_ASSIGNMENT.exec(word)
  return name !== null && !isCodeVariable(name[0].replace(/\+?=$/, ''))
}

/** Variables whose value a shell or a well-known program runs as code. */
export function isCodeVariable(name: string): boolean {
  return /^(?:PS[0-4]|PROMPT_COMMAND|BASH_ENV|ENV|BASH_FUNC_.*|EDITOR|VISUAL|PAGER|MANPAGER|LESSOPEN|LESSCLOSE|BROWSER|GIT_(?:SSH_COMMAND|PAGER|EDITOR|SEQUENCE_EDITOR|EXTERNAL_DIFF|PROXY_COMMAND)|PERL5OPT|RUBYOPT|NODE_OPTIONS|RSYNC_RSH|MAKEFLAGS)$/.test(
    name,
  )
}

function indexesAfter(words: readonly string[], at: number): number[] {
  return words.map((_, index) => index).filter((index) => index > at)
}

function baseName(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1)
}

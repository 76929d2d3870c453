/** What the text of a session's command says by itself, whatever the session is like. By shape: what cannot be seen through counts as able to do anything. */

/** What `native/bash` is loaded as. */
export const LOADED = '__cerith'

export interface TextFacts {
  readonly setsTraps: boolean
  readonly listsTraps: boolean
  readonly mentionsErr: boolean
  /** It runs text that is not in it. */
  readonly runsOtherText: boolean
  readonly mayHideBuiltins: boolean
  readonly usesExec: boolean
  readonly redirectsWithExec: boolean
  readonly looksAtLast: boolean
  readonly looksAtStatus: boolean
  readonly risky: boolean
  readonly turnsVerbose: boolean
  /** The first words of its commands when nothing in it can hide another one; null otherwise. */
  readonly words: readonly string[] | null
  /** The same, with those that change the shell but give no word a new meaning. */
  readonly clearWords: readonly string[] | null
  /** It starts a process, or may wait for one. */
  readonly forks: boolean
  /** Bash itself may have a child when it is done. */
  readonly leavesChildren: boolean
  readonly looksAtStages: boolean
  /** Nothing but builtins that never wait, read nothing and look at nothing of ours: it may be typed as it is, without a file and a stdin of its own. */
  readonly typed: boolean
  /** One program and words that are what they look like: it may be started without bash making a copy of itself. */
  readonly program: boolean
  /** Nor do they print anything, unless they fail. */
  readonly silent: boolean
  /** Nor does it make a difference to them in which directory they are. */
  readonly placeless: boolean
}

/** Of the words below, those that bash itself carries out. */
const BUILTINS = new Set([':', '[', 'echo', 'false', 'pwd', 'test', 'true'])
/** Of these, the ones that wait for nobody and look at no file. */
const AT_ONCE = new Set([':', 'echo', 'false', 'pwd', 'true'])
const SILENT = new Set([':', 'false', 'true'])
/**
 * Words, quotes and lists. What is typed has the shell's own stdin, so that a shell at work looks like one at its prompt: nothing that may take
 * long is, such as a variable (it may hold a pattern, or more than a pipe takes at once).
 */
const TYPEABLE = /^(?:[\w \t%+,./:;=@'"-]|&&|\|\|)+$/
const PROGRAM_AND_WORDS = /^[\w \t%+,./:=@^'"-]+(?: 2>&1)?$/

/** Programs and builtins that leave a shell as it was, whatever their arguments. */
const LEAVES_NOTHING = new Set(
  ': [ awk basename cargo cat chmod cp curl cut date df diff dirname docker du echo egrep env false file find git go grep head hostname id jq ln ls make mkdir mv node npm npx pnpm ps pwd pip pytest python python3 rg rm rmdir sed seq sleep sort stat tail tar tee test touch tr true tsc uname uniq wc which whoami xargs yarn'.split(
    ' ',
  ),
)

/** These change the shell, but no word means something else after them. */
const CLEAR = new Set([
  ...LEAVES_NOTHING,
  ...'cd exit export kill popd printf pushd read set shift umask unset wait'.split(' '),
])

const RISKY = /\b(?:exec|kill|pkill|killall|ulimit|enable|suspend)\b|\bset\b[^;|&]*-\w*t|\bonecmd\b|\$\$|BASHPID|<&|>&-/
const LOOKS_AT_LAST = /\$(?:_\b|\{_)/

/** A stream that joins another one: no `&` that starts something. */
const JOINED = /(?<=\s)[12]?>&[12](?=\s|$)/g

export function readText(whole: string): TextFacts {
  const text = whole.replaceAll(JOINED, '  ')
  const words = firstWords(text, LEAVES_NOTHING)
  const typed =
    words !== null && words.every((word) => AT_ONCE.has(word)) && TYPEABLE.test(whole) && !/;\s*$/.test(text)
  return {
    setsTraps: /\btrap\b/.test(text),
    listsTraps: /\btrap\b(?=\s*(?:-[a-z]*p|[;|&)>\n]|$))/.test(text),
    mentionsErr: /\bERR\b/i.test(text),
    runsOtherText: /(?:^|[\s;&|(){}!`])\\?(?:\.|source|eval)\s|(?:^|[;&|({\n])\s*["']?\$/.test(text),
    mayHideBuiltins: /\b(?:builtin|enable)\b/.test(text),
    usesExec: /\bexec\b/.test(text),
    redirectsWithExec: /\bexec\b[^\n]*</.test(text),
    looksAtLast: LOOKS_AT_LAST.test(text),
    looksAtStatus: text.includes('$?'),
    risky: RISKY.test(whole),
    turnsVerbose: /\bset\b[^;|&\n]*-\w*v|\bverbose\b/.test(text),
    words,
    // A redirection may wait for somebody at the other end of a FIFO.
    forks:
      words === null || words.some((word) => !BUILTINS.has(word)) || /(?<!\|)\|(?!\|)|(?<!&)&(?!&)|[<>]/.test(whole),
    leavesChildren: words === null || /(?<!&)&(?!&)/.test(text),
    clearWords: words ?? firstWords(text, CLEAR),
    looksAtStages: text.includes('PIPESTATUS'),
    typed,
    program: words?.length === 1 && !BUILTINS.has(words[0] as string) && PROGRAM_AND_WORDS.test(whole),
    silent: typed && words.every((word) => SILENT.has(word)),
    placeless: typed && !words.includes('pwd'),
  }
}

/** Judged by the text alone, and only when nothing in it can hide: such a command need not be followed by writing the state down. */
function firstWords(text: string, allowed: ReadonlySet<string>): readonly string[] | null {
  if (text.length > 1_000 || HIDING.test(text)) return null
  const words: string[] = []
  for (const part of text.split(/[|&;\n]+/)) {
    const word = /^[ \t]*([^ \t]*)/.exec(part)?.[1] ?? ''
    if (word === '' || (allowed === CLEAR && /^[A-Za-z_]\w*=/.test(word))) continue
    if (!allowed.has(word) && !/^[./][\w./-]*\/[\w.-]+$/.test(word)) return null
    words.push(word)
  }
  return words
}

/** Arithmetic assigns, also in the old brackets and in the index of an array that is asked for; expansions, groups and quotes hide words. */
const HIDING = /[`(){}\\]|\$\{|:=|\[\[|\$\[|-v\b[^;|&]*\[/

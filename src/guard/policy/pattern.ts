/** Rule patterns on argv: words with wildcards, a trailing `*` for "and anything after". */
import { globMatches } from '../words/glob.js'
import { basename } from '../programs/row/call.js'
import { activate, isConstant, plain } from '../words/text.js'

export interface Pattern {
  readonly source: string
  /** Folded words; wildcards are active. */
  readonly words: readonly string[]
  /** The pattern ended in ` *`. */
  readonly open: boolean
}

/** Splits a pattern into words: blanks separate, quotes protect. */
export function compilePattern(source: string): Pattern | undefined {
  const words = (source.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []).map((word) =>
    /^(["']).*\1$/s.test(word) ? word.slice(1, -1) : activate(word.replace(/["']/g, '')),
  )
  const open = words.length > 1 && plain(words[words.length - 1] ?? '') === '*'
  const kept = open ? words.slice(0, -1) : words
  return kept.length === 0 ? undefined : { source, words: kept, open }
}

/** Options that make an otherwise harmless program write a file or start another program. */
const RISKY =
  /^(?:--(?:output|exec|exec-batch|exec-path|pre|hostname-bin|upload-pack|receive-pack|config|config-env|open-files-in-pager|ext-diff|textconv|extcmd|pager|to-command|use-compress-program|checkpoint-action|rsh|rsync-path|eval|command|compress-program|files0-from|in-place|paginate|script-shell|prefix|init-file|rcfile|preload|require|import|loader|unsafe-perm|ignore-scripts=false|html|unzip-command|password-command|preview|registry|index-url|extra-index-url|node-options)(?:=.*)?|-(?:exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls|wrapper|O[^\d\s].*|p)|--output-.*)$/

/**
 * How a rule meets a command. An allow is careful: the program must be the real one, and risky
 * options must be spelled out.
 */
export function matchesPattern(pattern: Pattern, argv: readonly string[], strict: boolean): boolean {
  const words = strict ? argv : normalised(argv)
  const [program = '', ...rest] = words
  const name = strict ? trustedName(program) : basename(plain(program))
  const [first = '', ...others] = pattern.words
  if (name === undefined || !globMatches(first, name)) return false
  const given = strict && name === 'git' ? withoutHarmlessGitOptions(rest) : rest
  if (given.length < others.length || !others.every((word, i) => globMatches(word, plain(given[i] ?? '')))) return false
  if (!strict) return true
  const extra = given.slice(others.length)
  return argv.every(isConstantEnough) && !extra.some((word) => RISKY.test(plain(word)))
}

/** Only a bare name or a system path is the program the rule's author meant. */
function trustedName(program: string): string | undefined {
  const bare = plain(program)
  if (!bare.includes('/')) return bare
  return /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/.test(bare) ? basename(bare) : undefined
}

/** Unknown pieces may be anything, an option included; wildcards only become file names. */
function isConstantEnough(word: string): boolean {
  return isConstant(word) || !word.includes('\uFDD0') || !/^[-\uFDD0]/.test(word)
}

/** For ask and deny, the options before git's verb do not hide it. */
function normalised(argv: readonly string[]): readonly string[] {
  if (basename(plain(argv[0] ?? '')) !== 'git') return argv
  const words = argv.slice(1)
  let i = 0
  while (i < words.length && (words[i] ?? '').startsWith('-'))
    i += /^(-C|-c|--git-dir|--work-tree|--namespace|--exec-path|--config-env|--super-prefix)$/.test(words[i] ?? '')
      ? 2
      : 1
  return [argv[0] ?? '', ...words.slice(i)]
}

function withoutHarmlessGitOptions(words: readonly string[]): readonly string[] {
  let i = 0
  while (i < words.length) {
    if (words[i] === '-C') i += 2
    else if (words[i] === '--no-pager' || words[i] === '-P' || words[i] === '--no-optional-locks') i++
    else break
  }
  return words.slice(i)
}

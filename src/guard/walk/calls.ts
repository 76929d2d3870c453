/**
 * Calls of shell functions. A function that is called again while every name in its text means what it
 * meant before does the same again: it is walked once, and what it printed and set is taken from then.
 */
import type { FunctionBody, ShellState, Variable } from '../words/state.js'
import { type Alternatives, ANYTHING } from '../words/text.js'

interface Walked {
  readonly printed: Alternatives
  readonly isRead: boolean
  readonly set: readonly (readonly [string, Variable])[]
  readonly cwd: Alternatives
}

/** How a function was called so far. */
interface Called {
  times: number
  /** Words that could do harm. */
  readonly dangers: Set<string>
  /** By its words, its directory, and what the names in its text meant. */
  readonly walked: Map<string, Walked>
}

/** Text that is made at run time may name anything. */
const MADE_AT_RUN_TIME = /\beval\b|\$\{!|\b(?:declare|local|typeset)\s+-\w*n|\bsource\b|(?:^|[;&|]\s*)\.\s/m
const KEPT_PER_FUNCTION = 24
/** Among the words of a call: a short absolute path that is not a file's (`/x.log`), a destructive command. */
const DANGEROUS =
  /(?:^|[\0\u0002 ])(?:[/~](?:[^/\s\0\u0002.]*|\.\.?)\/?(?=$|[\0\u0002 ])|(?:rm|dd|mkfs|chmod|chown)(?=$|[\0\u0002 ]))/

export class Calls {
  private readonly words = new Map<string, readonly string[] | null>()
  private readonly called = new Map<FunctionBody, Called>()

  /**
   * Walks the call, or replays an earlier one that cannot have differed; after `often` calls
   * only words that could do harm matter, and those once.
   */
  once(
    definition: FunctionBody,
    about: string,
    shell: ShellState,
    isRead: boolean,
    often: number,
    walk: () => Alternatives,
  ): Alternatives {
    const called = this.called.get(definition) ?? { times: 0, dangers: new Set(), walked: new Map() }
    this.called.set(definition, called)
    if (++called.times > often && (called.dangers.has(about) || !DANGEROUS.test(about))) return ANYTHING
    if (called.times > often) called.dangers.add(about)
    const meaning = often < Infinity ? null : this.meaningOf(definition, shell)
    if (meaning === null) return walk()
    const key = `${about}\0${shell.cwd.join('\0')}\0${meaning}`
    const known = called.walked.get(key)
    if (known && (known.isRead || !isRead)) {
      for (const [name, variable] of known.set) shell.variables.set(name, variable)
      shell.cwd = known.cwd
      return known.printed
    }
    const before = shell.variables.fork()
    const printed = walk()
    const set: [string, Variable][] = []
    for (const name of shell.variables.namesApartFrom(before)) {
      const variable = shell.variables.get(name)
      if (variable) set.push([name, variable])
    }
    if (called.walked.size < KEPT_PER_FUNCTION) called.walked.set(key, { printed, isRead, set, cwd: shell.cwd })
    return printed
  }

  /** What every name in the function's text, and in those that it may call, means now; null when it cannot be told. */
  private meaningOf(definition: FunctionBody, shell: ShellState): string | null {
    const seen = new Set<string>()
    const parts: string[] = []
    const pending = [definition]
    for (let body = pending.pop(); body; body = pending.pop()) {
      const words = this.wordsOf(body.source)
      if (words === null) return null
      for (const word of words) {
        if (seen.has(word)) continue
        seen.add(word)
        const variable = shell.variables.get(word)
        if (variable) parts.push(word, ...variable.values, '\0', ...(variable.items ?? []))
        const called = shell.functions.get(word)
        if (called) pending.push(called)
        const alias = shell.aliases.get(word)
        if (alias !== undefined) parts.push(alias)
      }
      if (seen.size > 600) return null
    }
    return parts.join('\u0001')
  }

  private wordsOf(source: string): readonly string[] | null {
    let words = this.words.get(source)
    if (words === undefined) {
      words = MADE_AT_RUN_TIME.test(source) ? null : [...new Set(source.match(/[A-Za-z_][\w:.-]*|\w+/g) ?? [])]
      this.words.set(source, words)
    }
    return words
  }
}

/** Tilde expansion: where in a word a tilde stands for a home directory, and for whose. */
import { isActive, type Token } from './braces.js'
import type { ShellState } from './state.js'
import { type Alternatives, concat, NOTHING, OPEN, plain } from './text.js'

/**
 * Where a word stands, which decides about the tildes inside it:
 * `argument` is any word of a command (`dd of=~/x` counts as an assignment there), `value` the right side of a real
 * assignment, `element` a word of `a=( )`, `inner` a word inside `${ }` or one that braces have made.
 */
export type Place = 'argument' | 'value' | 'element' | 'inner'

interface TildePrefix {
  readonly value: Alternatives
  /** Tokens it takes the place of. */
  readonly length: number
}

/** The expansion of the tilde at a token, if one happens there. */
export function tildeAt(
  tokens: readonly Token[],
  at: number,
  shell: ShellState,
  place: Place,
): TildePrefix | undefined {
  if (!isActive(tokens[at], '~')) return undefined
  if (at > 0 && !followsSign(tokens, at, place)) return undefined
  const valued = place === 'value' || (place === 'element' && at > 0)
  const prefix = unquotedPrefix(tokens, at, valued || at > 0)
  if (prefix === undefined) return undefined
  // In a word that only looks like an assignment every `=~` of the prefix counts; at the start
  // of a word only the first tilde does.
  const names = valued ? [prefix] : prefix.split(/=(?=~)/)
  if (at === 0 || valued) {
    const name = (names[0] ?? '').replace(/:.*$/s, '')
    const home = homeOf(name, shell)
    return home && { value: home, length: name.length }
  }
  const homes = names.map((name) => homeOf(name, shell))
  if (homes.every((home) => home === undefined)) return undefined
  return {
    value: homes.map((home, i) => concat([i === 0 ? '' : '='], home ?? [names[i] ?? ''])).reduce(concat, NOTHING),
    length: prefix.length,
  }
}

/** A tilde inside a word counts after the `=` of an assignment and after each colon of its value. */
function followsSign(tokens: readonly Token[], at: number, place: Place): boolean {
  const before = tokens[at - 1]
  const colon = isActive(before, ':')
  if (place === 'value') return colon
  if (place === 'inner' || !(colon || isActive(before, '='))) return false
  const equals = tokens.findIndex((token) => 'char' in token && !token.quoted && token.char.includes('='))
  if (equals < 0 || equals > at - 1 || (!colon && equals !== at - 1)) return false
  const target = tokens.slice(0, equals + 1)
  const subscript = target.findIndex((token) => 'char' in token && (token.char.includes('[') || token.char === OPEN))
  if (!target.slice(0, subscript < 0 ? undefined : subscript).every((token) => 'char' in token && !token.quoted))
    return false
  const text = plain(target.map((token) => ('char' in token ? token.char : '_')).join(''))
  return place === 'element' ? /^\[[^\]]*\]\+?=/.test(text) : /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/.test(text)
}

/**
 * The text from a tilde to the next slash (in a value also to the next colon); undefined when
 * any of it is quoted or not text.
 */
function unquotedPrefix(tokens: readonly Token[], start: number, endsAtColon: boolean): string | undefined {
  let text = ''
  for (const token of tokens.slice(start)) {
    if (!('char' in token) || token.quoted) return undefined
    if (token.char.startsWith('/') || (endsAtColon && token.char === ':')) break
    text += token.char
  }
  return text
}

function homeOf(prefix: string, shell: ShellState): Alternatives | undefined {
  const name = prefix.slice(1)
  if (name === '') return shell.home.map((home) => home || shell.around.home)
  if (name === '+') return shell.cwd
  if (name === '-') return shell.previousCwd
  const place = /^([-+]?)(\d{1,4})$/.exec(name)
  if (place) return shell.directories.at(place[1] === '-' ? -1 - Number(place[2]) : Number(place[2]))
  if (name === 'root') return ['/root']
  return /^[A-Za-z_][\w.-]*$/.test(name) ? [`/home/${name}`] : undefined
}

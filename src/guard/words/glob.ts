/** Shell patterns: matches a folded pattern (with active wildcards) against text, in linear space and bounded time. */
import { CLOSE, OPEN, QUESTION, QUOTES, SELECTED, STAR, TREE, UNKNOWN } from './text.js'

/** What matches one character, or any number of them. */
type Atom = 'many' | ((char: string) => boolean)

/** Whether `pattern` can match all of `text`. An unknown piece of the pattern can match anything. */
export function globMatches(pattern: string, text: string): boolean {
  return matchAtoms(atomsOf(pattern), [...text])
}

/** Removes the shortest or longest match of a pattern from one end, as `${x#p}`, `${x##p}`, `${x%p}`, `${x%%p}` do. */
export function trimMatch(text: string, pattern: string, end: 'start' | 'end', longest: boolean): string {
  const atoms = atomsOf(pattern)
  const chars = [...text]
  const sizes = Array.from({ length: chars.length + 1 }, (_, size) => size)
  for (const size of longest ? sizes.reverse() : sizes) {
    const piece = end === 'start' ? chars.slice(0, size) : chars.slice(chars.length - size)
    if (matchAtoms(atoms, piece))
      return (end === 'start' ? chars.slice(size) : chars.slice(0, chars.length - size)).join('')
  }
  return text
}

/**
 * True when a wildcard component selects (nearly) everything in its directory: `*`, `?*`, `.*`,
 * `[!.]*`, `*.*`, `[a-z]*`.
 */
export function isBroad(component: string): boolean {
  if (!component.includes(STAR)) return false
  return [...component.replace(/\uFDD3[^\uFDD4]*\uFDD4/g, '')].every(
    (char) => char === STAR || char === QUESTION || char === '.',
  )
}

function matchAtoms(atoms: readonly Atom[], text: readonly string[]): boolean {
  // The classic two-pointer walk: on a mismatch go back to the last `many` and let it take one character more.
  let atom = 0
  let at = 0
  let lastMany = -1
  let resume = 0
  while (at < text.length) {
    const here = atoms[atom]
    if (here === 'many') {
      lastMany = atom++
      resume = at
    } else if (here?.(text[at] ?? '')) {
      atom++
      at++
    } else if (lastMany >= 0) {
      atom = lastMany + 1
      at = ++resume
    } else return false
  }
  while (atoms[atom] === 'many') atom++
  return atom === atoms.length
}

const isAny = (): boolean => true

const isChar =
  (char: string): Atom =>
  (other) =>
    other === char

function atomsOf(pattern: string): Atom[] {
  const atoms: Atom[] = []
  const chars = [...pattern]
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] ?? ''
    if (char === STAR || char === UNKNOWN || char === SELECTED) atoms.push('many')
    else if (char === QUESTION) atoms.push(isAny)
    else if (char === OPEN) {
      const close = chars.indexOf(CLOSE, i)
      if (close < 0) atoms.push(isChar('['))
      else {
        atoms.push(setOf(chars.slice(i + 1, close)))
        i = close
      }
    } else if (char !== QUOTES && char !== TREE) atoms.push(isChar(char))
  }
  return atoms
}

const CLASSES: Readonly<Record<string, RegExp>> = {
  alpha: /[A-Za-z]/,
  lower: /[a-z]/,
  upper: /[A-Z]/,
  digit: /[0-9]/,
  alnum: /[A-Za-z0-9]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  word: /\w/,
  xdigit: /[0-9A-Fa-f]/,
  print: /[ -~]/,
  graph: /[!-~]/,
}

function setOf(body: readonly string[]): (char: string) => boolean {
  const negated = body[0] === '!' || body[0] === '^'
  let rest = (negated ? body.slice(1) : body).join('')
  const tests: ((char: string) => boolean)[] = []
  rest = rest.replace(/\[:(\w+):\]/g, (_, name: string) => {
    const type = CLASSES[name]
    if (type) tests.push((char) => type.test(char))
    return ''
  })
  const chars = [...rest]
  for (let i = 0; i < chars.length; i++) {
    const low = chars[i] ?? ''
    if (low === UNKNOWN) tests.push(() => true)
    else if (chars[i + 1] === '-' && chars[i + 2] !== undefined) {
      const high = chars[i + 2] ?? ''
      tests.push((char) => char >= low && char <= high)
      i += 2
    } else tests.push((char) => char === low)
  }
  return (char) => tests.some((test) => test(char)) !== negated
}

/** Brace expansion (`{a,b}`, `{1..5}`) on the tokens of a word, before anything else is expanded, as bash does it. */
import type { WordPart } from 'unbash'
import { GUARD_LIMITS, GuardLimit } from './limits.js'

/**
 * One piece of a word: text (a single character where it could mean something), or an expansion that is not text yet.
 */
export type Token =
  | { readonly char: string; readonly quoted: boolean }
  | { readonly part: WordPart; readonly quoted: boolean }

export function expandBraces(tokens: readonly Token[]): Token[][] {
  return expand(tokens, { left: GUARD_LIMITS.maxFields, depth: 0 })
}

const LONG_RANGE = 512

interface Budget {
  left: number
  depth: number
}

function expand(tokens: readonly Token[], budget: Budget): Token[][] {
  if (++budget.depth > 64) throw new GuardLimit('depth', 'brace expansion is nested too deeply')
  const found = findGroup(tokens)
  let results: Token[][] = [[...tokens]]
  if (found) {
    const before = tokens.slice(0, found.open)
    const after = expand(tokens.slice(found.close + 1), budget)
    const middle = found.items.flatMap((item) => expand(item, budget))
    budget.left -= middle.length * after.length
    if (budget.left < 0) throw new GuardLimit('size', 'a word expands to too many fields')
    results = middle.flatMap((item) => after.map((rest) => [...before, ...item, ...rest]))
  }
  budget.depth--
  return results
}

interface Group {
  readonly open: number
  readonly close: number
  readonly items: readonly (readonly Token[])[]
}

function findGroup(tokens: readonly Token[]): Group | undefined {
  for (let open = 0; open < tokens.length; open++) {
    // `{}` at the start is text whatever follows, as find's placeholder must be.
    if (!isActive(tokens[open], '{') || (open === 0 && isActive(tokens[1], '}'))) continue
    const close = matching(tokens, open)
    if (close < 0) continue
    const items = itemsOf(tokens.slice(open + 1, close))
    if (items) return { open, close, items }
  }
  return undefined
}

/** A closing brace closes only what has a comma or a range in it; before that it is text (`{~},x}` is `~}` and `x`). */
function matching(tokens: readonly Token[], open: number): number {
  let depth = 0
  let parted = false
  for (let i = open + 1; i < tokens.length; i++) {
    const token = tokens[i]
    if (isActive(token, '{')) depth++
    else if (isActive(token, '}')) {
      if (depth > 0) depth--
      else if (parted) return i
    } else if (
      depth === 0 &&
      (isActive(token, ',') || (isActive(token, '.') && isActive(tokens[i + 1], '.') && !isActive(tokens[i + 2], '}')))
    )
      parted = true
  }
  return -1
}

function itemsOf(inner: readonly Token[]): (readonly Token[])[] | undefined {
  const items: Token[][] = [[]]
  let depth = 0
  for (const token of inner) {
    if (isActive(token, '{')) depth++
    else if (isActive(token, '}') && depth > 0) depth--
    if (depth === 0 && isActive(token, ',')) items.push([])
    else items[items.length - 1]?.push(token)
  }
  return items.length > 1 ? items : sequence(inner)
}

function sequence(inner: readonly Token[]): (readonly Token[])[] | undefined {
  if (inner.some((token) => !('char' in token) || token.quoted)) return undefined
  const text = inner.map((token) => ('char' in token ? token.char : '')).join('')
  const numbers = /^([-+]?\d{1,15})\.\.([-+]?\d{1,15})(?:\.\.([-+]?\d{1,15}))?$/.exec(text)
  const letters = /^([A-Za-z])\.\.([A-Za-z])(?:\.\.([-+]?\d{1,15}))?$/.exec(text)
  const range = numbers ?? letters
  if (!range) return undefined
  const from = numbers ? Number(range[1]) : (range[1] ?? '').charCodeAt(0)
  const to = numbers ? Number(range[2]) : (range[2] ?? '').charCodeAt(0)
  const step = Math.abs(Number(range[3] ?? 1)) || 1
  const width =
    numbers && [range[1], range[2]].some((end) => /^[-+]?0\d/.test(end ?? ''))
      ? Math.max((range[1] ?? '').length, (range[2] ?? '').length)
      : 0
  const items: Token[][] = []
  const count = Math.floor(Math.abs(to - from) / step) + 1
  if (count > GUARD_LIMITS.maxRange) throw new GuardLimit('size', 'a range expands to too many fields')
  for (let index = 0; index < count; index++) {
    // All of a long range are numbers of one kind: its two ends speak for what lies between.
    if (count > LONG_RANGE && index === LONG_RANGE / 2) index = count - LONG_RANGE / 2
    const value = from + (from <= to ? step : -step) * index
    const shown = numbers ? padded(value, width) : String.fromCharCode(value)
    items.push([...shown].map((char) => ({ char, quoted: false })))
  }
  return items
}

function padded(value: number, width: number): string {
  const digits = String(Math.abs(value))
  return value < 0 ? `-${digits.padStart(width - 1, '0')}` : digits.padStart(width, '0')
}

/** Whether the token is this character, unquoted. */
export function isActive(token: Token | undefined, char: string): boolean {
  return token !== undefined && 'char' in token && !token.quoted && token.char === char
}

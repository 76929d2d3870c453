/** The difference of two texts as `diff -u` writes it, by the shortest way from one to the other (Myers). */

const CONTEXT = 3
/** Texts that have less in common are shown as removed and added as a whole. */
const MAX_EDITS = 2_000

interface Step {
  readonly kind: ' ' | '-' | '+'
  readonly line: string
}

/** Null where nothing differs. Names stand as they are in the head. */
export function unifiedDiff(
  before: string,
  after: string,
  names: { readonly from: string; readonly to: string },
): string | null {
  if (before === after) return null
  const steps = stepsBetween(linesOf(before), linesOf(after))
  return `${[`--- ${names.from}`, `+++ ${names.to}`, ...hunksOf(steps).flat()].join('\n')}\n`
}

/** Each with its end: a last line without one differs from one with it. */
function linesOf(text: string): string[] {
  return text === '' ? [] : (text.match(/[^\n]*\n|[^\n]+$/g) ?? [])
}

function stepsBetween(a: readonly string[], b: readonly string[]): Step[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1
  const keep = (lines: readonly string[]): Step[] => lines.map((line) => ({ kind: ' ', line }))
  const middle = shortest(a.slice(start, a.length - end), b.slice(start, b.length - end))
  return [...keep(a.slice(0, start)), ...middle, ...keep(a.slice(a.length - end))]
}

function shortest(a: readonly string[], b: readonly string[]): Step[] {
  const limit = Math.min(a.length + b.length, MAX_EDITS)
  const trail: Int32Array[] = []
  const furthest = new Int32Array(2 * limit + 3)
  const at = (k: number): number => k + limit + 1
  for (let edits = 0; edits <= limit; edits++) {
    trail.push(furthest.slice(at(-edits) - 1, at(edits) + 2))
    for (let k = -edits; k <= edits; k += 2) {
      const down = k === -edits || (k !== edits && furthest[at(k - 1)]! < furthest[at(k + 1)]!)
      let x = down ? furthest[at(k + 1)]! : furthest[at(k - 1)]! + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1
      furthest[at(k)] = x
      if (x >= a.length && x - k >= b.length) return wayBack(a, b, trail)
    }
  }
  return [...a.map((line): Step => ({ kind: '-', line })), ...b.map((line): Step => ({ kind: '+', line }))]
}

function wayBack(a: readonly string[], b: readonly string[], trail: readonly Int32Array[]): Step[] {
  const steps: Step[] = []
  let x = a.length
  let y = b.length
  for (let edits = trail.length - 1; edits >= 0; edits--) {
    const reached = trail[edits]!
    const furthest = (k: number): number => reached[k + edits + 1]!
    const k = x - y
    const down = k === -edits || (k !== edits && furthest(k - 1) < furthest(k + 1))
    const fromK = down ? k + 1 : k - 1
    const fromX = edits === 0 ? 0 : furthest(fromK)
    const fromY = edits === 0 ? 0 : fromX - fromK
    while (x > fromX && y > fromY) {
      y -= 1
      steps.push({ kind: ' ', line: a[--x]! })
    }
    if (edits === 0) break
    if (down) steps.push({ kind: '+', line: b[--y]! })
    else steps.push({ kind: '-', line: a[--x]! })
  }
  return steps.reverse()
}

function hunksOf(steps: readonly Step[]): string[][] {
  const hunks: string[][] = []
  let line = { from: 1, to: 1 }
  const places = steps.map(({ kind }) => {
    const place = line
    line = { from: line.from + (kind === '+' ? 0 : 1), to: line.to + (kind === '-' ? 0 : 1) }
    return place
  })
  for (let at = 0; at < steps.length;) {
    if (steps[at]!.kind === ' ') {
      at += 1
      continue
    }
    const first = Math.max(0, at - CONTEXT)
    let last = at
    for (let next = at; next < steps.length && next <= last + 2 * CONTEXT; next++)
      if (steps[next]!.kind !== ' ') last = next
    const part = steps.slice(first, last + CONTEXT + 1)
    hunks.push([headOf(part, places[first]!), ...part.flatMap(wordsOf)])
    at = last + CONTEXT + 1
  }
  return hunks
}

function headOf(part: readonly Step[], place: { readonly from: number; readonly to: number }): string {
  const removed = part.filter(({ kind }) => kind !== '+').length
  const added = part.filter(({ kind }) => kind !== '-').length
  const side = (line: number, count: number): string =>
    count === 1 ? String(line) : `${count === 0 ? line - 1 : line},${count}`
  return `@@ -${side(place.from, removed)} +${side(place.to, added)} @@`
}

function wordsOf({ kind, line }: Step): string[] {
  return line.endsWith('\n') ? [`${kind}${line.slice(0, -1)}`] : [`${kind}${line}`, '\\ No newline at end of file']
}

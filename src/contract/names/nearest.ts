/** The nearest right name for a mistyped one. */

/** From this length on a beginning stands for the name (`desc`), and a name for what goes on (`timeoutSeconds`). */
const SHORTEST_BEGINNING = 3

/** Null when no name is close enough to be a typing mistake, and none begins like the wrong one. */
export function nearest(wrong: string, names: readonly string[]): string | null {
  const typed = wrong.toLowerCase()
  let best: string | null = null
  // Two slips in a word of three letters are another word: `id` is not meant to be `cwd`.
  let least = Math.max(wrong.length > 3 ? 2 : 1, Math.floor(wrong.length / 3)) + 1
  for (const name of names) {
    const away = distance(typed, name.toLowerCase())
    if (away < least) [best, least] = [name, away]
  }
  return best ?? names.find((name) => areOneBeginning(typed, name.toLowerCase())) ?? null
}

function areOneBeginning(a: string, b: string): boolean {
  return Math.min(a.length, b.length) >= SHORTEST_BEGINNING && (a.startsWith(b) || b.startsWith(a))
}

/** Insertions, deletions, substitutions and swaps of neighbours between two short texts. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 12 || a.length > 100) return Infinity
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      row[j] = Math.min((last[j] as number) + 1, (row[j - 1] as number) + 1, (last[j - 1] as number) + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j] as number, (before[j - 2] as number) + 1)
    }
    before = last
    last = row
  }
  return last[b.length] as number
}

/** The different argvs a simple command may have when some of its words are not certain. */
import { GUARD_LIMITS } from '../words/limits.js'

/** Every combination of the words' alternatives while there are few; otherwise each alternative at least once. */
export function combine(words: readonly (readonly string[][])[], limit: number): string[][] {
  if (words.every((ways) => ways.length === 1)) return [words.flatMap((ways) => ways[0] ?? [])]
  const first = (): string[] => words.flatMap((ways) => ways[0] ?? [])
  const last = (): string[] => words.flatMap((ways) => ways[ways.length - 1] ?? [])
  if (limit === 1) return [first()]
  let count = 1
  for (const ways of words) count = Math.min(count * ways.length, 1_000)
  if (count <= limit) {
    let all: string[][] = [[]]
    for (const ways of words)
      all = all.flatMap((argv) => ways.map((fields) => (fields.length === 0 ? argv : [...argv, ...fields])))
    return all
  }
  const all: string[][] = [first(), last()]
  if (limit === 2) return all
  let budget = GUARD_LIMITS.maxSteps - words.length
  for (const [i, ways] of words.entries()) {
    for (const fields of ways.slice(1)) {
      budget -= words.length
      if (budget < 0) return all
      all.push(words.flatMap((other, j) => (j === i ? fields : (other[0] ?? []))))
      if (all.length > 2 * limit) return all
    }
  }
  return all
}

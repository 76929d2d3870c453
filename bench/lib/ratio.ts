/** Measures alternatives interleaved in one run, so that a busy machine slows all of them alike, and prints ratios. */

export interface Measured {
  readonly name: string
  readonly p50: number
  readonly p95: number
}

/** Runs each alternative `rounds` times in turn, `block` calls at a time; the first one is the yardstick. */
export async function compare(
  title: string,
  alternatives: readonly (readonly [name: string, run: () => Promise<unknown>])[],
  rounds: number,
  block = 1,
): Promise<readonly Measured[]> {
  const times = alternatives.map((): number[] => [])
  for (const [, run] of alternatives) for (let at = 0; at < 5; at++) await run()
  for (let round = 0; round < rounds; round++) {
    for (const [index, [, run]] of alternatives.entries()) {
      for (let call = 0; call < block; call++) {
        const began = performance.now()
        await run()
        times[index]?.push(performance.now() - began)
      }
    }
  }
  const measured = alternatives.map(([name], index) => ({
    name,
    p50: quantile(times[index] as number[], 0.5),
    p95: quantile(times[index] as number[], 0.95),
  }))
  print(title, measured)
  return measured
}

/**
 * Two alternatives whose difference is small beside the noise: each pair is measured back to back, the first of a pair
 * changes, and what is told is the median of the differences, which a slow moment touches in one pair and not in the
 * others. Returns the ratio, with the bounds of that median (95 %, by rank, no matter how times are distributed).
 */
export async function comparePaired(
  base: () => Promise<unknown>,
  other: () => Promise<unknown>,
  pairs: number,
): Promise<{ readonly ratio: number; readonly low: number; readonly high: number; readonly p50: number }> {
  const time = async (run: () => Promise<unknown>): Promise<number> => {
    const began = performance.now()
    await run()
    return performance.now() - began
  }
  const bases: number[] = []
  const differences: number[] = []
  for (let pair = -WARM_UP; pair < pairs; pair++) {
    // Also the pattern changes (AB BA BA AB): a machine that slows down steadily favours neither.
    const baseFirst = ((pair + WARM_UP) & 3) % 3 === 0
    const first = await time(baseFirst ? base : other)
    const second = await time(baseFirst ? other : base)
    if (pair < 0) continue
    bases.push(baseFirst ? first : second)
    differences.push(baseFirst ? second - first : first - second)
  }
  const p50 = quantile(bases, 0.5)
  const margin = 0.98 / Math.sqrt(pairs)
  const ratioAt = (share: number): number => 1 + quantile(differences, share) / p50
  return { ratio: ratioAt(0.5), low: ratioAt(0.5 - margin), high: ratioAt(0.5 + margin), p50 }
}

const WARM_UP = 100

export function print(title: string, measured: readonly Measured[]): void {
  const base = measured[0]?.p50 ?? 1
  console.log(`\n${title}`)
  for (const { name, p50, p95 } of measured)
    console.log(
      `  ${name.padEnd(34)} p50 ${p50.toFixed(3).padStart(9)} ms   p95 ${p95.toFixed(3).padStart(9)} ms   ${(p50 / base).toFixed(3)}x`,
    )
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

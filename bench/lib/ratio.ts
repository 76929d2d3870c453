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

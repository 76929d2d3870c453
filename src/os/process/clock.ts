/** Milliseconds by the clock that all processes of a machine share and that is never set. */
export function sinceBootMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n)
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

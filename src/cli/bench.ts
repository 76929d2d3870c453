/** Measures cerith against plain spawn: interleaved rounds, medians, ratios. */
import type { Io } from './io.js'

export async function runBench(_options: { json?: boolean; quick?: boolean }, _io: Io): Promise<void> {}

/**
 * The package as it is built (`npm run build` first), with what V8 compiled of it in an earlier process, as every
 * process but the first has it: the first run after a build is not the one to note.
 */

// Seen from the bundle of a benchmark, in dist/.bench-NAME/BENCHMARK.
export const { createEngine } = (await import(
  new URL('../../index.js', import.meta.url).href
)) as typeof import('../../src/index.js')

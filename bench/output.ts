/**
 * How fast output is kept and shaped: GB/s of the transcript, the decoder, the stripper and the filter, and the memory
 * they grow by. Bundled before it runs: `npx rolldown bench/output.ts --platform node -d DIR`.
 */
import { stripVTControlCharacters } from 'node:util'
import { createAnsiStripper } from '../src/output/terminal/ansi.js'
import { clipEnds } from '../src/output/clip.js'
import { createLineFilter } from '../src/output/filter.js'
import { createProgressCollapser } from '../src/output/terminal/progress.js'
import { Transcript } from '../src/output/transcript.js'
import { createUtf8Decoder } from '../src/output/utf8.js'

const KB = 1024
const MB = KB * KB
const GB = 1e9

/** Best of a few runs: the machine is shared, and the best run is the one that was disturbed least. */
async function measure(name: string, bytes: number, run: () => unknown): Promise<void> {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < 5; i++) {
    const started = performance.now()
    await run()
    best = Math.min(best, performance.now() - started)
  }
  console.log(
    `${name.padEnd(58)} ${(bytes / GB / (best / 1000)).toFixed(2).padStart(8)} GB/s ${best.toFixed(1).padStart(9)} ms`,
  )
}

for (const size of [64 * KB, MB, 4 * KB, 64]) {
  const chunk = Buffer.alloc(size, 'a line of output\n')
  const total = size < KB ? 64 * MB : 1024 * MB
  await measure(`Transcript.write, ${size} byte chunks`, total, () => {
    const transcript = new Transcript()
    for (let written = 0; written < total; written += size) transcript.write(chunk)
  })
}

const before = process.memoryUsage()
const large = new Transcript()
const block = Buffer.alloc(64 * KB, 'x')
for (let i = 0; i < 160_000; i++) large.write(block)
const after = process.memoryUsage()
console.log(
  `10 GB written: growth ${((after.rss - before.rss) / MB).toFixed(1)} MB resident, ${((after.arrayBuffers - before.arrayBuffers) / MB).toFixed(1)} MB in buffers`,
)

const plain = 'compiling module number 12345 of the project\n'.repeat((8 * MB) / 46)
const coloured = '\x1b[32m  ✓\x1b[0m compiling \x1b[1mmodule\x1b[22m of the project\n'.repeat((8 * MB) / 66)
const bars = 'progress 10% of all\rprogress 20% of all\rprogress 99% of all\n'.repeat((4 * MB) / 60)

for (const [name, text] of Object.entries({ plain, coloured })) {
  const bytes = Buffer.from(text)
  await measure(`decode ${name}, 64 KB chunks`, bytes.length, () => {
    const decoder = createUtf8Decoder()
    for (let at = 0; at < bytes.length; at += 64 * KB) decoder.push(bytes.subarray(at, at + 64 * KB))
  })
  await measure(`  TextDecoder in stream mode`, bytes.length, () => {
    const decoder = new TextDecoder()
    for (let at = 0; at < bytes.length; at += 64 * KB)
      decoder.decode(bytes.subarray(at, at + 64 * KB), { stream: true })
  })
  await measure(`strip ${name}`, bytes.length, () => createAnsiStripper().push(text).length)
  await measure(`  util.stripVTControlCharacters`, bytes.length, () => stripVTControlCharacters(text).length)
  await measure(`collapse ${name}`, bytes.length, () => createProgressCollapser().push(text).length)
  await measure(`clip ${name} to 30,000 characters`, bytes.length, () => clipEnds(text).text.length)
  await measure(
    `filter ${name} by /module.*5$|error/`,
    bytes.length,
    async () => (await createLineFilter('module.*5$|error')).push(text).length,
  )
}
await measure('collapse progress bars', bars.length, () => createProgressCollapser().push(bars).length)

/**
 * How fast output is searched for secrets, what it costs to have more of them, and whether memory stays flat. Speeds
 * are per second of processor time, so that busy neighbours do not count.
 */
import { randomBytes } from 'node:crypto'
import { createMasker } from '../src/secrets/mask/masker.js'

const MEGABYTE = 1 << 20

function logText(bytes: number, line: (n: number) => string): Buffer {
  const lines: string[] = []
  for (let size = 0, n = 0; size < bytes; n++) {
    const text = line(n)
    lines.push(text)
    size += text.length
  }
  return Buffer.from(lines.join('')).subarray(0, bytes)
}

const texts: Record<string, Buffer> = {
  'build log': logText(
    8 * MEGABYTE,
    (n) =>
      `2026-03-01T10:00:${n % 60}.123Z [worker-${n % 16}] compiled src/modules/feature-${n % 997}/index.ts in ${n % 311} ms (cache hit)\n`,
  ),
  'coloured log': logText(
    8 * MEGABYTE,
    (n) => `\x1b[32mok\x1b[0m ${n} - \x1b[1mtest number ${n}\x1b[0m passed in ${n % 31} ms\n`,
  ),
  'json with escapes': logText(
    8 * MEGABYTE,
    (n) =>
      `{"level":"info","msg":"said \\"hello\\" to user ${n}","path":"C:\\\\temp\\\\${n}","url":"/a?b=%20${n}&c=1"}\n`,
  ),
  'random base64': Buffer.from(randomBytes(6 * MEGABYTE).toString('base64')),
  'random bytes': randomBytes(8 * MEGABYTE),
}

function measure(secrets: number, text: Buffer, prefix = ''): number {
  const masker = createMasker()
  for (let n = 0; n < secrets; n++)
    masker.add(`s${n}`, Buffer.from(prefix + randomBytes(15 + (n % 20)).toString('base64url')))
  let best = 0
  for (let round = 0; round < 6; round++) {
    const stream = masker.stream()
    const start = process.cpuUsage()
    for (let at = 0; at < text.length; at += 65_536) stream.push(text.subarray(at, at + 65_536))
    stream.flush()
    const { user, system } = process.cpuUsage(start)
    best = Math.max(best, text.length / MEGABYTE / ((user + system) / 1e6))
  }
  return best
}

const counts = [0, 1, 10, 100, 1000]
console.log(`MB/s for ${counts.join(', ')} secrets`)
for (const [name, text] of Object.entries(texts)) {
  console.log(name.padEnd(20), counts.map((count) => measure(count, text).toFixed(0).padStart(7)).join(' '))
}
console.log(
  'shared prefix'.padEnd(20),
  measure(1000, texts['build log'] as Buffer, 'sk-live-')
    .toFixed(0)
    .padStart(7),
  '(1000 secrets that all begin with sk-live-)',
)

const masker = createMasker()
for (let n = 0; n < 100; n++) masker.add(`s${n}`, randomBytes(24))
const stream = masker.stream()
const text = texts['build log'] as Buffer
globalThis.gc?.()
const before = process.memoryUsage().rss
for (let round = 0; round < 64; round++)
  for (let at = 0; at < text.length; at += 65_536) stream.push(text.subarray(at, at + 65_536))
console.log(
  `memory after 512 MB: ${((process.memoryUsage().rss - before) / MEGABYTE).toFixed(1)} MB more than before, ${stream.pending} bytes held`,
)
const start = performance.now()
masker.add('late', randomBytes(24))
stream.push(text.subarray(0, 100))
console.log(`adding a secret to 100: ${(performance.now() - start).toFixed(1)} ms`)

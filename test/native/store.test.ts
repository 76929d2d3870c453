/** The keeper's store under load: floods, a million tiny writes, a full disk. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createEngine } from '../../src/index.js'
import { until } from '../fixtures/until.js'
import { withEngine } from '../engine/job/setup.js'
import { temporaryFolder } from '../fixtures/folder.js'

const place = withEngine()

test('a flood of 400 MB leaves head and tail on disk, an exact count between them, and no memory in the engine', async () => {
  const before = process.memoryUsage().rss
  const job = await place.engine.start({
    command: "yes 'fifteen letters' | head -c 400M",
    maxStoredBytes: 4_000_000,
    streams: 'merged',
  })
  const { info } = await job.wait({ timeoutMs: 120_000 })
  expect(info).toMatchObject({ status: 'completed', outputComplete: true })
  expect(info.bytes.total).toBe(419_430_400)
  // Head and tail become one file a moment after the record.
  await until(() => readFileSync(info.outputFile, 'latin1').endsWith('exit code 0]\n'))
  const size = readdirSync(place.dir(job.id)).reduce(
    (sum, name) => sum + (statSync(join(place.dir(job.id), name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
  expect(size).toBeLessThan(4_200_000)
  const head = await job.read()
  const tail = await job.read({ since: head.cursor })
  expect(head.cursor + tail.omittedBytes).toBe(tail.start)
  expect(tail.cursor).toBe(419_430_400)
  for (const { text, start } of [head, tail])
    expect(
      text ===
        'fifteen letters\n'
          .repeat(text.length / 16 + 2)
          .slice(start % 16)
          .slice(0, text.length),
    ).toBe(true)
  expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000)
}, 240_000)

test('a million tiny writes arrive, all of them', async () => {
  const job = await place.engine.start({ command: `perl -e '$| = 1; print "x\\n" for 1..1000000'` })
  const { info } = await job.wait({ timeoutMs: 120_000 })
  expect(info).toMatchObject({ status: 'completed', bytes: { total: 2_000_000, omitted: 0 } })
  expect((await job.read({ filter: '^x$', maxBytes: 1_000_000 })).matches).toBe(500_000)
}, 240_000)

test('a reader that follows a flood gets contiguous ranges, and is told what was dropped between them', async () => {
  const job = await place.engine.start({
    command: "seq -f '%09.0f' 1 3000000",
    maxStoredBytes: 400_000,
    streams: 'merged',
  })
  let cursor = 0
  let got = 0
  let omitted = 0
  for (;;) {
    const { isRunning } = await job.info()
    const part = await job.read({ since: cursor, maxBytes: 65_536 })
    expect(part.start).toBe(cursor + part.omittedBytes)
    const first = (10 - (part.start % 10)) % 10
    if (part.text.length > first + 10)
      expect(Number(part.text.slice(first, first + 9))).toBe((part.start + first) / 10 + 1)
    got += part.text.length
    omitted += part.omittedBytes
    cursor = part.cursor
    if (!isRunning && cursor >= part.totalBytes) break
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(got + omitted).toBe(30_000_000)
}, 240_000)

const root = process.getuid?.() === 0

function mountSmall(dir: string, size: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', dir], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

test.skipIf(!root)(
  'F56 a full disk costs output, never the job or the engine; the record says so and the exit code is true (needs root to mount a small disk)',
  async (context) => {
    const dir = temporaryFolder('full')
    if (!mountSmall(dir, '1m')) return context.skip('mounting is not allowed here')
    const engine = await createEngine({ stateDir: join(dir, 'state'), cwd: '/tmp' })
    try {
      const job = await engine.start({ command: "seq -f '%09.0f' 1 400000; exit 9" })
      const { info } = await job.wait({ timeoutMs: 30_000 })
      expect(info).toMatchObject({ status: 'failed', exitCode: 9, outputComplete: false })
      expect(info.bytes.total).toBe(4_000_000)
      expect(info.notes).toEqual([
        { code: 'output-lost', text: 'Some output could not be stored (disk full or not writable).' },
      ])
      const head = await job.read()
      expect(head.text.startsWith('000000001\n000000002\n')).toBe(true)
      expect(head.text.length).toBeGreaterThan(400_000)
      // The last words are kept in the record, whose room was set aside at the start.
      const last = await job.read({ since: head.cursor })
      expect(last.text).toMatch(/^(\d{9}\n|\d{0,8}\n)[^]*000400000\n$/)
      expect(last.text.length).toBeGreaterThan(500)
      expect(head.text.length + last.text.length).toBe(info.bytes.total - info.bytes.omitted)
      expect((await job.read({ tail: 2 })).text).toBe('000399999\n000400000\n')
      const next = await engine.start({ command: 'echo x' }).catch((error: unknown) => error)
      if (next instanceof Error)
        expect(next).toMatchObject({ code: expect.stringMatching(/STATE_UNWRITABLE|SPAWN_FAILED/) })
      expect((await engine.run({ command: 'echo fine' })).stdout).toBe('fine\n')
      await engine.clean()
      const again = await engine.start({ command: 'echo room again' })
      await again.wait()
      expect((await again.read()).text).toBe('room again\n')
    } finally {
      await engine.close()
      execFileSync('umount', ['-l', dir])
      rmSync(dir, { recursive: true, force: true })
    }
  },
)

test.skipIf(!root)(
  'F56 when there is room again the job goes on storing, and the hole is counted (needs root to mount a small disk)',
  async (context) => {
    const dir = temporaryFolder('full')
    if (!mountSmall(dir, '2m')) return context.skip('mounting is not allowed here')
    mkdirSync(join(dir, 'state'), { mode: 0o700 })
    const engine = await createEngine({ stateDir: join(dir, 'state'), cwd: '/tmp' })
    try {
      const job = await engine.start({
        command: 'for ((i = 1; i <= 60; i++)); do printf "%09d\\n" $i; sleep 0.05; done',
      })
      await job.wait({ until: '^000000003$' })
      try {
        writeFileSync(join(dir, 'ballast'), Buffer.alloc(4_000_000))
      } catch {
        // That is the point.
      }
      await job.wait({ timeoutMs: 700 })
      rmSync(join(dir, 'ballast'))
      const { info } = await job.wait({ timeoutMs: 20_000 })
      expect(info).toMatchObject({ status: 'completed' })
      expect(info.bytes.total).toBe(600)
      const all = [await job.read()]
      for (let at = all[0]; at && at.cursor < at.totalBytes;) all.push((at = await job.read({ since: at.cursor })))
      expect(all.reduce((sum, { text, omittedBytes }) => sum + text.length + omittedBytes, 0)).toBe(600)
      expect(all.map(({ text }) => text).join('')).toMatch(/^000000001\n[^]*000000060\n$/)
    } finally {
      await engine.close()
      execFileSync('umount', ['-l', dir])
      rmSync(dir, { recursive: true, force: true })
    }
  },
)

test('the completion line stands on a line of its own, after output without a line end too', async () => {
  const job = await place.engine.start({ command: 'printf "no end"' })
  const { info } = await job.wait()
  await until(() => readFileSync(info.outputFile, 'utf8') === 'no end\n[background process completed: exit code 0]\n')
})

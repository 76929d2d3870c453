/** Reading a job: by byte offset, without loss, without disturbing anybody, whatever the bytes are. */
import { readFileSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import type { Job } from '../../../../src/index.js'
import { until } from '../../../fixtures/until.js'
import { sleep, withEngine } from '../setup.js'

const place = withEngine()

/** Follows a job as a polling reader does, and gives all that it got. */
async function follow(
  job: Job,
  options: { maxBytes?: number; stream?: 'stdout' | 'stderr'; ansi?: 'strip' } = {},
): Promise<string> {
  let text = ''
  for (let cursor = 0; ;) {
    const { isRunning } = await job.info()
    const part = await job.read({ since: cursor, ...options })
    text += part.text
    cursor = part.cursor
    if (!isRunning && cursor >= part.totalBytes) return text
    if (part.text === '') await sleep(1)
  }
}

test('F35 BG-06 incremental reads never lose or repeat: their concatenation is the file', async () => {
  const job = await place.engine.start({
    command: 'for ((i = 1; i <= 20000; i++)); do echo "$i"; done',
    streams: 'merged',
  })
  const text = await follow(job, { maxBytes: 777 })
  expect(text).toBe(Array.from({ length: 20_000 }, (_, n) => `${n + 1}\n`).join(''))
  const { outputFile } = await job.info()
  // The record comes first, the line for people a moment later.
  await until(() => readFileSync(outputFile, 'utf8') === `${text}[background process completed: exit code 0]\n`)
})

test('F80 two readers at once, and a third from another engine, each get everything', async () => {
  const job = await place.engine.start({
    command: 'for ((i = 1; i <= 3000; i++)); do echo "$i"; done; sleep 0.1; echo end',
  })
  const other = await (await place.another()).job(job.id)
  const [a, b, c] = await Promise.all([follow(job), follow(job, { maxBytes: 100 }), follow(other, { maxBytes: 1_000 })])
  expect(a).toBe(`${Array.from({ length: 3_000 }, (_, n) => `${n + 1}\n`).join('')}end\n`)
  expect(b).toBe(a)
  expect(c).toBe(a)
})

test('BG-09 stdout and stderr are read apart, or merged in true order, as the job was started', async () => {
  const command = 'for i in 1 2 3; do echo "out $i"; echo "err $i" >&2; done'
  const [apart, merged] = await Promise.all([
    place.engine.start({ command }),
    place.engine.start({ command, streams: 'merged' }),
  ])
  expect(await follow(apart)).toBe('out 1\nout 2\nout 3\n')
  expect(await follow(apart, { stream: 'stderr' })).toBe('err 1\nerr 2\nerr 3\n')
  expect(await follow(merged)).toBe('out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n')
  await expect(apart.read({ stream: 'output' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  await expect(merged.read({ stream: 'stderr' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
})

test('a character is never split between two reads, also when its bytes come one by one', async () => {
  const job = await place.engine.start({
    command: String.raw`for b in f0 9f 98 80 c3 a4 0a; do printf "\x$b"; sleep 0.03; done; printf 'x\xf0\x9f'`,
  })
  expect(await follow(job, { maxBytes: 5 })).toBe('😀ä\nx\uFFFD')
})

test('an escape sequence that comes in pieces is stripped as one', async () => {
  const job = await place.engine.start({
    command: String.raw`printf 'a\e[3'; sleep 0.1; printf '1mred\e]8;;http'; sleep 0.1; printf '://x\e\\link\e[0m\n'`,
  })
  expect(await follow(job, { ansi: 'strip' })).toBe('aredlink\n')
})

test('NUL bytes, invalid bytes and carriage returns come through; offsets count bytes', async () => {
  const job = await place.engine.start({ command: String.raw`printf 'a\0b\r\n\xff\xfe\n'` })
  await job.wait()
  expect(await job.read()).toMatchObject({ text: 'a\0b\r\n\uFFFD\uFFFD\n', cursor: 8, totalBytes: 8 })
  expect(await job.read({ since: 5 })).toMatchObject({ text: '\uFFFD\uFFFD\n', start: 5 })
})

test('reading past the end gives nothing and a cursor that can go on; bad offsets are refused', async () => {
  const job = await place.engine.start({ command: 'echo x' })
  await job.wait()
  expect(await job.read({ since: 99 })).toMatchObject({ text: '', cursor: 2, totalBytes: 2 })
  for (const since of [-1, 1.5, Number.NaN, '0' as never])
    await expect(job.read({ since })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
})

test('BG-08 a filter keeps whole matching lines, counts them, and gives lines around them', async () => {
  const job = await place.engine.start({ command: 'seq 1 50' })
  await job.wait()
  expect(await job.read({ filter: '^4[0-2]$' })).toMatchObject({ text: '40\n41\n42\n', matches: 3, cursor: 141 })
  expect((await job.read({ filter: '^10$', before: 1, after: 2 })).text).toBe('9\n10\n11\n12\n')
  expect(await job.read({ filter: 'nothing' })).toMatchObject({ text: '', matches: 0, cursor: 141 })
})

test('BG-08 a bad filter is an error that consumes nothing; a hostile one returns', async () => {
  const job = await place.engine.start({ command: "head -c 200000 /dev/zero | tr '\\0' a; echo b" })
  await job.wait()
  await expect(job.read({ filter: '(' })).rejects.toMatchObject({
    code: 'BAD_FILTER',
    message: expect.stringContaining('Invalid filter regex'),
  })
  const begin = performance.now()
  expect((await job.read({ filter: '(a+)+$' })).matches).toBe(0)
  expect(performance.now() - begin).toBeLessThan(10_000)
})

test('the last lines are found from the end, however long the output is', async () => {
  const job = await place.engine.start({ command: 'seq 1 300000; printf last' })
  await job.wait()
  expect((await job.read({ tail: 3 })).text).toBe('299999\n300000\nlast')
  expect((await job.read({ tail: 0 })).text).toBe('')
  expect((await job.read({ tail: 2, filter: '^1..$' })).text).toBe('198\n199\n')
  expect((await (await done('printf "a\\nb\\n"')).read({ tail: 1 })).text).toBe('b\n')
  expect((await (await done('printf "\\n\\n"')).read({ tail: 1 })).text).toBe('\n')
  expect((await (await done('printf "a\\nb"')).read({ tail: 9 })).text).toBe('a\nb')
})

async function done(command: string): Promise<Job> {
  const job = await place.engine.start({ command })
  await job.wait()
  return job
}

test('what is no longer kept is counted exactly, before a range and inside a filtered one', async () => {
  const job = await place.engine.start({ command: "seq -f '%07g' 1 200000", maxStoredBytes: 200_000 })
  const { info } = await job.wait()
  expect(info.bytes.total).toBe(1_600_000)
  const head = await job.read()
  expect(head).toMatchObject({ start: 0, omittedBytes: 0, cursor: 50_000 })
  const tail = await job.read({ since: head.cursor })
  expect(tail.start - head.cursor).toBe(tail.omittedBytes)
  expect(tail.omittedBytes).toBe(info.bytes.omitted)
  expect(tail.text.endsWith('0200000\n')).toBe(true)
  expect(head.text.length + tail.text.length + info.bytes.omitted).toBe(1_600_000)
  const filtered = await job.read({ filter: '^0(000001|200000)$' })
  expect(filtered).toMatchObject({ text: '0000001\n0200000\n', omittedBytes: info.bytes.omitted, cursor: 1_600_000 })
})

test('a secret is masked on disk and in every read, however the reads cut it', async () => {
  place.engine.secrets.set('key', 'S3CRET-value-42')
  const job = await place.engine.start({
    command: 'echo "<$KEY>"; echo {{secret:key}} | rev',
    env: { KEY: 'S3CRET-value-42' },
    streams: 'merged',
  })
  await job.wait()
  const { outputFile } = await job.info()
  expect(readFileSync(outputFile, 'utf8')).not.toContain('S3CRET-value')
  expect((await job.read()).text).toContain('<[secret:key]>')
  place.engine.secrets.set('late', 'later-KNOWN-value')
  const other = await done("echo 'x later-KNOWN-value y'")
  for (let since = 0; since < 20; since++)
    for (const maxBytes of [4, 7, 100])
      expect((await other.read({ since, maxBytes })).text).not.toMatch(/KNOWN|later-|-value/)
  expect((await other.read()).text).toBe('x [secret:late] y\n')
})

test('a secret that is learned after it was printed is masked from then on', async () => {
  const job = await done('echo the-old-password-1')
  expect((await job.read()).text).toBe('the-old-password-1\n')
  place.engine.secrets.set('pw', 'the-old-password-1')
  expect((await job.read()).text).toBe('[secret:pw]\n')
})

test('a job that is cleaned up while somebody holds it is not found, whatever is asked of it', async () => {
  const job = await done('echo x')
  const other = await (await place.another()).job(job.id)
  await place.engine.clean()
  for (const ask of [other.info(), other.read(), other.wait(), other.kill(), other.send({ text: 'x' })])
    await expect(ask).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
})

test('a job whose files are removed while it runs says that it runs, and can be ended', async () => {
  const job = await place.engine.start({ command: 'echo $$; exec sleep 600' })
  const { outputFile, pid } = await job.info()
  await job.wait({ until: /^\d+$/m })
  rmSync(dirname(outputFile), { recursive: true })
  const again = await place.engine.job(job.id)
  for (const ask of [job.info(), job.read(), again.read(), again.send({ text: 'x' })])
    await expect(ask).rejects.toMatchObject({
      code: 'JOB_NOT_FOUND',
      message: expect.stringContaining('while it runs') as string,
      hint: `It goes on as process ${pid}; kill it, or let it end.`,
    })
  await expect(again.kill()).rejects.toMatchObject({ message: expect.stringContaining('it was ended now') as string })
  expect(() => process.kill(pid as number, 0)).toThrow('ESRCH')
  await expect(job.read()).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
})

test('read as latin1, every byte is one character; a filter asks for text', async () => {
  const job = await place.engine.start({
    command: String.raw`printf '\e[31m\xc3\xa4\e[0m\nb\xff\x9b1m\n'; sleep 0.05; printf '\xc3'`,
  })
  await job.wait({ exit: true })
  const read = async (ansi: 'keep' | 'strip'): Promise<string> => (await job.read({ encoding: 'latin1', ansi })).text
  expect(await read('keep')).toBe('\x1b[31m\xc3\xa4\x1b[0m\nb\xff\x9b1m\n\xc3')
  // What is text is stripped as text; a line that is none is left alone.
  expect(await read('strip')).toBe('\xc3\xa4\nb\xff\x9b1m\n\xc3')
  expect((await job.read({ encoding: 'latin1', tail: 2 })).text).toBe('b\xff\x9b1m\n\xc3')
  await expect(job.read({ encoding: 'latin1', filter: 'b' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
})

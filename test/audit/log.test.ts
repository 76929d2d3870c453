/** The audit log: appended by many, chained, rotated, and never in the way of a command. */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { auditFiles, chainHash, readAudit, verifyAudit } from '../../src/audit/chain.js'
import { takeLockFile } from '../../src/os/files/lock.js'
import { withSpans } from '../../src/audit/spans.js'
import { openAuditLog } from '../../src/audit/log.js'
import { temporaryFolder } from '../fixtures/folder.js'

const base = temporaryFolder('audit')
let count = 0
const place = (): string => join(mkdtempSync(join(base, `${count++}-`)), 'audit.jsonl')
const lines = (file: string): string[] => readFileSync(file, 'utf8').trimEnd().split('\n')
const write = async (file: string, ...numbers: number[]): Promise<void> => {
  const log = openAuditLog({ file })
  for (const n of numbers) log.write({ at: n, n })
  await log.close()
}

describe('writing', () => {
  test('one line per entry, 0600, each with the hash of the one before', async () => {
    const file = place()
    await write(file, 1, 2)
    await write(file, 3)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const entries = lines(file).map((line) => JSON.parse(line))
    expect(entries.map(({ n }) => n)).toEqual([1, 2, 3])
    expect(entries[1].prev).toBe(entries[0].hash)
    expect(entries[2].prev).toBe(entries[1].hash)
    expect(entries[0]).toMatchObject({ pid: process.pid, user: expect.any(String) })
    expect(await verifyAudit(file)).toMatchObject({ intact: true, lines: 3, problems: [], head: entries[2].hash })
  })

  test('many writers at once keep one chain', async () => {
    const file = place()
    const logs = Array.from({ length: 8 }, () => openAuditLog({ file }))
    for (let round = 0; round < 25; round++) for (const log of logs) log.write({ at: round })
    await Promise.all(logs.map((log) => log.close()))
    expect(await verifyAudit(file)).toMatchObject({ intact: true, lines: 200, problems: [] })
  })

  test('a file that others could read is closed to them', async () => {
    const file = place()
    writeFileSync(file, '', { mode: 0o644 })
    await write(file, 1)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('a link is never followed; the problem is told once and nothing throws', async () => {
    const file = place()
    const victim = join(base, 'victim')
    writeFileSync(victim, 'untouched')
    symlinkSync(victim, file)
    const told: string[] = []
    const log = openAuditLog({ file, onProblem: (message) => told.push(message) })
    log.write({ at: 1 })
    await log.flush()
    log.write({ at: 2 })
    await log.close()
    expect(told).toHaveLength(1)
    expect(told[0]).toContain('ELOOP')
    expect(readFileSync(victim, 'utf8')).toBe('untouched')
  })

  test('what could not be written is counted in the next line that can', async () => {
    const file = place()
    mkdirSync(file)
    const log = openAuditLog({ file })
    log.write({ at: 1 })
    log.write({ at: 2 })
    await log.flush()
    rmSync(file, { recursive: true })
    log.write({ at: 3 })
    await log.close()
    expect(JSON.parse(lines(file)[0] as string)).toMatchObject({ at: 3, lost: 2 })
    expect(await verifyAudit(file)).toMatchObject({
      intact: true,
      problems: [{ what: 'lost', message: expect.stringContaining('2 lines') }],
    })
  })

  test('more than one write can take is written in several, in order', async () => {
    const file = place()
    const log = openAuditLog({ file })
    for (let at = 0; at < 40; at++) log.write({ at, command: String(at % 10).repeat(20_000) })
    await log.close()
    expect(lines(file).map((line) => (JSON.parse(line) as { at: number }).at)).toEqual(
      Array.from({ length: 40 }, (_, at) => at),
    )
    expect(await verifyAudit(file)).toMatchObject({ lines: 40, intact: true, problems: [] })
  })

  test('a lock whose holder died is taken over', async () => {
    const file = place()
    const dead = spawnSync('true').pid
    writeFileSync(`${file}.lock`, String(dead))
    await write(file, 1)
    expect((await verifyAudit(file)).lines).toBe(1)
  })

  test('a lock that is held too long costs the lock, not the line', async () => {
    const file = place()
    const lock = await takeLockFile(`${file}.lock`)
    await write(file, 1)
    lock.release()
    expect(JSON.parse(lines(file)[0] as string)).toMatchObject({ at: 1, unlocked: true })
  })
})

describe('a full disk', () => {
  const mountable = process.getuid?.() === 0 && spawnSync('mount', ['--version']).status === 0

  test('costs lines, says so, and the log goes on when there is room', async (context) => {
    if (!mountable) return context.skip('needs root and mount for a small disk')
    const dir = mkdtempSync(join(base, 'small-'))
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', dir]).status !== 0)
      return context.skip('mounting is not allowed here')
    try {
      const file = join(dir, 'audit.jsonl')
      const told: string[] = []
      const log = openAuditLog({ file, onProblem: (message) => told.push(message) })
      for (let n = 0; n < 400; n++) {
        log.write({ at: n, padding: 'x'.repeat(500) })
        if (n % 20 === 0) await log.flush()
      }
      await log.flush()
      expect(told.join()).toContain('ENOSPC')
      spawnSync('mount', ['-o', 'remount,size=1m', dir])
      log.write({ at: 999 })
      await log.close()
      const { intact, problems } = await verifyAudit(file)
      expect(intact).toBe(true)
      expect(problems.some(({ what }) => what === 'lost')).toBe(true)
      expect(JSON.parse(lines(file).at(-1) as string)).toMatchObject({ at: 999, lost: expect.any(Number) })
    } finally {
      // Lazily: a reader may have it open at this moment.
      spawnSync('umount', ['-l', dir])
    }
  })
})

describe('torn and changed lines', () => {
  test('a torn line is closed by the next writer, told by verify, and breaks nothing', async () => {
    const file = place()
    await write(file, 1)
    appendFileSync(file, '{"at":2,"half')
    await write(file, 3)
    expect(await verifyAudit(file)).toMatchObject({ intact: true, lines: 2, problems: [{ what: 'torn', line: 2 }] })
    const read: unknown[] = []
    for await (const entry of readAudit(file)) read.push(entry['n'])
    expect(read).toEqual([1, 3])
  })

  test('a changed line, a missing line and a missing beginning are found', async () => {
    const file = place()
    await write(file, 1, 2, 3, 4)
    const whole = lines(file)
    writeFileSync(file, `${whole.map((line, i) => (i === 1 ? line.replace('"n":2', '"n":9') : line)).join('\n')}\n`)
    expect(await verifyAudit(file)).toMatchObject({ intact: false, problems: [{ what: 'changed', line: 2 }] })
    writeFileSync(file, `${[whole[0], whole[1], whole[3]].join('\n')}\n`)
    expect(await verifyAudit(file)).toMatchObject({ intact: false, problems: [{ what: 'missing', line: 3 }] })
    writeFileSync(file, `${whole.slice(1).join('\n')}\n`)
    expect(await verifyAudit(file)).toMatchObject({ intact: false, problems: [{ what: 'missing', line: 1 }] })
  })

  test('a file of rubbish is survived', async () => {
    const file = place()
    writeFileSync(file, `\u0000\u0001[]\n"text"\n${'x'.repeat(100_000)}`)
    await write(file, 1)
    expect((await verifyAudit(file)).lines).toBe(1)
  })
})

describe('rotation', () => {
  test('keeps the chain across files and forgets the oldest', async () => {
    const file = place()
    const log = openAuditLog({ file, maxBytes: 4_096, keepFiles: 3 })
    for (let n = 0; n < 200; n++) {
      log.write({ at: n, padding: 'x'.repeat(100) })
      if (n % 5 === 0) await log.flush()
    }
    await log.close()
    const files = auditFiles(file)
    expect(files).toHaveLength(4)
    expect(files.at(-1)).toBe(file)
    expect(await verifyAudit(file)).toMatchObject({ intact: true, problems: [] })
    for (const path of files) expect(statSync(path).mode & 0o777).toBe(0o600)
  })
})

describe('OpenTelemetry', () => {
  test('without a tracing host nothing is loaded; with one every entry is a span', async () => {
    const file = place()
    const quiet = withSpans(openAuditLog({ file }))
    quiet.write({ at: 1, kind: 'run' })
    await quiet.close()

    const { trace } = await import('@opentelemetry/api')
    const spans: { name: string; attributes: Record<string, unknown>; failed: boolean; ms: number }[] = []
    trace.setGlobalTracerProvider({
      getTracer: () => ({
        startSpan: (name: string, options: { startTime: Date; attributes: Record<string, unknown> }) => {
          const span = { name, attributes: options.attributes, failed: false, ms: 0 }
          spans.push(span)
          return {
            setStatus: () => void (span.failed = true),
            end: (at: Date) => void (span.ms = at.getTime() - options.startTime.getTime()),
          }
        },
      }),
    } as never)
    try {
      const log = withSpans(openAuditLog({ file }))
      log.write({
        at: Date.now(),
        kind: 'run',
        command: 'false',
        status: 'failed',
        exitCode: 1,
        durationMs: 12,
        session: null,
      })
      await log.flush()
      await log.close()
      expect(spans).toEqual([
        {
          name: 'cerith.run',
          attributes: expect.objectContaining({ 'cerith.command': 'false', 'cerith.exitCode': 1 }),
          failed: true,
          ms: 12,
        },
      ])
    } finally {
      trace.disable()
    }
  })
})

describe('the end of the log, kept apart', () => {
  const kept = (file: string): string => readFileSync(join(dirname(file), 'audit.head'), 'utf8')

  test('counts the lines and holds the hash of the last; it is private', async () => {
    const file = place()
    await write(file, 1, 2)
    await write(file, 3)
    const head = JSON.parse(kept(file))
    expect(head).toEqual({ lines: 3, hash: JSON.parse(lines(file)[2]!).hash, first: 1 })
    expect(statSync(join(dirname(file), 'audit.head')).mode & 0o777).toBe(0o600)
    expect(lines(file).map((line) => JSON.parse(line).seq)).toEqual([1, 2, 3])
  })

  test('a removed last line is missed', async () => {
    const file = place()
    await write(file, 1, 2, 3)
    writeFileSync(file, `${lines(file).slice(0, 2).join('\n')}\n`)
    expect(await verifyAudit(file)).toMatchObject({
      intact: false,
      problems: [{ what: 'missing', line: 2, message: expect.stringContaining('had 3 lines') }],
    })
  })

  test('a removed tail stays missed after others have written on', async () => {
    const file = place()
    await write(file, 1, 2, 3)
    writeFileSync(file, `${lines(file).slice(0, 1).join('\n')}\n`)
    await write(file, 4, 5)
    expect(await verifyAudit(file)).toMatchObject({ intact: false, lines: 3, problems: [{ what: 'missing', line: 2 }] })
    expect(lines(file).map((line) => JSON.parse(line).seq)).toEqual([1, 4, 5])
  })

  test('a removed file is missed, also when a new one was begun', async () => {
    const file = place()
    await write(file, 1, 2)
    rmSync(file)
    expect(await verifyAudit(file)).toMatchObject({ intact: false, problems: [{ what: 'missing' }] })
    await write(file, 3)
    expect(await verifyAudit(file)).toMatchObject({ intact: false })
  })

  test('a removed oldest part is missed; one that rotation removed is not', async () => {
    const file = place()
    const log = openAuditLog({ file, maxBytes: 4_096, keepFiles: 3 })
    for (let at = 0; at < 60; at++) {
      log.write({ at, padding: 'x'.repeat(500) })
      await log.flush()
    }
    await log.close()
    expect(await verifyAudit(file)).toMatchObject({ intact: true, problems: [] })
    rmSync(auditFiles(file)[0]!)
    expect(await verifyAudit(file)).toMatchObject({ intact: false, problems: [{ what: 'missing' }] })
  })

  test('a removed head is told, and a second copy elsewhere still knows', async () => {
    const file = place()
    const copy = join(mkdtempSync(join(base, 'copy-')), 'head')
    const log = openAuditLog({ file, headCopy: copy })
    for (const at of [1, 2, 3]) log.write({ at })
    await log.close()
    rmSync(join(dirname(file), 'audit.head'))
    writeFileSync(file, `${lines(file).slice(0, 1).join('\n')}\n`)
    expect((await verifyAudit(file, copy)).problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('had 3 lines'),
      expect.stringContaining('audit.head'),
    ])
  })

  test('after the log and the record beside it were removed, the copy elsewhere goes on counting and tells', async () => {
    const file = place()
    const copy = join(mkdtempSync(join(base, 'copy-')), 'head')
    const say = async (...ats: number[]): Promise<void> => {
      const log = openAuditLog({ file, headCopy: copy })
      for (const at of ats) log.write({ at })
      await log.close()
    }
    await say(1, 2, 3)
    rmSync(file)
    rmSync(join(dirname(file), 'audit.head'))
    expect((await verifyAudit(file, copy)).intact).toBe(false)
    await say(4, 5)
    expect(lines(file).map((line) => JSON.parse(line).seq)).toEqual([4, 5])
    expect((await verifyAudit(file, copy)).intact).toBe(false)
    expect((await verifyAudit(file)).intact).toBe(false)
  })

  test('a host that was killed between the line and its record is no forgery', async () => {
    const file = place()
    await write(file, 1)
    const before = kept(file)
    await write(file, 2)
    writeFileSync(join(dirname(file), 'audit.head'), before)
    expect(await verifyAudit(file)).toMatchObject({ intact: true, problems: [] })
    await write(file, 3)
    expect(await verifyAudit(file)).toMatchObject({ intact: true, problems: [], lines: 3 })
  })

  test('a log of before goes on as it was', async () => {
    const file = place()
    const line = (n: number, prev: string): string => {
      const body = JSON.stringify({ at: n, prev })
      return `${body.slice(0, -1)},"hash":"${chainHash(body)}"}`
    }
    const first = line(1, '0'.repeat(64))
    writeFileSync(file, `${first}\n`)
    expect(await verifyAudit(file)).toMatchObject({ intact: true, problems: [] })
    await write(file, 2)
    expect(await verifyAudit(file)).toMatchObject({ intact: true, problems: [], lines: 2 })
  })
})

describe('what has begun', () => {
  test('is a line of its own once it is worth one: not when it was over before anything was written', async () => {
    const file = place()
    const log = openAuditLog({ file })
    log.started({ at: 1, kind: 'start' })()
    log.write({ at: 1, kind: 'run' })
    const over = log.started({ at: 2, kind: 'start' })
    await log.flush()
    expect(lines(file).map((line) => JSON.parse(line).kind)).toEqual(['run', 'start'])
    over()
    log.write({ at: 2, kind: 'run' })
    await log.close()
    expect(lines(file).map((line) => JSON.parse(line).kind)).toEqual(['run', 'start', 'run'])
    expect(await verifyAudit(file)).toMatchObject({ intact: true, problems: [] })
  })
})

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openAuditLog } from '../../src/audit/log.js'
import type { AuditEntry, AuditSink } from '../../src/engine/services/audit-sink.js'
import { Records } from '../../src/web/records.js'
import { temporaryFolder } from '../fixtures/folder.js'

let dir: string
let file: string
let log: AuditSink
let records: Records
beforeEach(() => {
  dir = temporaryFolder('records')
  file = join(dir, 'audit.jsonl')
  log = openAuditLog({ file })
  records = new Records(file, undefined)
})
afterEach(async () => {
  await log.close?.()
})

const entry = (some: Partial<AuditEntry>): AuditEntry => ({
  at: 1_000,
  engine: 'e1',
  door: 'mcp',
  kind: 'session',
  command: 'ls',
  cwd: '/app',
  session: 'main',
  job: null,
  decision: 'allow',
  rule: null,
  status: 'completed',
  exitCode: 0,
  signal: null,
  bytes: 3,
  durationMs: 5,
  ...some,
})
const all = { query: '', session: null, engine: null, limit: 100 }
const written = async (...entries: Partial<AuditEntry>[]): Promise<void> => {
  for (const each of entries) log.write(entry(each))
  await log.close?.()
  log = openAuditLog({ file })
}

test('lines come by when they began, a start only where there is no end, with the number of all that fit', async () => {
  await written(
    { at: 3_000, kind: 'start', command: 'sleep 9', status: 'running', exitCode: null },
    { at: 2_000, kind: 'start', command: 'make', status: 'running', exitCode: null },
    { at: 2_000, command: 'make', exitCode: 2, status: 'failed' },
    { at: 1_000 },
  )
  const { lines, total } = await records.lines(all)
  expect(lines.map(({ command, came, tone }) => [command, came, tone])).toEqual([
    ['ls', 'exit 0', 'ok'],
    ['make', 'exit 2', 'bad'],
    ['sleep 9', 'started', 'plain'],
  ])
  expect(total).toBe(3)
  expect((await records.lines({ ...all, limit: 1 })).lines.map(({ command }) => command)).toEqual(['sleep 9'])
})

test('every word must fit somewhere: command, directory, rule, session, person', async () => {
  await written({ command: 'npm test' }, { command: 'npm publish', kind: 'refused', rule: 'ask-deploy', by: 'ann' })
  const found = async (query: string): Promise<string[]> =>
    (await records.lines({ ...all, query })).lines.map(({ command }) => command)
  expect(await found('NPM')).toEqual(['npm test', 'npm publish'])
  expect(await found('npm ask-deploy')).toEqual(['npm publish'])
  expect(await found('ann main')).toEqual(['npm publish'])
  expect(await found('nothing')).toEqual([])
})

test('a session is blocks with what people did about each', async () => {
  await written(
    { at: 1_000, command: 'npm publish', durationMs: 400 },
    { at: 1_200, kind: 'approve', command: 'npm publish', by: 'ann: node 7', waitedMs: 200, exitCode: null },
    { at: 2_000, command: 'ls', session: 'other' },
    { at: 3_000, kind: 'start', command: 'sleep 9', status: 'running', exitCode: null },
  )
  const blocks = await records.blocks({ ...all, session: 'main' })
  expect(
    blocks.map(({ command, came, isOpen, deeds }) => [command, came, isOpen, deeds.map((deed) => deed.came)]),
  ).toEqual([
    ['npm publish', 'exit 0', false, ['approved']],
    ['sleep 9', 'running', true, []],
  ])
  expect(blocks[0]?.deeds[0]).toMatchObject({ by: 'ann: node 7', waitedMs: 200 })
})

test('the log is read again only when it has changed, and a line that was changed is found', async () => {
  await written({ command: 'one' }, { command: 'two' })
  expect(await records.verdict()).toMatchObject({ intact: true, lines: 2, problems: [] })
  expect(records.lines(all)).toBe(records.lines(all))
  writeFileSync(file, readFileSync(file, 'utf8').replace('"one"', '"eno"'))
  expect(await records.verdict()).toMatchObject({ intact: false, problems: [{ message: expect.any(String) }] })
})

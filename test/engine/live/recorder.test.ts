/** Recordings of sessions: masked, a mark per command, bounded, and only where they were asked for. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createEngine, type Engine } from '../../../src/index.js'
import { parseCast, type Cast } from '../../../src/output/terminal/asciicast.js'
import { temporaryFolder } from '../../fixtures/folder.js'

let dir: string
let engine: Engine
const open = async (recordSessions: boolean): Promise<Engine> =>
  (engine = await createEngine({ stateDir: dir, recordSessions }))
beforeEach(() => {
  dir = temporaryFolder('tape')
})
afterEach(async () => {
  await engine.close()
})
const tapes = (): string[] => (existsSync(join(dir, 'recordings')) ? readdirSync(join(dir, 'recordings')) : [])
const cast = (session: string): Cast =>
  parseCast(readFileSync(join(dir, 'recordings', `${engine.id}.${session}.cast`), 'utf8'))!
const printed = (session: string): string =>
  cast(session)
    .events.filter(({ kind }) => kind === 'o')
    .map(({ text }) => text)
    .join('')

test('nothing is recorded unless it was asked for', async () => {
  await (await (await open(false)).session('main')).run({ command: 'echo hi' })
  expect(tapes()).toEqual([])
})

test('each command has its mark, its line, its masked output and its end', async () => {
  await open(true)
  engine.secrets.set('T', 'super-secret-value')
  const session = await engine.session('main')
  const before = Date.now()
  await session.run({ command: 'echo {{secret:T}}; printf no-newline' })
  await session.run({ command: 'exit 3' })
  await session.run({ command: 'true' })
  const { events, startedAt } = cast('main')
  expect(events.filter(({ kind }) => kind === 'm').map(({ text }) => text)).toEqual([
    'echo {{secret:T}}; printf no-newline',
    'exit 3',
    'true',
  ])
  const asked = events.filter(({ kind }) => kind === 'x').map(({ text }) => Number(text))
  for (const at of asked) expect(at).toBeGreaterThanOrEqual(before)
  expect(startedAt).toBeGreaterThanOrEqual(before)
  expect(printed('main')).toContain('[secret:T]\r\nno-newline\r\n')
  expect(printed('main')).toContain('[exit 3]')
  expect(JSON.stringify(events)).not.toContain('super-secret')
  expect(statSync(join(dir, 'recordings', tapes()[0]!)).mode & 0o777).toBe(0o600)
})

test('a call that waits for its turn does not cut into the one before it', async () => {
  await open(true)
  const session = await engine.session('main')
  const first = session.run({ command: 'echo one; sleep 0.3; echo two' })
  const second = session.run({ command: 'echo three' })
  await Promise.all([first, second])
  expect(
    cast('main')
      .events.filter(({ kind }) => kind !== 'x')
      .map(({ kind, text }) => (kind === 'm' ? `mark ${text}` : text))
      .join('')
      .replaceAll(/\u001B\[\dm|\r/g, ''),
  ).toBe(
    'mark echo one; sleep 0.3; echo two$ echo one; sleep 0.3; echo two\none\ntwo\nmark echo three$ echo three\nthree\n',
  )
})

test('a flood takes its share and no more, and the recording says so', async () => {
  await open(true)
  const session = await engine.session('main')
  await session.run({ command: 'yes 0123456789 | head -c 5000000' })
  await session.run({ command: 'echo after' })
  expect(statSync(join(dir, 'recordings', tapes()[0]!)).size).toBeLessThan(2_000_000)
  expect(printed('main')).toMatch(/\d{7} characters more were not recorded/)
  expect(printed('main')).toContain('after\r\n')
})

test('recordings that are older than jobs are kept are removed by the next engine that records', async () => {
  mkdirSync(join(dir, 'recordings'))
  const old = join(dir, 'recordings', 'gone.main.cast')
  writeFileSync(old, '')
  utimesSync(old, 1, 1)
  await open(true)
  expect(tapes()).toEqual([])
})

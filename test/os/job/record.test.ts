/** Records that were torn, forged or written by another user read as missing, never as something else. */
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { isJobId, makeJobDirectory, removeJobDirectory } from '../../../src/os/job/directory.js'
import { readEndRecord, readJobRecord, readStartRecord } from '../../../src/os/job/record.js'
import { temporaryFolder } from '../../fixtures/folder.js'

let dir: string
beforeEach(() => {
  dir = temporaryFolder('record')
})

const put = (name: string, text: string): void => writeFileSync(join(dir, name), text)

test.each([
  '',
  '{',
  'null',
  '[]',
  '7',
  '"x"',
  '{}',
  '{"id":"other","command":"x","cwd":"/","boot":"b","engine":{"pid":1},"createdAt":1}',
  '{"id":"me","command":7,"cwd":"/"}',
  '\0\0\0',
])('F63 %j is no record of a job', (text) => {
  put('job.json', text)
  expect(readJobRecord(dir, 'me')).toBeNull()
})

test('F63 a start without every field, or with an impossible pid, is no start', () => {
  const whole = 'pid=20\npgid=20\nwarden=19\nwarden_start=5\nleader_start=6\nat=7\n'
  put('started', whole)
  expect(readStartRecord(dir)).toEqual({
    pid: 20,
    pgid: 20,
    warden: 19,
    wardenStart: '5',
    leaderStart: '6',
    init: null,
    at: 7,
    clock: Number.NaN,
  })
  put('started', `${whole}clock=8\n`)
  expect(readStartRecord(dir)).toMatchObject({ at: 7, clock: 8 })
  for (const text of [
    whole.slice(0, 30),
    whole.replace('pid=20', 'pid=-1'),
    whole.replace('warden=19', 'warden=1'),
    whole.replace('pgid=20', 'pgid=x'),
    whole.replace('warden=19', 'warden=0'),
  ]) {
    put('started', text)
    expect(readStartRecord(dir)).toBeNull()
  }
})

test('F63 an end counts only when its last line is there', () => {
  const whole = 'code=3\nsignal=0\nwhy=\nforced=0\nended=9\nout_total=1\nout_map=0:1@0\nwhole=1\n'
  for (let length = 0; length < whole.length - 2; length++) {
    put('status', whole.slice(0, length))
    expect(readEndRecord(dir)).toBeNull()
  }
  put('status', `${whole}${'\n'.repeat(5_000)}`)
  expect(readEndRecord(dir)).toMatchObject({
    code: 3,
    endedAt: 9,
    out: { total: 1, pieces: [{ start: 0, size: 1, at: 0 }] },
  })
})

test('F67 a record is never read through a link', () => {
  put('elsewhere', 'code=0\nwhole=1\n')
  symlinkSync(join(dir, 'elsewhere'), join(dir, 'status'))
  expect(readEndRecord(dir)).toBeNull()
})

test("ids: every dialect's form is one, and nothing that could leave the directory", () => {
  for (const id of ['shell_1a2b3c4d', 'bg-1', 'bash_12', '4711', 'a.b']) expect(isJobId(id)).toBe(true)
  for (const id of ['', '.', '..', '.hidden', 'a/b', '../x', 'a b', 'a\n', 'x'.repeat(65), '-x', 'a~1', 7, null])
    expect(isJobId(id)).toBe(false)
})

test('a directory is made once and removed once', () => {
  const made = makeJobDirectory(dir, () => 'one')
  expect(() => makeJobDirectory(dir, () => 'one')).toThrow(/taken/)
  expect([removeJobDirectory(made.dir), removeJobDirectory(made.dir)]).toEqual([true, false])
})

/** Reading stored output from files alone: heads, segments, holes, joined files, last words in the record. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { readStored, storedSize } from '../../../src/os/job/output.js'
import { temporaryFolder } from '../../fixtures/folder.js'

let dir: string
beforeEach(() => {
  dir = temporaryFolder('output')
})

const put = (name: string, text: string): void => writeFileSync(join(dir, name), text)
const status = (fields: string): void =>
  put('status', `code=0\nsignal=0\nwhy=\nforced=0\nended=1\nincomplete=0\n${fields}whole=1\n`)
const read = (since: number, max = 1_000): [string, number, number, number] => {
  const range = readStored(dir, 'output.log', since, max)
  return [Buffer.from(range.bytes).toString(), range.start, range.lostBefore, range.total]
}

test('nothing there yet reads as nothing', () => {
  expect(read(0)).toEqual(['', 0, 0, 0])
  expect(storedSize(dir, 'stderr.log')).toEqual({ total: 0, omitted: 0 })
})

test('head and adjacent segments are one range; a hole ends it and is counted by the next read', () => {
  put('output.log', '0123456789')
  put('output.log.10', 'abcde')
  put('output.log.20', 'vwxyz')
  expect(read(0)).toEqual(['0123456789abcde', 0, 0, 25])
  expect(read(8, 4)).toEqual(['89ab', 8, 0, 25])
  expect(read(15)).toEqual(['vwxyz', 20, 5, 25])
  expect(read(17)).toEqual(['vwxyz', 20, 3, 25])
  expect(read(25)).toEqual(['', 25, 0, 25])
  expect(read(99)).toEqual(['', 25, 0, 25])
  expect(storedSize(dir, 'output.log')).toEqual({ total: 25, omitted: 5 })
})

test('after the end the record says what is output: the joined file has more than that', () => {
  put('output.log', '0123456789\n[... 5 bytes omitted ...]\nvwxyz\n[background process completed: exit code 0]\n')
  status('out_total=20\nout_omitted=5\nout_map=0:10@0 15:5@37\n')
  expect(read(0)).toEqual(['0123456789', 0, 0, 20])
  expect(read(10)).toEqual(['vwxyz', 15, 5, 20])
})

test('a segment that was not joined (a full disk) is read where it is; last words come from the record', () => {
  put('output.log', '0123456789\n[background process completed: exit code 0]\n')
  put('output.log.15', 'vwxyz')
  status('out_total=30\nout_omitted=7\nout_map=0:10@0 15:5@40\nout_last=656e64\n')
  expect(read(10)).toEqual(['vwxyz', 15, 5, 30])
  expect(read(20)).toEqual(['end', 27, 7, 30])
  expect(read(28)).toEqual(['nd', 28, 0, 30])
})

test('late output is read on behind the recorded end', () => {
  put('output.log', 'on time\n[background process completed: exit code 0]\n')
  status('out_total=8\nout_omitted=0\nout_map=0:8@0\n')
  put('late.log', 'late\n')
  expect(read(0)).toEqual(['on time\nlate\n', 0, 0, 13])
  expect(read(9)).toEqual(['ate\n', 9, 0, 13])
})

test('names that are not segments, and a directory in place of one, do not disturb', () => {
  put('output.log', 'abc')
  put('output.log.x', 'no')
  put('output.log.', 'no')
  put('output.logs', 'no')
  mkdirSync(join(dir, 'output.log.tmp'))
  expect(read(0)).toEqual(['abc', 0, 0, 3])
})

import { expect, test } from 'vitest'
import { blocksOf, toneOf, whatCame, withoutStarts } from '../../src/audit/blocks.js'
import type { AuditLine } from '../../src/audit/chain.js'

const line = (some: Record<string, unknown>): AuditLine =>
  ({ at: 1, engine: 'e', command: 'c', kind: 'run', exitCode: 0, durationMs: 10, ...some }) as AuditLine

test('what came of a line, in a word or two, and how it looks', () => {
  const rows: [Record<string, unknown>, string, string][] = [
    [{}, 'exit 0', 'ok'],
    [{ exitCode: 2 }, 'exit 2', 'bad'],
    [{ exitCode: null, signal: 'SIGTERM', status: 'failed' }, 'SIGTERM', 'bad'],
    [{ exitCode: null, status: 'timeout' }, 'timeout', 'bad'],
    [{ exitCode: null, status: 'running' }, 'running', 'plain'],
    [{ kind: 'job', exitCode: null, status: 'running' }, 'to jobs', 'plain'],
    [{ kind: 'refused', rule: 'wipe-root', exitCode: null }, 'refused wipe-root', 'warn'],
    [{ kind: 'dry_run', status: 'dry_run', exitCode: null }, 'dry_run', 'plain'],
    [{ kind: 'approve', exitCode: null }, 'approved', 'plain'],
    [{ kind: 'deny', exitCode: null }, 'denied', 'bad'],
    [{ kind: 'kill', exitCode: null }, 'killed', 'bad'],
    [{ kind: 'start', exitCode: null }, 'started', 'plain'],
  ]
  for (const [some, came, tone] of rows) expect([whatCame(line(some)), toneOf(line(some))]).toEqual([came, tone])
})

test('a start counts only while there is no end; an answer to the same text is no end', () => {
  const start = line({ kind: 'start' })
  expect(withoutStarts([start, line({ kind: 'approve' })])).toHaveLength(2)
  expect(withoutStarts([start, line({})])).toEqual([line({})])
})

test('commands stand in the order in which they began, each with the deeds about it', () => {
  const blocks = blocksOf([
    line({ at: 200, command: 'b' }),
    line({ at: 100, command: 'a', durationMs: 500 }),
    line({ at: 150, command: 'a', kind: 'kill', by: 'ann' }),
    line({ at: 99, command: 'a', kind: 'kill', by: 'too early' }),
    line({ at: 300, command: 'c', kind: 'start' }),
  ])
  expect(blocks.map(({ entry, isOpen, deeds }) => [entry['command'], isOpen, deeds.map(({ by }) => by)])).toEqual([
    ['a', false, ['ann']],
    ['b', false, []],
    ['c', true, []],
  ])
})

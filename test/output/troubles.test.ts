/** Failures in the middle of output that is not kept: found while it passes, for runs, sessions and jobs. */
import { describe, expect, test } from 'vitest'
import { PassingTroubles } from '../../src/output/troubles.js'
import { createTools } from '../../src/tools/create-tools.js'
import { testEngine } from '../engine/harness.js'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('what passes', () => {
  test('a line that is cut between two chunks is one line, with its two lines after it', () => {
    const passing = new PassingTroubles()
    passing.push(bytes('fine\nFAILED te'), 100)
    passing.push(bytes('st one\n  at a.ts:1\nmore\nfine\n'), 114)
    const { troubles, counts } = passing.before(1_000)
    expect(troubles).toEqual([{ line: null, text: 'FAILED test one', weight: 2, after: ['  at a.ts:1', 'more'] }])
    expect(counts).toEqual({ 1: 0, 2: 1 })
    expect(passing.before(105).troubles).toEqual([])
    expect(passing.before(106).troubles).toHaveLength(1)
  })

  test('colours and redrawn lines do not hide a failure, marks that are no ASCII are seen', () => {
    const passing = new PassingTroubles()
    passing.push(bytes('\x1b[31mFAILED\x1b[0m a\n50 %\r100 %\rerror: late\r\n ✗ does it\n ❌ no\n'), 0)
    expect(passing.before(1_000).troubles.map(({ text }) => text)).toEqual([
      'FAILED a',
      'error: late',
      ' ✗ does it',
      ' ❌ no',
    ])
  })

  test('of a flood the first 16 MiB are looked at, and then only a small part', () => {
    const flood = bytes('some words of a program that never ends\n'.repeat(1_600))
    const time = (passing: PassingTroubles, pushes: number): number => {
      const began = performance.now()
      for (let at = 0; at < pushes; at++) passing.push(flood, at * flood.length)
      return performance.now() - began
    }
    const passing = new PassingTroubles()
    const always = time(passing, 250)
    const rest = time(passing, 16_000)
    expect(rest, 'all of it would take 64 times as long').toBeLessThan(always * 32)
  })
})

describe('five megabytes with a failure in the middle', () => {
  const LOUD = 'seq 1 400000; echo "FAILED it.test.ts > adds"; echo "  at it.test.ts:12:5"; seq 1 400000; (exit 1)'

  test('a run and a session show it', async () => {
    const engine = await testEngine()
    for (const where of [engine, await engine.session()]) {
      const { stdout } = await where.run({ command: LOUD })
      expect(stdout.length).toBeLessThan(31_000)
      expect(stdout).toMatch(/FAILED it\.test\.ts > adds\n +at it\.test\.ts:12:5\n/)
    }
  })

  test('a background shell shows it', async () => {
    const engine = await testEngine()
    const tools = createTools(engine)
    const started = await tools.execute('Bash', { command: LOUD, run_in_background: true })
    const { text } = await tools.execute('BashOutput', { shell_id: started.structured['id'], wait_ms: 30_000 })
    expect(text).toMatch(/FAILED it\.test\.ts > adds\n +at it\.test\.ts:12:5\n/)
  })
})

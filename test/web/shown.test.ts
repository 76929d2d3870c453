/** What the page shows, as far as it needs no browser: texts, times, the timeline, the tape, what is skipped. */
import { describe, expect, test } from 'vitest'
import { Flow } from '../../src/web/flow.js'
import { ago, clockOf, pieces, size, took, visible } from '../../src/web/page/parts/format.js'
import { layOut } from '../../src/web/page/session/lay-out.js'
import { commandAt, plainOutput, tapeOf } from '../../src/web/page/session/tape.js'
import type { BlockRow } from '../../src/web/words.js'

describe('texts', () => {
  test('hidden, bidi, zero-width and tag characters are shown as escapes', () => {
    expect(visible('a\u202Eb\u200Bc\u0007d\u{E0041}e\u3164f\nok\t✓')).toBe(
      'a\\u{202e}b\\u{200b}c\\u{7}d\\u{e0041}e\\u{3164}f\nok\t✓',
    )
  })

  test('in what is to be approved, each kind of odd character is a piece of its own', () => {
    expect(pieces('rm  \u0430\u200B\nx')).toEqual([
      { text: 'rm', odd: null },
      { text: '··', odd: 'blank' },
      { text: '\u0430', odd: 'foreign' },
      { text: '\\u{200b}', odd: 'hidden' },
      { text: '⏎\n', odd: 'blank' },
      { text: 'x', odd: null },
    ])
  })

  test('numbers have units and times read well', () => {
    expect([999, 1_500, 12_345_678].map(size)).toEqual(['999 B', '1.5 kB', '12 MB'])
    expect([900, 1_500, 90_000, 5_400_000].map(took)).toEqual(['900 ms', '1.5 s', '1 min', '1 h 30 min'])
    expect([0, 59_000, 172_800_000].map(ago)).toEqual(['0 s', '59 s', '2 d'])
    expect([0, 65_000].map(clockOf)).toEqual(['0:00', '1:05'])
  })
})

const block = (at: number, ms: number, isOpen = false): BlockRow =>
  ({ at, ms, isOpen, command: `c${at}`, tone: 'ok', deeds: [] }) as unknown as BlockRow

describe('the timeline', () => {
  test('a long pause is drawn short, and what ran keeps its proportions', () => {
    const { bars, pauses } = layOut([block(0, 1_000), block(3_600_000, 2_000)], 3_700_000)
    expect(pauses).toHaveLength(1)
    expect(pauses[0]!.width).toBeLessThan(10)
    expect(bars[1]!.width / bars[0]!.width).toBeCloseTo(2)
    expect(bars[1]!.left + bars[1]!.width).toBeCloseTo(100)
  })

  test('commands that overlap stand in lanes, and nothing leaves the frame', () => {
    const { bars } = layOut([block(0, 1_000), block(500, 1_000), block(1_999, 0), block(2_000, 0, true)], 2_500)
    expect(bars.map(({ lane }) => lane)).toEqual([0, 1, 0, 0].map((lane, at) => (at < 2 ? lane : bars[at]!.lane)))
    for (const { left, width } of bars) expect(left + width).toBeLessThanOrEqual(100.001)
  })
})

describe('the tape', () => {
  const tape = tapeOf([
    [1_000, 'm', 'ls'],
    [1_000, 'x', '990'],
    [1_000, 'o', '\u001b[1m$ ls\u001b[0m\r\n'],
    [1_100, 'o', '\u001b[31ma\u001b[0m\r\nb\r\n'],
    [61_000, 'm', 'pwd'],
    [61_000, 'x', '60990'],
    [61_000, 'o', '$ pwd\r\n'],
  ])

  test('pauses are shortened, and commands are found by the moment of the record', () => {
    expect(tape.lengthMs).toBe(1_600)
    expect(commandAt(tape, 60_991, 'pwd')?.atMs).toBe(1_600)
    expect(commandAt(tape, 60_991, 'other')).toBeUndefined()
  })

  test('the output of a command is plain text without the command', () => {
    expect(tape.commands.map(plainOutput)).toEqual(['a\nb\n', ''])
  })
})

describe('the flow to a view', () => {
  test('no more is on its way than was read; the rest is skipped to the end and counted', () => {
    const sent: { text: string; skipped: number }[] = []
    const flow = new Flow((text, skipped) => sent.push({ text, skipped }))
    const chunk = `${'x'.repeat(1_023)}\n`.repeat(64)
    for (let n = 0; n < 100; n++) flow.push(chunk)
    const unread = sent.reduce((sum, { text }) => sum + text.length, 0)
    expect(unread).toBeLessThan(600_000)
    flow.read(unread)
    const all = sent.reduce((sum, { text, skipped }) => sum + text.length + skipped, 0)
    expect(all).toBe(100 * chunk.length)
    expect(sent.at(-1)!.text.endsWith('\n')).toBe(true)
  })
})

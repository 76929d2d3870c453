import { fc } from '../fixtures/fast-check.js'
import { describe, expect, test } from 'vitest'
import { clipEnds, clipHead, clipMiddle, joinEnds } from '../../src/output/clip.js'
import { utf8Length } from '../../src/output/utf8.js'

const bytes = (text: string): number => new TextEncoder().encode(text).length

describe('EXEC-12: the first 30,000 characters', () => {
  test('exactly 30,000 pass untouched, one more is too many', () => {
    const exact = 'x'.repeat(30_000)
    expect(clipHead(exact)).toEqual({ text: exact, truncated: false, omittedBytes: 0 })
    expect(clipHead(`${exact}y`)).toEqual({
      text: `${exact}\n\n[Output truncated at 30000 characters]`,
      truncated: true,
      omittedBytes: 1,
    })
  })

  test('F28: a surrogate pair at the cut stays whole', () => {
    const { text, omittedBytes } = clipHead(`${'x'.repeat(29_999)}🔑tail`)
    expect(text).toBe(`${'x'.repeat(29_999)}\n\n[Output truncated at 30000 characters]`)
    expect(omittedBytes).toBe(bytes('🔑tail'))
  })

  test('the marker is the dialect’s', () => {
    expect(clipHead('abcdef', { maxChars: 3, marker: '\n\n... (output truncated)' }).text).toBe(
      'abc\n\n... (output truncated)',
    )
  })
})

describe('EXEC-13: more than 128 KB keep the first and the last 4 KB', () => {
  test('exactly 131,072 bytes pass untouched, one more is too many', () => {
    const exact = 'x'.repeat(131_072)
    expect(clipMiddle(exact)).toEqual({ text: exact, truncated: false, omittedBytes: 0 })
    const { text, truncated, omittedBytes } = clipMiddle(
      `${'a'.repeat(4_096)}${'m'.repeat(122_881)}${'z'.repeat(4_096)}`,
    )
    expect(text).toBe(
      `[output truncated in middle: got 131073 bytes, max is 131072 bytes]\n${'a'.repeat(4_096)}\n\n[snip]\n\n${'z'.repeat(4_096)}`,
    )
    expect({ truncated, omittedBytes }).toEqual({ truncated: true, omittedBytes: 122_881 })
  })

  test('the limit counts bytes, not characters', () => {
    expect(clipMiddle('═'.repeat(43_690)).truncated).toBe(false)
    expect(clipMiddle('═'.repeat(43_691)).truncated).toBe(true)
  })

  test('F28: cuts fall between characters wherever they fall', () => {
    for (const shift of [0, 1, 2, 3]) {
      const { text, omittedBytes } = clipMiddle('x'.repeat(shift) + '═'.repeat(50_000) + '🔑'.repeat(2_000))
      expect(text).not.toContain('\uFFFD')
      const [, head, tail] = /\n([^]*)\n\n\[snip\]\n\n([^]*)$/.exec(text)!
      expect(bytes(head!) + bytes(tail!) + omittedBytes).toBe(shift + 150_000 + 8_000)
    }
  })

  test('bytes are taken as well as text', () => {
    expect(clipMiddle(new TextEncoder().encode('abc')).text).toBe('abc')
    expect(clipMiddle(Uint8Array.of(0xff, 0x61)).text).toBe('\uFFFDa')
  })
})

describe('the house clip', () => {
  const lines = (count: number): string => Array.from({ length: count }, (_, i) => `line ${i + 1}`).join('\n') + '\n'

  test('within the limit nothing changes, beyond it both ends are there', () => {
    expect(clipEnds('x'.repeat(30_000))).toEqual({ text: 'x'.repeat(30_000), truncated: false, omittedBytes: 0 })
    const { text, truncated } = clipEnds(lines(10_000))
    expect(truncated).toBe(true)
    expect(text.startsWith('line 1\nline 2\n')).toBe(true)
    expect(text.endsWith('line 9999\nline 10000\n')).toBe(true)
  })

  test('says how many bytes and lines are missing and where the whole is', () => {
    const whole = lines(10_000)
    const { text, omittedBytes } = clipEnds(whole, { wholeAt: '/state/run/output.log' })
    const [marker, count, missing] =
      /\[\.\.\. (\d+) bytes, (\d+) lines omitted; whole output: \/state\/run\/output\.log \.\.\.\]\n/.exec(text)!
    const [head, tail] = text.split(marker) as [string, string]
    expect(Number(count)).toBe(omittedBytes)
    expect(whole.length - omittedBytes).toBe(head.length + tail.length)
    expect(head.split('\n').length - 1 + Number(missing) + tail.split('\n').length - 1).toBe(10_000)
  })

  test('cuts at line borders', () => {
    const { text } = clipEnds(lines(10_000))
    for (const line of text.split('\n')) expect(line).toMatch(/^(?:line \d+|\[\.\.\. .*\]|)$/)
  })

  test('a failure in the omitted middle is shown with its line number', () => {
    const whole = `${lines(5_000)}FAILED tests/test_a.py::test_x - AssertionError: 1 != 2\n${lines(5_000)}`
    expect(clipEnds(whole).text).toContain('5001: FAILED tests/test_a.py::test_x - AssertionError: 1 != 2\n')
  })

  test.each([
    'error: could not compile `x`',
    'src/a.ts(3,5): error TS2322: Type mismatch',
    'main.c:10:5: error: expected ;',
    "thread 'main' panicked at src/main.rs:2:5:",
    'panic: runtime error: index out of range',
    'Traceback (most recent call last):',
    'E       assert 1 == 2',
    'AssertionError: expected 1',
    '--- FAIL: TestX (0.00s)',
    'not ok 3 - adds numbers',
    'Segmentation fault (core dumped)',
    'make: *** [Makefile:3: all] Error 2',
    '  ✗ does a thing',
    'java.lang.NullPointerException: x',
    'fatal: not a git repository',
  ])('error-looking: %s', (line) => {
    expect(clipEnds(`${lines(5_000)}${line}\n${lines(5_000)}`).text).toContain(`5001: ${line}\n`)
  })

  test.each([
    '0 errors, 0 warnings',
    'Tests: 12 passed, failed: 0',
    'compiling module terror.c',
    'no errors found',
    'see mirror for details',
  ])('not error-looking: %s', (line) => {
    expect(clipEnds(`${lines(5_000)}${line}\n${lines(5_000)}`).text).not.toContain(line)
  })

  test('verdicts come before lines that only speak of errors', () => {
    const noise = Array.from({ length: 3_000 }, (_, i) => `retry ${i} after connection error`).join('\n')
    const { text } = clipEnds(`${lines(3_000)}${noise}\nFAILED tests/test_b.py\n${noise}\n${lines(3_000)}`)
    expect(text).toContain('FAILED tests/test_b.py')
    expect(text.length).toBeLessThanOrEqual(30_000)
  })

  test('never longer than its budget, never a split pair, and the count is right, for any text', () => {
    const piece = fc.constantFrom(
      'line\n',
      'x'.repeat(50),
      '🔑'.repeat(9),
      '═\n',
      'error: bad\n',
      'FAILED a\n',
      '\n',
      'é',
    )
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 120 }),
        fc.integer({ min: 1, max: 900 }),
        fc.boolean(),
        (parts, maxChars, named) => {
          const whole = parts.join('')
          const { text, truncated, omittedBytes } = clipEnds(whole, {
            maxChars,
            wholeAt: named ? '/tmp/some/where.log' : null,
          })
          expect(text.length).toBeLessThanOrEqual(maxChars)
          expect(truncated).toBe(whole.length > maxChars)
          expect(omittedBytes).toBeLessThanOrEqual(bytes(whole))
          expect(utf8Length(text)).toBe(bytes(text))
          expect(text).not.toMatch(/\p{Surrogate}/u)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('with a hole between the ends the hole is counted and the far lines carry no number', () => {
    const head = lines(3_000)
    const tail = `FAILED far\n${lines(3_000)}`
    const { text, omittedBytes } = joinEnds(head, tail, { hole: 5_000_000 })
    expect(text).toContain('\nFAILED far\n')
    expect(text.length).toBeLessThanOrEqual(30_000)
    expect(omittedBytes).toBeGreaterThan(5_000_000)
  })

  test('a failure is shown with the two lines after it that say something, each line once', () => {
    const failure = 'FAILED it.test.ts > adds\n\nexpected 3 to be 4\n  at it.test.ts:12:5\nnext\n'
    const { text } = clipEnds(`${lines(3_000)}${failure}${lines(3_000)}`)
    expect(text).toContain('FAILED it.test.ts > adds\n   expected 3 to be 4\n   at it.test.ts:12:5\n')
    const many = clipEnds(`${lines(3_000)}${failure.repeat(400)}${lines(3_000)}`)
    expect(many.text.length).toBeLessThanOrEqual(30_000)
    expect(many.text.split('it.test.ts:12:5').length).toBeGreaterThan(10)
    expect(many.text).not.toMatch(/^ {3}FAILED/m)
  })

  test('hostile text takes linear time', () => {
    const started = performance.now()
    for (const piece of [
      '\n',
      ' ',
      ' \n',
      'error\n',
      'error ',
      '✗',
      'Error',
      'not ok',
      '\t\n',
      'e',
      '0 errors\n',
      '🔑',
    ])
      clipEnds(piece.repeat(1_000_000 / piece.length))
    expect(performance.now() - started).toBeLessThan(20_000)
  })

  test('a line of megabytes is cut in the middle, quickly', () => {
    const { text } = clipEnds(`error ${'x'.repeat(5_000_000)} end`)
    expect(text.startsWith('error xxx')).toBe(true)
    expect(text.endsWith('xxx end')).toBe(true)
  })
})

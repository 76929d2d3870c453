import { fc } from '../fixtures/fast-check.js'
import { describe, expect, test } from 'vitest'
import { ShellError } from '../../src/contract/errors.js'
import { createLineFilter, type LineFilterOptions } from '../../src/output/filter.js'
import { compilePattern } from '../../src/output/pattern.js'

/** Filters a whole text. */
async function filterLines(
  text: string,
  pattern: string,
  options: LineFilterOptions = {},
): Promise<{ text: string; matches: number }> {
  const filter = await createLineFilter(pattern, options)
  const kept = filter.push(text) + filter.flush()
  return { text: kept, matches: filter.matches }
}

const log = 'one error\ntwo\nthree\nfour error\nfive\nsix\n'

describe('BG-08: whole lines that match', () => {
  test('are kept, with their count', async () => {
    expect(await filterLines(log, 'error')).toEqual({ text: 'one error\nfour error\n', matches: 2 })
    expect(await filterLines(log, 'nothing')).toEqual({ text: '', matches: 0 })
  })

  test('the last line counts without its line break', async () => {
    expect(await filterLines('a\nlast error', 'error$')).toEqual({ text: 'last error', matches: 1 })
  })

  test('anchors mean the line, also with DOS line ends', async () => {
    expect((await filterLines('ab\r\nxab\r\n', '^ab$')).text).toBe('ab\r\n')
  })

  test('case is ignored on request, and by (?i)', async () => {
    expect((await filterLines('ERROR\n', 'error')).matches).toBe(0)
    expect((await compilePattern('error', { ignoreCase: true }))(['ERROR'])).toEqual([true])
    expect((await filterLines('ERROR\n', '(?i)error')).matches).toBe(1)
  })

  test('lines around a match, groups parted as grep does', async () => {
    expect((await filterLines(log, 'four', { before: 1 })).text).toBe('three\nfour error\n')
    expect((await filterLines(log, 'error', { after: 1 })).text).toBe('one error\ntwo\n--\nfour error\nfive\n')
    expect((await filterLines(log, 'error', { before: 1, after: 1 })).text).toBe(
      'one error\ntwo\nthree\nfour error\nfive\n',
    )
    expect((await filterLines('a x\nb x\nc\n', 'x', { before: 2, after: 2 })).text).toBe('a x\nb x\nc\n')
  })

  test('any pieces give what the whole gives', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('x', 'y', '\n', '\r\n', 'xx\n', '🔑'), { maxLength: 30 }),
        fc.array(fc.nat(40), { maxLength: 6 }),
        fc.nat(2),
        fc.nat(2),
        async (parts, cuts, before, after) => {
          const text = parts.join('')
          const at = [...new Set([0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length])].sort(
            (a, b) => a - b,
          )
          const filter = await createLineFilter('x', { before, after })
          const out = at.slice(1).map((end, index) => filter.push(text.slice(at[index], end)))
          expect({ text: out.join('') + filter.flush(), matches: filter.matches }).toEqual(
            await filterLines(text, 'x', { before, after }),
          )
        },
      ),
    )
  })

  test('a line without end does not fill the memory', async () => {
    const filter = await createLineFilter('^needle')
    filter.push('needle')
    for (let i = 0; i < 100; i++) expect(filter.push('x'.repeat(100_000))).toBe('')
    const shown = filter.push('\nafter\n')
    expect(shown.length).toBeLessThan(1_100_000)
    expect(shown).toContain('[... line cut here]\n')
  })
})

describe('BG-08: a bad pattern is an error before anything is read', () => {
  test.each(['(', '[a', '*a', 'a**', '\\', '(?<n', 'a{2,1}', 'x'.repeat(20_000)])('%.20s', async (pattern) => {
    const error = await createLineFilter(pattern).catch((caught: unknown) => caught)
    expect(ShellError.is(error)).toBe(true)
    expect(error).toMatchObject({ code: 'BAD_FILTER', message: expect.stringContaining('Invalid filter regex') })
  })

  test('what needs backtracking is refused clearly where nothing can stop it', async () => {
    for (const pattern of ['a(?=b)', '(a)\\1', '(?<n>\\d+)-\\k<n>'])
      await expect(createLineFilter(pattern)).rejects.toThrow(/Invalid filter regex.*lookaround and backreferences/)
  })
})

describe('spellings', () => {
  test.each([
    ['[[:alpha:]]+$', ['abc'], ['123']],
    ['(?P<n>\\d+)', ['1'], ['a']],
    ['(?<year>\\d{4})', ['2026'], ['26']],
    ['\\bfoo\\b', ['a foo b'], ['food']],
    ['\\p{Lu}', ['É'], ['é']],
    ['\\u00e9', ['é'], ['e']],
    ['', ['anything'], []],
    ['a.c', ['abc', 'a🔑c'], ['ac']],
    ['(?<=id=)\\d', ['id=5'], ['5']],
    ['(?<!no )error', ['error', 'an error'], ['no error']],
    ['^(?!.*DEBUG)', ['INFO x', ''], ['a DEBUG b']],
    ['^(?!.*DEBUG).*item', ['INFO item'], ['DEBUG item', 'INFO']],
    ['^(?=.*a)(?=.*b)', ['xbxa'], ['xa', 'b']],
    ['^(?!#|$)', ['x'], ['# x', '']],
    ['^(?![(\\]])x?', ['a'], ['(a', ']']],
  ])('%s', async (pattern, yes, no) => {
    const test = async (line: string): Promise<number> => (await filterLines(`${line}\n`, pattern)).matches
    for (const line of yes) expect([line, await test(line)]).toEqual([line, 1])
    for (const line of no) expect([line, await test(line)]).toEqual([line, 0])
  })

  test('a lookahead that guards one branch only is not mistaken for one that guards all', async () => {
    for (const pattern of ['^(?!a)b|c', '^(?!a)*b'])
      await expect(filterLines('c\n', pattern)).rejects.toThrow('lookaround and backreferences are not supported here')
  })
})

describe('many lines at once', () => {
  const alphabet = fc.constantFrom('a', 'b', 'ab', ' ', '', 'é')
  test.each([
    'a$',
    '^b',
    '^$',
    '[^a]b',
    '\\s',
    'a\\sb',
    '\\Bb',
    '\\bb',
    '(?s)a.b',
    '\\Aa',
    'b\\z',
    '(?<![^a])b',
    '(?<=a)b',
    'a.*b|^ ',
  ])('%s gives each line what it would get alone', async (pattern) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.array(alphabet, { maxLength: 4 }).map((parts) => parts.join('')),
          { minLength: 1, maxLength: 100 },
        ),
        async (lines) => {
          const alone = await Promise.all(lines.map(async (line) => (await filterLines(`${line}\n`, pattern)).text))
          expect((await filterLines(lines.map((line) => `${line}\n`).join(''), pattern)).text).toBe(alone.join(''))
        },
      ),
      { numRuns: 15 },
    )
  })
})

describe('time', () => {
  test.each(['(a+)+$', '^(a|a)*$', '(.*a){12}$', '^(\\w+\\s?)*$', '(a*)*b', '^(?!(a+)+$)x'])(
    'hostile lines cannot make %s slow',
    async (pattern) => {
      const started = performance.now()
      await filterLines(`${'a'.repeat(50_000)}!\n`.repeat(4), pattern)
      expect(performance.now() - started).toBeLessThan(5_000)
    },
  )

  test('patterns that would grow without bounds are refused or bounded', async () => {
    const started = performance.now()
    for (const pattern of [
      '((a{100}){100}){100}',
      '((((a{1,50}){1,50}){1,50}){1,50})',
      '('.repeat(4_000) + 'a' + ')'.repeat(4_000),
      '(?:a?){999}(?:a?){999}',
    ])
      await filterLines('aaaa\n', pattern).catch((error: unknown) => expect(ShellError.is(error)).toBe(true))
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})

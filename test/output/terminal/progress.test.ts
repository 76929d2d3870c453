import { fc } from '../../fixtures/fast-check.js'
import { describe, expect, test } from 'vitest'
import { collapseProgress, createProgressCollapser } from '../../../src/output/terminal/progress.js'

const E = '\x1b'

describe('a rewritten line becomes what a terminal would show', () => {
  test.each([
    ['the last of many', '10%\r50%\r100%\ndone\n', '100%\ndone\n'],
    ['a shorter text over a longer one leaves its rest', 'abcdef\rXY\n', 'XYcdef\n'],
    ['unless the line was erased first', `Downloading 55%\r${E}[KDone\n`, 'Done\n'],
    ['erased as a whole', `Downloading 55%${E}[2K\rDone\n`, 'Done\n'],
    ['erased behind the cursor', `abcdef\rab${E}[K\n`, 'ab\n'],
    ['covered with blanks', 'Downloading\rDone       \n', 'Done\n'],
    ['backspaces of a spinner', 'wait |\b/\b-\b\\\b done\n', 'wait  done\n'],
    ['overstruck bold and underline', 'N\bNA\bAM\bME\bE _\bx\n', 'NAME x\n'],
    ['cursor columns', `0%${E}[1G50%${E}[3D99%\n`, '99%\n'],
    ['a spinner that goes to column 1 and erases', `⠋ load${E}[1G${E}[0K⠙ load${E}[1G${E}[0K✔ done\n`, '✔ done\n'],
    ['colours stay with their letters', `${E}[31m10%${E}[0m\r${E}[32m99%${E}[0m\n`, `${E}[0m${E}[32m99%${E}[0m\n`],
    ['characters beyond ASCII', '🔑🔑🔑\ré\n', 'é🔑🔑\n'],
    ['the end without a line break', '1/2\r2/2', '2/2'],
    ['a return at the very end', '1/2\r2/2\r', '2/2'],
    ['a backspace at the beginning', '\b\babc\n', 'abc\n'],
  ])('%s', (_, given, shown) => {
    expect(collapseProgress(given)).toBe(shown)
  })

  test('lines that were not rewritten pass unchanged, also with DOS line ends', () => {
    const plain = `a\tb\r\nc  \n${E}[31mred${E}[0m\r\n\n last`
    expect(collapseProgress(plain)).toBe(plain)
  })
})

test('any pieces give what the whole gives', () => {
  const piece = fc.constantFrom(
    '10%',
    'long text',
    '\r',
    '\r',
    '\n',
    '\r\n',
    '\b',
    `${E}[K`,
    `${E}[2K`,
    `${E}[31m`,
    `${E}[3D`,
    '🔑',
    ' ',
    `${E}]0;t\x07`,
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 25 }), fc.array(fc.nat(120), { maxLength: 8 }), (parts, cuts) => {
      const text = parts.join('')
      const at = [...new Set([0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length])].sort((a, b) => a - b)
      const collapser = createProgressCollapser()
      const out = at.slice(1).map((end, index) => collapser.push(text.slice(at[index], end)))
      expect(out.join('') + collapser.flush()).toBe(collapseProgress(text))
    }),
    { numRuns: 2000 },
  )
})

test('a line shows the same whether or not a sequence is in it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('10%', 'long text', '\r', '\b', ' ', 'é', 'x'), { maxLength: 20 }),
      (parts) => {
        const text = parts.join('')
        expect(collapseProgress(`${E}[0m${text}\n`).replace(`${E}[0m`, '')).toBe(collapseProgress(`${text}\n`))
      },
    ),
  )
})

describe('memory', () => {
  test('a bar that never ends its line is kept as one line', () => {
    const collapser = createProgressCollapser()
    let out = ''
    for (let i = 0; i <= 200_000; i++) out += collapser.push(`\rprogress ${i}`)
    expect(out).toBe('')
    expect(collapser.flush()).toBe('progress 200000')
  })

  test('a spinner of backspaces or columns that never ends its line too', () => {
    for (const frame of ['\b/\b-', `${E}[1G${E}[0K⠙ load 🔑`]) {
      const collapser = createProgressCollapser()
      let out = collapser.push('start')
      for (let i = 0; i <= 60_000; i++) out += collapser.push(frame)
      expect(out).toBe('')
      expect(collapser.flush()).toBe(collapseProgress(`start${frame}`))
    }
  })

  test('a line too long to be a bar is given away, not collected', () => {
    const collapser = createProgressCollapser()
    let given = 0
    for (let i = 0; i < 1_000; i++) given += collapser.push('x'.repeat(1_000)).length
    expect(given).toBeGreaterThan(900_000)
    expect(given + collapser.push('\n1\r2\n').length + collapser.flush().length).toBe(1_000_003)
  })

  test('hostile lines take linear time', () => {
    const started = performance.now()
    for (const piece of ['\r', '\b', ' ', 'a\r', ' \b', `${E}[`, `${E}[K`, `${E}]`])
      collapseProgress(`x\r${piece.repeat(60_000 / piece.length)}y\n${piece.repeat(400_000 / piece.length)}\n`)
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  test('a column beyond all bounds is no way to fill the memory', () => {
    expect(collapseProgress(`a\rb${E}[999999999Gc\n`).length).toBeLessThan(70_000)
  })
})

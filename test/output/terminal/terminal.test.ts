/**
 * A real terminal emulator as the oracle: what it shows on its rows is what the collapsed and stripped text must say.
 */
import xterm from '@xterm/headless'
import { fc } from '../../fixtures/fast-check.js'
import { describe, expect, test } from 'vitest'
import { stripAnsi } from '../../../src/output/terminal/ansi.js'
import { collapseProgress } from '../../../src/output/terminal/progress.js'

const E = '\x1b'

async function rowsOf(text: string): Promise<string[]> {
  const terminal = new xterm.Terminal({ cols: 400, rows: 60, allowProposedApi: true, convertEol: true })
  await new Promise<void>((resolve) => terminal.write(text, resolve))
  const { active } = terminal.buffer
  const rows = Array.from(
    { length: active.length },
    (_, row) => active.getLine(row)?.translateToString(true).trimEnd() ?? '',
  )
  terminal.dispose()
  return withoutEmptyEnd(rows)
}

function withoutEmptyEnd(rows: readonly string[]): string[] {
  const last = rows.findLastIndex((row) => row !== '')
  return rows.slice(0, last + 1)
}

const seen = (text: string): string[] =>
  withoutEmptyEnd(
    stripAnsi(collapseProgress(text))
      .split(/\r*\n/)
      .map((row) => row.trimEnd()),
  )

describe('what is shown is what a terminal shows', () => {
  test('for sequences that only colour, name, link or ask', async () => {
    const pieces = [
      'word',
      ' ',
      '\n',
      '\r\n',
      'é',
      `${E}[31m`,
      `${E}[38:2::1:2:3m`,
      `${E}[?25l`,
      `${E}]0;title\x07`,
      `${E}]8;;http://x${E}\\`,
      `${E}]52;c;YQ==\x07`,
      `${E}Pq#0~~${E}\\`,
      `${E}P$qm${E}\\`,
      `${E}_G1;AA${E}\\`,
      `${E}^pm${E}\\`,
      `${E}Xsos${E}\\`,
      `${E}(B`,
      `${E}7`,
      `${E}=`,
      '\x9b1m',
      '\x9d0;t\x9c',
      `${E}[3\x18`,
      `${E}[3${E}[0m`,
      `${E}[>4;2m`,
      `${E}[5 q`,
      '\x0f',
    ]
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { maxLength: 20 }), async (parts) => {
        const text = parts.join('')
        expect(seen(text)).toEqual(await rowsOf(text))
      }),
      { numRuns: 150 },
    )
  })

  test('for lines that are rewritten', async () => {
    const pieces = [
      '10%',
      'long text',
      'é',
      ' ',
      '\r',
      '\r',
      '\b',
      '\n',
      `${E}[K`,
      `${E}[0K`,
      `${E}[1K`,
      `${E}[2K`,
      `${E}[32m`,
      `${E}[0m`,
      `${E}[3D`,
      `${E}[2C`,
      `${E}[G`,
      `${E}[5G`,
      `${E}]0;t\x07`,
    ]
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { maxLength: 16 }), async (parts) => {
        const text = parts.join('')
        expect(seen(text)).toEqual(await rowsOf(text))
      }),
      { numRuns: 150 },
    )
  })
})

/** What a person would see: drawn from the stored output, the same in every process. */
import { appendFileSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { JobScreen } from '../../../src/engine/terminal/screen.js'
import { createEngine } from '../../../src/index.js'
import { findHelper } from '../../../src/os/helper/file.js'
import { noteInput } from '../../../src/os/job/terminal.js'
import { temporaryFolder } from '../../fixtures/folder.js'

const root = temporaryFolder('screen')

/** A job's directory with this output in it, and its screen. */
function drawn(
  output: string | Buffer,
  size = { cols: 20, rows: 5 },
): { dir: string; screen: JobScreen; add(text: string): void } {
  const dir = mkdtempSync(join(root, 'job-'))
  writeFileSync(join(dir, 'output.log'), output)
  return {
    dir,
    screen: new JobScreen({ dir, size, mask: (text) => text.replaceAll('hunter2', '[secret:p]') }),
    add: (text) => appendFileSync(join(dir, 'output.log'), text),
  }
}

describe('the screen', () => {
  test.each([
    ['plain lines', 'one\r\ntwo\r\n', 'one\ntwo', { row: 2, col: 0 }],
    ['a progress bar that writes over itself', '10%\r50%\r100%\r\ndone', '100%\ndone', { row: 1, col: 4 }],
    ['a spinner that rubs itself out', '|\b/\b-\b \bok', 'ok', { row: 0, col: 2 }],
    ['cursor movement', '\x1b[2J\x1b[3;5Hhere\x1b[1;1Htop', 'top\n\n    here', { row: 0, col: 3 }],
    ['erasing to the end of the line', 'downloading...\r\x1b[Kdone', 'done', { row: 0, col: 4 }],
    ['colours', '\x1b[1;31mred\x1b[0m and \x1b[38;5;200mpink\x1b[m', 'red and pink', { row: 0, col: 12 }],
    ['wide characters', '日本語 x', '日本語 x', { row: 0, col: 8 }],
    ['a combining accent', 'e\u0301!', 'e\u0301!', { row: 0, col: 2 }],
    ['a long line that wraps', 'x'.repeat(25), `${'x'.repeat(20)}\n${'x'.repeat(5)}`, { row: 1, col: 5 }],
    ['more lines than rows', '1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7', '3\n4\n5\n6\n7', { row: 4, col: 1 }],
    ['a secret', 'it is hunter2', 'it is [secret:p]', { row: 0, col: 13 }],
  ] as const)('shows %s', async (_, output, text, cursor) => {
    expect(await drawn(output).screen.look()).toMatchObject({ text, cursor })
  })

  test('the alternate screen comes and goes, the title stays', async () => {
    const { screen, add } = drawn('\x1b]0;editor\x07shell\r\n\x1b[?1049h\x1b[H\x1b[2Jfull screen')
    expect(await screen.look()).toMatchObject({ alternate: true, title: 'editor', text: 'full screen' })
    add('\x1b[?1049l')
    expect(await screen.look()).toMatchObject({ alternate: false, title: 'editor', text: 'shell' })
  })

  test('what changed since a version is told in rows, to a second reader too', async () => {
    const { dir, screen, add } = drawn('a\r\nb\r\nc\r\n')
    const first = await screen.look()
    expect(first).toMatchObject({ version: 9, changedRows: [0, 1, 2] })
    add('\x1b[2;1HB')
    const second = await screen.look({ since: first.version })
    expect(second).toMatchObject({ text: 'a\nB\nc', changedRows: [1] })
    expect((await screen.look({ since: second.version })).changedRows).toEqual([])
    const other = new JobScreen({ dir, size: { cols: 20, rows: 5 }, mask: (text) => text })
    expect(await other.look({ since: first.version })).toMatchObject({
      text: 'a\nB\nc',
      changedRows: [1],
      version: second.version,
    })
  })

  test('a resize counts from the byte at which it happened', async () => {
    const { dir, screen } = drawn(`${'y'.repeat(30)}\r\n`, { cols: 20, rows: 5 })
    noteInput(dir, { by: 'start', size: [40, 4], offset: 0 })
    expect(await screen.look()).toMatchObject({ text: 'y'.repeat(30), size: { cols: 40, rows: 4 }, version: 33 })
    noteInput(dir, { by: 'ann', size: [10, 6], offset: 32 })
    expect(await screen.look()).toMatchObject({ size: { cols: 10, rows: 6 }, version: 34 })
  })

  test('characters and sequences cut anywhere come out whole', async () => {
    const bytes = Buffer.from('\x1b[31mé日本\x1b[0m\x1b[2;3Hok')
    for (let cut = 1; cut < bytes.length; cut++) {
      const { dir, screen } = drawn(bytes.subarray(0, cut))
      await screen.look()
      appendFileSync(join(dir, 'output.log'), bytes.subarray(cut))
      expect((await screen.look()).text).toBe('é日本\n  ok')
    }
  })

  test('hostile output costs little: endless sequences, absurd positions, noise, a huge past', async () => {
    const noise = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7_919 + (at >> 3)) % 256))
    for (const output of [
      '\x1b['.repeat(50_000),
      '\x1b[999999999;999999999Hx\x1b[2147483647B\x1b[9999999L',
      '\x1b[99999L'.repeat(20_000),
      'x\x1b[99999999b\x1b[99999999P',
      '\u009b9999999L',
      `\x1b]0;${'t'.repeat(500_000)}\x07end`,
      noise,
      `${'flood of output\r\n'.repeat(200_000)}last`,
    ]) {
      const began = performance.now()
      const screen = await drawn(output).screen.look()
      expect(screen.text.length).toBeLessThan(2_000)
      expect(performance.now() - began).toBeLessThan(30_000)
    }
  })

  test.skipIf(!findHelper())('a job without a terminal has none, and says so', async () => {
    const engine = await createEngine({ cwd: root, stateDir: join(root, 'state') })
    try {
      const job = await engine.start({ command: 'true' })
      await expect(job.screen()).rejects.toMatchObject({ code: 'BAD_REQUEST', hint: expect.stringContaining('pty') })
      const drawing = await engine.start({ command: `printf 'a\\033[2;2Hb'; sleep 30`, pty: { cols: 33, rows: 7 } })
      await drawing.wait({ until: /b/, timeoutMs: 10_000 })
      expect(await drawing.screen()).toMatchObject({ text: 'a\n b', size: { cols: 33, rows: 7 } })
      await drawing.resize({ cols: 44, rows: 8 })
      expect((await drawing.screen()).size).toEqual({ cols: 44, rows: 8 })
      await expect(drawing.resize({ cols: 0, rows: 1.5 })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
      await drawing.kill({ graceMs: 0 })
      expect((await drawing.screen()).text).toBe('a\n b')
      await expect(drawing.resize({ cols: 10, rows: 10 })).rejects.toMatchObject({ code: 'NOT_RUNNING' })
    } finally {
      await engine.close()
    }
  })
})

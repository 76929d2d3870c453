/** Bash's words about the session's own file are taken out wherever a read has cut them, and nothing else is. */
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fileOf, type Marks } from '../../../src/engine/session/lines/marks.js'
import { OwnWords } from '../../../src/engine/session/lines/own-words.js'
import { testEngine } from '../harness.js'

const marks = { files: '/tmp/a-directory/s1' } as unknown as Marks
const file = fileOf.command(marks)
const HEAD = 'before '
const said = `out: x\nbash: ${file}: line 3: syntax error: \`${HEAD}fi'\n: ${file}: line ::: ${file}:linen: ${file}`
const shown = `out: x\nbash: line 3: syntax error: \`fi'\n: line ::: ${file}:linen: ${file}`

/** What a reader gets of these reads, and how many bytes of them it had to wait for. */
function readIn(pieces: readonly string[]): { readonly text: string; readonly late: number } {
  const stream = new OwnWords(marks, HEAD).inStream()
  // Each read is made in the same memory, as in a session.
  const memory = Buffer.alloc(said.length)
  let text = ''
  for (const piece of pieces) text += Buffer.from(stream.takenOut(memory.subarray(0, memory.write(piece)))).toString()
  const rest = Buffer.from(stream.rest()).toString()
  return { text: text + rest, late: rest.length }
}

test('wherever one or two reads end', () => {
  expect(readIn([said]).text).toBe(shown)
  for (let first = 0; first <= said.length; first++)
    for (let second = first; second <= said.length; second += 3)
      expect(readIn([said.slice(0, first), said.slice(first, second), said.slice(second)]).text).toBe(shown)
  expect(readIn([...said]).text).toBe(shown)
})

test('a prompt is not held back', () => {
  for (const prompt of ['Password: ', 'a:', ': ', 'x\n', ''])
    expect(readIn([prompt])).toEqual({ text: prompt, late: 0 })
  expect(readIn(['is it: /t', 'rue?'])).toEqual({ text: 'is it: /true?', late: 0 })
})

test('behind a flood, in a session', async () => {
  const session = await (await testEngine()).session()
  await session.run({ command: 'alias only=fi' })
  for (let more = 0; more < 40; more++) {
    const { stderr } = await session.run({
      command: `head -c ${65_536 * 3 - more} /dev/zero | tr '\\0' x >&2\nonly`,
      clip: { kind: 'none' },
    })
    expect(stderr.slice(-120)).toMatch(
      /x{9}bash: line 2: syntax error near unexpected token `fi'\nbash: line 2: `.*'\n$/,
    )
  }
})

const GERMAN = '/usr/share/locale/de/LC_MESSAGES/bash.mo'
if (!existsSync(GERMAN)) console.warn(`bash speaks no German here: there is no ${GERMAN}`)

test.skipIf(!existsSync(GERMAN))('in the language of the person', async () => {
  const session = await (await testEngine({ env: { LANG: 'C.UTF-8', LANGUAGE: 'de' } })).session()
  await session.run({ command: 'alias only=fi' })
  const { stderr } = await session.run({ command: 'only' })
  expect(stderr).toMatch(/^bash: Zeile 1: Syntaxfehler[^\n/]*\nbash: Zeile 1: `[^\n/]*'\n$/)
})

test('the line in which a command ends too early is one of its own, whatever was longer before it', async () => {
  const session = await (await testEngine()).session()
  await session.run({ command: `alias begin=if; : ${'x'.repeat(500)}` })
  expect((await session.run({ command: 'begin true' })).stderr).toMatch(
    /^bash: line [123]: syntax error: unexpected end/,
  )
})

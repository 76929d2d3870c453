/** What a model may send, and what it is told when that was wrong. */
import { fc } from '../../fixtures/fast-check.js'
import { describe, expect, test } from 'vitest'
import { readInput, type InputRules } from '../../../src/tools/schema/input.js'
import { createTools, DIALECTS, quote, type DialectName } from '../../../src/tools/index.js'
import { flag, inputOf, list, oneOf, text, whole } from '../../../src/tools/schema/schema.js'
import { scriptedEngine } from '../scripted-engine.js'

const rules: InputRules = {
  tool: 'Bash',
  schema: inputOf(
    {
      command: text('The command'),
      timeout: whole('ms', { minimum: 1, maximum: 600_000 }),
      mode: oneOf(['default', 'slow']),
      pty: flag(),
      keys: list(text()),
      id: text(),
    },
    ['command'],
  ),
  aliases: { cmd: 'command' },
  argv: ['command'],
  ids: ['id'],
}
const told = (input: unknown): string => {
  try {
    readInput(input, rules)
    return 'accepted'
  } catch (error) {
    return (error as Error).message
  }
}

describe('wrong input names the field and what was expected', () => {
  test.each([
    [{}, "Missing required field: 'command' (string) in Bash."],
    [{ command: 5 }, "'command' must be a string, got 5."],
    [{ command: 'x', timeout: 700_000 }, "'timeout' above maximum: 700000 is more than 600000."],
    [{ command: 'x', timeout: 0 }, "'timeout' below minimum: 0 is less than 1."],
    [{ command: 'x', timeout: '5000' }, '\'timeout\' must be a whole number, got "5000".'],
    [{ command: 'x', timeout: 1.5 }, "'timeout' must be a whole number, got 1.5."],
    [{ command: 'x', timeout: Number.NaN }, "'timeout' must be a whole number, got null."],
    [{ command: 'x', mode: 'fast' }, '\'mode\' must be one of default, slow, got "fast".'],
    [
      { command: 'x', mode: 'slow', timeout: 5 },
      "'mode' and 'timeout' cannot be given together (mode \"slow\", timeout 5).",
    ],
    [{ command: 'x', pty: 'yes' }, '\'pty\' must be true or false, got "yes".'],
    [{ command: 'x', keys: ['a', 1] }, "'keys[1]' must be a string, got 1."],
    [{ command: 'a\0b' }, "'command' contains a NUL character."],
    [{ command: ['ls', 7] }, "'command[1]' must be a string, got 7."],
    [{ command: [] }, "'command' must be a command, got []."],
    [{ comand: 'x' }, "Unknown field 'comand' in Bash. Did you mean 'command'?"],
    [{ command: 'x', verbose: true }, "Unknown field 'verbose' in Bash."],
    [{ command: 'x', cmd: 'y' }, "'command' was given twice in Bash, once as 'cmd'."],
    [{ command: 'x', id: '  ' }, '\'id\' must be an id, got "  ".'],
    ['{"command":', 'The input of Bash must be an object, got the text "{\\"command\\":".'],
    [['x'], 'The input of Bash must be an object, got ["x"].'],
    [42, 'The input of Bash must be an object, got 42.'],
  ])('%j', (input, message) => expect(told(input)).toBe(message))
})

describe('right input is taken as it was meant', () => {
  test.each([
    [{ command: 'x' }, { command: 'x' }],
    [{ cmd: 'x' }, { command: 'x' }],
    [{ command: 'x', timeout: null, pty: undefined }, { command: 'x' }],
    [{ command: ['ls', 'a b'] }, { command: ['ls', 'a b'] }],
    ['{"command":"x"}', { command: 'x' }],
    [
      { command: 'x', id: 4242 },
      { command: 'x', id: '4242' },
    ],
  ])('%j', (input, read) => expect(readInput(input, rules)).toEqual(read))
})

test('names from the prototype are not fields', () => {
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
    const input = JSON.parse(`{"command":"x","${name}":{"a":1}}`)
    expect(told(input)).toContain(`Unknown field '${name}'`)
  }
  expect(({} as Record<string, unknown>)['a']).toBeUndefined()
})

test('whatever comes in, a tool answers in its own shape and never throws', async () => {
  const sets = (Object.keys(DIALECTS) as DialectName[]).map((dialect) => createTools(scriptedEngine(), { dialect }))
  await fc.assert(
    fc.asyncProperty(
      fc.anything(),
      fc.dictionary(
        fc.constantFrom(
          'command',
          'cmd',
          'commands',
          'timeout',
          'bash_id',
          'shell_id',
          'id',
          'session_id',
          'mode',
          'env',
          'keys',
          'restart',
          'filter',
        ),
        fc.anything(),
      ),
      async (anything, fields) => {
        for (const tools of sets)
          for (const tool of tools)
            for (const input of [anything, fields]) {
              const result = await tool.execute(input)
              expect(typeof result.text).toBe('string')
              expect(result.text.length).toBeGreaterThan(0)
              JSON.stringify(result.structured)
            }
      },
    ),
    { numRuns: 150 },
  )
})

test('quote gives every word back, whatever it is', () => {
  expect(quote(['ls', 'my file'])).toBe(`ls 'my file'`)
  expect(quote("it's")).toBe(`'it'\\''s'`)
  expect(quote(['time', 'x'])).toBe(`'time' x`)
  expect(quote([''])).toBe(`''`)
})

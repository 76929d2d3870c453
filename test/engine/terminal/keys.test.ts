/** What keys by name send, compared with what a keyboard sends. */
import { describe, expect, test } from 'vitest'
import { keyBytes, typedText } from '../../../src/engine/terminal/keys.js'

describe('keys by name', () => {
  test.each([
    ['C-c', '\x03'],
    ['c-C', '\x03'],
    ['Ctrl+C', '\x03'],
    ['control-c', '\x03'],
    ['^C', '\x03'],
    ['C-d', '\x04'],
    ['C-z', '\x1a'],
    ['C-\\', '\x1c'],
    ['C-]', '\x1d'],
    ['C-[', '\x1b'],
    ['C-space', '\0'],
    ['C-@', '\0'],
    ['C-_', '\x1f'],
    ['C-?', '\x7f'],
    ['enter', '\r'],
    ['Return', '\r'],
    ['tab', '\t'],
    ['S-tab', '\x1b[Z'],
    ['btab', '\x1b[Z'],
    ['escape', '\x1b'],
    ['Esc', '\x1b'],
    ['space', ' '],
    ['backspace', '\x7f'],
    ['BSpace', '\x7f'],
    ['up', '\x1b[A'],
    ['Down', '\x1b[B'],
    ['right', '\x1b[C'],
    ['ArrowLeft', '\x1b[D'],
    ['home', '\x1b[H'],
    ['end', '\x1b[F'],
    ['C-left', '\x1b[1;5D'],
    ['S-up', '\x1b[1;2A'],
    ['M-right', '\x1b[1;3C'],
    ['C-S-end', '\x1b[1;6F'],
    ['delete', '\x1b[3~'],
    ['insert', '\x1b[2~'],
    ['PageUp', '\x1b[5~'],
    ['pgdn', '\x1b[6~'],
    ['C-pagedown', '\x1b[6;5~'],
    ['F1', '\x1bOP'],
    ['f4', '\x1bOS'],
    ['F5', '\x1b[15~'],
    ['F12', '\x1b[24~'],
    ['S-F5', '\x1b[15;2~'],
    ['C-F1', '\x1b[1;5P'],
    ['M-x', '\x1bx'],
    ['Alt+X', '\x1bX'],
    ['M-enter', '\x1b\r'],
    ['C-M-a', '\x1b\x01'],
    ['a', 'a'],
    ['A', 'A'],
    ['S-a', 'A'],
    ['-', '-'],
    ['^', '^'],
    ['é', 'é'],
    ['😀', '😀'],
    ['+', '+'],
  ] as const)('%s', (name, bytes) => {
    expect(keyBytes(name)).toBe(bytes)
  })

  test('cursor keys change with the mode of the terminal', () => {
    expect(keyBytes('up', { applicationCursor: true })).toBe('\x1bOA')
    expect(keyBytes('end', { applicationCursor: true })).toBe('\x1bOF')
    expect(keyBytes('C-up', { applicationCursor: true })).toBe('\x1b[1;5A')
  })

  test.each(['', 'entre', 'C-', 'C-é', 'F13', 'F0', 'hello', 'C-C-', '\x1b[A', 'constructor', '__proto__', 'toString'])(
    '%j is no key, and the answer says what keys are called',
    (name) => {
      expect(() => keyBytes(name)).toThrowError(
        expect.objectContaining({ code: 'BAD_REQUEST', hint: expect.stringContaining('C-c') }),
      )
    },
  )

  test('the end of a line is the Enter key', () => {
    expect(typedText('a\nb\r\nc\rd')).toBe('a\rb\rc\rd')
  })
})

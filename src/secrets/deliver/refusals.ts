/** What is said when a token stands where no value can be kept apart from code. */
import type { Obstacle } from './sites.js'

export const REFUSALS: Readonly<
  Record<Obstacle | 'number' | 'nul' | 'flow' | 'unreadable', { readonly reason: string; readonly hint: string }>
> = {
  code: {
    reason:
      'stands inside code that is read a second time (the script of another interpreter, eval, trap, a remote ' +
      'command), where its value would become syntax.',
    hint:
      `Pass it as data: bash -c 'use "$1"' _ {{secret:NAME}}, or python3 -c 'import os; os.environ["TOKEN"]' ` +
      'with TOKEN={{secret:NAME}} in front of the command, or feed it on standard input.',
  },
  flow: {
    reason:
      'would be run as code: the command hands its value to a shell, an interpreter, eval, a prompt or a ' +
      'script that it starts.',
    hint: 'Use the value as an argument, in a variable or on the standard input of a program that treats it as data.',
  },
  'stdin-code': {
    reason: 'would be fed to an interpreter that reads its standard input as code.',
    hint:
      'Give the interpreter its script by file or option, and the value as an argument or as ' +
      'NAME={{secret:NAME}} in front of the command.',
  },
  name: {
    reason:
      'stands where bash expects the name of a variable or a function; a name with a subscript would be evaluated.',
    hint: 'Write the name itself, and use the token only for the value.',
  },
  parameter: {
    reason: 'stands inside ${...} as a part of the expansion itself, or directly after a $.',
    hint: 'Assign it first (X={{secret:NAME}}), or write \\$ for a dollar sign that is meant as text.',
  },
  'heredoc-delimiter': {
    reason: 'stands in the delimiter of a here-document, which bash takes literally.',
    hint: 'Use a fixed word such as EOF as the delimiter.',
  },
  'odd-quoting': {
    reason: 'stands in a mixture of quoting levels that cannot carry data exactly.',
    hint: 'Assign it first (X={{secret:NAME}}) and use "$X" there.',
  },
  unterminated: {
    reason: 'stands in a here-document whose closing delimiter is missing.',
    hint: 'End the here-document with its delimiter alone on a line.',
  },
  unreadable: {
    reason: 'stands in a command that cannot be read to its end.',
    hint: 'Check the quotes and the closing words (fi, done, esac) of the command, or write it in simpler steps.',
  },
  make: {
    reason: 'is given to make, which would expand the $ in its value.',
    hint: 'Pass it through the environment: TOKEN={{secret:NAME}} make ..., and use $$TOKEN in the recipe.',
  },
  number: {
    reason:
      'stands in arithmetic (also a subscript or an integer variable), where bash evaluates text as an ' +
      'expression; its value is not a plain decimal number.',
    hint: 'Compare it as text ([[ $a == $b ]]) or use it outside of arithmetic.',
  },
  nul: {
    reason: 'has a value with a NUL byte, which no argument, variable or here-document can hold.',
    hint: 'Store it encoded, for instance as base64, and decode it in the command.',
  },
}

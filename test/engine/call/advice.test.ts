/**
 * What a failed command is told is true of it: a code that programs use for several things is explained by what they
 * said.
 */
import { expect, test } from 'vitest'
import { adviceFor } from '../../../src/engine/call/advice.js'

const CHMOD = 'Make it so (chmod +x FILE)'

test.each<readonly [code: number, stderr: string, told: string]>([
  [126, 'bash: ./plain.sh: Permission denied\n', CHMOD],
  [126, 'bash: /tmp: Is a directory\n', 'it is a directory'],
  [126, 'bash: ./x: Text file busy\n', 'it is being written'],
  // A program that can be started, and too much for it: no mode of its file would help.
  [126, 'bash: /usr/bin/ls: Argument list too long\n', '(xargs)'],
  [126, '', ''],
  [126, 'cerith: refused (wipe-root): Command blocked for security reasons\n', ''],
  [137, '', 'ended by SIGKILL'],
  [134, '', 'ended by SIGABRT'],
  [129, '', 'ended by SIGHUP'],
  [129, "error: unknown option `nosuch'\nusage: git status [<options>] [--] [<pathspec>...]\n", ''],
])('exit code %i with %j', (code, stderr, told) => {
  const plan = { command: './x', cwd: '/', verdict: { facts: { finalCommand: './x' } } }
  const notes = adviceFor({ end: { kind: 'exit', code }, plan, stderr, pipeStatus: null })
  expect(notes.map(({ text }) => text)).toEqual(told === '' ? [] : [expect.stringContaining(told) as string])
})

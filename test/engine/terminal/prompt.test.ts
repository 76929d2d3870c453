/**
 * Which last lines look like a question. The kernel has the last word; this decides only about programs that wait for
 * many things at once.
 */
import { describe, expect, test } from 'vitest'
import { looksLikePrompt, openLine, promptText } from '../../../src/engine/terminal/prompt.js'

describe('prompts', () => {
  test.each([
    'Continue? [y/N] ',
    'Are you sure you want to continue connecting (yes/no/[fingerprint])? ',
    'Proceed (Y/n)? ',
    'Overwrite? (y/n/a/q) ',
    'Stage this hunk [y,n,q,a,d,e,?]? ',
    'Password: ',
    "agent@host's password: ",
    'Enter passphrase for key /home/u/.ssh/id: ',
    '[sudo] password for ann: ',
    'Username for https://example.org: ',
    'login: ',
    '>>> ',
    '... ',
    'In [12]: ',
    'irb(main):001:0> ',
    '(Pdb) ',
    '(gdb) ',
    'mysql> ',
    'postgres=# ',
    'sqlite> ',
    '> ',
    'user@host:~$ ',
    'bash-5.2# ',
    'ann% ',
    '--More--',
    '--More--(42%)',
    ':',
    '(END)',
    'Press any key to continue . . .',
    'Press ENTER to continue\r\n',
    'Do you want to continue? [Y/n] ',
    'package name: (pkg) \x1b[0m\rpackage name: ',
    '\x1b[32m?\x1b[39m Your name? ',
    'Enter a number: ',
    '日本語ですか? ',
    'debug> ',
  ])('%j asks', (tail) => {
    expect(looksLikePrompt(tail)).toBe(true)
  })

  test.each([
    '',
    'done\r\n',
    'Compiling foo.c',
    'warning: unused variable x\r\n',
    '[=====>    ] 45%',
    'Progress 45%',
    '100%',
    'ready in 12 ms\r\n',
    'Listening on http://127.0.0.1:3000\r\n',
    'PASS test/a.test.ts\r\n',
    'downloading...',
    '  12 passing (3s)\r\n',
    'total 48\r\n',
    'x'.repeat(100_000),
    '\x1b[?25l\x1b[K',
    'What is new?\r\nnothing\r\n',
  ])('%j does not', (tail) => {
    expect(looksLikePrompt(tail.slice(-4_096))).toBe(false)
  })

  test('the prompt is the line as it stands on the screen', () => {
    expect(openLine('old\r\nfirst try\r\x1b[KSecond? ')).toBe('Second? ')
    expect(openLine('line\r\n')).toBe('')
    expect(promptText('What now?\r\n\r\n')).toBe('What now?')
    expect(promptText(`${'w'.repeat(500)}?`)).toHaveLength(200)
  })

  test('hostile lines are judged in no time', () => {
    const began = performance.now()
    for (const part of ['(y/', '[a/', 'press ', 'password ', ':', '>', '... ', '-'.repeat(50), '[y/n', 'enter enter '])
      looksLikePrompt(part.repeat(4_096 / part.length))
    expect(performance.now() - began).toBeLessThan(1_000)
  })
})

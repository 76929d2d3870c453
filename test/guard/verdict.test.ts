import { describe, expect, test } from 'vitest'
import { explain } from '../../src/guard/policy/explain.js'
import { inspect } from '../../src/guard/inspect.js'
import type { GuardContext } from '../../src/guard/policy/context.js'

const context: GuardContext = { cwd: '/home/u/proj', home: '/home/u', tmp: '/tmp' }

describe('a verdict says what was seen', () => {
  test('commands are the effective argvs, every layer of them', () => {
    const verdict = inspect('sudo env X=1 bash -c "rm -rf $HOME/"', context)
    expect(verdict.commands).toEqual([
      ['sudo', 'env', 'X=1', 'bash', '-c', 'rm -rf /home/u/'],
      ['env', 'X=1', 'bash', '-c', 'rm -rf /home/u/'],
      ['bash', '-c', 'rm -rf /home/u/'],
      ['rm', '-rf', '/home/u/'],
    ])
    expect(verdict).toMatchObject({ decision: 'deny', rule: 'wipe-home', words: ['rm', '/home/u/'], dangerous: true })
  })

  test('explain shows the layers as a tree and the word that decided', () => {
    expect(explain(inspect('sudo env X=1 bash -c "rm -rf $HOME/"', context))).toBe(
      [
        'deny  wipe-home',
        "  `rm /home/u/` removes a user's home directory, or all of what a person keeps there (/home/u)",
        '  Instead: Name the one directory below home you want to remove, for example `rm -rf ~/project/build`.',
        '',
        'sudo env X=1 bash -c "rm -rf $HOME/"',
        "└─ sudo env X=1 bash -c 'rm -rf /home/u/'",
        "   └─ env X=1 bash -c 'rm -rf /home/u/'",
        "      └─ bash -c 'rm -rf /home/u/'",
        '         └─ rm -rf /home/u/   <-- deny: wipe-home',
        '',
      ].join('\n'),
    )
  })

  test('explain keeps control characters away from the terminal and colours on request', () => {
    const text = explain(inspect("echo $'\\e[31mx'\nls", context))
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
    expect(explain(inspect('ls', context), { color: true })).toContain('\u001B[32mallow')
  })

  test('facts tell about the last pipeline and its final command', () => {
    expect(inspect('a; b | c | grep x', context).facts).toEqual({
      parsedOk: true,
      lastPipelineStages: 3,
      finalCommand: 'grep',
      endsInBackground: false,
    })
    expect(inspect('a && sleep 5 &', context).facts).toEqual({
      parsedOk: true,
      lastPipelineStages: 1,
      finalCommand: 'sleep',
      endsInBackground: true,
    })
    expect(inspect('$x', context).facts.finalCommand).toBeNull()
  })

  test('mutations are what the command would leave in its shell', () => {
    const { mutations } = inspect(
      "X=1; export Y=a$X; alias l='ls -l'; f(){ echo hi; }; unset Z; (S=1); V=$(date)",
      context,
    )
    expect(mutations.variables).toEqual({ X: '1', Y: 'a1', Z: null, V: null })
    expect(mutations.aliases).toEqual({ l: 'ls -l' })
    expect(mutations.functions).toEqual({ f: 'f(){ echo hi; }' })
  })

  test('a function that cannot be read is not taken for one that is gone', () => {
    const functions = { odd: 'odd () { if', fine: 'fine () { ls; }' }
    expect(inspect('unset -f fine', { ...context, functions }).mutations.functions).toEqual({ fine: null })
  })

  test('a function that another one makes is kept with its own text', () => {
    const { mutations } = inspect('echo a; f() { ls; g() { echo "$1"; }; }; f', context)
    expect(mutations.functions['g']).toBe('g() { echo "$1"; }')
  })

  test.each([
    [{ functions: { wipe: 'wipe () \n{ \n    rm -rf /\n}' } }, 'wipe'],
    [{ functions: { wipe: '{ rm -rf "$1"; }' } }, 'wipe /'],
    [{ functions: { wipe: 'rm -rf "$@"' } }, 'wipe / x'],
    [{ aliases: { ll: 'rm -rf' } }, 'll /'],
    [{ variables: { c: 'rm -rf /' } }, '$c'],
    [{ variables: { TARGET: '/' } }, 'rm -rf "$TARGET"'],
    [{ variables: { HOME: '/data/me' } }, 'rm -rf /data/me'],
    [{ cwd: '/' }, 'rm -rf *'],
    [{ cwd: '/home/u' }, 'rm -rf ./*'],
    [{ resolveSymlink: (path: string) => (path === '/home/u/proj/link' ? '/etc' : undefined) }, 'rm -rf link/'],
  ])('what the session already holds is known: %j %s', (extra, command) => {
    expect(inspect(command, { ...context, ...extra }).decision).toBe('deny')
  })

  test('a session that holds harmless things runs', () => {
    const extra = {
      functions: { build: 'build () { rm -rf ./dist; make; }' },
      aliases: { rm: 'rm -i' },
      variables: { OUT: './out' },
    }
    for (const command of ['build', 'rm x', 'rm -rf "$OUT"/*', 'rm -rf "${OUT}"'])
      expect([command, inspect(command, { ...context, ...extra }).decision]).toEqual([command, 'allow'])
  })
})

describe('a home is where a person has lived', () => {
  const disk = new Set(['/home/bob', '/home/bob/.bashrc', '/home/www', '/home/www/html'])
  const extra = { resolveSymlink: (path: string) => (disk.has(path) ? path : undefined) }
  test.each([
    ['rm -rf /home/bob', 'deny'],
    ['rm -rf /home/bob/*', 'deny'],
    ['rm -rf /home/www', 'allow'],
    ['rm -rf /home/www/*', 'allow'],
    ['rm -rf /home/nobody-there', 'allow'],
    ['rm -rf /home/u', 'deny'],
    ['rm -rf /home/*', 'deny'],
    ['rm -rf /home', 'deny'],
  ])('%s: %s', (command, decision) => {
    expect(inspect(command, { ...context, ...extra }).decision).toBe(decision)
  })

  test('a condition about a variable leaves nothing behind in the shell', () => {
    expect(inspect('[ -n "$x" ] && ls; [ -z "$y" ] && exit 1; ls', context).mutations.variables).toEqual({})
  })
})

describe('what cannot be read is refused', () => {
  test.each([
    ["echo 'abc", 'unreadable'],
    ['echo "$(ls"', 'unreadable'],
    ['if true; then ls', 'unreadable'],
    ['ls )', 'unreadable'],
    ['echo a\0b', 'unreadable'],
    ['echo $(if true)', 'unreadable'],
  ])('%j', (command, rule) => {
    const verdict = inspect(command, context)
    expect(verdict).toMatchObject({ decision: 'deny', rule, dangerous: false })
    expect(verdict.facts.parsedOk).toBe(false)
  })

  test('a readable dangerous part still names its own rule', () => {
    expect(inspect('rm -rf /\necho $(if true)', context)).toMatchObject({ decision: 'deny', rule: 'wipe-root' })
  })

  test('marks of the guard cannot be forged in the input', () => {
    expect(inspect('rm -rf \uFDD0', context).decision).toBe('allow')
    expect(inspect('echo \uFDD1', context).commands).toEqual([['echo', '\uFFFD']])
  })
})

import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inspect } from '../../../src/guard/inspect.js'
import { temporaryFolder } from '../../fixtures/folder.js'

let empty = ''
beforeAll(() => {
  empty = temporaryFolder('guard-words')
})
afterAll(() => rmSync(empty, { recursive: true }))

const SEPARATOR = '@@end@@'

/** What bash makes of the words, run in an empty directory so that wildcards find nothing; printf only. */
function bashFields(lists: readonly string[], prelude = ''): string[][] {
  const script = `${prelude}\n${lists.map((words) => `printf '%s\\0' x ${words}\nprintf '%s\\0' ${SEPARATOR}`).join('\n')}\n`
  const out = execFileSync('bash', ['--norc', '--noprofile'], {
    input: script,
    cwd: empty,
    env: { HOME: '/home/u', PATH: '/usr/bin:/bin', LC_ALL: 'C.UTF-8' },
    maxBuffer: 64 * 1024 * 1024,
  }).toString()
  const all: string[][] = [[]]
  for (const field of out.split('\0').slice(0, -1)) {
    if (field === SEPARATOR) all.push([])
    else all[all.length - 1]?.push(field)
  }
  return all.slice(0, -1).map((fields) => fields.slice(1))
}

function guardFields(words: string, prelude = ''): readonly string[] | undefined {
  const { commands } = inspect(`${prelude}\nprintf-like x ${words}`, { cwd: empty, home: '/home/u' })
  return commands.find((argv) => argv[0] === 'printf-like')?.slice(2)
}

function same(lists: readonly string[], prelude = ''): void {
  const truth = bashFields(lists, prelude)
  const got = lists.map((words) => guardFields(words, prelude))
  expect(Object.fromEntries(lists.map((words, i) => [words, got[i]]))).toEqual(
    Object.fromEntries(lists.map((words, i) => [words, truth[i]])),
  )
}

describe('constant words fold to what bash makes of them', () => {
  test('quotes, escapes and ANSI-C strings', () => {
    same([
      'a\'b\'"c"',
      "''",
      '""',
      "a''b",
      "'a b' c",
      '"a  b"',
      'a\\ b',
      '\\a\\b',
      '"\\a\\$\\"\\\\"',
      "$'a\\tb'",
      "$'\\x41\\102\\u0043'",
      "$'it\\'s'",
      '$"loc"',
      "'\\n'",
      'a\\\nb',
      '"a\\\nb"',
      "\\'",
      '\\"',
      "'*'",
      '\\*',
      '"[a]"',
      '#x',
      'a#b',
      "''a''",
      '"" "" x',
      "$''",
      'a=b',
      '\\~',
      "'~'",
      '"~"',
      '~',
      '~/x',
      '~/"x y"',
      'a~',
      'x/~',
      'of=~/x',
      'of=~',
      'a=b:~/c',
      'a-b=~/x',
      "a='~'",
      'of="~"/x',
    ])
  })

  test('tildes after equals signs and colons', () => {
    const tildes = [
      '~',
      '~/x',
      '~:~',
      '~/x:~/y',
      'b:~',
      ':~',
      'b=~',
      'b=~/x',
      '=~',
      '~=~',
      '~/=~',
      '~=b=~',
      'b:~=~',
      '~:=~',
      '~=~:~',
      '~=~/x',
      'x~',
      'x~:~',
      '\\~',
      '"~"',
      '~""',
      '~"x"',
      '~/"x"',
      '"b":~',
      'b":"~',
      'b\\:~',
      '$x:~',
      '$x=~',
      '{~,x}',
      '{~/x,y}',
      'b:{~,x}',
      '{x,y}:~',
      '${u:-~}',
      '${u:-b}:~',
      '${u:-b=~}',
      '~+',
    ]
    same(
      [
        '',
        'a=',
        'a+=',
        '+a=',
        'a-b=',
        '--a=',
        '1a=',
        'a:',
        'a:b=',
        'a[0]=',
        'a[x]+=',
        'a["x"]=',
        'a[b=',
        '"a"=',
        '\\a=',
        '$x=',
        '{a,b}=',
        'a_1=',
        'é=',
      ].flatMap((front) => tildes.map((rest) => front + rest)),
      'x=q; u=',
    )
  })

  test('tildes in the values of assignments, in elements of arrays and in here-strings', () => {
    const values = [
      '~',
      '~/x',
      '~:~',
      'b:~',
      'b=~',
      '~=~',
      'b:~=~',
      '=~',
      ':~',
      '"~"',
      'b":"~',
      '~""',
      '"b":~',
      'a=~',
      '\\~',
      '~/x:~/y',
    ]
    same(
      values.map(
        (value) => `"$(v=${value}; printf %s "$v")" "$(export w=${value}; printf %s "$w")" "$(cat <<< ${value})"`,
      ),
    )
    same(
      ['~', '~/x', 'x=~', 'b:~', '[0]=~', '[0]=b:~', '[0]=b=~', '[0]="~"', '~:~'].map(
        (element) => `"$(e=(${element}); printf %s "\${e[0]}")"`,
      ),
    )
  })

  test('brace expansion', () => {
    same([
      '{a,b}',
      'x{a,b}y',
      '{a,b}{c,d}',
      '{a,b{c,d}}',
      '{a,}',
      '{,a}',
      '{a}',
      '{}',
      '{},x}',
      'a{},x}',
      '{}.{},~}b',
      '{{},x}',
      '{a,b}{},x}',
      '{1..5}',
      '{5..1}',
      '{1..10..3}',
      '{01..03}',
      '{a..e}',
      '{e..a}',
      '{-2..2}',
      '"{a,b}"',
      "'{a,b}'",
      '\\{a,b}',
      '{a,b\\}',
      '{a,"b c"}',
      "{'a,b',c}",
      'a{b,c',
      '{a..}',
      '{..}',
      '{a,b}{1..2}',
      '{{a,b},c}',
      'x{,y,z}',
      '{a,b,c}d{e,f}',
      '~/{a,b}',
      '{~,x}',
      '{"a","b"}',
      '{1..3}{x,}',
      '{a,{b,{c,d}}}',
      '{1..a}',
      '{aa..bb}',
      '{ a,b }',
      'a{1..2}b{3..4}',
    ])
  })

  test('parameters', () => {
    const prelude =
      "A=abc; B='a b  c'; E=; P=/usr/local/lib/x.tar.gz; N=3; S='*'; set -- one 'two three' four; L=(p 'q r' s); R=A"
    same(
      [
        '$A',
        '${A}',
        '"$A"',
        '$B',
        '"$B"',
        'x$B"y"',
        '$E',
        '"$E"',
        'a$E',
        '${A:-d}',
        '${E:-d}',
        '${E-d}',
        '${E:-"a b"}',
        '${E:-a b}',
        '"${E:-a b}"',
        '${A:+y}',
        '${E:+y}',
        '${E+y}',
        '${#A}',
        '${#B}',
        '${A:1}',
        '${A:1:1}',
        '${A: -1}',
        '${A:0:-1}',
        '${P##*/}',
        '${P#*/}',
        '${P%.*}',
        '${P%%.*}',
        '${P%/*}',
        '${P##*.}',
        '${A/b/X}',
        '${A//[ab]/X}'.replace('[ab]', 'b'),
        '${A/#a/X}',
        '${A/%c/X}',
        '${A^}',
        '${A^^}',
        '${A,,}',
        '${A@U}',
        '$1',
        '$2',
        '"$2"',
        '"$@"',
        '$*',
        '"$*"',
        '${@:2}',
        '"${@:2:1}"',
        '$#',
        '${L[0]}',
        '${L[1]}',
        '"${L[1]}"',
        '"${L[@]}"',
        '${L[@]}',
        '"${L[*]}"',
        '${#L[@]}',
        '${L[-1]}',
        '"${L[@]:1}"',
        '${!R}',
        '$N$N',
        '$((N+1))',
        '$((2*(3+4)))',
        '$((N<5?1:0))',
        '$((10/3)) $((10%3))',
        '${A:$((1))}',
        '${A:N-2}'.replace('N-2', '1'),
        '$A$B',
        '"$A"$B',
        "$'x'$A",
        '\\$A',
        "'$A'",
        '"\\$A"',
        '$(echo hi)',
        '"$(echo a  b)"',
        '$(echo a  b)',
        '`echo q`',
        '$(printf "a\\nb\\n\\n")',
        '"$(printf "a\\nb\\n\\n")"',
        '$HOME',
        '"${HOME%/*}"',
        '${HOME:0:1}',
      ],
      prelude,
    )
  })

  test('any mixture of quoted and escaped text', { timeout: 60_000 }, () => {
    const literal = fc.string({
      unit: fc.constantFrom(
        'a',
        'b',
        ' ',
        '$',
        '"',
        "'",
        '\\',
        '*',
        '~',
        '{',
        ',',
        '}',
        '#',
        '!',
        '`',
        ';',
        '|',
        'é',
        '\n',
        '.',
        '/',
      ),
      minLength: 1,
      maxLength: 6,
    })
    const piece = fc.oneof(
      fc.string({
        unit: fc.constantFrom('a', 'b', '/', '.', '-', '_', '{', '}', ',', '~', ':', '=', '+', '%', '@', '1', '2'),
        minLength: 1,
        maxLength: 5,
      }),
      literal.map((text) => `'${text.replaceAll("'", '')}'`),
      literal.map((text) => `"${text.replace(/[\\"$`!]/g, '\\$&')}"`),
      literal.map((text) => text.replace(/\n/g, '').replace(/[^a-z/.]/g, '\\$&')),
      fc.constantFrom("$'\\t'", "$'\\x41b'", '""', "''", '{a,b}', '{1..3}', '{x,y}z', '=~', ':~', '~/'),
    )
    const words = fc
      .tuple(fc.constantFrom('', '', 'a=', 'b1+=', 'c[0]='), fc.array(piece, { minLength: 1, maxLength: 5 }))
      .map(([front, pieces]) => front + pieces.join(''))
    // Whether `~name` is a user's home depends on the machine; the guard takes it for one.
    const lists = fc.sample(words, { numRuns: 1_500, seed: 20_261_115 }).filter((list) => !/~[\w+{-]/.test(list))
    const truth = bashFields(lists)
    const wrong = lists.flatMap((list, i) =>
      JSON.stringify(guardFields(list)) === JSON.stringify(truth[i])
        ? []
        : [{ list, bash: truth[i], guard: guardFields(list) }],
    )
    expect(wrong.slice(0, 10)).toEqual([])
  })
})

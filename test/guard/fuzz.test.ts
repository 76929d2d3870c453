import { fc } from '../fixtures/fast-check.js'
import { describe, expect, test } from 'vitest'
import { explain } from '../../src/guard/policy/explain.js'
import { inspect } from '../../src/guard/inspect.js'
import type { GuardContext } from '../../src/guard/policy/context.js'

const context: GuardContext = { cwd: '/home/u/proj', home: '/home/u', tmp: '/tmp' }

const word = fc.oneof(
  fc.constantFrom(
    'rm',
    'ls',
    'echo',
    '-rf',
    '/',
    '*',
    '~',
    '$HOME',
    '"$x"',
    "'q'",
    '$(echo a)',
    '`b`',
    '${x:-y}',
    '${x%/*}',
    '${!x}',
    '${x@P}',
    '{a,b}',
    '{1..3}',
    '$((1+2))',
    '<(ls)',
    'a\\ b',
    "$'\\x41'",
    '$"s"',
    '[a-z]',
    '@(a|b)',
    '"$@"',
    '$1',
    'x=1',
    'bash',
    '-c',
    'eval',
    'sudo',
    'env',
    'xargs',
    'find',
    '-exec',
    '{}',
    '\\;',
    'python3',
    'sed',
    'trap',
    'EXIT',
    'read',
    'export',
    'printf',
    '%s',
    'cd',
    '..',
  ),
  fc.string({ maxLength: 8 }),
)
const simple = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '))
const { script }: { script: fc.Arbitrary<string> } = fc.letrec<{ script: string }>((tie) => ({
  script: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    simple,
    fc
      .tuple(tie('script'), fc.constantFrom(';', '\n', '&&', '||', '|', '&', '|&'), tie('script'))
      .map(([a, operator, b]) => `${a} ${operator} ${b}`),
    tie('script').map((inner) => `( ${inner})`),
    tie('script').map((inner) => `{ ${inner}; }`),
    tie('script').map((inner) => `$(${inner})`),
    tie('script').map((inner) => `if ${inner}; then ${inner}; else ls; fi`),
    tie('script').map((inner) => `while ${inner}; do ${inner}; done`),
    tie('script').map((inner) => `for x in a $y; do ${inner}; done`),
    tie('script').map((inner) => `case $x in a) ${inner};; *) ls;; esac`),
    tie('script').map((inner) => `f(){ ${inner}; }; f a`),
    tie('script').map((inner) => `bash -c '${inner.replaceAll("'", `'\\''`)}'`),
    tie('script').map((inner) => `cat <<E | sh\n${inner}\nE\n`),
    tie('script').map((inner) => `eval "${inner.replaceAll('"', '\\"')}"`),
    tie('script').map((inner) => `${inner} > f 2>&1 < g`),
  ),
}))

describe('any input gets a verdict', () => {
  test('scripts of a bash grammar never crash or hang the guard', () => {
    fc.assert(
      fc.property(script, (command) => {
        const verdict = inspect(command, context)
        expect(verdict.decision === 'allow' || verdict.rule !== null).toBe(true)
        expect(explain(verdict).length).toBeGreaterThan(0)
        JSON.stringify(verdict)
      }),
      { numRuns: 600 },
    )
  })

  test('noise never crashes the guard', () => {
    const noise = fc
      .array(
        fc.constantFrom(
          '$',
          '{',
          '}',
          '(',
          ')',
          '"',
          "'",
          '`',
          '\\',
          '<',
          '>',
          '|',
          '&',
          ';',
          '\n',
          '#',
          '*',
          '[',
          ']',
          '!',
          '=',
          '~',
          ' ',
          'a',
          '/',
          '-',
          '%',
          '@',
          ':',
          '\r',
          '\t',
          '\uD800',
          '\uFDD0',
          '1',
          '<<',
          'EOF',
        ),
        { maxLength: 40 },
      )
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(noise, (command) => {
        inspect(command, context)
      }),
      { numRuns: 1_500 },
    )
  })

  test('whatever stands around it, a wiped root is seen', () => {
    const before = fc.constantFrom(
      '',
      'ls; ',
      'true && ',
      'echo "a b" | cat; ',
      'x=1; ',
      'cd /tmp; ',
      '# note\n',
      'cat <<E\nx\nE\n',
      'if false; then ls; fi; ',
      '! ',
      'time ',
    )
    const wrapper = fc.constantFrom(
      'sudo ',
      'env A=1 ',
      'timeout 5 ',
      'nice -n 3 ',
      'command ',
      'nohup ',
      'exec ',
      'stdbuf -o0 ',
      'setsid ',
      'xargs -r ',
    )
    const front = fc.constantFrom('', 'A=b ', '2>/dev/null ', 'A=b C=$(ls) ')
    const wrap = fc.constantFrom<(inner: string) => string>(
      (inner) => inner,
      (inner) => `( ${inner})`,
      (inner) => `{ ${inner}; }`,
      (inner) => `echo "$( ${inner} )"`,
      (inner) => `bash -c '${inner.replaceAll("'", `'\\''`)}'`,
      (inner) => `eval '${inner.replaceAll("'", `'\\''`)}'`,
      (inner) => `f(){ ${inner}\n}; f`,
      (inner) => `if true; then ${inner}\nfi`,
      (inner) => `cat <( ${inner} )`,
      (inner) => `trap '${inner.replaceAll("'", `'\\''`)}' EXIT`,
    )
    fc.assert(
      fc.property(
        fc.array(fc.tuple(before, wrap), { maxLength: 4 }),
        front,
        fc.array(wrapper, { maxLength: 3 }),
        fc.constantFrom('rm -rf /', 'rm -r --force "/"', "r''m -fr /*", 'rm -rf $HOME', 'rm -rf ~'),
        (layers, assigned, wrappers, core) => {
          const command = layers.reduce<string>(
            (inner, [prefix, around]) => around(prefix + inner),
            assigned + wrappers.join('') + core,
          )
          expect(inspect(command, context).decision).toBe('deny')
        },
      ),
      { numRuns: 600 },
    )
  })
})

import { describe, expect, test } from 'vitest'
import { inspect } from '../../src/guard/inspect.js'
import type { GuardContext } from '../../src/guard/policy/context.js'

const context: GuardContext = { cwd: '/home/u/proj', home: '/home/u', tmp: '/tmp' }
const nested = (open: string, inner: string, close: string, times: number): string =>
  open.repeat(times) + inner + close.repeat(times)

/** Built to be slow for a parser or for the walk behind it; measured at a tenth of this on two busy cores. */
const ADVERSARIAL: Readonly<Record<string, string>> = {
  '10,000 subshells': nested('(', 'rm -rf /', ')', 10_000),
  '10,000 command substitutions': nested('$(', 'ls', ')', 10_000),
  '10,000 groups': nested('{ ', 'ls;', '} ', 10_000),
  '5,000 nested defaults': `echo ${nested('${x:-', 'y', '}', 5_000)}`,
  '3,000 ifs without an end': 'if true; then '.repeat(3_000),
  '100,000 braces': '{'.repeat(100_000),
  '100,000 brackets': `echo ${'['.repeat(100_000)}`,
  '100,000 backticks': '`'.repeat(100_000),
  '1 MB of semicolons': ';'.repeat(1_000_000),
  '1 MB of newlines': '\n'.repeat(1_000_000),
  '1 MB of commands': 'a;'.repeat(500_000),
  '1 MB of background commands': 'a&'.repeat(500_000),
  '300,000 pipes': `${'a|'.repeat(300_000)}b`,
  '300,000 ands': `${'a&&'.repeat(300_000)}b`,
  '2^20 brace words': `echo ${'{a,b}'.repeat(20)}`,
  'a billion numbers': 'echo {1..999999999}',
  'a variable doubled 100 times': `${'x=$x$x;'.repeat(100)}echo $x`,
  'a known variable doubled 60 times': `x=a;${'x=$x$x;'.repeat(60)}echo $x`,
  '3,000 unknown operands': `rm -rf ${'$x '.repeat(3_000)}`,
  '100,000 variables in a here-document': `cat <<E\n${'line $x\n'.repeat(100_000)}E\n`,
  '5,000 sudos': `${'sudo '.repeat(5_000)}rm -rf /`,
  '20,000 blanks in a program of sed': `ls | sed '${' '.repeat(20_000)}x'`,
  '20,000 blanks in a program of perl': `ls | perl -ne 'print${' '.repeat(20_000)}x'`,
  '5,000 evals': `${'eval '.repeat(5_000)}ls`,
  '2^30 function calls': `${Array.from({ length: 30 }, (_, i) => `f${i}(){ f${i + 1}; f${i + 1}; }`).join(';')};f0`,
  '3^20 loop rounds': nested('for i in a b c; do ', 'ls', '; done', 20),
  'a 900 KB word': `echo ${'a'.repeat(900_000)}`,
  '20,000 process substitutions': `cat ${'<(ls) '.repeat(20_000)}`,
  'a pattern of 200 stars': `x=${'a'.repeat(1_900)}; echo \${x%%${'*a'.repeat(200)}b}`,
  'inline code of unclosed quotes': `python3 -c '${'os.system("'.repeat(20_000)}'`,
  'a sed script of 50,000 commands': `sed '${'s/a/b/;'.repeat(50_000)}' f`,
  'printf with a huge width': "printf '%999999999s' x | sh",
}

describe('hostile sizes are answered in bounded time', () => {
  for (const [name, command] of Object.entries(ADVERSARIAL)) {
    test(name, { timeout: 20_000 }, () => {
      const verdict = inspect(command, context)
      expect(['allow', 'deny']).toContain(verdict.decision)
      if (/rm -rf \//.test(command)) expect(verdict.decision).toBe('deny')
    })
  }

  test('what is beyond the limits is refused, never allowed', () => {
    expect(inspect(nested('(', 'ls', ')', 10_000), context)).toMatchObject({ decision: 'deny', rule: 'too-deep' })
    expect(inspect('a;'.repeat(500_000), context)).toMatchObject({ decision: 'deny', rule: 'too-complex' })
    expect(inspect(`echo ${'a'.repeat(4_300_000)}`, context)).toMatchObject({ decision: 'deny', rule: 'too-large' })
    for (const ordinary of ['for i in {1..5000}; do echo $i; done', 'echo {1..100000} | wc -w', 'touch {1..9999}.txt'])
      expect(inspect(ordinary, context).decision, ordinary).toBe('allow')
    expect(inspect('rm -rf /{1..90000}/..', context).decision).toBe('deny')
    expect(inspect('echo {1..999999999}', context)).toMatchObject({ decision: 'deny', rule: 'too-large' })
  })

  test('a long ordinary script is read to its end', () => {
    const lines = Array.from({ length: 2_000 }, (_, i) => `echo "step ${i}" && test -f file${i} || touch "file${i}"`)
    expect(inspect(lines.join('\n'), context).decision).toBe('allow')
    expect(inspect([...lines, 'rm -rf /'].join('\n'), context).rule).toBe('wipe-root')
  })

  test('scripts whose ways multiply are ordinary scripts', () => {
    const nestedCalls =
      'a() { b "$1" "$2"; b "$2" "$1"; b x "$1"; }; b() { c "$1"; c "$2"; c "$1$2"; }; c() { [ -n "$1" ] && echo "$1" || d "$1"; }; d() { case $1 in a) e=1 ;; b) e=2 ;; *) e=$1 ;; esac; echo "$e"; }; for i in 1 2 3; do a "$i" "$e"; a "$X" "$Y"; done'
    const entrypoint = `#!/usr/bin/env bash
set -Eeuo pipefail
from_file() { local var="$1" file="\${1}_FILE" def="\${2:-}"; local val="$def"
  if [ "\${!var:-}" ] && [ "\${!file:-}" ]; then echo >&2 "both $var and $file are set"; exit 1; fi
  if [ "\${!var:-}" ]; then val="\${!var}"; elif [ "\${!file:-}" ]; then val="$(< "\${!file}")"; fi
  export "$var"="$val"; unset "$file"; }
for name in DB_HOST DB_USER DB_PASSWORD DB_NAME CACHE_URL MAIL_URL; do from_file "$name" "\${DEFAULT:-}"; done
if [ "\${1:0:1}" = '-' ]; then set -- server "$@"; fi
if [ "$1" = server ] && [ "$(id -u)" = 0 ]; then find . \\! -user app -exec chown app '{}' +; exec gosu app "$0" "$@"; fi
for f in /docker-entrypoint-init.d/*; do
  case "$f" in *.sh) if [ -x "$f" ]; then "$f"; else . "$f"; fi ;; *.sql) psql -f "$f" ;; *.gz) gunzip -c "$f" | psql ;; *) echo "ignoring $f" ;; esac
done
exec "$@"`
    const many = `for i in {1..33}; do eval "fn$i() { echo $i; }"; done; ${Array.from({ length: 33 }, (_, i) => `fn${i + 1}`).join('; ')}`
    for (const script of [nestedCalls, entrypoint, many, `${entrypoint}\n${nestedCalls}\n`.repeat(6)])
      expect(inspect(script, context)).toMatchObject({ decision: 'allow', rule: null })
  })

  test('a large file written by a quoted here-document is only text', () => {
    expect(inspect(`cat > data.txt <<'END'\n${'rm -rf / # $(rm -rf /)\n'.repeat(40_000)}END\n`, context).decision).toBe(
      'allow',
    )
  })
})

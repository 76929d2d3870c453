/**
 * Random pipelines and lists of programs, which a session's builtin starts by itself, among what changes how programs
 * are found, started and heard of. Nothing in a story depends on which stage of a pipeline is quicker.
 */
import { fc } from '../../fixtures/fast-check.js'

const PROGRAMS: Readonly<Record<string, string>> = {
  ends: String.raw`#!/bin/sh\nexit $1\n`,
  dies: String.raw`#!/bin/sh\nkill -$1 $$\nsleep 5\n`,
  says: String.raw`#!/bin/sh\necho out "$@"; echo err >&2; echo more\n`,
  args: String.raw`#!/bin/sh\nprintf "<%%s>" "$#" "$@"; echo\n`,
  eats: String.raw`#!/bin/sh\ncat >/dev/null; exit $1\n`,
  notes: String.raw`#!/bin/sh\necho "$1" >>noted\n`,
  // As programs are started with them: what is ignored or held, the name that bash gives them.
  given: String.raw`#!/bin/sh\ngrep -E "^Sig(Blk|Ign)" /proc/self/status; umask; printenv _ A B\n`,
  plain: String.raw`echo "by \${BASH_VERSION:+bash} $# <$1>"; exit 5\n`,
  nowhere: String.raw`#!/no/such/interpreter\n`,
}
const SET_UP = [
  ...Object.entries(PROGRAMS).map(([name, text]) => `printf '${text.replaceAll("'", String.raw`'\''`)}' >${name}`),
  `chmod +x ${Object.keys(PROGRAMS).join(' ')}; printf 'no\n' >text; mkdir folder bin; cp ends bin/found; PATH=$PWD/bin:$PATH`,
].join('; ')

const code = fc.constantFrom(0, 0, 0, 1, 3, 126, 127, 130, 141, 255)
const deadly = fc.constantFrom('KILL', 'TERM', 'SEGV', 'PIPE', 'HUP', 'ABRT', 'USR1')
const word = fc.constantFrom(
  'a',
  "'two words'",
  '"it\'s"',
  "$'tab\\there'",
  "$'\\xff\\xfe'",
  '""',
  'é✓',
  '--',
  'a=b',
  'x{y',
  '"*"',
  '\\~',
  "'$A'",
  'z'.repeat(300),
  '2',
)
const words = fc.array(word, { maxLength: 4 }).map((all) => all.join(' '))
const stderr = fc.constantFrom('', '', '', ' 2>&1', ' 2>/dev/null')

/** Prints nothing on stdout. */
const silent = fc.oneof(
  code.map((n) => `./ends ${n}`),
  deadly.map((name) => `./dies ${name}`),
  fc.constantFrom('/bin/true', '/bin/false', 'found 4', 'env found 2'),
)
const speaking = fc.oneof(
  words.map((all) => `./args ${all}`),
  words.map((all) => `./says ${all}`),
  fc.constantFrom(
    'seq 3',
    'seq 20000',
    'cat lines.txt',
    'cat lines.txt nothing',
    'expr 1 + 1',
    'basename a/b',
    './given',
  ),
  fc.constantFrom('printenv A', 'ls -d folder', 'cat', 'cat -', 'wc -c', 'head -c 3000 /dev/zero', 'env -i ./args x'),
)
/** No program, or one that cannot be started. */
const odd = fc.constantFrom('./plain a', './plain', './nowhere', './text', './folder', './missing', 'no-such-program x')
/** Reads all that the stage before it prints. */
const reading = fc.oneof(
  fc.constantFrom('cat', 'wc -c', 'sort -r', 'tr a-z A-Z', 'tail -1', 'grep -c o', 'cat -', 'od -c', 'sort -u -'),
  code.map((n) => `./eats ${n}`),
)
/** Changes files: outside of pipelines, where stages run side by side. */
const changing = fc.oneof(
  fc.integer({ min: 0, max: 9 }).map((n) => `./notes ${n}`),
  fc.constantFrom('cp ends copy', 'rm -f copy', './copy 6', 'cp says copy', 'cat noted', 'touch made', 'rm made', 'ls'),
)

const told = (program: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(program, stderr).map(([text, errors]) => `${text}${errors}`)
const pipeline = fc.oneof(
  { weight: 4, arbitrary: told(fc.oneof(silent, speaking, changing)) },
  { weight: 1, arbitrary: told(odd) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(told(fc.oneof(silent, speaking)), fc.array(told(reading), { minLength: 1, maxLength: 4 }))
      .map(([first, others]) => [first, ...others].join(' | ')),
  },
  // One that reads nothing stands behind one that prints nothing.
  { weight: 1, arbitrary: fc.tuple(silent, told(fc.oneof(silent, odd))).map((all) => all.join(' | ')) },
  { weight: 1, arbitrary: fc.tuple(odd, told(reading)).map((all) => all.join(' 2>/dev/null | ')) },
)
const joint = fc.constantFrom('; ', ' && ', ' || ', '\n', ';')
const list = fc
  .array(fc.tuple(pipeline, joint), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.map(([text, join], at) => (at + 1 === parts.length ? text : `${text}${join}`)).join(''))
/** At the most that the builtin starts at once, and beyond. */
const long = fc
  .tuple(fc.integer({ min: 14, max: 18 }), fc.constantFrom(' | ', '; '), fc.constantFrom('cat', 'wc -c', 'sort -r'))
  .map(([count, join, text]) => ['seq 3', ...Array.from({ length: count }, () => text)].join(join))

const between = fc.constantFrom(
  'set -o pipefail',
  'set +o pipefail',
  'export A=1; B=2',
  'A=2',
  'unset A',
  'cat() { command cat "$@" | sed s/^/f:/; }',
  'unset -f cat',
  "alias seq='echo aliased'",
  'unalias seq',
  'shopt -s lastpipe',
  'shopt -u lastpipe',
  'shopt -s checkhash',
  'hash -r',
  'hash -p "$PWD/says" found',
  'rm -f bin/found',
  'cp ends bin/found',
  'PATH=$PWD/bin:/usr/bin:/bin',
  'PATH=/usr/bin:/bin:.',
  'cp says bin/expr',
  'rm -f bin/expr; hash -r',
  'command_not_found_handle() { echo "no $1"; return 9; }',
  'unset -f command_not_found_handle',
  'umask 027',
  'umask 022',
  'set -f',
  'set +f',
  'set -a',
  'set +a',
  'IFS=e',
  'unset IFS',
  'exec 3<lines.txt',
  'exec 3<&-',
  "trap '' TERM",
  'trap - TERM',
  "trap '' PIPE",
  'trap - PIPE',
  'ulimit -n 32',
  'LC_ALL=C',
  'unset LC_ALL',
  'chmod -x says',
  'chmod +x says',
  'cd sub; ln -sfn ../* .; cd ..',
  'set -h',
  'set +h',
  'set -o posix',
  'set +o posix; shopt -s expand_aliases',
  'false',
)
const asked = fc.constantFrom('echo "$? $_"', 'echo "$_"', 'hash -l 2>/dev/null | sort', 'cat noted', 'ls')

export const programStory: fc.Arbitrary<string[]> = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: list },
      { weight: 1, arbitrary: long },
      { weight: 3, arbitrary: between },
      { weight: 3, arbitrary: asked },
    ),
    { minLength: 3, maxLength: 14 },
  )
  .map((commands) => [SET_UP, ...commands])

/**
 * Random commands for the oracle: small pieces of shell that touch the same few names, so that what one leaves the next
 * one finds.
 */
import { fc } from '../../fixtures/fast-check.js'

const name = fc.constantFrom('a', 'b', 'c')
const list = fc.constantFrom('l', 'm')
const word = fc.constantFrom(
  'one',
  "'two words'",
  '"$a"',
  '"${b-unset}"',
  '$((1+2))',
  '"it\'s"',
  '*.txt',
  '{x,y}',
  '"$(echo sub)"',
  "$'tab\\there'",
  '""',
  '"${l[*]}"',
  '~',
)
const number = fc.integer({ min: 0, max: 9 })
const option = fc.constantFrom('noglob', 'pipefail', 'noclobber', 'physical', 'errtrace')
const shopt = fc.constantFrom('nullglob', 'extglob', 'dotglob', 'nocasematch', 'globstar', 'lastpipe')
const directory = fc.constantFrom('sub', 'sub/deep', '..', '.', '-', 'nowhere', '"$PWD"')
const signal = fc.constantFrom('USR1', 'USR2', 'HUP')

const simple: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(name, word).map(([n, w]) => `${n}=${w}`),
  fc.tuple(name, word).map(([n, w]) => `export ${n}=${w}`),
  fc.tuple(name, number).map(([n, k]) => `declare -i ${n}=${k}+1`),
  fc.tuple(name).map(([n]) => `unset ${n}`),
  fc.tuple(name).map(([n]) => `echo "${n}=\${${n}-none} \${#${n}}"`),
  fc.tuple(list, word, word).map(([n, u, v]) => `${n}=(${u} ${v})`),
  fc.tuple(list, word).map(([n, w]) => `${n}+=(${w})`),
  fc.tuple(list).map(([n]) => `printf '<%s>' "\${${n}[@]}"; echo \${#${n}[@]}`),
  fc.tuple(fc.constantFrom('f', 'g'), word).map(([f, w]) => `${f}() { local x=$1; a=$x; echo ${w} "$#"; return 3; }`),
  fc.tuple(fc.constantFrom('f', 'g'), word).map(([f, w]) => `${f} ${w} 2>/dev/null`),
  fc.tuple(fc.constantFrom('al', 'am'), number).map(([n, k]) => `alias ${n}='echo alias ${k}'`),
  fc.constantFrom('al more 2>/dev/null', 'am 2>/dev/null', 'unalias al 2>/dev/null', 'alias'),
  fc.tuple(fc.constantFrom('-', '+'), option).map(([sign, o]) => `set ${sign}o ${o}`),
  fc.tuple(fc.constantFrom('-s', '-u'), shopt).map(([sign, o]) => `shopt ${sign} ${o}`),
  fc.tuple(directory).map(([d]) => `cd ${d} >/dev/null 2>&1`),
  fc.constantFrom(
    'pwd',
    'umask 027',
    'umask',
    'echo "$?"',
    'echo "$#:$*"',
    'set -- p "q r" s',
    'shift 2>/dev/null',
    'echo *',
    'true',
    'false',
    '(exit 4)',
    '! true',
    'pushd sub >/dev/null 2>&1',
    'popd >/dev/null 2>&1',
    'exec 3>out3',
    'echo to3 >&3 2>/dev/null',
    'exec 3>&-',
    'cat out3 2>/dev/null',
    'IFS=,',
    'unset IFS',
    'trap -p',
    'read -r a b <<<"r1 r2"',
    "mapfile -t l <<<$'m1\\nm2'",
  ),
  // One program and its words, which a session starts in a way of its own.
  fc.constantFrom(
    'ls',
    'ls -1 sub 2>&1',
    '/bin/true',
    '/bin/false',
    'cat f out3 2>&1',
    'mkdir -p sub/deep',
    'seq 3',
    'seq 3 | sort -r | head -2',
    'seq 3 2>/dev/null | cat nothing - 2>&1',
    '/bin/false | /bin/true && basename a || basename b',
    'expr 1 + 1; /bin/false | ./nothing 2>/dev/null; seq 2',
    './nothing',
    'env printenv a b',
    'stat -c %a:%F sub 2>&1',
    'basename "two words"',
  ),
  fc.tuple(signal, number).map(([s, k]) => `trap 'echo sig ${k}; c=${k}' ${s}`),
  fc.tuple(signal).map(([s]) => `{ command trap '' ${s}; kill -${s} $BASHPID; trap - ${s}; }`),
  fc.tuple(number).map(([k]) => `{ (exit ${k}) & wait $!; }`),
)

/** One command. */
export const randomCommand: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: simple },
  {
    weight: 1,
    arbitrary: fc
      .tuple(simple, simple, fc.constantFrom('&&', '||', ';', '\n'))
      .map(([a, b, join]) => (join === '\n' ? `${a}\n${b}` : `${a} ${join} ${b}`)),
  },
  { weight: 1, arbitrary: fc.tuple(simple, simple).map(([a, b]) => `if ${a}; then ${b}; else echo no; fi`) },
  { weight: 1, arbitrary: fc.tuple(word, simple).map(([w, a]) => `for a in ${w} last; do ${a}; done`) },
  { weight: 1, arbitrary: simple.map((a) => `( ${a} )`) },
  { weight: 1, arbitrary: simple.map((a) => `{ ${a}; } | cat`) },
  { weight: 1, arbitrary: simple.map((a) => `b=$(${a})`) },
  { weight: 1, arbitrary: simple.map((a) => `{ ${a}; } 2>/dev/null >f; cat f`) },
  { weight: 1, arbitrary: fc.tuple(name, word).map(([n, w]) => `cat <<END\n$${n} ${w}\nEND`) },
)

/**
 * A failed assignment to an integer ends a sourced file, but only a line of a script: the oracle cannot judge what
 * stands on the lines behind it.
 */
export const comparable = (commands: string[]): boolean =>
  !commands.some((command) => command.includes('declare -i')) ||
  !commands.some((command) => command.includes('\n') && !command.startsWith('cat <<'))

export const randomSequence: fc.Arbitrary<string[]> = fc
  .array(randomCommand, { minLength: 2, maxLength: 8 })
  .filter(comparable)

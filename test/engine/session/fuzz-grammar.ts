/**
 * Random stories for the fuzzer: commands that put things in the way of our own lines (functions and aliases named like
 * builtins, traps, descriptors, odd names, the same command again), and what happens to the session between them while
 * a plain bash knows nothing of it.
 */
import { fc } from '../../fixtures/fast-check.js'
import { lastingScenes, scenes } from './fuzz-scenes.js'
import { comparable, randomCommand } from './oracle-grammar.js'

/** What happens to a session before a command: nothing, a stop at some moment, the end of its shell. */
export type Disturbance =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'stop'
      readonly command: string
      readonly afterMs: number
      readonly how: 'timeout' | 'interrupt' | 'kill'
    }
  | { readonly kind: 'end'; readonly how: 'exit' | 'kill' | 'from outside' }

export interface Step {
  readonly before: Disturbance
  readonly command: string
}

/** Names that our lines use, and that the oracle does not. */
const shadowed = fc.constantFrom(
  ...'. : [ alias cd declare dirs echo eval exit export hash history kill local printf pwd read set shift shopt source test trap true umask unset wait'.split(
    ' ',
  ),
)
const odd = fc.constantFrom('a-b', 'x.y', 'é', 'a:b', '_', 'f2', 'ls')
const alias = fc.constantFrom('ll', 'grep', 'printf', 'cd', 'set', 'trap', 'unset', 'a.b', 'e-x')
const signal = fc.constantFrom('USR1', 'USR2', 'HUP', 'ERR', 'RETURN', 'WINCH')
/** A session keeps a stdin that `exec` has moved on one from 10 on. */
const fd = fc.integer({ min: 3, max: 9 })
const file = fc.constantFrom('one', 'two')

const inTheWay: fc.Arbitrary<string> = fc.oneof(
  shadowed.map((name) => `function ${name} { command echo "shadow ${name} $#"; }`),
  shadowed.map((name) => `function ${name} { command ${name} "$@"; }`),
  shadowed.map((name) => `command unset -f ${name}`),
  odd.map((name) => `function ${name} { command echo odd "$@"; }`),
  odd.map((name) => `${name} a b 2>/dev/null`),
  alias.map((name) => `command alias ${name}='command echo aliased'`),
  alias.map((name) => `command unalias ${name} 2>/dev/null`),
  alias.map((name) => `${name} x 2>/dev/null >/dev/null`),
)
/**
 * The words by which our own lines are protected. (A function named `builtin` lives until the end of its call:
 * docs/sessions.md.)
 */
const protectors: fc.Arbitrary<string> = fc.oneof(
  shadowed.map((name) => `builtin command -V ${name} | head -1`),
  fc.constantFrom(
    'builtin echo by the builtin',
    'function builtin { command echo mine "$@"; }; builtin x; command unset -f builtin',
    'alias builtin="command echo aliased"; command unalias builtin',
    'function enable { command echo mine "$@"; }',
    'command unset -f enable',
    'enable -n test; command enable test',
    'command enable -n hash',
    'command enable hash',
    'command enable -n printf; command -v printf >/dev/null; command enable printf',
    'echo ./configure --enable-foo # enable builtin',
    'builtin cd .; builtin pwd >/dev/null',
    // Behind POSIX mode a bash that is not interactive has no aliases.
    'export POSIXLY_CORRECT=1; unset POSIXLY_CORRECT; command shopt -s expand_aliases',
  ),
)
const traps: fc.Arbitrary<string> = fc.oneof(
  signal.map((name) => `command trap 'command echo got ${name} >>log' ${name}`),
  signal.map((name) => `command trap - ${name}`),
  signal.map((name) => `command trap '' ${name}`),
  fc.constantFrom(
    'command trap -p',
    'command trap "command echo usr >>log" USR1; command kill -USR1 $$',
    'cat log 2>/dev/null',
    'false',
    'g() { false; }; g',
  ),
)
const descriptors: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(fd, file).map(([n, f]) => `exec ${n}>>${f}`),
  fc.tuple(fd, file).map(([n, f]) => `exec ${n}<${f}`),
  fd.map((n) => `exec ${n}>&-`),
  fc.tuple(fd, fd).map(([n, m]) => `exec ${n}>&${m}`),
  fd.map((n) => `command echo to ${n} 2>/dev/null >&${n}`),
  file.map((f) => `cat ${f} 2>/dev/null`),
  file.map((f) => `{ command echo in; command echo err >&2; } >${f} 2>&1`),
)
const settings: fc.Arbitrary<string> = fc.constantFrom(
  'set -a',
  'set +a',
  'set -f; set +f',
  'IFS=:',
  'unset IFS',
  'export LC_ALL=C',
  'unset LC_ALL',
  'readonly RO=1 2>/dev/null',
  'declare -n ref=a',
  'unset -n ref',
  'ref=through 2>/dev/null',
  'OPTIND=2',
  'BASH_COMPAT=4.4',
  'unset BASH_COMPAT',
  'GLOBIGNORE="*.o"',
  'unset GLOBIGNORE',
  'hash -r',
  'SECONDS=5000',
  'complete -W "a b" foo',
  'complete -r foo 2>/dev/null',
  `v=$'a\\377b'`,
  'printf "%q" "$v"',
  'local nothing 2>/dev/null',
  'export -n a',
  'export a',
  'echo "$?" "$_"',
  'echo "${PIPESTATUS[@]}"',
  'true | false | true',
  'seq 3 | sort -r | head -2',
  'expr 1 + 1 && /bin/false | seq 2 || basename a b',
  'seq 2; /bin/false; basename last',
)

const command = (parts: readonly fc.Arbitrary<string>[]): fc.Arbitrary<string> => fc.oneof(...parts)

const stop: fc.Arbitrary<Disturbance> = fc.record({
  kind: fc.constant('stop' as const),
  command: fc.constantFrom('sleep 30', 'while :; do :; done', 'sleep 30 | cat', 'seq 2 | sleep 30 && touch late', 'sleep 30; touch late', '(sleep 30; echo late)', 'read -r x <> <(sleep 30)', 'for ((;;)); do /bin/true; done'),
  afterMs: fc.integer({ min: 1, max: 60 }),
  how: fc.constantFrom('timeout', 'interrupt', 'kill'),
}) // prettier-ignore
const end: fc.Arbitrary<Disturbance> = fc.record({
  kind: fc.constant('end' as const),
  how: fc.constantFrom('exit', 'kill', 'from outside'),
})
const none: Disturbance = { kind: 'none' }

function story(commands: fc.Arbitrary<string>, before: fc.Arbitrary<Disturbance>): fc.Arbitrary<Step[]> {
  return fc
    .array(
      fc.record({
        before: fc.oneof({ weight: 5, arbitrary: fc.constant(none) }, { weight: 1, arbitrary: before }),
        command: commands,
        again: fc.boolean(),
      }),
      { minLength: 2, maxLength: 9 },
    )
    .map((steps) =>
      // Repeated commands take another way.
      steps.flatMap(({ before: disturbance, command: text, again }) => [
        { before: disturbance, command: text },
        ...(again ? [{ before: none, command: text }] : []),
      ]),
    )
    .filter((steps) => comparable(steps.map(({ command: text }) => text)))
}

/** A session that is stopped keeps everything. */
export const stoppedStory = story(command([inTheWay, protectors, traps, descriptors, settings, randomCommand]), stop)
/** What only a process has (descriptors, jobs) is not part of a story in which shells end. */
export const endedStory = story(command([inTheWay, protectors, settings, randomCommand.filter((text) => !/exec|>&|&\s|\bwait\b/.test(text))]), end) // prettier-ignore

/** Each scene with what happens around its commands: nothing mostly, and now and then the same command again. */
function scenery(
  from: fc.Arbitrary<readonly string[]>,
  between: fc.Arbitrary<string>,
  before: fc.Arbitrary<Disturbance>,
): fc.Arbitrary<Step[]> {
  const disturbance = fc.oneof({ weight: 8, arbitrary: fc.constant(none) }, { weight: 1, arbitrary: before })
  const around = fc.array(fc.record({ before: disturbance, again: fc.integer({ min: 0, max: 9 }) }), { maxLength: 6 })
  const scene = fc.oneof({ weight: 4, arbitrary: from }, { weight: 1, arbitrary: between.map((text) => [text]) })
  return fc
    .array(fc.record({ commands: scene, around }), { minLength: 1, maxLength: 5 })
    .map((chosen) =>
      chosen.flatMap(({ commands, around: places }) =>
        commands.flatMap((text, at) => [
          { before: places[at]?.before ?? none, command: text },
          ...(places[at]?.again === 9 ? [{ before: none, command: text }] : []),
        ]),
      ),
    )
    .filter((steps) => comparable(steps.map(({ command: text }) => text)))
}

const usual = command([inTheWay, settings, randomCommand])
export const sceneStory = scenery(scenes, usual, stop)
export const endedScenes = scenery(
  lastingScenes,
  usual.filter((text) => !/exec|>&|&\s|\bwait\b/.test(text)),
  end,
)

/**
 * No line of the session's own is reached by a name that the agent can define: every name, as function and as alias,
 * with every kind of call.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RunRequest, Session } from '../../../src/index.js'
import { temporaryFolder, testEngine, uniqueSeconds } from '../harness.js'
import { engineWithoutBuiltin } from './without-builtin.js'

const NAMES =
  '. : [ alias cd command declare dirs echo enable eval exec exit export false hash history kill local mapfile printf pwd read readonly return set shift shopt source test trap true type typeset ulimit umask unset wait'.split(
    ' ',
  )

/**
 * Aliases are out of the way of every word behind a backslash: those of words that bash itself prints to be read again
 * are tried.
 */
const ALIASES = new Set(['declare', 'eval', 'exec', 'export', 'printf', 'trap', 'unset'])

const SHADOW = 'SHADOWED'

/** Kinds of calls, none of which says a name by itself: what shows up was reached by a line of the session's own. */
const KINDS: readonly (readonly [Omit<RunRequest, 'command'> & { readonly command: string }, string | null])[] = [
  [{ command: 'x=1' }, ''],
  [{ command: '/bin/echo $x' }, '1\n'],
  [{ command: '/bin/echo hi | /bin/cat' }, 'hi\n'],
  [{ command: '/bin/echo $A', env: { A: 'given' } }, 'given\n'],
  [{ command: '/bin/echo $A' }, 'own\n'],
  [{ command: '/bin/echo "${B-none}"', env: { B: 'given' } }, 'given\n'],
  [{ command: '/bin/echo "${B-none}"' }, 'none\n'],
  [{ command: '/bin/cat', input: 'in' }, 'in'],
  [{ command: '/bin/echo hi', streams: 'merged' }, null],
  [{ command: 'x=2; /bin/echo up; while [[ 1 ]]; do x=2; done' }, 'up\n'],
  [{ command: '/bin/echo $x' }, '2\n'],
  [{ command: `/bin/sleep ${uniqueSeconds()} &` }, ''],
  [{ command: '/bin/echo after' }, 'after\n'],
  [{ command: 'PS1=prompt PS2=again' }, ''],
  [{ command: '/bin/echo $PS1' }, 'prompt\n'],
  [{ command: 'PROMPT_COMMAND=(one two)' }, ''],
  [{ command: '/bin/echo "${PROMPT_COMMAND[1]}"' }, 'two\n'],
  [{ command: "\\builtin trap 'y=3' INT USR1" }, ''],
  [{ command: 'x=4; /bin/echo up; while [[ 1 ]]; do x=4; done' }, 'up\n'],
  [{ command: '/bin/echo $x' }, '4\n'],
  [{ command: 'exec_=1 /bin/echo pty', pty: true }, null],
  [{ command: '/bin/echo $A $x' }, 'own 4\n'],
  [{ command: '\\builtin exit 3' }, ''],
  [{ command: '/bin/echo $A $x' }, 'own 4\n'],
]

/** What reached a name, or came out differently than it does without any. */
async function shadowsIn(session: Session, define: string, stillThere: string): Promise<string[]> {
  const wrong: string[] = []
  await session.run({ command: `\\builtin export A=own` })
  await session.run({ command: define })
  for (const [request, expected] of KINDS) {
    const handle = session.stream(request)
    // A loop is stopped when it is known to have begun.
    if (request.command.includes('while')) for await (const { text } of handle) if (text.includes('up')) handle.kill()
    const { stdout, stderr, output } = await handle.outcome
    const printed = `${stdout}${stderr}${output ?? ''}`
    if (printed.includes(SHADOW) || (expected !== null && stdout !== expected))
      wrong.push(`${define} + ${JSON.stringify(request)}: ${JSON.stringify(printed)}`)
  }
  const { stdout } = await session.run({ command: stillThere })
  if (!stdout.includes(SHADOW)) wrong.push(`${define} is gone: ${stdout}`)
  return wrong
}

async function inTurns<T>(all: readonly T[], work: (one: T) => Promise<string[]>): Promise<string[]> {
  const found: string[] = []
  const rest = [...all]
  await Promise.all(
    Array.from({ length: 6 }, async () => {
      for (let one = rest.shift(); one !== undefined; one = rest.shift()) found.push(...(await work(one)))
    }),
  )
  return found
}

test.each([
  ['with', () => testEngine({ cwd: folderWithSub() })],
  ['without', () => engineWithoutBuiltin(folderWithSub())],
] as const)('no name of the agent is reached by a line of the session (%s the builtin)', async (_, make) => {
  const engine = await make()
  const found = await inTurns(NAMES, async (name) => {
    const asFunction = await shadowsIn(
      await engine.session(`f${NAMES.indexOf(name)}`),
      `function ${name} { /bin/echo ${SHADOW} "$@"; }`,
      `\\builtin declare -f ${name}`,
    )
    const asAlias = !ALIASES.has(name)
      ? []
      : await shadowsIn(
          await engine.session(`a${NAMES.indexOf(name)}`),
          `\\builtin alias ${name}='/bin/echo ${SHADOW}'`,
          `\\builtin alias ${name}`,
        )
    await (await engine.session(`f${NAMES.indexOf(name)}`)).close()
    return [...asFunction, ...asAlias]
  })
  expect(found).toEqual([])
})

function folderWithSub(): string {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'sub'))
  return folder
}

test.each(['./configure --enable-foo', 'echo builtin', 'grep -r enable .', 'echo "use builtin or enable"'])(
  'a word in a text costs no function and no variable: %s',
  async (command) => {
    const session = await (await testEngine()).session()
    await session.run({ command: 'export POSIXLY_CORRECT=1; set +o posix; declare -p POSIXLY_CORRECT' })
    const names = ['declare', 'enable', 'exec', 'printf', 'source', 'trap', 'unset']
    for (const name of names) await session.run({ command: `function ${name} { /bin/echo ${SHADOW}; }` })
    await session.run({ command: '\\builtin export POSIXLY_CORRECT=1' })
    await session.run({ command })
    expect((await session.run({ command: '\\builtin declare -p POSIXLY_CORRECT' })).stdout).toBe(
      'declare -x POSIXLY_CORRECT="1"\n',
    )
    for (const name of names)
      expect((await session.run({ command: `\\builtin declare -F ${name}` })).stdout).toBe(`${name}\n`)
  },
)

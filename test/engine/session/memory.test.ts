/**
 * What the engine knows about a session decides on how much care a command needs; it must not stay careful for ever.
 */
import { expect, test } from 'vitest'
import { SessionMemory } from '../../../src/engine/session/call/memory.js'
import type { CallNeeds } from '../../../src/engine/session/lines/call-text.js'
import { inspect } from '../../../src/guard/inspect.js'

const prepare = (memory: SessionMemory, command: string): CallNeeds =>
  memory.prepare(inspect(command, { cwd: '/', home: '/root' }))
const told = (memory: SessionMemory, traps: string): void => memory.hearTraps({ text: traps, given: 'RETURNDEBUG' })

test.each(['cat err.log', 'grep -r ERR src', 'echo trap'])('a word costs no care: %s', (command) => {
  const memory = new SessionMemory('/', null)
  expect(prepare(memory, command).traps).toBeNull()
  expect(memory.isPlain).toBe(true)
})

test.each([
  ["trap -- 'echo a' EXIT\n", { exit: 'echo a' }],
  ["trap -- 'echo a' DEBUG\n", { debug: 'echo a' }],
  ["trap -- 'echo a' RETURN\n", { return: 'echo a' }],
  ["trap -- 'echo a' ERR\n", {}],
  ["trap -- '' SIGTERM\n", {}],
  ["trap -- 'echo a' SIGCHLD\n", {}],
])('one that has %j is not', (traps, known) => {
  const memory = new SessionMemory('/', null)
  expect(prepare(memory, '. ./file')).toMatchObject({ traps: null, watchTraps: true })
  told(memory, traps)
  expect(memory.isPlain).toBe(false)
  expect(memory.traps).toMatchObject(known)
  expect(memory.errTrap).toBe(traps.includes('ERR'))
})

test('a trap of ours is none of its traps', () => {
  const memory = new SessionMemory('/', null)
  prepare(memory, 'eval "$x"')
  told(memory, "trap -- 'builtin printf '\\''cerith-state'\\''' EXIT\ntrap -- '' SIGXFSZ\n")
  expect(memory.traps.exit).toBeNull()
})

test.each(['. ./file', 'source file', 'cd x && . ./y', 'eval "$x"', '{ . x; }', 'if . ./x; then :; fi'])(
  'runs text that is not in it: %s',
  (command) => {
    expect(prepare(new SessionMemory('/', null), command).watchTraps).toBe(true)
  },
)

test.each(['x=1', 'cd ./x', 'for f in a; do echo $f; done', 'x=$(date)'])('does not: %s', (command) => {
  expect(prepare(new SessionMemory('/', null), command).watchTraps).toBe(false)
})

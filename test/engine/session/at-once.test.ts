/**
 * Which requests a session may answer by giving a command again: a field that is not known to be harmless is looked at
 * in full.
 */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { RunRequest } from '../../../src/contract/request.js'
import { asksForNothingSpecial } from '../../../src/engine/session/call/at-once.js'
import { createTools } from '../../../src/tools/index.js'
import { temporaryFolder, testEngine } from '../harness.js'

test('what a tool call asks for is nothing special', async () => {
  const engine = await testEngine()
  const session = await engine.session('main')
  const seen: RunRequest[] = []
  const watched = new Proxy(session, {
    get(of, name) {
      if (name === 'run') return (request: RunRequest) => (seen.push(request), of.run(request))
      const value: unknown = Reflect.get(of, name, of)
      return typeof value === 'function' ? (value.bind(of) as unknown) : value
    },
  })
  const tools = createTools({ ...engine, session: () => Promise.resolve(watched) }, { dialect: 'house' })
  await tools.execute('Bash', { command: ':' }, { ask: () => Promise.resolve('deny' as const), approvalWaitMs: 10 })
  expect(seen.map((request) => [request.command, asksForNothingSpecial(request)])).toEqual([[':', true]])
})

test.each<[Partial<RunRequest>, boolean]>([
  [{}, true],
  [{ streams: 'separate', pty: false, dryRun: false }, true],
  [{ signal: new AbortController().signal }, true],
  [{ signal: AbortSignal.abort() }, false],
  [{ streams: 'merged' }, false],
  [{ pty: true }, false],
  [{ dryRun: true }, false],
  [{ env: { A: '1' } }, false],
  [{ input: 'x' }, false],
  [{ sandbox: { profile: 'strict' } }, false],
  [{ outside: 'because' }, false],
])('%j', (request, plain) => {
  expect(asksForNothingSpecial({ command: ':', ...request })).toBe(plain)
})

test('a comment leaves `$?` as it was, also when it is given again', async () => {
  const session = await (await testEngine()).session()
  for (const command of ['false', '# note', 'false', '# note']) await session.run({ command })
  expect((await session.run({ command: 'echo $?' })).stdout).toBe('1\n')
})

test('what new commands leave behind is there for the next one: status, variables, directory, stages', async () => {
  const session = await (await testEngine()).session()
  const say = async (command: string): Promise<string> => (await session.run({ command })).stdout
  await say(':')
  await say('(exit 7)')
  expect(await say('echo $?; A=5')).toBe('7\n')
  await say('cd /usr && B=$A; export B')
  expect(await say('sh -c "pwd; echo $B"')).toBe('/usr\n5\n')
  await say('true | (exit 3) | true')
  expect(await say('echo ${PIPESTATUS[@]}')).toBe('0 3 0\n')
  expect(await say('f() { echo "f $1"; }')).toBe('')
  expect(await say('f x; ls() { echo own; }')).toBe('f x\n')
  expect(await say('ls')).toBe('own\n')
})

test('a shell that was given a function is known again at its next command, also without a pause between the two', async () => {
  const stateDir = temporaryFolder()
  const session = await (await testEngine({ stateDir })).session()
  await session.run({ command: ':' })
  await session.run({ command: 'f() { echo f; }' })
  // What bash itself would report the end with, were the next command not one for the builtin.
  for (const file of readdirSync(stateDir, { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.end')) rmSync(join(stateDir, file))
  const next = await session.run({ command: 'x=1; echo "$x"', timeoutMs: 20_000 })
  expect([next.stdout, next.notes]).toEqual(['1\n', []])
})

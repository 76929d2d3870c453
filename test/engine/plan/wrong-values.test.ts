/**
 * Whatever a caller passes by mistake is a ShellError that names the value and the way out, never a TypeError from
 * inside.
 */
import { beforeEach, expect, test } from 'vitest'
import type { Engine } from '../../../src/contract/engine.js'
import { ShellError } from '../../../src/contract/errors.js'
import type { Job } from '../../../src/contract/job.js'
import { testEngine } from '../harness.js'

let engine: Engine
let job: Job
beforeEach(async () => {
  engine = await testEngine()
  job = await engine.start({ command: 'sleep 60', openStdin: true })
})

const failing = { toString: () => Promise.reject(new Error('no')) as unknown as string }
const NOT_TEXT = [5, 0, null, true, {}, [], Number.NaN, () => {}, Symbol('x'), 10n, failing]
const NOT_OPTIONS = [5, '', null, true, [], () => {}, Symbol('x'), 10n]

/** What was said to each of these values. */
async function answers(values: readonly unknown[], call: (value: never) => unknown): Promise<void> {
  for (const value of values) {
    const error = await (async () => call(value as never))().then(
      () => null,
      (thrown: unknown) => thrown,
    )
    expect(ShellError.is(error), `a ${typeof value} gave ${String(error)}`).toBe(true)
    const { code, message, hint } = error as ShellError
    expect(code).toBe('BAD_REQUEST')
    if (typeof value === 'number' || typeof value === 'bigint') expect(message).toContain(String(value))
    expect(hint).not.toBe('')
  }
}

test.each<[string, (value: never) => unknown]>([
  ['engine.session', (name) => engine.session(name)],
  ['engine.check', (command) => engine.check(command)],
  ['engine.check in a session', (session) => engine.check('ls', { session })],
  ['engine.plan in a session', (session) => engine.plan({ command: 'ls', session })],
  ['engine.start in a session', (session) => engine.start({ command: ':', session })],
  ['a description', (description) => engine.run({ command: ':', description })],
  ['secrets.set', (name) => engine.secrets.set(name, 'a value')],
  ['secrets.delete', (name) => engine.secrets.delete(name)],
  ['secrets.mask', (text) => engine.secrets.mask(text)],
  ['wait until', (until) => job.wait({ until })],
  ['wait for a file', (file) => job.wait({ file })],
])('%s wants a text', (_, call) => answers(NOT_TEXT, call))

test('an empty name, and one that is no name, are said as they are', async () => {
  await expect(engine.session('')).rejects.toMatchObject({
    code: 'BAD_REQUEST',
    message: 'Bad request: not a session name (got "")',
    hint: expect.stringContaining('letters'),
  })
  await expect(engine.session('../up')).rejects.toMatchObject({ message: expect.stringContaining('"../up"') })
  await expect(engine.session('.hidden')).rejects.toMatchObject({ message: expect.stringContaining('".hidden"') })
})

test.each<[string, (options: never) => unknown]>([
  ['engine.run', (request) => engine.run(request)],
  ['engine.start', (request) => engine.start(request)],
  ['engine.begin', (request) => engine.begin(request)],
  ['engine.plan', (request) => engine.plan(request)],
  ['engine.jobs', (which) => engine.jobs(which)],
  ['engine.clean', (which) => engine.clean(which)],
  ['session.run', async (request) => (await engine.session()).run(request)],
  ['engine.changes', (options) => engine.changes(options)],
  ['engine.accept', (options) => engine.accept(options)],
  ['engine.discard', (options) => engine.discard(options)],
  ['job.resize', (size) => job.resize(size)],
  ['engine.check', (where) => engine.check('ls', where)],
  ['job.wait', (options) => job.wait(options)],
  ['job.read', (options) => job.read(options)],
  ['job.kill', (options) => job.kill(options)],
  ['job.send', (options) => job.send(options)],
  ['job.screen', (options) => job.screen(options)],
])('%s wants options', (_, call) => answers(NOT_OPTIONS, call))

test.each<[string, (value: never) => unknown]>([
  ['a signal of a run', (signal) => engine.run({ command: ':', signal })],
  ['a signal of a wait', (signal) => job.wait({ signal })],
  ['labels', (labels) => engine.run({ command: ':', labels })],
  ['the owner', (owner) => engine.run({ command: ':', owner })],
])('%s of the wrong kind', (_, call) => answers([5, '', null, true, Symbol('x'), 10n], call))

test('numbers are checked where a number is wanted', async () => {
  await answers([-1, Number.NaN, '5', 10n], (since) => job.read({ since }))
  await answers([-1, Number.NaN, '5', 10n], (before) => job.read({ filter: 'x', before }))
  await answers([-1, Number.NaN, 'x', 10n], (olderThanMs) => engine.clean({ olderThanMs }))
  await answers([-1, Number.NaN, '5', 10n], (graceMs) => job.kill({ graceMs }))
  await answers([0, 65_536, 'http', null, 10n], (port) => job.wait({ port }))
  await answers([-1, 1.5, 'much', 10n], (maxStoredBytes) => engine.start({ command: ':', maxStoredBytes }))
})

/** Every field of every request, with values it cannot have: BAD_REQUEST that names the value and says what to pass. */
import { join } from 'node:path'
import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEngine } from '../../../src/index.js'
import type { Engine } from '../../../src/contract/engine.js'
import { ShellError } from '../../../src/contract/errors.js'
import type { Job } from '../../../src/contract/job.js'
import { LIMITS } from '../../../src/contract/limits.js'
import { temporaryFolder } from '../../fixtures/folder.js'
import {
  ACCEPT_ROWS, CHANGES_ROWS, CHECK_ROWS, CLEAN_ROWS, DISCARD_ROWS, ENGINE_ROWS, JOBS_ROWS, KILL_ROWS, READ_ROWS, rowsOfRequest, SCREEN_ROWS, SEND_ROWS, WAIT_ROWS,
} from '../../../src/engine/plan/fields.js' // prettier-ignore

let engine: Engine
let job: Job
const folder = temporaryFolder('fields')
beforeAll(async () => {
  engine = await createEngine({ stateDir: join(folder, 'state'), cwd: folder })
  job = await engine.start({ command: 'sleep 60', openStdin: true })
})

afterAll(async () => {
  await engine.close()
})

/** Values that no field of any request allows. */
const NEVER = [Symbol('x'), 10n, Number.NaN, new Map([['A', '1']])]
const base = { command: ':' }

const CALLS: Readonly<Record<string, readonly [rows: object, call: (options: never) => unknown]>> = {
  run: [rowsOfRequest(LIMITS), (options: object) => engine.run({ ...base, ...options })],
  stream: [rowsOfRequest(LIMITS), (options: object) => engine.stream({ ...base, ...options }).outcome],
  start: [rowsOfRequest(LIMITS), (options: object) => engine.start({ ...base, ...options })],
  plan: [rowsOfRequest(LIMITS), (options: object) => engine.plan({ ...base, ...options })],
  'session.run': [
    rowsOfRequest(LIMITS),
    async (options: object) => (await engine.session()).run({ ...base, ...options }),
  ],
  read: [READ_ROWS, (options: object) => job.read(options)],
  wait: [WAIT_ROWS, (options: object) => job.wait(options)],
  kill: [KILL_ROWS, (options: object) => job.kill(options)],
  send: [SEND_ROWS, (options: object) => job.send({ text: 'x', ...options })],
  screen: [SCREEN_ROWS, (options: object) => job.screen(options)],
  jobs: [JOBS_ROWS, (options: object) => engine.jobs(options)],
  clean: [CLEAN_ROWS, (options: object) => engine.clean(options)],
  changes: [CHANGES_ROWS, (options: object) => engine.changes(options)],
  accept: [ACCEPT_ROWS, (options: object) => engine.accept(options)],
  discard: [DISCARD_ROWS, (options: object) => engine.discard(options)],
  check: [CHECK_ROWS, (options: object) => engine.check('ls', options)],
  createEngine: [ENGINE_ROWS, (options: object) => createEngine(options)],
}

async function refusal(call: () => unknown): Promise<string | null> {
  const error = await (async () => call())().then(
    (value) => `no error: ${JSON.stringify(value)?.slice(0, 80)}`,
    (thrown: unknown) => thrown,
  )
  if (!ShellError.is(error)) return String(error)
  return error.code === 'BAD_REQUEST' && error.hint !== '' && error.message.includes('') ? null : `${error.code} ${error.message}`
} // prettier-ignore

test.each(Object.entries(CALLS))(
  '%s refuses what no field can be, and fields that do not exist',
  async (_, [rows, call]) => {
    const wrong: string[] = []
    for (const name of Object.keys(rows)) {
      for (const value of NEVER) {
        const said = await refusal(() => call({ [name]: value } as never))
        if (said !== null) wrong.push(`${name}: ${inspect(value)}: ${said}`)
      }
    }
    expect(await refusal(() => call({ noSuchField: 1 } as never))).toBe(null)
    expect(wrong).toEqual([])
  },
)

const CLIP = "Use { kind: 'none' }"
test.each<[string, unknown, string]>([
  ['clip', { maxChars: 10 }, 'clip must say its kind'],
  ['clip', { kind: 'nope' }, 'clip must say its kind'],
  ['clip', { kind: 'toString' }, 'clip must say its kind'],
  ['clip', 'none', 'clip must say its kind'],
  ['clip', 5, 'clip must say its kind'],
  ['clip', null, 'clip must say its kind'],
  ['clip', [], 'clip must say its kind'],
  ['clip', { kind: 'head', maxChars: -1 }, 'clip.maxChars must be a whole number'],
  ['clip', { kind: 'head' }, 'clip.maxChars must be a whole number'],
  ['clip', { kind: 'ends', maxChars: '5' }, 'clip.maxChars must be a whole number'],
  ['clip', { kind: 'ends', maxChars: 1.5 }, 'clip.maxChars must be a whole number'],
  ['clip', { kind: 'middle', maxBytes: 5 }, 'clip.endBytes must be a whole number'],
  ['clip', { kind: 'none', maxChars: 5 }, 'clip of kind none has no maxChars'],
])('%s: %j is said as it is', async (field, value, said) => {
  await expect(engine.run({ command: 'echo hi', [field]: value })).rejects.toMatchObject({
    code: 'BAD_REQUEST',
    message: expect.stringContaining(said),
    hint: expect.stringContaining(CLIP),
  })
})

test.each<[string, unknown]>([
  ['env', []], ['env', { A: 1 }], ['env', { 'A=B': 'x' }], ['envMode', 'add'], ['timeoutMs', 0], ['timeoutMs', '5'],
  ['timeoutMs', Infinity], ['graceMs', -1], ['yieldMs', null], ['signal', {}], ['input', 5], ['streams', 'both'],
  ['ansi', true], ['progress', 1], ['binary', 'x'], ['dryRun', 'false'], ['dryRun', 0], ['pty', 'yes'], ['pty', { cols: 0, rows: 1 }],
  ['pty', { cols: 80 }], ['record', 'x.cast'], ['onOutput', 'f'], ['onBytes', {}], ['onTimeout', 'stop'], ['owner', 'me'],
  ['reportInput', 1], ['description', {}], ['labels', { a: 1 }], ['newId', 'x'], ['door', 'window'], ['ask', true], ['approvalId', 1],
  ['automation', {}], ['automation', [{}]], ['automation', [{ program: 'x' }]], ['maxStoredBytes', -1], ['openStdin', 'no'],
  ['limits', { cpuSeconds: -1 }], ['limits', { memory: 5 }], ['limits', 5], ['cwd', 5], ['cwd', ''], ['cwd', null],
])('run refuses %s: %j', async (field, value) => {
  expect(await refusal(() => engine.run({ command: 'echo hi', [field]: value }))).toBe(null)
}) // prettier-ignore

test.each<[string, unknown]>([
  ['limits', { maxRunningJobs: -1 }], ['limits', { maxJobs: 5 }], ['limits', 5], ['roots', '/'], ['env', 'PATH'], ['keepEnv', 'A'],
  ['stateDir', ''], ['bash', 5], ['policy', 'strict'], ['secretSources', [{}]], ['audit', {}], ['tier', 'best'], ['ask', 'yes'],
  ['reach', { linkWaitMs: Infinity }], ['reach', { leaseMs: 2 ** 31 }], ['reach', { lease: 1_000 }], ['reach', { clientArgs: '-v' }],
])('createEngine refuses %s: %j', async (field, value) => {
  expect(await refusal(() => createEngine({ [field]: value }))).toBe(null)
}) // prettier-ignore

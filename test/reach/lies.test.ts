/**
 * A place whose root lies: whatever it says, this process goes on, shows no value, opens nothing and believes little.
 */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Engine } from '../../src/index.js'
import { frame, outputFrame } from '../../src/reach/frames.js'
import type { LiveCall } from '../../src/engine/services/live-calls.js'
import { createTools, DIALECTS } from '../../src/tools/index.js'
import { temporaryFolder, until } from './harness.js'
import { lyingFar, OUTCOME } from './lying.js'

const VALUE = `S3cr3t-${randomBytes(12).toString('hex')}`

/** Cannot even be looked for: it has no text. */
const NO_NUMBER = { toString: 1 }

/** What would have ended the host. */
const uncaught: unknown[] = []
const note = (error: unknown): void => void uncaught.push(error)
beforeEach(() => {
  for (const name of ['uncaughtException', 'unhandledRejection']) process.on(name, note)
})
afterEach(() => {
  for (const name of ['uncaughtException', 'unhandledRejection']) process.off(name, note)
  expect(uncaught.splice(0)).toEqual([])
})

describe('a value in any text from afar is masked', () => {
  const said = (engine: Engine): Record<string, () => Promise<unknown>> => ({
    'a note': () => engine.run({ command: 'x' }),
    'an error': () => engine.jobs().catch((error: Error) => `${error.message} ${(error as { hint?: string }).hint}`),
    'a list of jobs': () => engine.jobs(),
    'a verdict': () => engine.check('x'),
    'the name of a session': async () => (await engine.session('s')).name,
  })
  const ANSWERS: Record<string, object> = {
    'a note': {
      value: {
        ...OUTCOME,
        notes: [{ code: 'place', text: `it is ${VALUE}` }],
        cwd: `/${VALUE}`,
        refused: { rule: VALUE, reason: VALUE, guidance: VALUE },
        waitingForInput: { prompt: `${VALUE}?` },
        end: { kind: 'lost', reason: VALUE },
      },
    },
    'an error': { error: { name: 'ShellError', code: 'SPAWN_FAILED', message: VALUE, hint: VALUE } },
    'a list of jobs': { value: [{ id: 'j', command: VALUE, env: { X: [VALUE] } }] },
    'a verdict': { value: { decision: 'allow', reason: VALUE } },
    'the name of a session': { value: { name: VALUE, cwd: '/' } },
  }

  test.each(Object.keys(ANSWERS))('%s', async (what) => {
    const far = await lyingFar({})
    far.engine.secrets.set('TOKEN', VALUE)
    const answer = said(far.engine)[what]!()
    far.say('R', { id: (await far.next('C'))['id'], ...ANSWERS[what] })
    const text = JSON.stringify(await answer)
    expect(text).toContain('[secret:TOKEN]')
    expect(text).not.toContain(VALUE)
    await far.close()
  })

  test('an event, an audit line, the question on a card, the last words of a client', async () => {
    const heard: string[] = []
    const far = await lyingFar({
      audit: { write: (entry) => void heard.push(JSON.stringify(entry)) },
      ask: async (question) => (heard.push(JSON.stringify(question)), 'deny'),
      reach: { linkWaitMs: 200 },
    })
    far.engine.secrets.set('TOKEN', VALUE)
    far.engine.onJobEvent((event) => heard.push(JSON.stringify(event)))
    far.engine.onLink((event) => heard.push(JSON.stringify(event)))
    const running = far.engine.run({ command: 'echo' })
    const id = (await far.next('C'))['id'] as number
    far.say('E', { job: { kind: 'output', id: 'j', text: VALUE } })
    far.say('E', { audit: { kind: 'run', command: VALUE, cwd: VALUE, status: 'completed' } })
    far.say('Q', { n: 1, call: id, ask: 'approval', cwd: `/${VALUE}`, mark: null, reason: VALUE, rule: 'r' })
    await far.next('q')
    far.end(`ssh: ${VALUE}`)
    await running
    await until(() => heard.filter((text) => text.includes('[secret:TOKEN]')).length >= 4, 'each was heard')
    for (const text of heard) expect(text).not.toContain(VALUE)
    await far.close()
  })
})

test('live output is masked once, as bytes and as text', async () => {
  const far = await lyingFar({})
  far.engine.secrets.set('TOKEN', VALUE)
  let bytes = ''
  const take = far.engine.run({ command: 'x', onBytes: (chunk) => void (bytes += Buffer.from(chunk.bytes).toString()) })
  let id = (await far.next('C'))['id'] as number
  far.raw(outputFrame(id, 'stdout', 0, Buffer.from(`<${VALUE}>`)))
  far.result(id)
  await take
  const handle = far.engine.stream({ command: 'x' })
  const reading = (async () => {
    let text = ''
    for await (const chunk of handle) text += chunk.text
    return text
  })()
  id = (await far.next('C'))['id'] as number
  far.raw(outputFrame(id, 'stdout', 0, Buffer.from(`<${VALUE}>`)))
  far.result(id)
  expect([bytes, await reading]).toEqual(['<[secret:TOKEN]>', '<[secret:TOKEN]>'])
  await far.close()
})

test('a watcher is told of a gap behind which nothing more came', async () => {
  const far = await lyingFar({})
  const handle = far.engine.stream({ command: 'x' })
  const seen: object[] = []
  ;(handle as unknown as LiveCall).follow((chunk) => void seen.push(chunk))
  const id = (await far.next('C'))['id'] as number
  far.raw(outputFrame(id, 'stdout', 0, Buffer.from('begun')))
  far.say('G', { id, stream: 'stdout', bytes: 9, end: 14 })
  far.result(id)
  expect((await handle.outcome).droppedBytes).toBe(9)
  expect(seen).toMatchObject([{ text: 'begun' }, { text: '', droppedBytes: 9 }])
  await far.close()
})

test('escape sequences that the caller wanted stripped are stripped', async () => {
  const far = await lyingFar({})
  const running = far.engine.run({ command: 'x', ansi: 'strip' })
  far.result((await far.next('C'))['id'] as number, { stdout: '\x1b]0;title\x07\x1b[31mred\x1b[0m' })
  expect((await running).stdout).toBe('red')
  await far.close()
})

describe('what no engine sends closes the link, and nothing else happens', () => {
  test.each<[string, (id: number) => Buffer]>([
    ['an outcome without its texts', (id) => frame('R', JSON.stringify({ id, value: { status: 'completed' } }))],
    ['an outcome whose output is no text', (id) => frame('R', JSON.stringify({ id, value: { ...OUTCOME, stdout: 7 } }))],
    ['notes that are none', (id) => frame('R', JSON.stringify({ id, value: { ...OUTCOME, notes: [null] } }))],
    ['a frame longer than any', () => Buffer.from([0xff, 0xff, 0xff, 0x7f, 0x52])],
    ['an empty frame', () => Buffer.alloc(4)],
    ['a message deeper than a stack', (id) => frame('R', `{"id":${id},"value":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)],
    ['a list where an object belongs', () => frame('R', '[1]')],
    ['output of a call that never was', () => outputFrame(4_000, 'stdout', 0, Buffer.from('x'))],
    ['output of no stream', (id) => frame('O', Buffer.from([id, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0]))],
    ['a gap of no size', (id) => frame('G', JSON.stringify({ id, stream: 'stdout', bytes: 'many', end: 0 }))],
    ['news without a number', () => frame('E', '{"job":{}}')],
    ['a result of a call that is no number', () => frame('R', JSON.stringify({ id: NO_NUMBER, value: OUTCOME }))],
    ['a gap of a call that is no number', () => frame('G', JSON.stringify({ id: NO_NUMBER, stream: 'stdout', bytes: 1, end: 1 }))],
    ['news of a call that is no number', () => frame('E', JSON.stringify({ n: 1, call: NO_NUMBER }))],
    ['a question of a call that is no number', () => frame('Q', JSON.stringify({ n: 1, call: NO_NUMBER, ask: 'secret' }))],
    ['a call of its own', () => frame('C', '{"id":1,"verb":"engine.run","args":{}}')],
    ['a second hello', () => frame('h', '{"nonce":"x","proof":"y"}')],
    ['pieces without end', () => Buffer.concat(Array.from({ length: 66 }, (_, i) => frame('+', Buffer.from([i, 0, 0, 0, 1]))))],
  ])('%s', async (_, bytes) => {
    const far = await lyingFar({ reach: { linkWaitMs: 200 } })
    far.engine.secrets.set('TOKEN', VALUE)
    const events: string[] = []
    far.engine.onLink((event) => events.push(event.kind === 'down' ? event.reason : event.kind))
    const running = far.engine.run({ command: 'x' })
    far.raw(bytes((await far.next('C'))['id'] as number))
    await until(() => events.length > 0, 'the link is closed')
    expect(events[0]).toContain('it sent what no engine sends')
    expect(await running).toMatchObject({ status: 'failed', exitCode: null, end: { kind: 'lost' } })
    await far.close()
  }) // prettier-ignore
})

test('output without end is held in no memory: a reader that does not take it closes the link', async () => {
  const far = await lyingFar({ reach: { linkWaitMs: 200 } })
  let down = ''
  far.engine.onLink((event) => (down ||= event.kind === 'down' ? event.reason : ''))
  const handle = far.engine.stream({ command: 'yes' })
  const iterator = handle[Symbol.asyncIterator]()
  const id = (await far.next('C'))['id'] as number
  const chunk = outputFrame(id, 'stdout', 0, Buffer.alloc(1024 * 1024, 'y'))
  for (let i = 0; i < 64 && !down; i++) {
    far.raw(chunk)
    await new Promise((next) => setImmediate(next))
  }
  await until(() => down !== '', 'the link is closed')
  expect(down).toContain('more output than was asked for')
  await iterator.return?.()
  await handle.outcome
  await far.close()
})

test('answers that fit no method reach its caller as a value or an error, and never end this process', async () => {
  const WRONG: readonly unknown[] = [
    undefined, null, 0, -1, 1e300, '', 'x', true, [], [null], [[]], {}, { job: 7 }, { outcome: 1 }, { name: null }, { text: 5, cursor: {} },
    JSON.parse('{"__proto__":{"polluted":1},"constructor":1}'), { id: 'x'.repeat(100_000) },
  ] // prettier-ignore
  const far = await lyingFar({})
  far.engine.secrets.set('TOKEN', VALUE)
  const { engine } = far
  const job = async () => {
    const found = engine.job('j')
    far.say('R', { id: (await far.next('C'))['id'], value: { id: 'j' } })
    return found
  }
  const one = await job()
  const METHODS: Record<string, () => Promise<unknown>> = {
    session: () => engine.session(`s${Math.random()}`),
    sessions: () => engine.sessions(),
    start: () => engine.start({ command: 'x' }),
    begin: () => engine.begin({ command: 'x' }),
    job: () => engine.job('k'),
    jobs: () => engine.jobs(),
    clean: () => engine.clean(),
    check: () => engine.check('x'),
    plan: () => engine.plan({ command: 'x' }),
    tries: () => engine.tries(),
    changes: () => engine.changes(),
    accept: () => engine.accept(),
    discard: () => engine.discard(),
    sandboxPolicy: () => engine.sandboxPolicy(),
    info: () => one.info(),
    read: () => one.read(),
    bytes: () => one.read({ encoding: 'latin1' }),
    wait: () => one.wait(),
    kill: () => one.kill(),
    send: () => one.send({ text: 'x' }),
    screen: () => one.screen(),
    doing: () => one.doing(),
    events: async () => {
      for await (const event of one.events()) void event
    },
    attach: () => one.attach({ by: 't', size: { cols: 1, rows: 1 }, readOnly: false, show: () => {} }),
  }
  for (const [name, method] of Object.entries(METHODS))
    for (const value of WRONG)
      for (const wrong of name === 'jobs' ? [{ value }, { error: value }] : [{ value }]) {
        const answer = method().then(
          () => 'value',
          (error: unknown) => (error instanceof Error ? 'error' : `threw ${String(error)}`),
        )
        const id = (await far.next('C'))['id']
        far.say('E', { call: id, event: value, attached: value })
        far.say('E', { job: value, audit: value })
        far.say('R', { id, ...wrong })
        expect(['value', 'error'], `${name} ${JSON.stringify(wrong)}`).toContain(await answer)
      }
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  await far.close()
})

test('questions that no engine asks are refused, whatever their form', async () => {
  const far = await lyingFar({ ask: async () => 'once', reach: { secrets: ['*'] } })
  far.engine.secrets.set('TOKEN', VALUE)
  const running = far.engine.run({ command: 'echo plain' })
  const open = (await far.next('C'))['id'] as number
  const done = far.engine.run({ command: 'echo {{secret:TOKEN}}' })
  const over = (await far.next('C'))['id'] as number
  far.result(over)
  await done
  const secret = { ask: 'secret', kind: 'secret', name: 'TOKEN' }
  const QUESTIONS: readonly object[] = [
    { ...secret, call: open }, { ...secret, call: over }, { ...secret, call: 99 }, { ...secret, call: null }, { ...secret, call: '1' }, { ...secret },
    { ...secret, call: open, kind: 'decrypt' }, { ...secret, call: open, name: { toString: 1 } }, { ...secret, call: open, name: 'TOKEN}} {{secret:TOKEN' },
    { ask: 'approval', call: over }, { ask: 'approval', call: 99, cwd: '/' }, { ask: 'approval' }, { ask: 'nothing', call: open }, {},
  ] // prettier-ignore
  for (const [n, question] of QUESTIONS.entries()) {
    far.say('Q', { n, ...question })
    const answer = await far.next('q')
    expect(JSON.stringify(answer), JSON.stringify(question)).not.toMatch(
      new RegExp(`${Buffer.from(VALUE).toString('base64')}|"once"|"session"`),
    )
  }
  far.result(open)
  await running
  await far.close()
})

test('who did something is what the place says, and every deed but an answer is written down', async () => {
  const entries: { kind: string; by?: string }[] = []
  const far = await lyingFar({ audit: { write: (entry) => void entries.push(entry) } })
  const kinds = ['kill', 'send', 'attach', 'accept', 'discard', 'approve', 'deny', 'hook', 'start']
  for (const kind of kinds) far.say('E', { audit: { kind, command: 'x', cwd: '/', status: 's', by: 'root (pid 1)' } })
  await until(() => entries.length >= 5, 'the entries are written')
  expect(entries.map(({ kind, by }) => [kind, by])).toEqual(
    ['kill', 'send', 'attach', 'accept', 'discard'].map((kind) => [kind, 'fake: says root (pid 1)']),
  )
  await far.close()
})

test.each(Object.keys(DIALECTS) as (keyof typeof DIALECTS)[])(
  'a path that a place names is told and never opened here: %s',
  async (dialect) => {
    const file = join(temporaryFolder(), 'near')
    writeFileSync(file, 'of this machine')
    const far = await lyingFar({})
    const tools = createTools(far.engine, { dialect })
    const outcome = {
      ...OUTCOME,
      stdout: 'shown',
      output: 'shown',
      truncated: true,
      omittedBytes: 10,
      outputFile: file,
    }
    const serve = far.serve((verb) => (verb.endsWith('.run') ? outcome : { name: 'main', cwd: '/', outcome }))
    let told = ''
    for (const tool of tools) {
      const [name] = ['command', 'cmd', 'commands'].filter((each) => each in (tool.inputSchema.properties ?? {}))
      if (name === undefined) continue
      const input = {
        ...Object.fromEntries((tool.inputSchema.required ?? []).map((each) => [each, 'x'])),
        [name]: name === 'commands' ? ['x'] : 'x',
      }
      told += (await tool.execute(input)).text
    }
    serve.stop()
    expect(told).toContain('shown')
    expect(told).not.toContain('of this machine')
    await far.close()
  },
)

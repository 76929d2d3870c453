/** What a page may ask for and do, by its role: checked on the server, whatever the page shows. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createHash } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import type { Engine, Job } from '../../src/index.js'
import type { Ui } from '../../src/web/ui.js'
import { get, keyIn, Knock, World, type Said } from './harness.js'

let world: World
let engine: Engine
let ui: Ui
beforeEach(async () => {
  world = new World()
  engine = await world.agent()
  ui = await world.ui()
})
afterEach(() => world.close())

const person = (): Promise<Knock> => Knock.with(ui, keyIn(ui.link()))
const looker = (only: string | null = null): Promise<Knock> =>
  Knock.with(ui, keyIn(ui.link('look', { label: 'Ann', livesMs: 60_000, only })))
const isError = ({ t }: Said): boolean => t === 'error'
const keyOf = ({ said }: Knock): string => (said[0] as unknown as { key: string }).key
const jobRow = (id: string) => (said: Said) =>
  said.t === 'delta' && (said['set'] as [string, string][]).some(([c, each]) => c === 'jobs' && each === id)

describe('a link to look', () => {
  test('may do nothing, message by message', async () => {
    const job = await engine.start({ command: 'sleep 60' })
    const page = await looker()
    for (const what of [
      'kill',
      'interrupt',
      'background',
      'take',
      'type',
      'size',
      'give-back',
      'answer',
      'share',
      'links',
      'revoke',
    ])
      expect(await page.ask({ do: what, id: job.id, as: 'once', digest: 'x' }, isError)).toMatchObject({
        text: 'This link may only look.',
      })
    expect((await job.info()).isRunning).toBe(true)
    await job.kill()
  })

  test('to one job shows that job and nothing else: no list, no record, no other output, no recording', async () => {
    const shown = await engine.start({ command: 'echo shown-output; sleep 60', description: 'shown' })
    const other = await engine.start({ command: 'echo other-output; sleep 60', description: 'other' })
    await (await engine.session('secret')).run({ command: 'echo of-a-session' })
    const page = await looker(shown.id)
    const first = await page.hear(({ t, first: isFirst }) => t === 'delta' && isFirst === true)
    expect((first['set'] as unknown[]).length).toBe(1)
    for (const order of [
      { do: 'audit', query: '' },
      { do: 'blocks', session: 'secret' },
      { do: 'chain' },
      { do: 'open', of: `job/${other.id}` },
      { do: 'open', of: `call/${engine.id}:1` },
      { do: 'lines', id: other.id },
      { do: 'samples', id: other.id },
    ])
      expect(await page.ask(order, isError)).toMatchObject({ text: 'This link shows one job and nothing else.' })
    const out = await page.ask({ do: 'open', of: `job/${shown.id}` }, ({ t }) => t === 'out')
    expect(out['text']).toContain('shown-output')
    expect(await page.ask({ do: 'lines', id: shown.id }, ({ t }) => t === 'lines')).toMatchObject({
      text: 'shown-output\n',
    })
    const host = `127.0.0.1:${ui.port}`
    const authorization = `Bearer ${keyOf(await looker(shown.id))}`
    expect(await get(ui, `/output/${shown.id}`, { host, authorization })).toMatchObject({
      status: 200,
      body: 'shown-output\n',
    })
    expect((await get(ui, `/output/${other.id}`, { host, authorization })).status).toBe(403)
    expect((await get(ui, '/recording/any/secret', { host, authorization })).status).toBe(403)
    await other.kill()
    await shown.kill()
    await page.hear(jobRow(shown.id))
    expect(JSON.stringify(page.said)).not.toContain('other')
  })

  test('ends when it is revoked, and the person sees it in the list of links', async () => {
    const page = await person()
    const shared = await page.ask(
      { do: 'share', label: 'Bob', livesMs: 3_600_000, only: null },
      ({ t }) => t === 'shared',
    )
    const look = await Knock.with(ui, keyIn(shared['link'] as string))
    const { all } = (await page.ask({ do: 'links' }, ({ t }) => t === 'links')) as unknown as {
      all: { id: string; label: string; pages: number }[]
    }
    expect(all).toMatchObject([{ label: 'Bob', pages: 1, only: null }])
    page.say({ do: 'revoke', id: all[0]!.id })
    expect(await look.closed).toBe(4401)
  })
})

test('--read-only makes every link one to look', async () => {
  const readOnly = await world.ui({ readOnly: true })
  const page = await Knock.with(readOnly, keyIn(readOnly.link()))
  expect(page.said[0]).toMatchObject({ role: 'look' })
})

describe('the output of a job', () => {
  let job: Job
  beforeEach(async () => {
    job = await engine.start({ command: 'seq 1 100000', maxStoredBytes: 10_000_000 })
    await job.wait({ exit: true })
  })

  test('comes by byte offset, piece by piece, to its end', async () => {
    const page = await person()
    let text = ''
    for (let since = 0; ;) {
      const part = await page.ask({ do: 'lines', id: job.id, since }, ({ t }) => t === 'lines')
      text += part['text'] as string
      since = part['cursor'] as number
      if (since >= (part['totalBytes'] as number)) break
    }
    expect(text.split('\n').length).toBe(100_001)
    expect(text.endsWith('99999\n100000\n')).toBe(true)
  })

  test('is searched on the server with an expression, and a wrong one is told', async () => {
    const page = await person()
    expect(await page.ask({ do: 'lines', id: job.id, filter: '^1234\\d$' }, ({ t }) => t === 'lines')).toMatchObject({
      matches: 10,
      text: expect.stringContaining('12340'),
    })
    expect(await page.ask({ do: 'lines', id: job.id, filter: '(' }, isError)).toMatchObject({
      text: expect.stringMatching(/filter|expression/i),
    })
  })

  test('is downloaded whole, with the key in a header and never in the address', async () => {
    const host = `127.0.0.1:${ui.port}`
    const authorization = `Bearer ${keyOf(await person())}`
    const { headers, body } = await get(ui, `/output/${job.id}`, { host, authorization })
    expect(headers['content-disposition']).toBe(`attachment; filename="${job.id}.log"`)
    expect(body.length).toBe(588_895)
    expect((await get(ui, '/output/shell_nothere', { host, authorization })).status).toBe(404)
  })
})

test('a call waits for a person whose page is in sight; a page that may only look, or is out of sight, makes nothing wait', async () => {
  const rules = [{ name: 'ask-touch', decision: 'ask', commands: ['touch *'] }] as const
  const asking = await world.agent({ policy: { rules } })
  const page = await looker()
  const isAsked = ({ t, set }: Said): boolean =>
    t === 'delta' &&
    (set as [string, string, { isWaiting: boolean }][]).some(([c, , ask]) => c === 'asks' && ask.isWaiting)
  expect((await asking.run({ command: 'touch one' })).status).toBe('refused')
  const away = await person()
  away.say({ do: 'visible', on: false })
  await away.ask({ do: 'chain' }, ({ t }) => t === 'chain')
  expect((await asking.run({ command: 'touch two' })).status).toBe('refused')
  expect([...page.said, ...away.said].some(isAsked)).toBe(false)
  away.say({ do: 'visible', on: true })
  await away.ask({ do: 'chain' }, ({ t }) => t === 'chain')
  // The engine is told over its socket; a call that comes before that is still refused.
  for (let n = 0; ; n++) {
    const called = asking.run({ command: `touch three-${n}` })
    const first = await Promise.race([called, away.hear(isAsked)])
    if ('status' in first) continue
    const asked = first['set'] as [string, string, Record<string, unknown>][]
    const [, id, ask] = asked.find(([c, , row]) => c === 'asks' && row['isWaiting'])!
    const { command, cwd, session, env, envMode, pty, reason, rule } = ask
    const shown = JSON.stringify([command, cwd, session, env, envMode, pty, reason, rule])
    const digest = createHash('sha256').update(shown).digest('hex')
    away.say({ do: 'answer', id, as: 'once', digest: digest.replace(/^./, (c) => (c === '0' ? '1' : '0')) })
    expect(await away.hear(({ t }) => t === 'said')).toMatchObject({ ok: false, result: 'differs' })
    away.say({ do: 'answer', id, as: 'once', digest })
    expect((await called).status).toBe('completed')
    return
  }
})

test('the recording of a session is there for a page with a key, where sessions are recorded', async () => {
  const recorded = await world.agent({ recordSessions: true })
  await (await recorded.session('main')).run({ command: 'echo on-tape' })
  const page = await person()
  const host = `127.0.0.1:${ui.port}`
  expect((await get(ui, `/recording/${recorded.id}/main`, { host })).status).toBe(401)
  const authorization = `Bearer ${keyOf(page)}`
  const { body } = await get(ui, `/recording/${recorded.id}/main`, { host, authorization })
  const events = JSON.parse(gunzipSync(Buffer.from(body, 'latin1')).toString()) as [number, string, string][]
  expect(events.map(([, kind]) => kind)).toEqual(['m', 'x', 'o', 'o'])
  expect(events.at(-1)?.[2]).toBe('on-tape\r\n')
  for (const name of ['other', '%', 'a%2'])
    expect((await get(ui, `/recording/${recorded.id}/${name}`, { host, authorization })).status).toBe(404)
  // A command's line in the audit log is written after its answer.
  await vi.waitFor(async () => {
    const blocks = await page.ask({ do: 'blocks', session: 'main', engine: recorded.id }, ({ t }) => t === 'blocks')
    const block = { command: 'echo on-tape', came: 'exit 0', tone: 'ok' }
    expect(blocks).toMatchObject({ isRecorded: true, blocks: [block] })
  })
})

test('what is typed in the moment in which a terminal is taken over reaches the program', async () => {
  const job = await engine.start({
    command: 'read -p "Name? " n; echo "hello $n"; sleep 60',
    pty: { cols: 80, rows: 24 },
  })
  await job.wait({ input: true })
  const page = await person()
  await page.ask({ do: 'open', of: `job/${job.id}` }, ({ t }) => t === 'out')
  page.say({ do: 'take' })
  for (const text of ['A', 'nn', '\r']) page.say({ do: 'type', text })
  await page.hear(({ t, text }) => t === 'out' && String(text).includes('hello Ann'))
  page.say({ do: 'give-back' })
  await page.hear(({ t }) => t === 'left')
  await job.kill()
})

test('a terminal that cannot be taken over any more is said so, and the view is given back', async () => {
  const job = await engine.start({ command: 'true', pty: { cols: 80, rows: 24 } })
  await job.wait({ exit: true })
  const page = await person()
  page.say({ do: 'open', of: `job/${job.id}` })
  page.say({ do: 'take' })
  await page.hear(({ t }) => t === 'left')
  expect(await page.hear(isError)).toMatchObject({ text: expect.stringContaining('not running') })
})

test('what a person does through the page is in the record with who did it', async () => {
  const job = await engine.start({ command: 'sleep 60' })
  const page = await person()
  page.say({ do: 'kill', id: job.id })
  expect((await job.wait({ exit: true })).info.status).toBe('killed')
  for (;;) {
    const { lines } = (await page.ask({ do: 'audit', query: 'kill' }, ({ t }) => t === 'audit')) as unknown as {
      lines: { kind: string; by: string }[]
    }
    const kill = lines.find(({ kind }) => kind === 'kill')
    if (!kill) continue
    expect(kill.by).toContain('page of cerith')
    return
  }
})

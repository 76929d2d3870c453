/** What a person sees of their agents in a terminal: ps, top, log, audit --follow, approve --watch. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createEngine, type Engine, type EngineOptions } from '../../../src/index.js'
import { openAuditLog } from '../../../src/audit/log.js'
import { openJobsReader } from '../../../src/engine/job/reader.js'
import { Top } from '../../../src/cli/live/top.js'
import { widthOf } from '../../../src/output/terminal/width.js'
import { makeWorld } from '../harness.js'
import { until } from '../../engine/harness.js'

const world = makeWorld()
const ASKING = { rules: [{ name: 'ask-touch', decision: 'ask', commands: ['touch *'] }] } as const
const engines: Engine[] = []
afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()))
})

/** Another process's engine, as far as the command line can tell. */
async function agent(options: EngineOptions = {}): Promise<Engine> {
  const audit = openAuditLog({ file: join(world.home, 'audit.jsonl') })
  const engine = await createEngine({ stateDir: world.home, cwd: world.dir, door: 'mcp', audit, ...options })
  engines.push(engine)
  return engine
}

interface CallJson {
  readonly last_line: string
  readonly state: string
  readonly memory_bytes: number
}
const look = async (): Promise<{ calls: CallJson[]; sessions: object[] }> =>
  JSON.parse((await world.cli('ps', '--json')).out) as { calls: CallJson[]; sessions: object[] }
const seenCall = async (text: string): Promise<CallJson> => {
  let found: CallJson | undefined
  await until(async () => {
    found = (await look()).calls.find((each) => each.last_line === text)
    return found !== undefined
  }, `a call that printed ${text}`)
  return found!
}

describe('ps', () => {
  test('shows a foreground command with client, session, time, last line, memory and ports, and its session', async () => {
    const engine = await agent()
    const session = await engine.session('main')
    const server = `node -e "require('http').createServer().listen(0, () => console.log('up')); setTimeout(() => {}, 60000)"`
    const run = session.run({ command: server, client: 'claude-code' })
    const call = await seenCall('up')
    expect(call).toMatchObject({
      command: server,
      session: 'main',
      engine: engine.id,
      client: 'claude-code',
      door: 'mcp',
      state: 'running',
      cwd: world.dir,
      elapsed_ms: expect.any(Number),
      cpu_ms: expect.any(Number),
      ports: [expect.any(Number)],
    })
    expect(call.memory_bytes).toBeGreaterThan(10_000_000)
    const { out } = await world.with({ columns: 200, tty: true, env: { NO_COLOR: '1' } })('ps')
    expect(out).toMatch(/CLIENT\s+SESSION\s+ELAPSED\s+CPU\s+MEMORY\s+PORTS\s+COMMAND\s+LAST LINE/)
    expect(out).toMatch(/claude-code\s+main\s+\d+\w+\s+\S+\s+\d+ MB\s+\d+\s+node -e.*up/)
    expect(out).toMatch(/main\s+busy/)
    expect((await look()).sessions).toContainEqual(
      expect.objectContaining({ name: 'main', busy: true, engine: engine.id, calls: 1 }),
    )
    await session.close()
    await run.catch(() => {})
  })

  test('says which command waits for an approval', async () => {
    const engine = await agent({ policy: ASKING, ask: () => new Promise(() => {}) })
    const run = engine.run({ command: 'touch x' })
    await until(async () => (await look()).calls.some(({ state }) => state === 'waiting'))
    const { out } = await world.cli('ps')
    expect(out).toContain('1 question waits for you: cerith approve')
    expect(out).toContain('waits for your approval')
    await engine.close()
    await run
  })

  test('an id is never cut, and a narrow terminal gets fewer columns, not broken lines', async () => {
    const engine = await agent()
    const job = await engine.start({ command: 'echo a-long-last-line-of-output; sleep 67' })
    for (const columns of [120, 80, 40, 30]) {
      const { out } = await world.with({ tty: true, columns })('ps')
      expect(out).toContain(job.id)
      for (const line of out.split('\n'))
        if (line.startsWith('shell_')) expect(widthOf(line)).toBeLessThanOrEqual(columns)
    }
    await job.kill()
  })

  test('--watch draws again until it is interrupted', async () => {
    const engine = await agent()
    let drawn = ''
    let interrupt = (): void => {}
    const watching = world.with({
      onOut: (text) => (drawn += text),
      signals: (send) => (interrupt = () => send('SIGINT')),
    })('ps', '--watch', '--json')
    const run = engine.run({ command: 'echo tick; sleep 60' })
    await until(() => drawn.includes('"last_line":"tick"'), 'the command is drawn')
    interrupt()
    expect((await watching).code).toBe(0)
    await engine.close()
    await run
  })
})

describe('audit and log', () => {
  test('audit --follow shows the start of a command, who killed it, and its end', async () => {
    const engine = await agent()
    let out = ''
    let interrupt = (): void => {}
    const following = world.with({
      onOut: (text) => (out += text),
      signals: (send) => (interrupt = () => send('SIGINT')),
    })('audit', '--follow')
    const job = await engine.start({ command: 'sleep 61', owner: 'detached' })
    const run = engine.run({ command: 'sleep 62' })
    await until(() => /started.*sleep 62/.test(out), 'the start')
    await world.cli('kill', job.id)
    await until(() => /killed.*sleep 61.*\(.+ with cerith kill \(process \d+\)\)/.test(out), 'the kill')
    await engine.close()
    await run
    await until(() => /(?:SIG\w+|killed).*sleep 62/.test(out), 'the end')
    interrupt()
    expect((await following).code).toBe(0)
  })

  test('audit shows one line for a command that has ended, and its start for one that has not', async () => {
    const engine = await agent()
    await engine.run({ command: 'sleep 0.2; echo long-enough' })
    const run = engine.run({ command: 'sleep 63' })
    await until(async () => (await world.cli('audit')).out.includes('sleep 63'), 'the start is written')
    const { out } = await world.cli('audit')
    expect(out.match(/long-enough/g)).toHaveLength(1)
    expect(out).toMatch(/started.*sleep 63/)
    await engine.close()
    await run
  })

  test('log shows a session as blocks with status, time and what people did', async () => {
    const engine = await agent({ policy: ASKING, ask: async () => 'once' })
    const session = await engine.session('work')
    await session.run({ command: 'echo one' })
    await session.run({ command: 'false' })
    await session.run({ command: 'touch three' })
    await engine.close()
    const { out } = await world.cli('log', 'work')
    expect(out).toMatch(/\$ echo one\n {2}✓ exit 0 · \d+ms · 4 B of output/)
    expect(out).toMatch(/\$ false\n {2}✗ exit 1/)
    expect(out).toMatch(/\$ touch three\n {2}✓ exit 0.*\n {2}→ approved after \d+\w+ by the form of the MCP client/)
    expect((await world.cli('log', 'work', '-n', '1')).out).toMatch(/^\S+ \S+ {2}\S+\n {2}\$ touch three\n/)
    expect((await world.cli('log', 'work', '-n', '0')).out).toBe('')
    expect((await world.cli('log')).out).toMatch(/work {2}\d+ commands, last/)
    const unknown = await world.cli('log', 'nowhere')
    expect(unknown).toMatchObject({ code: 125, err: expect.stringContaining('There were:') })
    const id = (await world.cli('run', '--background', 'true')).out.trim()
    expect((await world.cli('log', id)).err).toContain(`For its output: cerith read ${id}`)
  })
})

test('approve --watch lets exactly the waiting call go on', async () => {
  const engine = await agent({ policy: ASKING })
  let interrupt = (): void => {}
  const watching = world.with({ tty: true, types: ['y', null], signals: (send) => (interrupt = () => send('SIGINT')) })(
    'approve',
    '--watch',
  )
  await until(async () => (await engine.run({ command: 'touch watched' })).status === 'completed', 'it ran')
  interrupt()
  const { err } = await watching
  expect(err).toContain('command   touch watched')
  expect(err).toContain('approved once')
})

test('replay plays a recording without what would act on the terminal', async () => {
  const file = join(world.dir, 'demo.cast')
  const events = [
    [0.1, 'o', 'first \u001B]52;c;aGk=\u0007\u001B]0;title\u0007\u001B[31mred\u001B[0m\u001B[c\u001B[6n'],
    [0.2, 'i', 'typed'],
    [500, 'o', ' last'],
  ]
  writeFileSync(
    file,
    [JSON.stringify({ version: 2, width: 80, height: 24 }), ...events.map((e) => JSON.stringify(e))].join('\n'),
  )
  const { code, out } = await world.cli('replay', 'demo.cast', '--speed', '100', '--idle', '100ms')
  expect(code).toBe(0)
  expect(out).toBe('first \u001B[31mred\u001B[0m last\n')
  // Its own --at is a time, also as its first option.
  const quickly = ['demo.cast', '--speed', '1000', '--idle', '1ms']
  expect((await world.cli('replay', '--at', 'soon', ...quickly)).err).toContain('"soon" is not a time')
  expect(await world.cli('replay', '--at=600s', ...quickly)).toMatchObject({ code: 0 })
  expect((await world.cli('replay', 'nothing.cast')).err).toContain('Cannot read')
  writeFileSync(join(world.dir, 'no.cast'), 'hello')
  expect((await world.cli('replay', 'no.cast')).err).toContain('is no recording')
})

describe('top', () => {
  async function screen(size = { columns: 100, rows: 24 }) {
    const seen = { text: '', bells: 0 }
    const top = new Top({
      jobs: openJobsReader({ stateDir: world.home, door: 'cli', audit: null }),
      stateDir: world.home,
      env: {},
      paint: (_, text) => text,
      terminal: {
        size: () => size,
        draw: (lines) => (seen.text = lines.join('\n')),
        bell: () => (seen.bells += 1),
      },
    })
    return { top, seen }
  }

  test('shows client, session and command as a tree, the output of the selected one, and ends it with two keys', async () => {
    const engine = await agent()
    const session = await engine.session('deploy')
    const run = session.run({ command: 'echo hello-from-top; sleep 64', client: 'codex' })
    const { top, seen } = await screen()
    await until(() => seen.text.includes('hello-from-top\n'), 'its output')
    expect(seen.text).toMatch(/codex\n  deploy\n▸   echo hello-from-top; sleep 64 .*%/)
    expect(seen.text.split('\n')).toHaveLength(24)
    await top.press('k')
    expect(seen.text).toContain('k again does it')
    await top.press('x')
    await top.press('k')
    await top.press('k')
    expect((await run).status).toBe('killed')
    expect(await top.press('q')).toMatchObject({ leave: true })
    top.close()
  })

  test('rings for a question, shows the whole of it, and takes its answer by two keys only', async () => {
    const engine = await agent({ policy: ASKING })
    const { top, seen } = await screen()
    const file = `a${'b'.repeat(150)}c`
    let run: Promise<{ status: string }> | null = null
    await until(async () => {
      run ??= engine.run({ command: `touch ${file}` })
      const first = await Promise.race([run, new Promise<null>((resolve) => setTimeout(resolve, 100, null))])
      if (first !== null) run = null
      return seen.text.includes('Waiting for you')
    }, 'the question')
    expect(seen.bells).toBe(1)
    expect(seen.text.replaceAll('\n', '')).toContain(file)
    await top.press('y')
    expect(seen.text).not.toContain('again does it')
    await until(async () => {
      await top.press('y')
      return seen.text.includes('Allow exactly this, once? y again does it')
    }, 'a key that counts')
    await top.press('y')
    expect((await run!).status).toBe('completed')
    top.close()
  })

  test('a question that does not fit on the screen is not answered with yes there', async () => {
    const engine = await agent({ policy: ASKING })
    const { top, seen } = await screen({ columns: 40, rows: 12 })
    const run = engine.run({ command: `touch ${'long-name-'.repeat(60)}`, ask: () => new Promise(() => {}) })
    await until(() => seen.text.includes('Waiting for you'), 'the question')
    await until(async () => {
      await top.press('y')
      return seen.text.includes('It does not fit on this screen')
    }, 'a key that counts')
    await top.press('n')
    await top.press('n')
    expect((await run).refused?.reason).toContain('declined')
    top.close()
  })

  test('every screen has exactly its size, also with wide letters and in a small terminal', async () => {
    const engine = await agent()
    const run = engine.run({ command: 'echo 日本語日本語日本語日本語日本語日本語日本語; sleep 65', client: '客户端' })
    await engine.start({ command: 'echo 日本語; sleep 66', description: '開発サーバー' })
    for (const size of [
      { columns: 80, rows: 24 },
      { columns: 40, rows: 12 },
      { columns: 20, rows: 8 },
    ]) {
      const { top, seen } = await screen(size)
      await until(() => seen.text.includes('日本語') && seen.text.includes('客户端'), 'both')
      const lines = seen.text.split('\n')
      expect(lines.length).toBe(size.rows)
      for (const line of lines) expect(widthOf(line), line).toBeLessThanOrEqual(size.columns)
      top.close()
    }
    void run
  })
})

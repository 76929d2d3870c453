/**
 * The house dialect against real processes: sessions, jobs, waiting, terminals, and what stays true when things go
 * wrong.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { createTools, type CallOptions, type ToolOptions } from '../../src/tools/index.js'
import { processesWith, uniqueSleep } from '../requirements/world.js'
import { until } from '../fixtures/until.js'
import { liveEngine, type Loose } from './live-engine.js'

const { engine, cwd } = await liveEngine()
const ajv = new Ajv2020({ strict: false })

const house = (options: ToolOptions = {}) => {
  const tools = createTools(engine, options)
  return async (name: string, input: Record<string, unknown> = {}, call: CallOptions = {}) => {
    const result = await tools.execute(name, input, call)
    const validate = ajv.compile(tools.get(name)!.outputSchema)
    expect(validate(result.structured), JSON.stringify(validate.errors)).toBe(true)
    return { ...result, structured: result.structured as Record<string, Loose> }
  }
}
const call = house()

describe('Bash', () => {
  test('one line of facts, then the output', async () => {
    const { text, structured, isError } = await call('Bash', { command: 'echo hello' })
    expect(text).toMatch(/^\[exit 0, \d+(?:ms|\.\ds)\]\nhello\n$/)
    expect(structured, 'only what says something').toEqual({ status: 'completed', exit_code: 0, stdout: 'hello\n' })
    expect(isError).toBe(false)
  })

  test('the session remembers, says where it went, and another session does not know', async () => {
    const moved = await call('Bash', { command: 'cd /; X=1' })
    expect(moved.text).toContain('[note: cwd is now /]')
    expect(moved.structured['cwd']).toBe('/')
    expect((await call('Bash', { command: 'echo $X' })).structured['stdout']).toBe('1\n')
    expect((await call('Bash', { command: 'pwd; echo "[$X]"', session: 'other' })).structured['stdout']).toBe(
      `${cwd}\n[]\n`,
    )
    expect((await call('Bash', { command: 'pwd', cwd })).structured['stdout']).toBe(`${cwd}\n`)
    await call('Bash', { command: `cd '${cwd}'` })
  })

  test('the directory of the options is where a session begins, also for calls at the same time; a missing one is an error', async () => {
    const placed = house({ cwd: '/usr', session: 'placed' })
    const both = await Promise.all([placed('Bash', { command: 'pwd' }), placed('Bash', { command: 'pwd' })])
    expect(both.map(({ structured }) => structured['stdout'])).toEqual(['/usr\n', '/usr\n'])
    expect(await house({ cwd: '/no/such/place', session: 'lost' })('Bash', { command: 'pwd' })).toMatchObject({
      isError: true,
      structured: { status: 'error', error: { code: 'CWD_NOT_FOUND' } },
    })
  })

  test('exit 1 of a final grep is an answer, not an error; exit 2 is an error', async () => {
    const none = await call('Bash', { command: 'echo a | grep b' })
    expect(none).toMatchObject({ isError: false, structured: { status: 'failed', exit_code: 1 } })
    expect(none.text).toMatch(/no (?:line )?match/)
    expect((await call('Bash', { command: 'grep x /no/such/file' })).isError).toBe(true)
    expect((await call('Bash', { command: 'test 1 = 2' })).isError).toBe(false)
  })

  test('a missing program is reported as it is, without advice', async () => {
    const { text, structured } = await call('Bash', { command: 'no-such-program-here --x' })
    expect(structured['exit_code']).toBe(127)
    expect(text).toContain('command not found')
    expect(text).not.toContain('[note:')
  })

  test('a failure in the middle of much output is not hidden by the clip, and the whole is in a file', async () => {
    const { text, structured } = await call('Bash', {
      command: 'seq 1 20000; echo "FAILED tests/it.test.ts: broken"; seq 1 20000; exit 1',
    })
    expect(text.length).toBeLessThan(31_000)
    expect(text).toContain('FAILED tests/it.test.ts: broken')
    expect(structured).toMatchObject({
      truncated: true,
      omitted_bytes: expect.any(Number),
      output_file: expect.any(String),
    })
    expect(text).toContain(structured['output_file'])
    const whole = await call('Bash', { command: ['wc', '-l', structured['output_file']] })
    expect(whole.structured['stdout']).toMatch(/^40001 /)
  })

  test('after the yield it goes on as a shell with an id; its cursor goes on too', async () => {
    const yielding = house({ yieldMs: 1_000 })
    const first = await yielding('Bash', {
      command: 'echo one; echo oops >&2; while [ ! -e proceed ]; do sleep 0.02; done; echo two; exit 6',
    })
    expect(first).toMatchObject({
      isError: false,
      structured: { status: 'running', exit_code: null, id: expect.stringMatching(/^shell_/) },
    })
    expect(first.text).toMatch(/^\[running, NOT killed: shell_\w+, pid \d+/)
    expect(first.text).toContain('one\n')
    const { id } = first.structured
    writeFileSync(join(cwd, 'proceed'), '')
    const read = await yielding('BashOutput', { bash_id: id, wait_ms: 10_000 })
    expect(read.structured).toMatchObject({ status: 'failed', exit_code: 6, is_running: false })
    expect(read.text).toContain('two')
    expect(read.text, 'what the first answer showed is not shown again').not.toContain('one\n')
    expect(read.text).not.toContain('oops')
  })

  test('the session is free again after a yield', async () => {
    const yielding = house({ yieldMs: 150, session: 'free' })
    const mark = uniqueSleep()
    const { structured } = await yielding('Bash', { command: `K=kept; ${mark}` })
    expect((await yielding('Bash', { command: 'echo here' })).structured['stdout']).toBe('here\n')
    await yielding('KillShell', { shell_id: structured['id'] })
    expect(processesWith(mark)).toEqual([])
  })

  test('an aborted call ends the command, and calls at the same time take turns', async () => {
    const mark = uniqueSleep()
    const stop = new AbortController()
    const [stopped, next] = await Promise.all([
      call('Bash', { command: `echo begun; ${mark}` }, { signal: stop.signal, onProgress: () => stop.abort() }),
      call('Bash', { command: 'echo next' }),
    ])
    expect(stopped).toMatchObject({ isError: true, structured: { status: 'killed', stdout: 'begun\n' } })
    expect(next.structured['stdout']).toBe('next\n')
    expect(processesWith(mark)).toEqual([])
    const already = new AbortController()
    already.abort()
    expect((await call('Bash', { command: 'touch never' }, { signal: already.signal })).structured['status']).toBe(
      'killed',
    )
  })

  test('secrets are masked in both channels, also in errors', async () => {
    engine.secrets.set('token', 'sup3r-s3cret-value')
    const shown = await call('Bash', { command: 'echo {{secret:token}}' })
    const wrong = await call('BashOutput', { bash_id: 'sup3r-s3cret-value' })
    expect(JSON.stringify([shown, wrong])).not.toContain('sup3r-s3cret-value')
    engine.secrets.delete('token')
  })

  test('dry run and refusal', async () => {
    const dry = house({ dryRun: true })
    expect(await dry('Bash', { command: 'touch never' })).toMatchObject({
      isError: false,
      text: expect.stringContaining('[Dry Run] Would execute: touch never'),
      structured: { status: 'dry_run' },
    })
    expect((await dry('Bash', { command: 'touch never', run_in_background: true })).structured['status']).toBe(
      'dry_run',
    )
    const refused = await call('Bash', { command: 'rm -rf /' })
    expect(refused).toMatchObject({
      isError: true,
      structured: { status: 'refused', refused: { rule: expect.any(String), guidance: expect.any(String) } },
    })
    expect(refused.text).toMatch(/blocked.*dangerous/s)
    expect(refused.text).toContain(refused.structured['refused'].guidance)
    expect((await call('Bash', { command: 'cerith approve x' })).structured['status']).toBe('refused')
  })
})

describe('background shells', () => {
  const start = async (command: string, more = {}) =>
    (await call('Bash', { command, run_in_background: true, ...more })).structured['id'] as string

  test('new output only; `since` reads any range again', async () => {
    const id = await start('printf "one\\ntwo\\n"; printf "three\\n" >&2')
    const first = await call('BashOutput', { bash_id: id, wait_ms: 10_000 })
    expect(first.structured).toMatchObject({
      status: 'completed',
      text: 'one\ntwo\nthree\n',
      cursor: 14,
      is_running: false,
    })
    expect((await call('BashOutput', { bash_id: id })).structured).toMatchObject({ text: '', cursor: 14 })
    expect((await call('BashOutput', { bash_id: id, since: 4 })).structured['text']).toBe('two\nthree\n')
    expect((await call('BashOutput', { bash_id: id, since: 0 })).structured['text']).toBe('one\ntwo\nthree\n')
    expect((await call('BashOutput', { bash_id: id, since: 10_000 })).structured['text']).toBe('')
  })

  test('until waits for a line, and waiting never kills', async () => {
    const id = await start('sleep 0.2; echo listening on 3000; sleep 60')
    const ready = await call('BashOutput', { bash_id: id, until: 'listening on (\\d+)', wait_ms: 10_000 })
    expect(ready.structured).toMatchObject({ waited_for: 'until', is_running: true, text: 'listening on 3000\n' })
    const longer = await call('BashOutput', { bash_id: id, wait_ms: 100 })
    expect(longer.structured).toMatchObject({ waited_for: 'timeout', status: 'running' })
    expect((await call('BashOutput', { bash_id: id, until: '[', wait_ms: 100 })).isError).toBe(true)
    await call('KillShell', { shell_id: id })
  })

  test('two reads at the same time do not get the same bytes', async () => {
    const id = await start('echo once')
    await call('BashOutput', { bash_id: id, wait_ms: 10_000, since: 0 })
    const again = house()
    const reads = await Promise.all([
      again('BashOutput', { bash_id: id }),
      again('BashOutput', { bash_id: id }),
      again('BashOutput', { bash_id: id }),
    ])
    expect(reads.map(({ structured }) => structured['text']).sort()).toEqual(['', '', 'once\n'])
  })

  test('ListShells and KillShell', async () => {
    const id = await start('sleep 60', { description: 'Wait a while' })
    const listed = await call('ListShells')
    expect(listed.structured['shells']).toContainEqual(
      expect.objectContaining({ id, status: 'running', command: 'sleep 60', description: 'Wait a while' }),
    )
    expect(listed.text).toContain(id)
    expect(listed.text).toContain('session main')
    expect(await call('KillShell', { shell_id: id })).toMatchObject({
      isError: false,
      structured: { status: 'killed', already_stopped: false },
    })
    expect(await call('KillShell', { bash_id: id })).toMatchObject({
      isError: false,
      structured: { already_stopped: true },
    })
  })

  test('C-c through SendInput interrupts a shell without a terminal', async () => {
    const id = await start(`trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.05; done`)
    await call('BashOutput', { bash_id: id, until: 'ready' })
    await call('SendInput', { shell_id: id, keys: ['C-c'] })
    const after = await call('BashOutput', { bash_id: id, wait_ms: 10_000, since: 0 })
    expect(after.structured).toMatchObject({ exit_code: 9, text: expect.stringContaining('caught') })
    expect((await call('SendInput', { shell_id: id, text: 'x' })).isError).toBe(true)
    expect((await call('SendInput', { shell_id: id })).text).toContain("'text', 'keys' or 'enter'")
  })

  test('an id of any dialect resolves in every other', async () => {
    const started = await createTools(engine, { dialect: 'lango' }).execute('exec_bg', { command: 'echo from lango' })
    const id = started.structured['id'] as string
    expect((await call('BashOutput', { bash_id: id, wait_ms: 10_000 })).structured['text']).toBe('from lango\n')
    expect((await createTools(engine, { dialect: 'wave' }).execute('BashOutput', { task_id: id })).text).toContain(
      'from lango',
    )
  })

  test('a time limit of a background shell is said and kept', async () => {
    const started = await call('Bash', { command: 'sleep 60', run_in_background: true, timeout: 300 })
    expect(started.text).toContain('ended after 300ms')
    expect((await call('BashOutput', { bash_id: started.structured['id'], wait_ms: 10_000 })).structured).toMatchObject(
      { status: 'timeout', is_running: false },
    )
  })

  test('wave counts its ids on from the highest there is, also in another set of tools', async () => {
    const starts = async () =>
      (await createTools(engine, { dialect: 'wave' }).execute('Bash', { command: 'true', run_in_background: true }))
        .structured['bash_id'] as string
    const ids = [await starts(), await starts(), ...(await Promise.all([starts(), starts(), starts()]))].map((id) =>
      Number(id.slice('bash_'.length)),
    )
    expect(ids[1]).toBe(ids[0]! + 1)
    expect(new Set(ids).size).toBe(5)
  })

  test('ListShells stays short after a long life', async () => {
    for (let count = 0; count < 25; count += 1) await start('true')
    await Promise.all((await engine.jobs()).map(async ({ id }) => (await engine.job(id)).wait({ exit: true })))
    const { text, structured } = await call('ListShells')
    expect(structured['shells'].length).toBeLessThanOrEqual(20)
    expect(structured['older']).toBeGreaterThanOrEqual(5)
    expect(text).toMatch(/\d+ older ended shells not listed/)
  })

  test('background: false in the options forbids it', async () => {
    expect(await house({ background: false })('Bash', { command: 'true', run_in_background: true })).toMatchObject({
      isError: true,
      structured: { status: 'error' },
    })
  })
})

describe('terminals', () => {
  test('a question comes back as waiting for input, and SendInput answers it (PTY-01)', async () => {
    const asked = await call('Bash', {
      command: 'read -p "Name? " name; echo "Hello, $name."',
      pty: true,
      timeout: 20_000,
    })
    expect(asked.structured).toMatchObject({ status: 'running', id: expect.any(String) })
    expect(asked.text).toContain('Name?')
    const answered = await call('SendInput', { shell_id: asked.structured['id'], text: 'Ada', enter: true })
    expect(
      `${answered.text}${(await call('BashOutput', { bash_id: asked.structured['id'], wait_ms: 5_000 })).text}`,
    ).toContain('Hello, Ada.')
  })

  test('codex: write_stdin types into a tty session and \\u0003 interrupts it', async () => {
    const tools = createTools(engine, { dialect: 'codex' })
    const first = await tools.execute('exec_command', { cmd: 'cat', tty: true, yield_time_ms: 1_000 })
    const { session_id } = first.structured as { session_id: number }
    expect(session_id).toBeGreaterThanOrEqual(1_000)
    const echoed = await tools.execute('write_stdin', { session_id, chars: 'ping\n', yield_time_ms: 1_000 })
    expect(echoed.text).toContain('ping')
    const ended = await tools.execute('write_stdin', { session_id, chars: '\u0003', yield_time_ms: 20_000 })
    expect(ended.structured).toMatchObject({ exit_code: 130 })
    expect((await tools.execute('write_stdin', { session_id: 1 })).text).toContain('not found')
  })
})

test('what a call leaves running is known to ListShells', async () => {
  const mark = uniqueSleep()
  await call('Bash', { command: `${mark} & echo left`, session: 'leftover' })
  await until(() => processesWith(mark).length > 0)
  expect((await call('ListShells')).text).toContain(mark)
  await call('Bash', { command: 'kill $!', session: 'leftover' })
})

/** The verbs for jobs: each call is a process of its own that knows only the state directory. */
import { describe, expect, test } from 'vitest'
import { makeWorld } from '../../harness.js'

const world = makeWorld()
const { cli } = world

const start = async (...argv: string[]): Promise<string> => (await cli('run', '--background', ...argv)).out.trim()

describe('run --background', () => {
  test('prints an id at once; later calls read, wait and see the true exit code', async () => {
    const id = await start('echo one; sleep 0.3; echo two; exit 4')
    expect(id).toMatch(/^shell_[0-9a-f]{8}$/)
    expect((await cli('wait', id, '--until', 'two')).out).toBe('until: two\n')
    expect(await cli('wait', id)).toMatchObject({ code: 0, out: 'exit (failed, exit code 4)\n' })
    expect((await cli('read', id)).out).toBe('one\ntwo\n')
    expect(JSON.parse((await cli('read', id, '--since', '4', '--json')).out)).toMatchObject({
      id,
      status: 'failed',
      text: 'two\n',
      cursor: 8,
      exit_code: 4,
    })
  })

  test('as JSON has the fields of an Outcome, and a command that fails at once is failed', async () => {
    expect(JSON.parse((await cli('run', '--background', '--json', 'sleep 5')).out)).toMatchObject({
      status: 'running',
      exit_code: null,
      id: expect.any(String),
      pid: expect.any(Number),
      output_file: expect.any(String),
    })
    const { id } = JSON.parse((await cli('run', '--background', '--json', 'exit 3')).out)
    expect(JSON.parse((await cli('wait', id, '--json')).out)).toMatchObject({
      reason: 'exit',
      status: 'failed',
      exit_code: 3,
    })
  })

  test('of something denied exits with 126 and starts nothing', async () => {
    expect(await cli('run', '--background', 'mkfs.ext4 /dev/sda')).toMatchObject({ code: 126, out: '' })
    expect((await cli('run', '--background', '--json', 'mkfs.ext4 /dev/sda')).out).toContain('"status":"refused"')
  })

  test('in a session starts with its state', async () => {
    await cli('run', '--session', 's', 'greeting=hello')
    const id = await start('--session', 's', 'echo "$greeting"')
    await cli('wait', id)
    expect((await cli('read', id)).out).toBe('hello\n')
  })
})

describe('ps', () => {
  test('shows state, directory, command and last line; --all shows the finished', async () => {
    const id = await start(String.raw`echo first; printf '1 of 9\rthe last line'; sleep 20`)
    await cli('wait', id, '--until', 'last')
    const { out } = await cli('ps')
    expect(out).toMatch(/ID +STATE +AGE +CPU +MEMORY +PORTS +OUTPUT +DIRECTORY +COMMAND +LAST LINE/)
    expect(out.split('\n').find((line) => line.startsWith(id))).toMatch(/running .*  the last line$/)
    await cli('kill', id)
    expect((await cli('ps')).out).not.toContain(id)
    expect((await cli('ps', '--all')).out).toMatch(new RegExp(`${id} +killed`))
    const { jobs, sessions } = JSON.parse((await cli('ps', '--all', '--json')).out)
    expect(jobs.find((job: { id: string }) => job.id === id)).toMatchObject({
      status: 'killed',
      is_running: false,
      command: expect.any(String),
    })
    expect(sessions).toContainEqual(expect.objectContaining({ name: 's' }))
  })

  test('fits the terminal, in colour only there and never with NO_COLOR', async () => {
    const id = await start('echo wide wide wide wide wide wide wide wide wide wide wide; sleep 20')
    await cli('wait', id, '--until', 'wide')
    const shown = (await world.with({ tty: true, columns: 80 })('ps')).out
    expect(shown).toContain('\u001B[')
    for (const line of shown.replace(/\u001B\[\d+m/g, '').split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    expect((await world.with({ tty: true, env: { NO_COLOR: '1' } })('ps')).out).not.toContain('\u001B[')
    await cli('kill', id)
  })

  test('--watch redraws until it is told to stop', async () => {
    let send: ((signal: 'SIGINT') => void) | undefined
    let drawn = 0
    const { code, out } = await world.with({
      tty: true,
      signals: (give) => (send = give),
      onOut: () => ++drawn === 2 && send?.('SIGINT'),
    })('ps', '--watch')
    expect(code).toBe(0)
    expect(out.split('\u001B[H').length).toBe(3)
  })
})

describe('read', () => {
  test('filters lines with context and takes the tail', async () => {
    const id = await start('for i in 1 2 3 4 5 6; do echo "line $i"; done')
    await cli('wait', id)
    expect((await cli('read', id, '--filter', 'line [25]')).out).toBe('line 2\nline 5\n')
    expect((await cli('read', id, '--filter', 'line 3', '-A', '1')).out).toContain('line 4')
    expect((await cli('read', id, '--tail', '2')).out).toBe('line 5\nline 6\n')
  })

  test('--follow streams and ends with the job', async () => {
    const id = await start('for i in 1 2 3; do echo tick $i; sleep 0.15; done')
    expect(await cli('read', id, '--follow')).toMatchObject({ code: 0, out: 'tick 1\ntick 2\ntick 3\n' })
  })

  test('a bad filter and an unknown id are errors that help', async () => {
    const id = await start('true')
    expect((await cli('read', id, '--filter', '(')).code).toBe(125)
    const { code, err } = await cli('read', 'shell_ffffffff')
    expect(code).toBe(125)
    expect(err).toContain(id)
  })
})

describe('wait, send, kill and clean', () => {
  test('wait gives up with 124 and leaves the job alone; an early end exits with 1', async () => {
    const id = await start('sleep 20')
    expect(await cli('wait', id, '--timeout', '100')).toMatchObject({ code: 124, out: 'timeout\n' })
    expect((await cli('wait', id, '--idle', '50')).out).toBe('idle\n')
    await cli('kill', id)
    expect((await cli('wait', await start('true'), '--until', 'never printed')).code).toBe(1)
  })

  test('send types into an open stdin, and ends it', async () => {
    const id = await start('--open-stdin', 'while read -r line; do echo "got $line"; done; echo over')
    await cli('send', id, 'hello', '--enter')
    await cli('wait', id, '--until', 'got hello')
    await cli('send', id, '--eof')
    await cli('wait', id)
    expect((await cli('read', id)).out).toBe('got hello\nover\n')
    expect((await cli('send', id)).code).toBe(125)
  })

  test('kill says whether it had to use force, and that something had ended already', async () => {
    const id = await start("trap '' TERM; echo up; while :; do sleep 0.1; done")
    await cli('wait', id, '--until', 'up')
    expect((await cli('kill', id, '--grace', '100')).out).toContain('ignored the polite signal')
    expect(await cli('kill', id)).toMatchObject({ code: 0, out: expect.stringContaining('already ended') })
    expect(JSON.parse((await cli('kill', id, '--json')).out)).toMatchObject({ already_stopped: true, status: 'killed' })
  })

  test('clean forgets what has ended', async () => {
    const running = await start('sleep 20')
    expect((await cli('clean', '--older-than', '1h')).out).toBe('Removed 0 finished jobs.\n')
    expect(JSON.parse((await cli('clean', '--json')).out).removed.length).toBeGreaterThan(3)
    expect((await cli('ps', '--all')).out).toContain(running)
    await cli('kill', running)
    for (const { id } of JSON.parse((await cli('ps', '--json')).out).jobs) await cli('kill', id)
  })
})

/** `cerith run`: output, exit codes, sessions, dry runs, refusals, questions. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeGate } from '../../../fixtures/gate.js'
import { makeWorld } from '../../harness.js'

const world = makeWorld()
const { cli } = world

describe('a command', () => {
  test('prints to both streams and gives its exit code', async () => {
    expect(await cli('run', 'echo out; echo err >&2; exit 3')).toEqual({ code: 3, out: 'out\n', err: 'err\n' })
  })

  test('as several words is an argv that cerith quotes', async () => {
    writeFileSync(join(world.dir, 'a file; $(x).txt'), 'inside\n')
    expect(await cli('run', '--', 'cat', 'a file; $(x).txt')).toMatchObject({ code: 0, out: 'inside\n' })
    expect(await cli('run', 'printf', '%s|', 'a b', '$HOME', "it's", '--json')).toMatchObject({
      code: 0,
      out: "a b|$HOME|it's|--json|",
    })
  })

  test('that bash cannot parse gives its message and exits with 2', async () => {
    const { code, err } = await cli('run', 'echo "unfinished')
    expect(code).toBe(2)
    expect(err).toContain('unexpected EOF')
  })

  test('ended by a signal exits with 128 + n', async () => {
    expect((await cli('run', 'kill -SEGV $$')).code).toBe(139)
    expect((await cli('run', 'kill -9 $$')).code).toBe(137)
  })

  test('out of time exits with 124 and keeps what it said', async () => {
    const { code, out, err } = await cli('run', '--timeout', '1500ms', 'echo before; sleep 60')
    expect({ code, out }).toEqual({ code: 124, out: 'before\n' })
    expect(err).toContain('timed out after 1500 ms')
  })

  test('gets variables, a directory and input', async () => {
    mkdirSync(join(world.dir, 'sub'), { recursive: true })
    const { out } = await cli(
      'run',
      '--env',
      'A=1=2',
      '--env',
      'B=',
      '--cwd',
      'sub',
      '--input',
      'typed',
      'echo "$A|$B|${PWD##*/}|$(cat)"',
    )
    expect(out).toBe('1=2||sub|typed\n')
  })

  test('has an empty stdin unless told to take ours', async () => {
    expect((await world.with({ stdin: 'piped in' })('run', 'cat')).out).toBe('')
    expect((await world.with({ stdin: 'piped in' })('run', '--input', '-', 'cat')).out).toBe('piped in')
  })

  test('with --clean-env sees only what was given', async () => {
    const { out } = await world.with({ env: { WITNESS: 'here' } })(
      'run',
      '--clean-env',
      '--env',
      'ONLY=me',
      'echo "${WITNESS-none} $ONLY"',
    )
    expect(out).toBe('none me\n')
  })

  test('with --merge keeps the true order', async () => {
    expect((await cli('run', '--merge', 'for i in 1 2 3; do echo o$i; echo e$i >&2; done')).out).toBe(
      'o1\ne1\no2\ne2\no3\ne3\n',
    )
  })

  test('prints everything, however long, when nobody asked for JSON', async () => {
    const { out } = await cli('run', 'seq 1 60000')
    expect(out.split('\n').length).toBe(60_001)
    expect(out.endsWith('60000\n')).toBe(true)
  })
})

describe('as JSON', () => {
  test('every field of the Outcome is there', async () => {
    const { code, out, err } = await cli('run', '--json', 'echo a; echo b >&2; false | true')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const outcome = JSON.parse(out)
    expect(Object.keys(outcome)).toEqual(
      expect.arrayContaining([
        'status',
        'exit_code',
        'signal',
        'stdout',
        'stderr',
        'truncated',
        'omitted_bytes',
        'output_file',
        'duration_ms',
        'cwd',
        'pid',
        'pgid',
        'id',
        'pipe_status',
        'notes',
      ]),
    )
    expect(outcome).toMatchObject({
      status: 'completed',
      exit_code: 0,
      signal: null,
      stdout: 'a\n',
      stderr: 'b\n',
      cwd: world.dir,
      pipe_status: [1, 0],
    })
  })

  test('a signal is never exit code 0', async () => {
    const { code, out } = await cli('run', '--json', 'kill -TERM $$')
    expect(code).toBe(143)
    expect(JSON.parse(out)).toMatchObject({ status: 'failed', exit_code: null, signal: 'SIGTERM' })
  })

  test('a refusal names rule, reason and guidance, and exits with 126', async () => {
    const { code, out } = await cli('run', '--json', 'mkfs.ext4 /dev/sda')
    expect(code).toBe(126)
    expect(JSON.parse(out)).toMatchObject({
      status: 'refused',
      refused: { rule: expect.any(String), reason: expect.any(String), guidance: expect.any(String) },
    })
  })

  test('what could not start is an error with code, message and hint, and exits with 125', async () => {
    const { code, out } = await cli('run', '--json', '--cwd', '/nowhere/at/all', 'true')
    expect(code).toBe(125)
    expect(JSON.parse(out)).toMatchObject({
      status: 'error',
      exit_code: null,
      error: { code: 'CWD_NOT_FOUND', message: expect.stringContaining('/nowhere/at/all'), hint: expect.any(String) },
    })
  })

  test('a mistake in the options is told as JSON too', async () => {
    const { code, out } = await cli('run', '--json', '--timeout', 'soon', 'true')
    expect(code).toBe(125)
    expect(JSON.parse(out)).toMatchObject({ status: 'error', error: { code: 'USAGE' } })
  })
})

describe('a dry run', () => {
  test('says what would happen and does nothing', async () => {
    const { code, out } = await cli('run', '--dry-run', 'touch witness')
    expect(code).toBe(0)
    expect(out).toContain('[Dry Run] Would execute: touch witness')
    expect(out).toContain(world.dir)
    expect((await cli('run', 'ls witness')).code).not.toBe(0)
  })

  test('of something denied is refused', async () => {
    expect((await cli('run', '--dry-run', 'mkfs.ext4 /dev/sda')).code).toBe(126)
  })
})

describe('a session', () => {
  test('is remembered from one call of the program to the next', async () => {
    await cli('run', '--session', 'work', 'mkdir -p deep && cd deep; x=5; f() { echo "f $x"; }; alias g=f')
    expect((await cli('run', '--session', 'work', 'echo ${PWD##*/}; f')).out).toBe('deep\nf 5\n')
    expect((await cli('run', '--session', 'other', 'echo "${x-unset}"')).out).toBe('unset\n')
  })

  test('with a bad name is an error that says so', async () => {
    const { code, err } = await cli('run', '--session', '../../etc', 'true')
    expect(code).toBe(125)
    expect(err).toContain('session name')
  })
})

describe('a question', () => {
  const env = { CERITH_POLICY_PRESET: 'careful' }
  const asks = 'curl -s http://127.0.0.1:9/'

  test('is put to the person at the terminal, and no means no', async () => {
    const { code, err } = await world.with({ env, tty: true, types: ['n'] })('run', asks)
    expect(code).toBe(126)
    expect(err).toContain('wants your approval')
    expect(err).toContain(asks)
  })

  test('answered with y runs the command once', async () => {
    // curl itself fails (nothing listens there), which shows that it was run.
    expect((await world.with({ env, tty: true, types: ['y'] })('run', asks)).code).toBe(7)
  })

  test('without a terminal is refused, and `cerith approve` allows exactly that command once', async () => {
    const alone = world.with({ env })
    const refused = JSON.parse((await alone('run', '--json', asks)).out)
    expect(refused).toMatchObject({ status: 'refused', approval_id: expect.stringMatching(/^ask_/) })
    const waiting = await alone('approve')
    expect(waiting.out).toContain(refused.approval_id)
    expect((await alone('approve', refused.approval_id)).out).toContain('Approved once')
    expect((await alone('run', 'curl -s http://127.0.0.1:9/other')).code).toBe(126)
    expect((await alone('run', asks)).code).toBe(7)
    expect((await alone('run', asks)).code).toBe(126)
  })

  test('cannot be answered or approved from inside an agent’s shell', async () => {
    const inside = world.with({ env, tty: true, types: ['y', 'y'], insideEngine: true })
    expect((await inside('run', asks)).code).toBe(126)
    const [{ id }] = JSON.parse((await world.with({ env })('approve', '--json')).out).waiting
    expect(await inside('approve', id)).toMatchObject({ code: 125, err: expect.stringContaining('by a person') })
    expect((await world.with({ env })('run', asks)).code).toBe(126)
  })

  test('approving what nobody asked for is an error', async () => {
    const { code, err } = await cli('approve', 'ask_000000000000')
    expect(code).toBe(125)
    expect(err).toContain('Nothing is waiting')
  })

  test('cannot be repainted by control characters in the command', async () => {
    const { err } = await world.with({ env, tty: true, types: ['n'] })('run', "curl -s 'http://x/\u001B[2Jsafe'")
    expect(err).not.toContain('\u001B[2J')
  })
})

describe('a signal to cerith', () => {
  test('once interrupts the command, and its handler runs', async () => {
    let send: ((signal: 'SIGINT') => void) | undefined
    const { code, out } = await world.with({
      signals: (give) => (send = give),
      onOut: (text) => text.includes('ready') && send?.('SIGINT'),
    })('run', "trap 'echo bye; exit 9' INT; echo ready; while :; do sleep 0.05; done")
    expect(out).toBe('ready\nbye\n')
    expect([9, 130]).toContain(code)
  })

  test('twice kills a command that ignores the first', async () => {
    let send: ((signal: 'SIGINT') => void) | undefined
    const startedAt = Date.now()
    const { code } = await world.with({
      signals: (give) => (send = give),
      onOut: (text) => {
        if (!text.includes('ready')) return
        send?.('SIGINT')
        send?.('SIGINT')
      },
    })('run', '--grace', '100', "trap '' INT TERM; echo ready; while :; do sleep 0.05; done")
    expect(code).toBe(130)
    expect(Date.now() - startedAt).toBeLessThan(15_000)
  })
})

describe('--yield', () => {
  test('lets a slow command go on as a job of its own after this process, with every byte', async () => {
    const gate = makeGate()
    const { code, out, err } = await cli('run', '--yield', '1s', `echo before; ${gate.wait}; echo after; exit 5`)
    expect({ code, out }).toEqual({ code: 0, out: 'before\n' })
    const id = /still running as (shell_\w+); cerith read \1 --follow, cerith wait \1, cerith kill \1/.exec(
      err,
    )?.[1] as string
    expect(JSON.parse((await cli('ps', '--json')).out).jobs).toEqual([
      expect.objectContaining({ id, owner: 'detached' }),
    ])
    gate.open()
    expect(await cli('wait', id)).toMatchObject({ code: 0, out: 'exit (failed, exit code 5)\n' })
    expect((await cli('read', id)).out).toBe('before\nafter\n')
  })

  test('as JSON says running, the id and how to go on', async () => {
    const { code, out } = await cli('run', '--json', '--yield', '1s', 'echo early; sleep 60')
    const { status, id, stdout, exit_code, notes } = JSON.parse(out)
    expect({ code, status, stdout, exit_code }).toEqual({
      code: 0,
      status: 'running',
      stdout: 'early\n',
      exit_code: null,
    })
    expect(notes).toEqual([
      expect.stringMatching(/^Still running, NOT killed/),
      `cerith read ${id} --follow, cerith wait ${id}, cerith kill ${id}`,
    ])
    expect((await cli('kill', id)).out).toContain('ended')
  })

  test.each([[['--session', 'slow']], [['--pty']], [['--merge']]])('with %j too', async (more) => {
    const gate = makeGate()
    const { id } = JSON.parse(
      (await cli('run', '--json', ...more, '--yield', '300', `echo one; ${gate.wait}; echo two`)).out,
    )
    gate.open()
    await cli('wait', id)
    expect((await cli('read', id)).out.replaceAll('\r', '')).toBe('one\ntwo\n')
  })

  test('a session goes on without the command that was let go', async () => {
    await cli('run', '--session', 'on', 'x=kept')
    const { id } = JSON.parse((await cli('run', '--json', '--session', 'on', '--yield', '200', 'x=lost; sleep 60')).out)
    expect((await cli('run', '--session', 'on', 'echo $x')).out).toBe('kept\n')
    await cli('kill', id)
  })

  test('a command that is quick enough is an ordinary one', async () => {
    expect(await cli('run', '--yield', '30s', 'echo quick; exit 4')).toEqual({ code: 4, out: 'quick\n', err: '' })
    expect(await cli('run', '--yield', '1s', '--background', 'true')).toMatchObject({
      code: 125,
      err: expect.stringContaining('--background'),
    })
    expect(await cli('run', '--yield', 'soon', 'true')).toMatchObject({
      code: 125,
      err: expect.stringContaining('is not a time'),
    })
  })
})

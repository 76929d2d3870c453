import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine, type Engine, type Outcome, type Session } from '../../../src/index.js'
import { until } from '../harness.js'
import { temporaryFolder } from '../../fixtures/folder.js'

let engine: Engine
let home: string
let count = 0

beforeAll(async () => {
  home = temporaryFolder('calls')
  engine = await createEngine({ stateDir: join(home, 'state'), cwd: home })
})

afterAll(async () => {
  await engine.close()
})

async function withSession(
  work: (session: Session, run: (command: string) => Promise<Outcome>) => Promise<void>,
): Promise<void> {
  const session = await engine.session(`c${++count}`)
  try {
    await work(session, (command) => session.run({ command, timeoutMs: 20_000 }))
  } finally {
    await session.close()
  }
}

/** Resolves when the call has printed this. */
async function printed(handle: AsyncIterable<{ text: string }>, text: string): Promise<void> {
  let seen = ''
  for await (const chunk of handle) {
    seen += chunk.text
    if (seen.includes(text)) return
  }
  throw new Error(`never printed ${text}, only ${seen}`)
}

describe('a timeout ends the command, not the session', () => {
  test('what came before and during the command is still there, and its output so far comes back', () =>
    withSession(async (session, run) => {
      await run('before=1; trap "echo int" INT')
      const outcome = await session.run({
        command: 'during=2; echo partial; sleep 60; echo never; never=3',
        timeoutMs: 1_000,
      })
      expect(outcome).toMatchObject({
        status: 'timeout',
        end: { kind: 'timeout', afterMs: 1_000, forced: false },
        stdout: 'partial\n',
        notes: [],
      })
      expect((await session.info()).restarts).toBe(0)
      expect(await run('echo $before $during ${never-unset}; trap -p INT')).toMatchObject({
        stdout: "1 2 unset\ntrap -- 'echo int' SIGINT\n",
      })
    }))

  test('a pipeline, a loop and a function with a trap on the way leave nothing running', () =>
    withSession(async (session, run) => {
      const outcome = await session.run({
        command: 'f() { for i in 1 2 3; do sleep 60 | cat | cat; echo $i; done; }; f',
        timeoutMs: 1_000,
      })
      expect(outcome).toMatchObject({ status: 'timeout', stdout: '' })
      expect((await session.info()).leftovers).toEqual([])
      expect(await run('type -t f')).toMatchObject({ stdout: 'function\n' })
    }))

  test('a program that ignores the polite signal is forced after the grace', () =>
    withSession(async (session) => {
      const handle = session.stream({
        command: `bash -c 'trap "" TERM; echo deaf; while :; do sleep 0.02; done'`,
        graceMs: 100,
      })
      await printed(handle, 'deaf')
      handle.kill()
      expect(await handle.outcome).toMatchObject({
        end: { kind: 'kill', by: 'caller', forced: true },
        stdout: 'deaf\n',
      })
      expect((await session.info()).restarts).toBe(0)
    }))

  test('a program that handles the polite signal gets its grace and its last words', () =>
    withSession(async (session) => {
      const handle = session.stream({
        command: `bash -c 'trap "echo cleaned; exit" TERM; echo up; while :; do sleep 0.02; done'`,
        graceMs: 20_000,
      })
      await printed(handle, 'up')
      handle.kill()
      const outcome = await handle.outcome
      expect(outcome).toMatchObject({ end: { kind: 'kill', forced: false }, stdout: 'up\ncleaned\n' })
      expect(outcome.durationMs).toBeLessThan(10_000)
    }))

  test('processes that left the group, the session or their parent end with the command', () =>
    withSession(async (session) => {
      const outcome = await session.run({
        command:
          'setsid sleep 1000 & (setsid bash -c "sleep 1001 & disown; sleep 1002" &) ; nohup sleep 1003 >/dev/null 2>&1 & wait; sleep 1004',
        timeoutMs: 400,
        graceMs: 200,
      })
      expect(outcome.status).toBe('timeout')
      expect((await session.info()).leftovers).toEqual([])
    }))

  test('leftovers of earlier calls are spared', () =>
    withSession(async (session, run) => {
      const pid = Number((await run('sleep 1000 & echo $!')).stdout)
      const outcome = await session.run({ command: 'sleep 1001 & sleep 1002', timeoutMs: 200 })
      expect(outcome.status).toBe('timeout')
      await until(async () => (await session.info()).leftovers[0]?.command === 'sleep 1000')
      expect((await session.info()).leftovers).toEqual([{ pid, command: 'sleep 1000' }])
      expect(await run('kill %1 && wait %1 2>/dev/null; echo $?')).toMatchObject({ stdout: '143\n' })
    }))
})

test('an interrupt is what Ctrl-C would be: the list ends, the shell stays', () =>
  withSession(async (session, run) => {
    const handle = session.stream({ command: 'x=1; echo up; sleep 60; echo never', timeoutMs: 20_000 })
    await printed(handle, 'up')
    handle.interrupt()
    expect(await handle.outcome).toMatchObject({ end: { kind: 'signal', signal: 'SIGINT' }, stdout: 'up\n' })
    expect(await run('echo "$? $x"')).toMatchObject({ stdout: '130 1\n' })
    expect((await session.info()).restarts).toBe(0)
  }))

test('a call that is called off while another runs does not wait for it; one that is killed never begins', () =>
  withSession(async (session) => {
    const running = session.stream({ command: 'sleep 60' })
    const stop = new AbortController()
    const waiting = session.run({ command: 'touch waited', signal: stop.signal })
    setImmediate(() => stop.abort())
    expect(await waiting).toMatchObject({ status: 'killed', pid: null })
    expect(await session.run({ command: 'touch waited', signal: stop.signal })).toMatchObject({ status: 'killed' })
    const next = session.stream({ command: 'touch waited' })
    next.kill()
    running.kill()
    expect(await next.outcome).toMatchObject({ status: 'killed', pid: null })
    expect((await session.run({ command: 'echo on' })).stdout).toBe('on\n')
    expect(existsSync(join(session.cwd, 'waited'))).toBe(false)
  }))

test('an abort signal ends the running command; an aborted one starts nothing', () =>
  withSession(async (session, run) => {
    const abort = new AbortController()
    const handle = session.stream({ command: 'y=1; echo up; sleep 60', signal: abort.signal })
    await printed(handle, 'up')
    abort.abort()
    expect(await handle.outcome).toMatchObject({ status: 'killed', end: { kind: 'kill', by: 'caller' } })
    expect(await session.run({ command: 'y=2', signal: abort.signal })).toMatchObject({ status: 'killed', pid: null })
    expect(await run('echo $y')).toMatchObject({ stdout: '1\n' })
  }))

describe('leftovers', () => {
  test('what they print never shows up in a later call', () =>
    withSession(async (session, run) => {
      await run('mkfifo go; (read -r x <go; echo late; echo late >&2; echo done >told) & echo started')
      expect(await run('echo second')).toMatchObject({ stdout: 'second\n', stderr: '' })
      const third = await run('echo x >go; while [ ! -e told ]; do sleep 0.01; done; echo third')
      expect(third).toMatchObject({ stdout: 'third\n', stderr: '' })
      rmSync(join(session.cwd, 'go'))
      rmSync(join(session.cwd, 'told'))
    }))

  test('nor does it when the next call comes while the shell is still reporting', () =>
    withSession(async (session, run) => {
      await run(
        'mkfifo go2; { exec 5<>go2; while read -r x <&5; do echo "late $x"; echo "$x" >told2; done; } & echo started',
      )
      for (let at = 0; at < 25; at++) {
        expect(
          await run(`echo ${at} >go2; until [ "$(cat told2 2>/dev/null)" = ${at} ]; do :; done; echo ${at}`),
        ).toMatchObject({ stdout: `${at}\n`, stderr: '' })
      }
      for (const file of ['go2', 'told2']) rmSync(join(session.cwd, file))
    }))

  test('a leftover that floods does not block and is not seen', () =>
    withSession(async (session, run) => {
      await run('yes flood & echo up')
      for (const word of ['a', 'b', 'c']) expect(await run(`echo ${word}`)).toMatchObject({ stdout: `${word}\n` })
      expect((await session.info()).leftovers).toHaveLength(1)
      await run('kill %1')
    }))

  test('a daemon that left everything behind is listed and ends with the session', async () => {
    const session = await engine.session(`c${++count}`)
    await session.run({ command: `bash -c 'setsid env -i sleep 1005 </dev/null >/dev/null 2>&1 & disown'` })
    // It is called by its name when it has become its program.
    await until(async () => (await session.info()).leftovers.some(({ command }) => command === 'sleep 1005'))
    const { leftovers } = await session.info()
    expect(leftovers).toHaveLength(1)
    await session.close()
    expect(existsSync(`/proc/${leftovers[0]?.pid}`)).toBe(false)
  })
})

test('calls to one session run in the order they were made', () =>
  withSession(async (session) => {
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        session.run({
          command: `[ "\${n-0}" = ${at} ] && n=${at + 1} && ${at % 5 === 0 ? 'sleep 0.01; ' : ''}echo ${at}`,
        }),
      ),
    )
    expect(outcomes.map(({ stdout }) => stdout)).toEqual(Array.from({ length: 30 }, (_, at) => `${at}\n`))
  }))

describe('for one call only', () => {
  test('env: values of a call, gone or back as they were afterwards', () =>
    withSession(async (session, run) => {
      await run(`export KEPT=mine; declare -i NUM=4; ARR=(a b)`)
      expect(
        await session.run({
          command: 'echo "$KEPT $ONCE $NUM $ARR"; sh -c \'echo "$KEPT/$ONCE"\'',
          env: { KEPT: 'theirs', ONCE: `it's "$x"`, NUM: '7', ARR: 'flat' },
        }),
      ).toMatchObject({
        stdout: `theirs it's "$x" 7 flat\ntheirs/it's "$x"\n`,
      })
      expect(await run('echo "$KEPT ${ONCE-none} $NUM ${ARR[1]}"; declare -p NUM')).toMatchObject({
        stdout: 'mine none 4 b\ndeclare -i NUM="4"\n',
      })
    }))

  test('a variable of a call and an EXIT trap may be longer than the pipe in which lines are typed', () =>
    withSession(async (session, run) => {
      for (const length of [100, 70_000, 90_000, 130_000]) {
        const { stdout } = await session.run({ command: 'echo ${#LONG}', env: { LONG: 'x'.repeat(length) } })
        expect(stdout).toBe(`${length}\n`)
      }
      await run(`trap ': ${'x'.repeat(90_000)}' EXIT`)
      expect(await run('echo on')).toMatchObject({ stdout: 'on\n', notes: [] })
      expect(await run('trap - EXIT')).toMatchObject({ exitCode: 0, notes: [] })
      expect((await session.info()).restarts).toBe(0)
    }))

  test('env is taken back after a timeout too', () =>
    withSession(async (session, run) => {
      await session.run({ command: 'sleep 60', env: { ONCE: 'x' }, timeoutMs: 200 })
      expect(await run('echo "${ONCE-none}"')).toMatchObject({ stdout: 'none\n' })
    }))

  test('input: text, bytes, and nothing the next time', () =>
    withSession(async (session, run) => {
      expect(await session.run({ command: 'cat; read -r rest; echo "[$rest]"', input: 'one\ntwo\n' })).toMatchObject({
        stdout: 'one\ntwo\n[]\n',
      })
      expect(
        await session.run({ command: 'read -r first; echo "$first"', input: new Uint8Array([104, 105, 10]) }),
      ).toMatchObject({ stdout: 'hi\n' })
      expect(await run('cat; echo "$first"')).toMatchObject({ stdout: 'hi\n' })
    }))

  test('merged streams keep the true order', () =>
    withSession(async (session, run) => {
      const command = 'for i in 1 2 3 4 5; do echo out$i; echo err$i >&2; done'
      expect(await session.run({ command, streams: 'merged' })).toMatchObject({
        output: 'out1\nerr1\nout2\nerr2\nout3\nerr3\nout4\nerr4\nout5\nerr5\n',
        stdout: '',
        stderr: '',
      })
      expect(await run('echo apart >&2')).toMatchObject({ stdout: '', stderr: 'apart\n', output: null })
    }))
})

test('cwd moves the session, as a cd would', () =>
  withSession(async (session, run) => {
    expect(await session.run({ command: 'pwd', cwd: '/' })).toMatchObject({ stdout: '/\n', cwd: '/' })
    expect(await run('pwd; echo $OLDPWD')).toMatchObject({ stdout: `/\n${home}\n` })
    expect(session.cwd).toBe('/')
    expect(await session.run({ command: 'pwd', cwd: 'tmp' })).toMatchObject({ stdout: '/tmp\n' })
  }))

test('pipe_status: the stages of the last pipeline', () =>
  withSession(async (_, run) => {
    expect(await run('false | true | (exit 3)')).toMatchObject({ exitCode: 3, pipeStatus: [1, 0, 3] })
    expect(await run('false | cat')).toMatchObject({
      exitCode: 0,
      pipeStatus: [1, 0],
      notes: [{ code: 'exit-code', text: expect.stringContaining('1, 0') as string }],
    })
    expect(await run('true')).toMatchObject({ pipeStatus: null })
  }))

test('set -x shows the commands of the call and nothing of ours', () =>
  withSession(async (_, run) => {
    await run('set -x')
    expect(await run('echo hi')).toMatchObject({ stdout: 'hi\n', stderr: '++ echo hi\n' })
    expect(await run('x=1; set +x')).toMatchObject({ stderr: '++ x=1\n++ set +x\n' })
    expect(await run('echo quiet')).toMatchObject({ stderr: '' })
  }))

test('prompt variables are remembered but never acted upon', () =>
  withSession(async (_, run) => {
    await run(`PS1='prompt> '; PS0=zero; PROMPT_COMMAND=('echo first' 'echo second'); export TMOUT=1`)
    expect(await run('echo "$PS1$PS0 ${PROMPT_COMMAND[1]} $TMOUT"; declare -p TMOUT')).toMatchObject({
      stdout: 'prompt> zero echo second 1\ndeclare -x TMOUT="1"\n',
      stderr: '',
    })
    expect(await run('unset PS1 PS0 PROMPT_COMMAND TMOUT; echo "[${PS1-}]"')).toMatchObject({
      stdout: '[]\n',
      stderr: '',
    })
    expect(await run('echo "[${PS1-}${PROMPT_COMMAND-}]"')).toMatchObject({ stdout: '[]\n', stderr: '' })
  }))

test('a command sees empty stdin, real pipes, no terminal and no descriptor of ours', () =>
  withSession(async (_, run) => {
    expect(
      (await run('ls /proc/self/fd | tr "\\n" " "; [ -p /dev/stdout ] && echo pipe; cat | wc -c; tty')).stdout,
    ).toBe('0 1 2 3 pipe\n0\nnot a tty\n')
    expect((await run('compgen -e | grep -i -c cerith_e; ps -o args= -p $$')).stdout).toBe(
      '1\nbash --norc --noprofile --noediting -i\n',
    )
    await run('sleep 1000 & :')
    expect((await run('ls /proc/self/fd | tr "\\n" " "')).stdout).toBe('0 1 2 3 ')
  }))

test('large output comes whole, and the last line without its newline', () =>
  withSession(async (session) => {
    const outcome = await session.run({ command: 'seq 150000; printf end', clip: { kind: 'none' } })
    expect(outcome.stdout.length).toBe(938_895 + 3)
    expect(outcome.stdout.endsWith('150000\nend')).toBe(true)
  }))

describe('secrets', () => {
  const value = 'hunter2-Correct/Horse+Battery$(x)'

  test('a value is there for its command only: not in the shell, its state or its output', () =>
    withSession(async (session, run) => {
      engine.secrets.set('pw', value)
      const used = await run('[ {{secret:pw}} = "' + value.replace('$', '\\$') + '" ] && echo same; echo {{secret:pw}}')
      expect(used.stdout).toMatch(/^same\n/)
      expect(used.stdout).not.toContain(value)
      const after = await run('set; declare -p; compgen -v | grep -c -i cerith_pw')
      expect(after.stdout).not.toContain(value)
      expect(after.stdout.trim().endsWith('\n0')).toBe(true)
      await run('exit 1')
      expect((await run('declare -p')).stdout).not.toContain('__cerith_pw')
      expect(session.cwd).toBe(home)
    }))

  test('a timeout takes it back too', () =>
    withSession(async (session, run) => {
      engine.secrets.set('pw', value)
      await session.run({ command: ': {{secret:pw}}; sleep 60', timeoutMs: 200 })
      expect((await run('compgen -v | grep -c -i cerith_pw')).stdout).toBe('0\n')
    }))
})

describe('EXEC-07 sessions that outlive their engine', () => {
  test('a saved state is private, holds no secret that the engine knows, and another engine goes on with it', async () => {
    const stateDir = join(home, 'persist')
    const first = await createEngine({ stateDir, cwd: home, persistSessions: true })
    first.secrets.set('pw', 'S3cret-value-of-mine')
    const one = await first.session('kept')
    await one.run({
      command:
        'a=1; export B=2; f() { echo f; }; alias g="echo g"; cd /tmp; copy={{secret:pw}}; export DEPLOY_TOKEN=abcdef; umask 022; set -o pipefail; arr=(x "y z")',
    })
    await first.close()
    const file = join(stateDir, 'sessions', 'kept.state')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).not.toContain('S3cret-value')
    expect(readdirSync(join(stateDir, 'run'))).toEqual([])

    const second = await createEngine({ stateDir, cwd: home, persistSessions: true })
    const two = await second.session('kept')
    expect(two.cwd).toBe('/tmp')
    expect(
      await two.run({
        command:
          'echo "$a $B $(f) ${arr[1]} ${DEPLOY_TOKEN-none} ${copy-none}"; g; pwd; [[ -o pipefail ]] && echo pipefail',
      }),
    ).toMatchObject({
      stdout: '1 2 f y z abcdef none\ng\n/tmp\npipefail\n',
    })
    await second.close()
  })

  test('a state that was tampered with or torn is not used', async () => {
    const stateDir = join(home, 'torn')
    const first = await createEngine({ stateDir, cwd: home, persistSessions: true })
    await (await first.session('t')).run({ command: 'a=1' })
    await first.close()
    const file = join(stateDir, 'sessions', 't.state')
    const whole = readFileSync(file, 'utf8')
    const { writeFileSync } = await import('node:fs')
    writeFileSync(file, whole.slice(0, whole.length / 2))
    const second = await createEngine({ stateDir, cwd: home, persistSessions: true })
    expect(await (await second.session('t')).run({ command: 'echo "${a-none}"' })).toMatchObject({ stdout: 'none\n' })
    await second.close()
  })
})

test('sessions are independent of each other', async () => {
  const [a, b] = [await engine.session('left'), await engine.session('right')]
  await Promise.all([a.run({ command: 'x=a; cd /' }), b.run({ command: 'x=b; cd /tmp' })])
  const [outA, outB] = await Promise.all([a.run({ command: 'echo $x $PWD' }), b.run({ command: 'echo $x $PWD' })])
  expect([outA.stdout, outB.stdout]).toEqual(['a /\n', 'b /tmp\n'])
  expect(await engine.session('left')).toBe(a)
  await Promise.all([a.close(), b.close()])
  await expect(a.run({ command: 'true' })).rejects.toMatchObject({ code: 'SESSION_LOST' })
})

test('closing a session twice leaves a later one of the same name alone', async () => {
  const first = await engine.session('again')
  await first.close()
  const second = await engine.session('again')
  await first.close()
  expect(await engine.session('again')).toBe(second)
  expect((await engine.sessions()).map(({ name }) => name)).toContain('again')
  await second.close()
})

test('500 live sessions work and end with their engine', async () => {
  const many = await createEngine({ stateDir: join(home, 'many'), cwd: home, limits: { maxSessions: 500 } })
  const sessions = await Promise.all(Array.from({ length: 500 }, (_, at) => many.session(`n${at}`)))
  const outcomes: Outcome[] = []
  // A bounded number at a time: the machine is shared.
  for (let at = 0; at < 500; at += 50)
    outcomes.push(
      ...(await Promise.all(
        sessions
          .slice(at, at + 50)
          .map((session, index) => session.run({ command: `mine=${at + index}`, timeoutMs: 60_000 })),
      )),
    )
  const again: Outcome[] = []
  for (let at = 0; at < 500; at += 50)
    again.push(
      ...(await Promise.all(
        sessions.slice(at, at + 50).map((session) => session.run({ command: 'echo $mine', timeoutMs: 60_000 })),
      )),
    )
  expect(again.map(({ stdout }) => stdout.trim())).toEqual(Array.from({ length: 500 }, (_, at) => String(at)))
  const pids = outcomes.map(({ pid }) => pid)
  await many.close()
  expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([])
}, 120_000)

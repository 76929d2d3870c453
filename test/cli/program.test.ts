/** The built program as a user starts it: real processes, real signals, real pipes. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../fixtures/folder.js'

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const base = temporaryFolder('program')
const home = join(base, 'state')
const env = { ...process.env, CERITH_HOME: home, HOME: base, CERITH_ENGINE: undefined }

interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly out: string
  readonly err: string
}

function start(argv: readonly string[]): {
  child: ChildProcess
  out: () => string
  until(text: string): Promise<void>
  ended: Promise<Ended>
} {
  const child = spawn(process.execPath, [cli, ...argv], { env, cwd: base, stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  const wakes = new Set<() => void>()
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    for (const wake of wakes) wake()
  })
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const ended = new Promise<Ended>((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, out, err })),
  )
  const until = (text: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!out.includes(text)) return
        wakes.delete(look)
        resolve()
      }
      wakes.add(look)
      look()
    })
  return { child, out: () => out, until, ended }
}

const isAlive = (pid: number): boolean => {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

describe('output', () => {
  test('comes as it is printed, not at the end', async () => {
    const { child, until, ended } = start(['run', 'echo first; read -r line < <(sleep 30)'])
    await until('first')
    expect(child.exitCode).toBe(null)
    child.kill('SIGTERM')
    expect((await ended).code).toBe(143)
  })

  test('that nobody reads any more ends the command (`| head`)', async () => {
    const result = spawnSync(
      'bash',
      ['-c', `"$0" "$1" run 'yes' | head -n 1; echo "\${PIPESTATUS[0]}"`, process.execPath, cli],
      { env, encoding: 'utf8', timeout: 60_000 },
    )
    expect(result.stdout).toBe('y\n141\n')
  })

  test('of a flood is limited only by the time limit', async () => {
    const { code, stderr } = spawnCli(['run', '--timeout', '500', 'yes'], '/dev/null')
    expect(code).toBe(124)
    expect(stderr).toContain('timed out')
  })
})

function spawnCli(argv: readonly string[], stdout: string): { code: number | null; stderr: string } {
  const result = spawnSync('bash', ['-c', `exec "$@" > ${stdout}`, 'bash', process.execPath, cli, ...argv], {
    env,
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { code: result.status, stderr: result.stderr }
}

describe('signals', () => {
  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('%s ends the command and its hidden children, and the exit code says which', async (signal, code) => {
    const { child, until, out, ended } = start([
      'run',
      '--grace',
      '500',
      'setsid sleep 60 & echo "pids $! $$"; sleep 60',
    ])
    await until('\n')
    const pids = out().match(/\d+/g)?.map(Number) ?? []
    expect(pids).toHaveLength(2)
    child.kill(signal)
    expect((await ended).code).toBe(code)
    expect(pids.filter(isAlive)).toEqual([])
  })

  test('SIGKILL of cerith leaves no process behind', async () => {
    const { child, until, out, ended } = start(['run', 'sleep 60 & echo "pids $! $$"; sleep 60'])
    await until('\n')
    const pids = out().match(/\d+/g)?.map(Number) ?? []
    child.kill('SIGKILL')
    await ended
    for (let i = 0; i < 200 && pids.some(isAlive); i++) await new Promise((resolve) => setTimeout(resolve, 50))
    expect(pids.filter(isAlive)).toEqual([])
  })
})

describe('processes after processes', () => {
  test('a session and a job are picked up by the next call, and the run directory is empty at the end', async () => {
    expect((await start(['run', '--session', 'p', 'cd /usr; n=1']).ended).code).toBe(0)
    expect((await start(['run', '--session', 'p', 'echo $PWD $((n+1))']).ended).out).toBe('/usr 2\n')
    const id = (await start(['run', '--background', 'sleep 0.2; echo done by itself']).ended).out.trim()
    expect((await start(['wait', id]).ended).out).toContain('exit code 0')
    expect((await start(['read', id]).ended).out).toBe('done by itself\n')
    expect(readdirSync(join(home, 'run')).filter((name) => !name.startsWith('.'))).toEqual([])
  })

  test('calls to one session run in order, also from several processes at once', async () => {
    const numbers = [1, 2, 3, 4]
    const ended = await Promise.all(
      numbers.map((n) => start(['run', '--session', 'shared', `v${n}=${n}; sleep 0.3`]).ended),
    )
    expect(ended.map(({ code, err }) => [code, err.replace(/^cerith: waiting for session.*\n/m, '')])).toEqual(
      numbers.map(() => [0, '']),
    )
    expect((await start(['run', '--session', 'shared', 'echo $v1$v2$v3$v4']).ended).out).toBe('1234\n')
  })

  test('a command that asks for the session which it runs in is told so: each would wait for the other', async () => {
    const inner = [process.execPath, cli, 'run', '--session', 'mine', 'echo in'].map((word) => `'${word}'`).join(' ')
    const { code, out, err } = await start(['run', '--session', 'mine', `echo out; ${inner}; echo $?`]).ended
    expect([code, out]).toEqual([0, 'out\n125\n'])
    expect(err).toContain('Session mine is the one that this command itself runs in')
  })

  test('a session whose user was killed is free again', async () => {
    const { child, until, ended } = start(['run', '--session', 'left', 'echo in; sleep 60'])
    await until('in')
    child.kill('SIGKILL')
    await ended
    expect((await start(['run', '--session', 'left', 'echo free']).ended).out).toBe('free\n')
  })

  test('closed streams are survived', () => {
    for (const closed of ['>&-', '2>&-', '<&-', '>/dev/full']) {
      const result = spawnSync(
        'bash',
        ['-c', `exec "$@" ${closed}`, 'bash', process.execPath, cli, 'run', 'echo out; exit 5'],
        { env, cwd: base, encoding: 'utf8', timeout: 60_000 },
      )
      expect(result.status, closed).toBe(5)
    }
  })

  test('an unknown verb and --version need no engine and leave no state', () => {
    const clean = join(base, 'clean')
    for (const argv of [['--version'], ['--help'], ['nonsense']])
      spawnSync(process.execPath, [cli, ...argv], { env: { ...env, CERITH_HOME: clean } })
    expect(existsSync(clean)).toBe(false)
  })
})

test('a disk that takes nothing leaves no torn file behind, and a session says why it cannot start', () => {
  const full = join(base, 'full')
  const run = (limit: number, ...argv: string[]): { status: number | null; stdout: string; stderr: string } =>
    spawnSync('bash', ['-c', `ulimit -f ${limit}; exec "$@"`, '-', process.execPath, cli, 'run', ...argv], {
      env: { ...env, CERITH_HOME: full },
      encoding: 'utf8',
    })
  // The code that V8 compiled does not fit into 8 kB.
  expect(run(8, 'echo ran; exit 3')).toMatchObject({ status: 3, stdout: 'ran\n' })
  expect(readdirSync(join(full, 'code'))).toEqual([])
  expect(run(0, '--session', 's', 'echo ran')).toMatchObject({
    status: 125,
    stdout: '',
    stderr: expect.stringContaining('Session s cannot be locked'),
  })
  expect(readdirSync(join(full, 'sessions'))).toEqual([])
  // Here the limit and no disk is what has to be changed.
  for (const limit of [0, 1])
    expect(run(limit, '--session', 's', 'echo ran')).toMatchObject({
      status: 125,
      stdout: '',
      stderr: expect.stringMatching(/EFBIG[^]*`ulimit -f`/),
    })
})

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync, chmodSync, rmSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { ShellError, type Outcome, type OutputChunk } from '../../../src/index.js'
import { makeGate } from '../../fixtures/gate.js'
import { temporaryFolder, testEngine } from '../harness.js'

/** The part of an Outcome that most tests compare at once. */
function short({
  status,
  exitCode,
  signal,
  stdout,
  stderr,
}: Outcome): Pick<Outcome, 'status' | 'exitCode' | 'signal' | 'stdout' | 'stderr'> {
  return { status, exitCode, signal, stdout, stderr }
}

async function failure(promise: Promise<unknown>): Promise<ShellError> {
  try {
    await promise
  } catch (error) {
    if (ShellError.is(error)) return error
    throw error
  }
  throw new Error('it did not fail')
}

describe('a fresh run', () => {
  test('EXEC-01 returns stdout, stderr and the exit code', async () => {
    const engine = await testEngine()
    expect(short(await engine.run({ command: 'echo out; echo err >&2; exit 3' }))).toEqual({
      status: 'failed',
      exitCode: 3,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
    })
    expect(short(await engine.run({ command: 'echo hello' }))).toEqual({
      status: 'completed',
      exitCode: 0,
      signal: null,
      stdout: 'hello\n',
      stderr: '',
    })
  })

  test('EXEC-02 runs real bash with && || ; and stops a chain at exit', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({
      command: '[[ $BASH_VERSION ]] && echo bash; false || echo or; a=(1 2); echo ${a[1]}',
    })
    expect(outcome.stdout).toBe('bash\nor\n2\n')
    expect(short(await engine.run({ command: 'exit 1 && echo second' }))).toMatchObject({
      status: 'failed',
      exitCode: 1,
      stdout: '',
    })
    expect(engine.shell.version).toMatch(/^\d+\.\d+/)
  })

  test('EXEC-10 a command that is not found is a failed command, not an error of ours', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({ command: 'no-such-program-here --flag' })
    expect(outcome).toMatchObject({ status: 'failed', exitCode: 127 })
    expect(outcome.stderr).toMatch(/^bash: line 1: no-such-program-here: command not found/)
  })

  test('a signal is reported as a signal, never as exit 0', async () => {
    const engine = await testEngine()
    expect(short(await engine.run({ command: 'kill -SEGV $$' }))).toMatchObject({
      status: 'failed',
      exitCode: null,
      signal: 'SIGSEGV',
    })
    const child = await engine.run({ command: 'sh -c "kill -KILL \\$\\$"; exit $?' })
    expect(child).toMatchObject({ status: 'failed', exitCode: 137 })
    expect(child.notes.map(({ text }) => text).join()).toContain('SIGKILL')
  })

  test('pipe_status tells the stages of the last pipeline, and that a zero hides a failure', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({ command: 'echo a; false | true' })
    expect(outcome).toMatchObject({ status: 'completed', exitCode: 0, pipeStatus: [1, 0] })
    expect(outcome.notes.map(({ text }) => text).join()).toContain('1, 0')
    expect((await engine.run({ command: 'set -o pipefail; exit 5 | cat | true' })).exitCode).toBe(5)
    expect((await engine.run({ command: 'true' })).pipeStatus).toBeNull()
  })

  test('F13 the command text is not in the argv of its shell: pkill -f does not hit it, ps does not show it', async () => {
    const engine = await testEngine()
    const word = `needle${process.pid}x`
    const outcome = await engine.run({
      command: `tr '\\0' ' ' </proc/$$/cmdline | grep -c ${word} ; pkill -f ${word}; echo still here`,
    })
    expect(outcome.stdout).toBe('0\nstill here\n')
  })

  test('F36 a 1 MB command works', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({ command: `true #${'x'.repeat(1024 * 1024)}\necho end` })
    expect(short(outcome)).toMatchObject({ status: 'completed', stdout: 'end\n' })
  })

  test('F73 only descriptors 0, 1 and 2 are inherited, and they are pipes', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({ command: 'exec ls -l /proc/self/fd' })
    const names = [...outcome.stdout.matchAll(/(\d+) -> (\S+)/g)].map(
      ([, fd, target]) => `${fd} ${target?.replace(/:.*|\/proc.*/, '')}`,
    )
    expect(names).toEqual(['0 /dev/null', '1 pipe', '2 pipe', '3 '])
  })

  test('real pipes: > /dev/stderr, tee /dev/stdout and >> /dev/stdout work', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({
      command: 'echo x > /dev/stderr; echo y | tee /dev/stdout; echo z >> /dev/stdout',
    })
    expect(short(outcome)).toMatchObject({ status: 'completed', stdout: 'y\ny\nz\n', stderr: 'x\n' })
  })

  test('EXEC-09 F22 F74 stdin is empty, there is no terminal to reach', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({
      command:
        'cat; read x; echo "read $?"; tty; (: </dev/tty) 2>/dev/null || echo "no tty"; python3 -c "import fcntl,termios;fcntl.ioctl(0,termios.TIOCSTI,b\'x\')" 2>&1 | tail -1',
    })
    expect(outcome.stdout).toContain('read 1\nnot a tty\nno tty\n')
    expect(outcome.stdout).toMatch(/Inappropriate ioctl|Error/)
  })

  test('input reaches stdin, also a megabyte of it, also when nobody reads it', async () => {
    const engine = await testEngine()
    expect((await engine.run({ command: 'cat', input: 'a\0b\nc' })).stdout).toBe('a\0b\nc')
    expect((await engine.run({ command: 'wc -c', input: new Uint8Array(1_000_000) })).stdout.trim()).toBe('1000000')
    expect((await engine.run({ command: 'true', input: 'x'.repeat(1_000_000) })).status).toBe('completed')
  })

  test('EXEC-08 each command has a process group and session of its own', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({ command: 'echo $$; ps -o pgid=,sid= -p $$' })
    const [pid, ids] = outcome.stdout.split('\n')
    expect(ids?.trim().split(/\s+/)).toEqual([pid, pid])
    expect([outcome.pid, outcome.pgid]).toEqual([Number(pid), Number(pid)])
  })

  test('EXEC-17 an argv is quoted by cerith, whatever is in it', async () => {
    const engine = await testEngine()
    const words = ['a b', "it's", '$HOME', '`id`', '\\', '', '*', '-n', 'new\nline', '"', '!x', '~', '#c', 'é🔑']
    const outcome = await engine.run({ command: ['printf', '<%s>\\0', ...words] })
    expect(outcome.stdout).toBe(words.map((word) => `<${word}>\0`).join(''))
  })

  test('EXEC-17 a failing command with an unquoted existing path with spaces gets a hint', async () => {
    const engine = await testEngine()
    writeFileSync(join(engine.cwd, 'my file.txt'), 'x')
    expect((await engine.run({ command: 'cat my file.txt' })).notes.map(({ text }) => text).join()).toContain(
      "'my file.txt'",
    )
  })
})

describe('streams', () => {
  test('F34 merged streams share one pipe: true order', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({
      command: 'for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done',
      streams: 'merged',
    })
    expect(outcome.output).toBe('o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5\n')
    expect([outcome.stdout, outcome.stderr]).toEqual(['', ''])
  })

  test('EXEC-16 output can be followed as it comes, by callback and by iterator', async () => {
    const engine = await testEngine()
    const seen: string[] = []
    // The second line comes when the first one was seen: two pipes have no order of their own.
    const gate = makeGate()
    const onOutput = ({ stream, text }: OutputChunk): void => {
      seen.push(`${stream}:${text}`)
      gate.open()
    }
    const handle = engine.stream({ command: `echo one; ${gate.wait}; echo two >&2`, onOutput })
    const iterated: string[] = []
    for await (const chunk of handle) iterated.push(`${chunk.stream}:${chunk.text}`)
    expect(iterated).toEqual(['stdout:one\n', 'stderr:two\n'])
    expect(seen).toEqual(iterated)
    expect((await handle.outcome).status).toBe('completed')
  })

  test('a listener that throws does not hurt the command', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({
      command: 'echo a; echo b',
      onOutput: () => {
        throw new Error('mine')
      },
    })
    expect(outcome.stdout).toBe('a\nb\n')
  })

  test('F27 a character split across reads is one character', async () => {
    const engine = await testEngine()
    const texts: string[] = []
    const outcome = await engine.run({
      command: String.raw`printf '\xf0\x9f'; read -t 0.1 <> <(:); printf '\x94\x91'`,
      onOutput: ({ text }) => texts.push(text),
    })
    expect(outcome.stdout).toBe('🔑')
    expect(texts.join('')).toBe('🔑')
  })

  test('F26 F29 F32 invalid bytes are replaced, NUL is kept, the last unterminated line is not lost', async () => {
    const engine = await testEngine()
    expect((await engine.run({ command: String.raw`printf '\xff\xfeok'` })).stdout).toBe('\uFFFD\uFFFDok')
    expect((await engine.run({ command: String.raw`printf 'a\0b'` })).stdout).toBe('a\0b')
    expect((await engine.run({ command: 'printf abc' })).stdout).toBe('abc')
  })

  test('the last unterminated line is never lost (50 x 30 KB)', async () => {
    const engine = await testEngine()
    for (let at = 0; at < 50; at++) {
      const { stdout } = await engine.run({
        command: 'yes hello | head -n 5000; printf marker',
        clip: { kind: 'none' },
      })
      expect(stdout.length).toBe(30_006)
      expect(stdout.endsWith('marker')).toBe(true)
    }
  })

  test('F19 F20 closed streams: stderr after stdout was closed is captured, the exit code comes at exit', async () => {
    const engine = await testEngine()
    expect((await engine.run({ command: 'exec >/dev/null; read -t 0.2 <> <(:); echo err >&2' })).stderr).toBe('err\n')
    expect((await engine.run({ command: 'exec 1>&- 2>&-; read -t 0.2 <> <(:); exit 3' })).exitCode).toBe(3)
  })

  test('EXEC-14 F30 F31 ANSI is kept or stripped, also OSC and sequences split across writes', async () => {
    const engine = await testEngine()
    const command = String.raw`printf '\e]0;t\a\e[2Jx\e['; read -t 0.1 <> <(:); printf '31mred\e[?25l'`
    expect((await engine.run({ command, ansi: 'strip' })).stdout).toBe('xred')
    expect((await engine.run({ command })).stdout).toBe('\x1b]0;t\x07\x1b[2Jx\x1b[31mred\x1b[?25l')
    expect(
      (await engine.run({ command: String.raw`printf '10%%\r50%%\r100%%\ndone\n'`, progress: 'collapse' })).stdout,
    ).toBe('100%\ndone\n')
  })
})

describe('large output', () => {
  test('EXEC-12 F28 more than 30,000 characters are cut, exactly 30,000 are not, and no character is split', async () => {
    const engine = await testEngine()
    const clip = { kind: 'head', maxChars: 30_000 } as const
    const exact = await engine.run({ command: 'head -c 30000 /dev/zero | tr "\\0" x', clip })
    expect([exact.stdout.length, exact.truncated, exact.omittedBytes]).toEqual([30_000, false, 0])
    const more = await engine.run({ command: 'head -c 50000 /dev/zero | tr "\\0" x', clip })
    expect([more.truncated, more.omittedBytes]).toEqual([true, 20_000])
    expect(more.stdout).toMatch(/^x{30000}\n\n\[Output truncated at 30000 characters\]$/)
    const emoji = await engine.run({ command: 'printf a; for i in {1..20000}; do printf 🔑; done', clip })
    expect(emoji.stdout).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])/)
    expect(emoji.stdout).not.toContain('\uFFFD')
  })

  test('EXEC-13 more than 128 KB keep the first and last 4 KB and say so', async () => {
    const engine = await testEngine()
    const clip = { kind: 'middle', maxBytes: 131_072, endBytes: 4_096 } as const
    const exact = await engine.run({ command: 'head -c 131072 /dev/zero | tr "\\0" x', clip, streams: 'merged' })
    expect([exact.output?.length, exact.truncated]).toEqual([131_072, false])
    const more = await engine.run({ command: 'head -c 131073 /dev/zero | tr "\\0" x', clip, streams: 'merged' })
    expect([more.truncated, more.omittedBytes]).toEqual([true, 131_073 - 8_192])
    expect(more.output).toContain('[output truncated in middle: got 131073 bytes')
  })

  test('the house clip is one budget for both streams: a short one leaves its share to the other, and each whole text is in a file', async () => {
    const engine = await testEngine()
    const print = (out: number, err: number): string => `yes out | head -c ${out}; yes err | head -c ${err} >&2`
    const fits = await engine.run({ command: print(25_000, 5_000) })
    expect([fits.stdout.length, fits.stderr.length, fits.truncated, fits.outputFile]).toEqual([
      25_000,
      5_000,
      false,
      null,
    ])
    const one = await engine.run({ command: print(40_000, 1_000) })
    expect([one.stderr.length, one.truncated]).toEqual([1_000, true])
    const alone = await engine.run({ command: print(40_000, 0) })
    expect(one.stdout.length).toBeGreaterThan(alone.stdout.length - 1_100)
    const both = await engine.run({ command: print(40_000, 20_000) })
    for (const text of [both.stdout, both.stderr]) expect(text.length).toBeGreaterThan(alone.stdout.length / 2 - 1_000)
    expect(both.stdout.length + both.stderr.length).toBeLessThanOrEqual(30_000 + 500)
    const shown = (text: string): number =>
      text.split('\n').filter((line) => line === 'out' || line === 'err').length * 4
    expect(both.omittedBytes).toBe(60_000 - shown(both.stdout) - shown(both.stderr))
    const files = [both.stdout, both.stderr].map((text) => /(\/\S+\.log)/.exec(text)?.[1] ?? '')
    expect(files.map((file) => readFileSync(file, 'utf8').length)).toEqual([40_000, 20_000])
  })

  test('the house clip keeps both ends and names a private file with the whole', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({ command: 'seq 1 20000' })
    expect(outcome.truncated).toBe(true)
    expect(outcome.stdout.length).toBeLessThanOrEqual(30_000)
    expect(outcome.stdout.startsWith('1\n2\n')).toBe(true)
    expect(outcome.stdout.endsWith('19999\n20000\n')).toBe(true)
    const whole = readFileSync(outcome.outputFile as string, 'utf8')
    expect(whole.split('\n').length).toBe(20_001)
    expect(outcome.stdout).toContain(outcome.outputFile)
  })

  test('F23 EXEC-16 gigabytes leave the memory flat, the command finishes, the count is exact', async () => {
    const engine = await testEngine({ limits: { storedBytes: 1024 * 1024 } })
    await engine.run({ command: 'head -c 50M /dev/zero' })
    const before = process.memoryUsage().rss
    const bytes = 2 * 1024 ** 3
    const outcome = await engine.run({ command: `head -c ${bytes} /dev/zero`, clip: { kind: 'head', maxChars: 100 } })
    expect(outcome.status).toBe('completed')
    expect(outcome.omittedBytes).toBe(bytes - 100)
    expect(process.memoryUsage().rss - before).toBeLessThan(60 * 1024 ** 2)
  })

  test('an odd number of bytes to keep keeps all of them', async () => {
    const engine = await testEngine({ limits: { memoryBytes: 5_001 } })
    const outcome = await engine.run({ command: 'head -c 9000 /dev/zero | tr "\\0" x', clip: { kind: 'none' } })
    expect([outcome.status, outcome.omittedBytes]).toEqual(['completed', 9_000 - 5_001])
  })

  test('F24 an endless flood still times out on time and the event loop stays responsive', async () => {
    const engine = await testEngine({ limits: { storedBytes: 1024 * 1024 } })
    let worst = 0
    let last = performance.now()
    const timer = setInterval(() => {
      worst = Math.max(worst, performance.now() - last)
      last = performance.now()
    }, 10)
    const outcome = await engine.run({ command: 'yes', timeoutMs: 700 })
    clearInterval(timer)
    expect(outcome.end).toEqual({ kind: 'timeout', afterMs: 700, forced: false })
    expect(outcome.durationMs).toBeLessThan(7_000)
    expect(worst).toBeLessThan(2_000)
  })

  test('F25 a million tiny writes arrive in order', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({ command: 'python3 -u -c "for i in range(1000000): print(i)"' })
    const lines = readFileSync(outcome.outputFile as string, 'utf8').split('\n')
    expect(lines.length).toBe(1_000_001)
    expect(lines.slice(0, -1).every((line, index) => line === String(index))).toBe(true)
  })
})

describe('the working directory', () => {
  test('CWD-01 commands run in the given directory, relative to the engine’s', async () => {
    const engine = await testEngine()
    mkdirSync(join(engine.cwd, 'sub'))
    expect((await engine.run({ command: 'pwd', cwd: 'sub' })).stdout).toBe(`${engine.cwd}/sub\n`)
    expect((await engine.run({ command: 'pwd' })).stdout).toBe(`${engine.cwd}\n`)
  })

  test('CWD-02 F51 F53 missing, a file, outside the roots: different errors that name the path, before anything runs', async () => {
    const engine = await testEngine({ cwd: temporaryFolder() })
    writeFileSync(join(engine.cwd, 'file'), '')
    const missing = await failure(engine.run({ command: 'touch ran', cwd: '/no/such' }))
    expect([missing.code, missing.message]).toEqual(['CWD_NOT_FOUND', 'Working directory not found: /no/such'])
    expect((await failure(engine.run({ command: 'touch ran', cwd: 'file' }))).code).toBe('CWD_NOT_DIRECTORY')
    expect(existsSync(join(engine.cwd, 'ran'))).toBe(false)
  })

  test('CWD-03 roots restrict the directory, also through a symbolic link', async () => {
    const root = temporaryFolder()
    const outside = temporaryFolder()
    symlinkSync(outside, join(root, 'link'))
    const engine = await testEngine({ cwd: root, roots: [root] })
    expect((await failure(engine.run({ command: 'pwd', cwd: outside }))).code).toBe('CWD_OUTSIDE_ROOT')
    const linked = await failure(engine.run({ command: 'pwd', cwd: 'link' }))
    expect(linked.code).toBe('CWD_OUTSIDE_ROOT')
    expect(linked.message).toContain(join(root, 'link'))
    expect((await failure(engine.run({ command: 'pwd', cwd: '..' }))).code).toBe('CWD_OUTSIDE_ROOT')
  })

  test.skipIf(process.getuid?.() === 0)(
    'F53 a directory that may not be entered has an error of its own (needs a user other than root)',
    async () => {
      const engine = await testEngine()
      const closed = join(engine.cwd, 'closed')
      mkdirSync(closed)
      chmodSync(closed, 0)
      expect((await failure(engine.run({ command: 'pwd', cwd: 'closed' }))).code).toBe('CWD_NOT_ACCESSIBLE')
    },
  )

  test('a directory that goes away between the check and the start is an error of the machine, not of the command', async () => {
    const engine = await testEngine()
    const doomed = join(engine.cwd, 'doomed')
    mkdirSync(doomed)
    await engine.run({ command: 'true' })
    const running = engine.run({ command: 'pwd', cwd: doomed })
    rmSync(doomed, { recursive: true })
    const error = await failure(running).catch((thrown: unknown) => thrown as Error)
    expect(['CWD_NOT_ACCESSIBLE', 'CWD_NOT_FOUND']).toContain((error as ShellError).code)
  })
})

describe('the environment', () => {
  test('ENV-01 given variables are merged with the base or replace it', async () => {
    const engine = await testEngine({ env: { PATH: process.env['PATH'], BASE: 'b' } })
    expect((await engine.run({ command: 'echo $BASE $MINE', env: { MINE: 'm' } })).stdout).toBe('b m\n')
    expect((await engine.run({ command: 'echo "[$BASE]" $MINE', env: { MINE: 'm' }, envMode: 'replace' })).stdout).toBe(
      '[] m\n',
    )
  })

  test('ENV-02 ENV-03 loader hooks and secrets of the host do not reach a command', async () => {
    const engine = await testEngine({
      env: {
        PATH: process.env['PATH'],
        LD_PRELOAD: '/x.so',
        AWS_SECRET_ACCESS_KEY: 'abc',
        LANGO_PASSPHRASE: 'p',
        CERITH_PASSPHRASE: 'p',
        BASH_ENV: '/x',
        NODE_OPTIONS: '--x',
        GITHUB_TOKEN: 't',
        PLAIN: 'ok',
      },
    })
    const { stdout } = await engine.run({ command: 'env' })
    for (const name of [
      'LD_PRELOAD',
      'AWS_SECRET_ACCESS_KEY',
      'LANGO_PASSPHRASE',
      'CERITH_PASSPHRASE',
      'BASH_ENV',
      'NODE_OPTIONS',
      'GITHUB_TOKEN',
    ])
      expect(stdout).not.toContain(name)
    expect(stdout).toContain('PLAIN=ok')
    expect(stdout).toContain('GIT_TERMINAL_PROMPT=0')
  })

  test('ENV-02 explicit values may look like secrets but are never loader hooks, unless the engine allows it', async () => {
    const engine = await testEngine()
    const { stdout } = await engine.run({
      command: 'echo "$MY_TOKEN[$LD_PRELOAD]"',
      env: { MY_TOKEN: 't', LD_PRELOAD: '/x.so' },
    })
    expect(stdout).toBe('t[]\n')
    const open = await testEngine({ allowDangerousEnv: true })
    expect((await open.run({ command: 'echo $PYTHONSTARTUP', env: { PYTHONSTARTUP: '/x' } })).stdout).toBe('/x\n')
  })

  test('the non-interactive defaults are off by one option', async () => {
    const engine = await testEngine({ envDefaults: false, env: { PATH: process.env['PATH'] } })
    expect((await engine.run({ command: 'echo "[$GIT_TERMINAL_PROMPT$PAGER]"' })).stdout).toBe('[]\n')
  })

  test('F37 F38 a variable that is too large or has a NUL is an error that names it', async () => {
    const engine = await testEngine()
    const large = await failure(engine.run({ command: 'true', env: { BIG: 'x'.repeat(140_000) } }))
    expect([large.code, large.message.includes('BIG')]).toEqual(['BAD_REQUEST', true])
    expect((await failure(engine.run({ command: 'true', env: { A: 'a\0b' } }))).message).toContain('env.A')
  })
})

describe('bad requests', () => {
  const cases: [string, object, RegExp][] = [
    ['an empty command', { command: '  ' }, /must not be empty/],
    ['F38 a NUL in the command', { command: 'echo a\0b' }, /NUL/],
    ['a command of the wrong type', { command: 42 }, /string or a non-empty array/],
    ['a negative timeout', { command: 'true', timeoutMs: -5 }, /timeoutMs below minimum: 1 \(got -5\)/],
    ['an absurd timeout', { command: 'true', timeoutMs: 1e12 }, /timeoutMs above maximum/],
    ['a timeout that is no number', { command: 'true', timeoutMs: Number.NaN }, /timeoutMs must be a number/],
    ['an unknown option', { command: 'true', timeout: 5 }, /unknown option timeout/],
    ['a NUL in the directory', { command: 'true', cwd: '/tmp\0' }, /NUL/],
    ['a wrong mode', { command: 'true', streams: 'both' }, /streams must be one of/],
    ['a variable name with =', { command: 'true', env: { 'A=B': 'x' } }, /cannot be the name/],
  ]
  test.each(cases)('%s is refused before anything starts', async (_, request, message) => {
    const engine = await testEngine()
    const error = await failure(engine.run(request as never))
    expect(error.code).toBe('BAD_REQUEST')
    expect(error.message).toMatch(message)
    expect(error.hint).not.toBe('')
  })

  test('F39 an unterminated quote is the shell’s own error, and nothing of it runs', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({ command: "touch ran\necho 'abc" })
    expect(outcome).toMatchObject({ status: 'failed', exitCode: 2 })
    expect(outcome.stderr).toContain('unexpected EOF')
    expect(existsSync(join(engine.cwd, 'ran'))).toBe(false)
  })

  test('F40 a heredoc delimiter of anybody’s wrapper breaks out of nothing', async () => {
    const engine = await testEngine()
    const outcome = await engine.run({ command: "cat <<'EOF'\nSOUNIQUEEOF\n__cerith_c\nEOF" })
    expect(outcome.stdout).toBe('SOUNIQUEEOF\n__cerith_c\n')
  })
})

describe('the guard stands before everything', () => {
  test('SEC-01 SEC-03 a denied command is refused, also in a dry run; an allowed dry run runs nothing', async () => {
    const engine = await testEngine()
    const refused = await engine.run({ command: 'rm -rf /', dryRun: true })
    expect(refused.status).toBe('refused')
    expect(refused.refused?.reason).toMatch(/blocked.*dangerous/)
    const dry = await engine.run({ command: 'touch ran; rm -rf /tmp/test', dryRun: true })
    expect(dry).toMatchObject({ status: 'dry_run', stdout: '[Dry Run] Would execute: touch ran; rm -rf /tmp/test' })
    expect(dry.plan).toMatchObject({ cwd: engine.cwd, session: null })
    expect(existsSync(join(engine.cwd, 'ran'))).toBe(false)
  })
})

test('both streams are cut and a process still holds them: the whole of each is in its file', async () => {
  const engine = await testEngine()
  const command = `sleep 1 & head -c 3000 /dev/zero | tr '\\0' a; head -c 3000 /dev/zero | tr '\\0' b >&2`
  const outcome = await engine.run({ command, clip: { kind: 'ends', maxChars: 4_000 } })
  expect(outcome.truncated).toBe(true)
  for (const [text, letter] of [
    [outcome.stdout, 'a'],
    [outcome.stderr, 'b'],
  ] as const) {
    const file = /whole output: (\S+)/.exec(text)?.[1]
    expect(file && readFileSync(file, 'utf8')).toBe(letter.repeat(3_000))
  }
})

test('signals that the host ignores are not ignored by its commands, not even those that C libraries keep for themselves', () => {
  const built = fileURLToPath(new URL('../../../dist/index.js', import.meta.url))
  const command = 'grep SigIgn /proc/self/status'
  const script = `const { createEngine } = await import(${JSON.stringify(built)}); const e = await createEngine({ stateDir: ${JSON.stringify(join(temporaryFolder(), 's'))} }); const s = await e.session(); for (const r of [await e.run({ command: '${command}' }), await s.run({ command: '${command}' }), await e.run({ command: '${command}', pty: true, streams: 'merged' })]) console.log((r.output ?? r.stdout).trim().replace(/\\s+/, ' ')); await e.close()`
  const host = `trap '' HUP INT QUIT PIPE TERM CHLD 34 35 55; exec "$0" --input-type=module -e "$1"`
  const { stdout } = spawnSync('bash', ['-c', host, process.execPath, script], { encoding: 'utf8' })
  expect(stdout).toBe('SigIgn: 0000000000000000\n'.repeat(3))
})

/** Document 002: its functional and non-functional requirements and its numbers, in the forge dialect against real processes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createTools, quote, type ToolOptions } from '../../src/tools/index.js'
import { makeGate } from '../fixtures/gate.js'
import { eventually, liveEngine, processesWith, uniqueSleep, type Meta } from './world.js'

const { engine, cwd } = await liveEngine({ env: { ...process.env, LD_PRELOAD: '/nowhere/evil.so', DATABASE_PASSWORD: 'hunter2hunter2' } })

const forge = (options: ToolOptions = {}, on = engine) => {
  const tools = createTools(on, { dialect: 'forge', ...options })
  const call = async (name: string, input: Meta, given = {}) => {
    const { structured, ...rest } = await tools.execute(name, input, given)
    const { error, ...fields } = structured as { success: boolean; output: string; error: string | null; metadata: Meta }
    return { ...fields, error: error ?? '', ...rest }
  }
  return {
    bash: (input: Meta, given = {}) => call('Bash', input, given),
    bashOutput: (input: Meta) => call('BashOutput', input),
    killShell: (input: Meta) => call('KillShell', input),
    start: async (command: string) => (await call('Bash', { command, run_in_background: true })).metadata['bash_id'] as string,
  }
}
const { bash, bashOutput, killShell, start } = forge()

describe('FR-2.3.1: Bash Tool', () => {
  test('executes shell commands in a persistent shell session (SESS-01, ENV-04)', async () => {
    const kept = forge({ session: 'kept' })
    await kept.bash({ command: 'cd /; export COLOUR=blue; list=(a "b c")' })
    expect((await kept.bash({ command: 'pwd; echo $COLOUR; echo ${#list[@]}' })).output).toBe('/\nblue\n2\n')
  })

  test('timeout: default 120 s, minimum 1 s, maximum 600 s, and the schema says so (EXEC-03, EXEC-04)', async () => {
    const tool = createTools(engine, { dialect: 'forge' }).get('Bash')!
    expect(tool.inputSchema.properties['timeout']).toMatchObject({ type: 'integer', minimum: 1_000, maximum: 600_000 })
    expect(tool.description).toContain('120000ms')
    expect((await bash({ command: 'true', timeout: 600_000 })).success).toBe(true)
    expect((await bash({ command: 'true', timeout: 600_001 })).error).toMatch(/'timeout' above maximum.*600000/)
    expect((await bash({ command: 'true', timeout: 999 })).error).toMatch(/'timeout' below minimum.*1000/)
    expect((await bash({ command: 'true', timeout: '5000' })).error).toMatch(/'timeout' must be a whole number/)
    expect((await bash({})).error).toMatch(/Missing required field: 'command'/)
  })

  test('captures stdout and stderr, returns exit code in metadata (EXEC-01)', async () => {
    const result = await bash({ command: 'echo o; echo e >&2; (exit 12)' })
    expect(result.metadata['exit_code']).toBe(12)
    expect(result.output).toBe('o\n[stderr]\ne\n')
  })

  test('handles command interruption: the Ctrl+C equivalent ends the command and keeps the session (EXEC-07)', async () => {
    const mark = uniqueSleep()
    const stop = new AbortController()
    const result = await bash({ command: `export BEFORE=1; echo begun; ${mark} | cat` }, { signal: stop.signal, onProgress: () => stop.abort() })
    expect(result).toMatchObject({ success: false, error: expect.stringContaining('interrupted'), output: expect.stringContaining('begun') })
    expect(processesWith(mark)).toEqual([])
    expect((await bash({ command: 'echo "still $BEFORE"' })).output).toBe('still 1\n')
  })

  test('quotes file paths with spaces automatically: argv input is quoted for the caller (EXEC-17)', async () => {
    const path = join(cwd, `it's a "file" $(x).txt`)
    writeFileSync(path, 'found\n')
    expect(await bash({ command: ['cat', path] })).toMatchObject({ success: true, output: 'found\n' })
    expect((await bash({ command: `cat ${quote(path)}` })).output).toBe('found\n')
    const words = ['a b', '', '*', '~', "'", '\n', '$HOME', '\\', '!', 'é', '-n', 'x=1', '#']
    expect((await bash({ command: ['printf', '%s|', ...words] })).output).toBe(`${words.join('|')}|`)
    expect((await bash({ command: ['time', '--version'] })).error, 'a word of the grammar is a program name here').toMatch(/time: command not found|^$/)
    expect(() => quote(['a\0b'])).toThrow(TypeError)
  })

  test('a failing command with an unquoted existing path gets a hint (EXEC-17)', async () => {
    writeFileSync(join(cwd, 'my file.txt'), '')
    const result = await bash({ command: 'cat my file.txt' })
    expect(result.success).toBe(false)
    expect(result.error).toContain(`'my file.txt'`)
    expect((await bash({ command: 'cat nothing here.txt' })).error, 'suggests nothing false').not.toContain('note:')
  })

  test('supports working directory context (CWD-01)', async () => {
    mkdirSync(join(cwd, 'inner'), { recursive: true })
    const inner = forge({ cwd: join(cwd, 'inner'), session: 'inner' })
    expect((await inner.bash({ command: 'pwd' })).output).toBe(`${join(cwd, 'inner')}\n`)
    await inner.bash({ command: 'cd ..' })
    expect((await inner.bash({ command: 'pwd' })).output, 'placed once, then it is the session that knows').toBe(`${cwd}\n`)
  })

  test('truncates large outputs over 30000 characters, whole characters only (EXEC-12)', async () => {
    const result = await bash({ command: `for i in $(seq 1 8000); do printf 'ab😀😀'; done` })
    expect(result.metadata['truncated']).toBe(true)
    expect(Buffer.from(result.output).toString()).toBe(result.output)
    expect(result.output).toContain('[Output truncated at 30000 characters]')
  })

  test('supports command chaining with &&, || and ; (EXEC-02)', async () => {
    expect((await bash({ command: 'false || echo or; true && echo and; false; echo after' })).output).toBe('or\nand\nafter\n')
  })

  test('provides clear descriptions for commands (EXEC-15)', async () => {
    expect((await bash({ command: 'true', description: 'Do nothing' })).metadata['description']).toBe('Do nothing')
    const { metadata } = await bash({ command: 'true', description: 'Do nothing later', run_in_background: true })
    expect(metadata['description']).toBe('Do nothing later')
  })
})

describe('FR-2.3.2: BashOutput Tool', () => {
  test('only new output, status, and stdout and stderr apart (BG-06, BG-09)', async () => {
    const id = await start('echo out; echo err >&2; exit 4')
    await (await engine.job(id)).wait({ exit: true })
    const result = await bashOutput({ bash_id: id })
    expect(result.output).toMatch(/^Status: failed, Exit code: 4, Duration: \d+ms\n\nout\n\[stderr\]\nerr\n$/)
    expect((await bashOutput({ bash_id: id })).output).not.toMatch(/out\n|err/)
  })

  test('lines that the filter leaves out count as read, and every pattern runs in linear time (BG-08)', async () => {
    const id = await start(`echo ${'a'.repeat(2_000)}; echo keep`)
    await (await engine.job(id)).wait({ exit: true })
    expect((await bashOutput({ bash_id: id, filter: '^(a+)+$x|keep' })).output).toContain('keep')
    expect((await bashOutput({ bash_id: id })).output).toContain('(no new output since last check)')
  })

  test('handles shell not found errors, and takes the id names of other dialects (BG-11)', async () => {
    const id = await start('echo same')
    await (await engine.job(id)).wait({ exit: true })
    for (const name of ['shell_id', 'task_id', 'id']) expect((await forge().bashOutput({ [name]: id })).output).toContain('same')
    expect((await bashOutput({ bash_id: 'shell_00000000' })).error).toMatch(/not found.*shell_/s)
  })
})

describe('FR-2.3.3: KillShell Tool', () => {
  test('terminates, cleans up, and is graceful about what has ended (BG-12, BG-13)', async () => {
    const id = await start('sleep 300')
    expect((await killShell({ shell_id: id })).success).toBe(true)
    expect(await killShell({ shell_id: id })).toMatchObject({ success: true, metadata: { already_stopped: true } })
    expect((await bashOutput({ bash_id: id })).output).toContain('killed')
  })

  test('what ignores TERM is gone after the grace (BG-12)', async () => {
    const mark = uniqueSleep()
    const id = await start(`trap '' TERM; (trap '' TERM; exec ${mark}) & wait; ${mark}`)
    await eventually(() => processesWith(mark).length > 0)
    await forge({ graceMs: 100 }).killShell({ shell_id: id })
    expect(processesWith(mark)).toEqual([])
  })
})

describe('FR-2.3.4: Shell Session Management', () => {
  test('several concurrent sessions do not see each other (SESS-01)', async () => {
    const [one, two] = [forge({ session: 'one' }), forge({ session: 'two' })]
    await Promise.all([one.bash({ command: 'WHO=one; sleep 0.1' }), two.bash({ command: 'WHO=two; sleep 0.1' })])
    expect((await one.bash({ command: 'echo $WHO' })).output).toBe('one\n')
    expect((await two.bash({ command: 'echo $WHO' })).output).toBe('two\n')
  })

  test('background shells start with the state of the session', async () => {
    const rich = forge({ session: 'rich' })
    await rich.bash({ command: 'export STAGE=test; shout() { echo "$1!"; }; words=(one "two three")' })
    const id = await rich.start('shout $STAGE; echo "${words[1]}"')
    await (await engine.job(id)).wait({ exit: true })
    expect((await rich.bashOutput({ bash_id: id })).output).toContain('test!\ntwo three\n')
  })

  test('shells are listed, and completed ones can be cleaned up (MGR-02)', async () => {
    const id = await start('true')
    await (await engine.job(id)).wait({ exit: true })
    expect((await engine.jobs({ all: true })).map((info) => info.id)).toContain(id)
    expect((await engine.clean({ olderThanMs: 3_600_000 })).removed).not.toContain(id)
    expect((await engine.clean()).removed).toContain(id)
    expect((await bashOutput({ bash_id: id })).error).toContain('not found')
  })
})

describe('NFR-2.3.1: Performance', () => {
  const median = (numbers: number[]): number => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const begun = performance.now()
    await work()
    return performance.now() - begun
  }

  test('command startup latency below 50 ms, background process polling below 100 ms (NFR-01)', async () => {
    const runs: number[] = []
    for (let count = 0; count < 15; count += 1) runs.push(await timed(() => bash({ command: ':' })))
    const id = await start('sleep 60')
    const polls: number[] = []
    for (let count = 0; count < 15; count += 1) polls.push(await timed(() => bashOutput({ bash_id: id })))
    await killShell({ shell_id: id })
    // Ten times the promise: the machine of a test may be busy with other tests. The benchmark holds the promise itself.
    expect(median(runs)).toBeLessThan(500)
    expect(median(polls)).toBeLessThan(1_000)
  })

  test('output of long-running commands streams (EXEC-16)', async () => {
    // It goes on only when its first line was seen.
    const gate = makeGate()
    const seen: string[] = []
    await bash({ command: `echo one; ${gate.wait}; echo two` }, { onProgress: (text: string) => (seen.push(text), gate.open()) })
    expect(seen.join('')).toBe('one\ntwo\n')
    expect(seen.length).toBeGreaterThan(1)
  })

  test('efficient memory usage for large outputs: 100 MB printed, no 100 MB held (EXEC-16)', async () => {
    const before = process.memoryUsage().rss
    const result = await bash({ command: 'head -c 100000000 /dev/zero | tr "\\0" y' })
    expect(result.metadata['truncated']).toBe(true)
    expect(result.output.length).toBeLessThan(31_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(60_000_000)
  })

  test('a background writer of 10 MB never blocks on its reader (BG-05)', async () => {
    const id = await start('head -c 10000000 /dev/zero | tr "\\0" z; echo; echo last line')
    await (await engine.job(id)).wait({ exit: true })
    const { output, metadata } = await bashOutput({ bash_id: id })
    expect(metadata).toMatchObject({ status: 'completed', truncated: true, output_file: expect.any(String) })
    expect(output.length).toBeLessThan(31_000)
    expect(output).toContain('last line')
  })
})

describe('NFR-2.3.2: Security', () => {
  test('command injection prevention: values that we insert are data, never syntax (SEC-06)', async () => {
    engine.secrets.set('nasty', `'; touch injected; echo "$(touch injected2)`)
    await bash({ command: 'printf %s {{secret:nasty}} "{{secret:nasty}}" > quoted' })
    await bash({ command: ['echo', '; touch injected3', '$(touch injected4)'] })
    expect((await bash({ command: 'ls injected*' })).success).toBe(false)
    expect(readFileSync(join(cwd, 'quoted'), 'utf8')).toContain('touch injected')
  })

  test.each(['rm -rf /', 'rm -fr /', 'rm -r -f "/"', 'mkfs.ext4 /dev/sda1', 'dd if=/dev/zero of=/dev/sda', 'echo x > /dev/sda', 'chmod -R 777 /', ':(){ :|:& };:'])(
    'no access to dangerous commands by default: %s (SEC-01)',
    async (command) => {
      const result = await bash({ command })
      expect(result.success).toBe(false)
      expect(result.error).toMatch(/blocked/)
      expect(result.error).toMatch(/dangerous/)
    },
  )

  test.each([
    'git --version',
    'npm --version',
    'docker ps',
    'ls',
    'pwd',
    'echo hi',
    'cat /dev/null',
    'python3 --version',
    'node --version',
    'make --version',
    'cmake --version',
    'grep -c x /dev/null',
    'find . -maxdepth 0',
    "awk 'BEGIN{}'",
    "sed -n '' /dev/null",
    "echo 'rm -rf /'",
    'yarn --version',
    'pnpm --version',
  ])('allowed without confirmation: %s (SEC-02)', async (command) => {
    expect((await engine.check(command)).decision).toBe('allow')
  })

  test('working directory restrictions (CWD-03)', async () => {
    const fenced = await liveEngine({ cwd, roots: [cwd] })
    const result = await createTools(fenced.engine, { dialect: 'house' }).execute('Bash', { command: 'pwd', cwd: '/' })
    expect(result).toMatchObject({ isError: true, structured: { status: 'error', error: { code: 'CWD_OUTSIDE_ROOT' } } })
  })

  test('environment variable sanitization (ENV-02, ENV-03)', async () => {
    expect((await bash({ command: 'env' })).output).not.toMatch(/LD_PRELOAD|hunter2/)
  })

  test('timeout enforcement to prevent hanging: reading stdin, waiting, looping (EXEC-06)', async () => {
    expect((await bash({ command: 'cat' })).success, 'stdin is empty, so it ends').toBe(true)
    expect((await bash({ command: 'while :; do :; done', timeout: 1_000 })).error).toContain('timed out')
  })
})

describe('NFR-2.3.3: Reliability', () => {
  test('handles zombie processes: none is left of ours (MGR-04)', async () => {
    const ids = await Promise.all([1, 2, 3].map(() => start('true & true & wait')))
    for (const id of ids) await (await engine.job(id)).wait({ exit: true })
    await bash({ command: 'true & true & wait' })
    expect((await bash({ command: `ps -o stat= --ppid ${process.pid}` })).output).not.toContain('Z')
  })

  test('recovers from shell crashes with its state (SESS-01)', async () => {
    await bash({ command: 'export SURVIVES=yes; helper() { echo helped; }' })
    await bash({ command: 'kill -9 $$' })
    const result = await bash({ command: 'echo $SURVIVES; helper; pwd' })
    expect(result.output).toContain(`yes\nhelped\n${cwd}\n`)
  })

  test('a child that keeps the pipe open does not keep the call (MGR-04)', async () => {
    const mark = uniqueSleep()
    const result = await bash({ command: `${mark} & echo returned` })
    expect(result.output).toContain('returned')
    await bash({ command: 'kill %% 2>/dev/null || kill $!' })
  })

  test('cleans up orphaned processes: nothing is alive after close (MGR-04)', async () => {
    const mark = uniqueSleep()
    const short = await liveEngine()
    const tools = forge({}, short.engine)
    await tools.bash({ command: `${mark} & setsid ${mark} & true` })
    await tools.start(mark)
    await eventually(() => processesWith(mark).length >= 3)
    await short.engine.close()
    expect(processesWith(mark)).toEqual([])
  })

  test('proper signal handling: a signal is named, never exit 0 (MGR-04)', async () => {
    const result = await bash({ command: `bash -c 'kill -SEGV $$'` })
    expect(result.success).toBe(false)
    expect(result.error).toMatch(/SIGSEGV|139/)
  })
})

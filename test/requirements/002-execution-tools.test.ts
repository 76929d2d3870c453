/**
 * Document 002: its functional and non-functional requirements and its numbers, in the forge dialect against real
 * processes.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createTools, quote, type ToolOptions } from '../../src/tools/index.js'
import { makeGate } from '../fixtures/gate.js'
import { liveEngine, processesWith, uniqueSleep, watched, zombiesBelow, type Meta } from './world.js'
import { until } from '../fixtures/until.js'

const { engine, cwd } = await liveEngine({
  env: { ...process.env, LD_PRELOAD: '/nowhere/evil.so', DATABASE_PASSWORD: 'hunter2hunter2' },
})

const forge = (options: ToolOptions = {}, on = engine) => {
  const tools = createTools(on, { dialect: 'forge', ...options })
  const call = async (name: string, input: Meta, given = {}) => {
    const { structured, ...rest } = await tools.execute(name, input, given)
    const { error, ...fields } = structured as {
      success: boolean
      output: string
      error: string | null
      metadata: Meta
    }
    return { ...fields, error: error ?? '', ...rest }
  }
  return {
    bash: (input: Meta, given = {}) => call('Bash', input, given),
    bashOutput: (input: Meta) => call('BashOutput', input),
    killShell: (input: Meta) => call('KillShell', input),
    start: async (command: string) =>
      (await call('Bash', { command, run_in_background: true })).metadata['bash_id'] as string,
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
    expect(tool.description).toContain('Timeout defaults to 120000ms, max 600000ms')
    const { engine: noted, requests } = watched(engine)
    await forge({}, noted).bash({ command: 'true' })
    await forge({}, noted).bash({ command: 'true', timeout: 1_000 })
    expect(requests.map(({ timeoutMs }) => timeoutMs)).toEqual([120_000, 1_000])
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
    const result = await bash(
      { command: `export BEFORE=1; echo begun; ${mark} | cat` },
      { signal: stop.signal, onProgress: () => stop.abort() },
    )
    expect(result).toMatchObject({
      success: false,
      error: expect.stringContaining('interrupted'),
      output: expect.stringContaining('begun'),
    })
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
    expect(
      (await bash({ command: ['time', '--version'] })).error,
      'a word of the grammar is a program name here',
    ).toMatch(/time: command not found|^$/)
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
    expect((await inner.bash({ command: 'pwd' })).output, 'placed once, then it is the session that knows').toBe(
      `${cwd}\n`,
    )
  })

  test('truncates large outputs over 30000 characters, whole characters only (EXEC-12)', async () => {
    // An odd beginning: the 30,000th character is the first half of a pair.
    const result = await bash({ command: `printf a; for i in $(seq 1 20000); do printf '😀'; done` })
    expect(result.metadata['truncated']).toBe(true)
    expect(result.output).toBe(`a${'😀'.repeat(14_999)}\n\n[Output truncated at 30000 characters]`)
  })

  test('supports command chaining with &&, || and ; (EXEC-02)', async () => {
    expect((await bash({ command: 'false || echo or; true && echo and; false; echo after' })).output).toBe(
      'or\nand\nafter\n',
    )
  })

  test('provides clear descriptions for commands (EXEC-15)', async () => {
    expect((await bash({ command: 'true', description: 'Do nothing' })).metadata['description']).toBe('Do nothing')
    const { metadata } = await bash({ command: 'true', description: 'Do nothing later', run_in_background: true })
    expect(metadata['description']).toBe('Do nothing later')
  })
})

describe('Technical Specifications', () => {
  test('the tools have the names, parameters and words of the document (TOOL-01, EXEC-04)', () => {
    const tools = createTools(engine, { dialect: 'forge' })
    expect(
      tools
        .list()
        .map(({ name, category, inputSchema: { properties, required } }) => ({ name, category, properties, required })),
    ).toEqual([
      {
        name: 'Bash',
        category: 'execution',
        required: ['command'],
        properties: {
          command: { type: 'string', description: 'The command to execute' },
          description: {
            type: 'string',
            description: 'Clear, concise description of what this command does (5-10 words)',
          },
          timeout: {
            type: 'integer',
            description: 'Timeout in milliseconds (max 600000)',
            minimum: 1_000,
            maximum: 600_000,
          },
          run_in_background: {
            type: 'boolean',
            description: 'Run command in background, use BashOutput to read output',
          },
        },
      },
      {
        name: 'BashOutput',
        category: 'execution',
        required: ['bash_id'],
        properties: {
          bash_id: { type: 'string', description: 'The ID of the background shell to retrieve output from' },
          filter: { type: 'string', description: 'Optional regex to filter output lines' },
        },
      },
      {
        name: 'KillShell',
        category: 'execution',
        required: ['shell_id'],
        properties: { shell_id: { type: 'string', description: 'The ID of the background shell to kill' } },
      },
    ])
    const { description } = tools.get('Bash')!
    for (const line of [
      'The command argument is required',
      'Output exceeding 30000 characters will be truncated',
      'Use run_in_background=true for long-running commands',
      'Quote file paths with spaces using double quotes',
      'Use && to chain dependent commands',
      "; when you don't care if earlier commands fail",
      'use the specialized file tools instead',
    ])
      expect(description).toContain(line)
  })

  test('its sentences are said to the letter (BG-08, BG-11, BG-12, SEC-01, SEC-03)', async () => {
    const id = await start('sleep 300')
    expect((await bashOutput({ bash_id: id, filter: '[' })).error).toMatch(/^Invalid filter regex: ./)
    expect((await killShell({ shell_id: id })).output).toBe(`Shell ${id} terminated`)
    for (const result of [
      await bashOutput({ bash_id: 'shell_nowhere' }),
      await killShell({ shell_id: 'shell_nowhere' }),
    ])
      expect(result.error).toMatch(/^Shell not found: shell_nowhere\b/)
    expect((await bash({ command: 'rm -rf /' })).error).toMatch(
      /^Command blocked for security reasons \(dangerous pattern: [a-z-]+\): rm -rf \//,
    )
    expect(await forge({ dryRun: true }).bash({ command: 'make all' })).toMatchObject({
      success: true,
      output: '[Dry Run] Would execute: make all',
      metadata: { command: 'make all', dry_run: true },
    })
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
    for (const name of ['shell_id', 'task_id', 'id'])
      expect((await forge().bashOutput({ [name]: id })).output).toContain('same')
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
    await until(() => processesWith(mark).length > 0)
    await forge({ graceMs: 100 }).killShell({ shell_id: id })
    expect(processesWith(mark)).toEqual([])
  })
})

describe('FR-2.3.4: Shell Session Management', () => {
  test('several concurrent sessions do not see each other (SESS-01)', async () => {
    const [one, two] = [forge({ session: 'one' }), forge({ session: 'two' })]
    // Each goes on only when the other has begun: they run at the same time or never end.
    const meet = (mine: string, other: string): string =>
      `WHO=${mine}; touch met-${mine}; while [ ! -e met-${other} ]; do sleep 0.02; done`
    await Promise.all([one.bash({ command: meet('one', 'two') }), two.bash({ command: meet('two', 'one') })])
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
    // Ten times the promise: the machine of a test may be busy with other tests. The benchmark holds the promise
    // itself.
    expect(median(runs)).toBeLessThan(500)
    expect(median(polls)).toBeLessThan(1_000)
  })

  test('output of long-running commands streams (EXEC-16)', async () => {
    // It goes on only when its first line was seen.
    const gate = makeGate()
    const seen: string[] = []
    await bash(
      { command: `echo one; ${gate.wait}; echo two` },
      { onProgress: (text: string) => (seen.push(text), gate.open()) },
    )
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
    expect(readFileSync(join(cwd, 'quoted'), 'utf8'), 'both times the value itself').toBe(
      `'; touch injected; echo "$(touch injected2)`.repeat(2),
    )
  })

  test.each([
    'rm -rf /',
    'rm -fr /',
    'rm -r -f "/"',
    'mkfs.ext4 /dev/sda1',
    'dd if=/dev/zero of=/dev/sda',
    'echo x > /dev/sda',
    'chmod -R 777 /',
    ':(){ :|:& };:',
  ])('no access to dangerous commands by default: %s (SEC-01)', async (command) => {
    const result = await bash({ command })
    expect(result.success).toBe(false)
    expect(result.error).toMatch(/blocked/)
    expect(result.error).toMatch(/dangerous/)
  })

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
    expect(result).toMatchObject({
      isError: true,
      structured: { status: 'error', error: { code: 'CWD_OUTSIDE_ROOT' } },
    })
    expect(
      await forge({ cwd: '/', session: 'elsewhere' }, fenced.engine).bash({ command: 'touch never' }),
    ).toMatchObject({
      success: false,
      error: expect.stringContaining('outside the allowed roots: /'),
      metadata: { code: 'CWD_OUTSIDE_ROOT' },
    })
    expect(existsSync('/never')).toBe(false)
  })

  test('a session that left the allowed directories is brought back, foreground and background, and told so (CWD-03)', async () => {
    const fenced = await liveEngine({ cwd, roots: [cwd] })
    const tools = forge({}, fenced.engine)
    await tools.bash({ command: 'X=kept; cd /' })
    expect((await tools.bash({ command: 'pwd; echo $X' })).output).toBe(
      `${cwd}\nkept\n[note: cwd is back in ${cwd}: / is outside the allowed roots]`,
    )
    expect((await tools.bash({ command: 'pwd' })).output, 'said once').toBe(`${cwd}\n`)
    await tools.bash({ command: 'cd /' })
    const id = await tools.start('pwd')
    await (await fenced.engine.job(id)).wait({ exit: true })
    expect((await tools.bashOutput({ bash_id: id })).output).toContain(`\n${cwd}\n`)
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
    // One whose parent is gone falls to us, and is waited for too.
    await bash({ command: '(setsid sleep 0.05 & setsid bash -c "sleep 0.05 &" &)' })
    await until(() => zombiesBelow(process.pid).length === 0)
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
    await until(() => processesWith(mark).length >= 3)
    await short.engine.close()
    expect(processesWith(mark)).toEqual([])
  })

  test('proper signal handling: a signal is named, never exit 0 (MGR-04)', async () => {
    const result = await bash({ command: `bash -c 'kill -SEGV $$'` })
    expect(result.success).toBe(false)
    expect(result.error).toMatch(/SIGSEGV|139/)
  })
})

/** Document 001, REQ-BASH-001 to 007, in the phoenix dialect against real processes. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { LIMITS } from '../../src/contract/limits.js'
import { createEngine } from '../../src/index.js'
import { createTools, type ToolOptions } from '../../src/tools/index.js'
import { liveEngine, processesWith, uniqueSleep, watched, type Meta } from './world.js'
import { until } from '../fixtures/until.js'

const { engine, cwd, stateDir } = await liveEngine({
  env: {
    ...process.env,
    ANTHROPIC_API_KEY: 'sk-ant-secret',
    AWS_SECRET_ACCESS_KEY: 'aws-secret',
    GITHUB_TOKEN: 'ghp-secret',
    PHOENIX_SESSION: 'phoenix-secret',
  },
})

const phoenix = (options: ToolOptions = {}, on = engine) => {
  const tools = createTools(on, { dialect: 'phoenix', ...options })
  return async (input: Meta, given = {}) => {
    const { structured, ...rest } = await tools.execute('bash', input, given)
    return { ...(structured as Meta), ...rest } as Meta & { text: string; isError: boolean }
  }
}
const bash = phoenix()

describe('REQ-BASH-001: Command Execution', () => {
  test('WHEN agent requests command execution THE SYSTEM SHALL execute the command via bash -c in the working directory AND return combined output (EXEC-01, CWD-01)', async () => {
    const result = await bash({ command: 'pwd; [[ $BASH_VERSION ]] && echo bash' })
    expect(result).toMatchObject({ output: `${cwd}\nbash\n`, exit_code: 0, timed_out: false, truncated: false })
    expect(
      (await bash({ command: 'for i in 1 2 3; do echo out$i; echo err$i >&2; done' }))['output'],
      'in true order',
    ).toBe('out1\nerr1\nout2\nerr2\nout3\nerr3\n')
  })

  test('each call is a new shell: nothing persists', async () => {
    await bash({ command: 'export LEFT=1; cd /' })
    expect((await bash({ command: 'echo "[$LEFT]"; pwd' }))['output']).toBe(`[]\n${cwd}\n`)
  })

  test('WHEN command produces output exceeding 128KB THE SYSTEM SHALL truncate the middle, preserving first and last 4KB AND indicate truncation occurred (EXEC-13)', async () => {
    const result = await bash({
      command: 'head -c 100000 /dev/zero | tr "\\0" a; head -c 100000 /dev/zero | tr "\\0" b',
    })
    expect(result['truncated']).toBe(true)
    const [head, tail] = result['output'].split('\n\n[snip]\n\n')
    expect(head).toBe(`[output truncated in middle: got 200000 bytes, max is 131072 bytes]\n${'a'.repeat(4_096)}`)
    expect(tail).toBe('b'.repeat(4_096))
  })

  test('exactly 131,072 bytes pass untouched, one more does not (EXEC-13)', async () => {
    const full = await bash({ command: 'head -c 131072 /dev/zero | tr "\\0" x' })
    expect(full['truncated']).toBe(false)
    expect(full['output']).toHaveLength(131_072)
    expect((await bash({ command: 'head -c 131073 /dev/zero | tr "\\0" x' }))['truncated']).toBe(true)
  })

  test('the cut never splits a character (EXEC-13)', async () => {
    const result = await bash({ command: 'for i in $(seq 1 60000); do printf "═"; done' })
    expect(result['truncated']).toBe(true)
    expect(result['output']).not.toContain('\ufffd')
    expect(result['output'].replaceAll('═', '')).toMatch(
      /^\[output truncated in middle: got 180000 bytes, max is 131072 bytes\]\n\n\n\[snip\]\n\n$/,
    )
  })
})

describe('REQ-BASH-002: Timeout Management', () => {
  test('WHEN agent executes command in default mode THE SYSTEM SHALL apply 30-second timeout; in slow mode 15 minutes; in background none (EXEC-03, EXEC-05)', async () => {
    const { engine: noted, requests } = watched(engine)
    const run = phoenix({}, noted)
    await run({ command: 'true' })
    await run({ command: 'true', mode: 'default' })
    await run({ command: 'true', mode: 'slow' })
    await run({ command: 'true', mode: 'background' })
    expect(requests.map((request) => request.timeoutMs)).toEqual([30_000, 30_000, 900_000, null])
  })

  test('WHEN command exceeds its timeout THE SYSTEM SHALL terminate the process group AND return partial output with timeout indication (EXEC-06)', async () => {
    const mark = uniqueSleep()
    const result = await phoenix({ timeouts: { defaultMs: 1_000 } })({ command: `echo before; ${mark} & ${mark}` })
    expect(result.text).toMatch(/^\[command timed out after 1s, showing output until timeout\]\nbefore\n/)
    expect(result).toMatchObject({ timed_out: true, output: 'before\n', isError: true })
    expect(processesWith(mark)).toEqual([])
  })
})

describe('REQ-BASH-003: Background Execution', () => {
  const start = async (command: string, run = bash) =>
    (await run({ command, mode: 'background' })) as unknown as {
      pid: number
      pgid: number
      output_file: string
      text: string
    }
  const finished = (file: string) => until(() => /\[background process/.test(readFileSync(file, 'utf8')))

  test('WHEN agent requests background execution THE SYSTEM SHALL return immediately with process ID and output file path (BG-02, BG-04)', async () => {
    const begun = performance.now()
    const job = await start('echo early; sleep 60')
    expect(performance.now() - begun, 'at once, not when it ends after a minute').toBeLessThan(10_000)
    expect(existsSync(job.output_file), 'an agent may look into it at once').toBe(true)
    expect(job.pid).toBe(job.pgid)
    expect(job.text).toContain(`<pid>${job.pid}</pid>`)
    expect(job.text).toContain(`<output_file>${job.output_file}</output_file>`)
    expect(job.text).toContain(`kill -9 -${job.pgid}`)
    await until(() => readFileSync(job.output_file, 'utf8').includes('early'))
    process.kill(-job.pgid, 'SIGKILL')
    await finished(job.output_file)
  })

  test('WHEN background process completes THE SYSTEM SHALL append completion status to output file, with the true exit code (BG-03)', async () => {
    const fine = await start('echo out; echo err >&2')
    const bad = await start('cat <<EOF\nhere\nEOF\nexit 7 # a trailing comment')
    const cut = await start('printf "no line end"')
    for (const job of [fine, bad, cut]) await finished(job.output_file)
    expect(readFileSync(fine.output_file, 'utf8')).toBe('out\nerr\n[background process completed: exit code 0]\n')
    expect(readFileSync(bad.output_file, 'utf8')).toBe('here\n[background process failed: exit code 7]\n')
    expect(readFileSync(cut.output_file, 'utf8'), 'on a line of its own').toBe(
      'no line end\n[background process completed: exit code 0]\n',
    )
  })

  test('WHEN agent needs to stop background process THE SYSTEM SHALL provide process group ID for termination via kill -9 -<pgid>, and the agent may use it (BG-04)', async () => {
    const mark = uniqueSleep()
    const job = await start(`${mark} & ${mark}`)
    await until(() => processesWith(mark).length >= 2)
    const killed = await bash({ command: `kill -9 -${job.pgid}` })
    expect(killed).toMatchObject({ exit_code: 0 })
    await finished(job.output_file)
    expect(processesWith(mark)).toEqual([])
    expect(readFileSync(job.output_file, 'utf8')).toBe('[background process killed: signal 9]\n')
  })

  test('it is detached from the agent: it lives on after the engine, and its status is still appended (BG-02, BG-03)', async () => {
    const other = await createEngine({ cwd, stateDir })
    const job = await start('while [ ! -e may-end ]; do sleep 0.02; done; echo last words; exit 3', phoenix({}, other))
    await other.close()
    expect(() => process.kill(job.pid, 0), 'still alive').not.toThrow()
    writeFileSync(join(cwd, 'may-end'), '')
    await finished(job.output_file)
    expect(readFileSync(job.output_file, 'utf8')).toBe('last words\n[background process failed: exit code 3]\n')
  })
})

describe('REQ-BASH-004: Process Isolation', () => {
  test('WHEN command is executed THE SYSTEM SHALL create a new process group (EXEC-08)', async () => {
    const ours = readFileSync(`/proc/${process.pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')[2]
    const groups: string[] = []
    for (let calls = 0; calls < 2; calls += 1) {
      const [shell, group] = (await bash({ command: 'echo $$; ps -o pgid= -p $$' }))['output']
        .split('\n')
        .map((line: string) => line.trim())
      expect(group, 'the command leads its group').toBe(shell)
      groups.push(group)
    }
    expect(new Set([ours, ...groups]).size, 'neither ours nor that of another command').toBe(3)
  })

  test('AND isolate environment variables containing secrets (ENV-03)', async () => {
    const { output } = await bash({ command: 'env; cat /proc/self/environ' })
    for (const secret of ['sk-ant-secret', 'aws-secret', 'ghp-secret', 'phoenix-secret'])
      expect(output).not.toContain(secret)
    expect(output).toContain('PATH=')
  })

  test('WHEN command is terminated by cancellation THE SYSTEM SHALL kill the entire process group (EXEC-07)', async () => {
    const mark = uniqueSleep()
    const stop = new AbortController()
    const running = bash(
      { command: `echo begun; ${mark} & bash -c '${mark} & wait' & wait` },
      { signal: stop.signal, onProgress: () => stop.abort() },
    )
    const result = await running
    expect(result.text).toMatch(/^\[command cancelled\]\nbegun/)
    expect(processesWith(mark)).toEqual([])
  })

  test('AND wait for cleanup, at most 15 seconds in all: one that ignores TERM is ended by force (EXEC-07)', async () => {
    const { engine: noted, requests } = watched(engine)
    const mark = uniqueSleep()
    const result = await phoenix(
      { timeouts: { defaultMs: 1_000 }, graceMs: 200 },
      noted,
    )({ command: `trap '' TERM; (trap '' TERM; ${mark}) & ${mark}; wait` })
    expect(result['timed_out']).toBe(true)
    expect(processesWith(mark)).toEqual([])
    await phoenix({}, noted)({ command: 'true' })
    const { graceMs } = requests.at(-1)!
    // The wait is the document's own; a drain of the pipes may follow it, and stays far below the rest.
    expect(graceMs).toBe(10_000)
    expect(graceMs! + 10 * LIMITS.drainMs).toBeLessThanOrEqual(15_000)
  })
})

describe('REQ-BASH-005: No TTY Attached', () => {
  test('WHEN command is executed THE SYSTEM SHALL run without a TTY attached, stdin empty (EXEC-09)', async () => {
    const result = await bash({
      command:
        'test -t 0 || test -t 1 || test -t 2 || echo none; tty; (: < /dev/tty) 2>/dev/null || echo no controlling terminal; cat; echo end',
    })
    expect(result['output']).toBe('none\nnot a tty\nno controlling terminal\nend\n')
  })
})

describe('REQ-BASH-006: Tool Schema', () => {
  const tool = createTools(engine, { dialect: 'phoenix' }).get('bash')!

  test('WHEN LLM requests bash tool THE SYSTEM SHALL provide schema with command and mode (TOOL-01, EXEC-05)', () => {
    expect(tool.inputSchema.required).toEqual(['command'])
    expect(tool.inputSchema.properties).toMatchObject({
      command: { type: 'string' },
      mode: { type: 'string', enum: ['default', 'slow', 'background'] },
    })
    expect(Object.keys(tool.inputSchema.properties)).toEqual(['command', 'mode'])
  })

  test('an unknown mode, and mode together with timeout, are errors that name the field (EXEC-05)', async () => {
    expect((await bash({ command: 'true', mode: 'fast' })).text).toMatch(
      /'mode' must be one of default, slow, background/,
    )
    expect((await bash({ command: 'true', mode: 'slow', timeout: 5 })).text).toMatch(/'mode' and 'timeout'/)
  })

  test('WHEN schema is provided to LLM THE SYSTEM SHALL include current working directory in description (TOOL-02)', () => {
    expect(tool.description).toContain(cwd)
    expect(createTools(engine, { dialect: 'phoenix', cwd: '/srv' }).get('bash')!.description).toContain('/srv')
  })
})

describe('REQ-BASH-007: Error Reporting', () => {
  test('WHEN command fails with non-zero exit code THE SYSTEM SHALL include exit code in response AND include command output (EXEC-10)', async () => {
    const result = await bash({ command: 'echo why >&2; exit 42' })
    expect(result.text).toBe('[command failed: exit code 42]\nwhy\n')
    expect(result).toMatchObject({ exit_code: 42, output: 'why\n' })
    expect(result).not.toHaveProperty('error')
  })

  test('a signal is never reported as exit 0 (EXEC-10)', async () => {
    const result = await bash({ command: 'kill -SEGV $$' })
    expect(result['exit_code']).not.toBe(0)
    expect(result.text).toContain('SIGSEGV')
  })

  test('WHEN command fails due to system error THE SYSTEM SHALL return descriptive error message AND distinguish from command execution failure (EXEC-11)', async () => {
    const result = await phoenix({ cwd: '/no/such/place' })({ command: 'echo never' })
    expect(result).toMatchObject({
      isError: true,
      error: { kind: 'system', message: expect.stringContaining('/no/such/place') },
    })
    expect(result.text).toMatch(
      /^\[system error, the command did not run\] Working directory not found: \/no\/such\/place/,
    )
    expect(result).not.toHaveProperty('exit_code')
    const spawn = phoenix({ env: { LARGE: 'x'.repeat(200_000) } })
    for (const failed of [
      await spawn({ command: 'echo never' }),
      await spawn({ command: 'echo never', mode: 'background' }),
    ]) {
      expect(failed, 'what the kernel would not start').toMatchObject({
        isError: true,
        error: { kind: 'system', message: expect.stringContaining('LARGE is too large') },
      })
    }
    expect(await bash({ command: 'rm -rf /' })).toMatchObject({ error: { kind: 'blocked' } })
  })
})

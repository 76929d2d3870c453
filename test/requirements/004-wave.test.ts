/** Document 004: every story, edge case, FR-* and assumption, in the wave dialect against real processes. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createTools, type ToolOptions } from '../../src/tools/index.js'
import { liveEngine, processesWith, uniqueSleep, watched, type Meta } from './world.js'
import { until } from '../fixtures/until.js'

const { engine, cwd } = await liveEngine()

const wave = (options: ToolOptions = {}, on = engine) => {
  const tools = createTools(on, { dialect: 'wave', ...options })
  const call = async (name: string, input: Meta, given = {}) => {
    const { structured, ...rest } = await tools.execute(name, input, given)
    return { ...(structured as { success: boolean; content: string; error?: string; bash_id?: string }), ...rest }
  }
  return {
    bash: (input: Meta, given = {}) => call('Bash', input, given),
    bashOutput: (input: Meta) => call('BashOutput', input),
    killBash: (input: Meta) => call('KillBash', input),
    start: async (command: string) => (await call('Bash', { command, run_in_background: true })).bash_id!,
  }
}
const { bash, bashOutput, killBash, start } = wave()
const ended = async (id: string): Promise<void> => {
  await (await engine.job(id)).wait({ exit: true })
}

describe('User Story 1 - Execute Foreground Commands', () => {
  test('Independent Test: echo "hello" returns its output (FR-001, EXEC-01)', async () => {
    expect(await bash({ command: 'echo "hello"' })).toMatchObject({ success: true, content: 'hello\n', isError: false })
  })

  test('1. the Bash tool MUST return stdout and stderr (FR-001, EXEC-01)', async () => {
    expect((await bash({ command: 'echo out; echo err >&2' })).content).toBe('out\nerr\n')
    expect(await bash({ command: 'echo because >&2; false' })).toMatchObject({
      success: false,
      content: 'because\n',
      error: 'Command failed with exit code: 1',
    })
    expect((await bash({ command: 'true' })).content).toBe('Command executed with exit code: 0')
  })

  test('2. a command that exceeds the timeout MUST be terminated and return a timeout error (FR-002, EXEC-06)', async () => {
    const mark = uniqueSleep()
    const result = await bash({ command: `echo so far; ${mark}`, timeout: 1_000 })
    expect(result).toMatchObject({ success: false, error: 'Command timed out', content: 'so far\n' })
    expect(processesWith(mark)).toEqual([])
  })
})

describe('User Story 2 - Background Process Management', () => {
  test('Independent Test: start a background process, check its output later (BG-01, BG-05)', async () => {
    const id = await start('sleep 0.3 && echo "done"')
    await ended(id)
    expect((await bashOutput({ bash_id: id })).content).toBe('done\n')
  })

  test('1. with run_in_background Bash MUST return a bash_id immediately (FR-003, BG-01)', async () => {
    const begun = performance.now()
    const result = await bash({ command: 'sleep 60', run_in_background: true })
    expect(performance.now() - begun, 'at once, not when it ends after a minute').toBeLessThan(10_000)
    expect(result.bash_id).toMatch(/^bash_\d+$/)
    expect(result.content).toBe(
      `Command started in background with ID: ${result.bash_id}. Use BashOutput tool with bash_id="${result.bash_id}" to monitor output.`,
    )
    await killBash({ shell_id: result.bash_id })
  })

  test('2. BashOutput MUST return the accumulated output (FR-004, BG-07)', async () => {
    const id = await start('echo one; while [ ! -e further ]; do sleep 0.02; done; echo two')
    await (await engine.job(id)).wait({ until: 'one' })
    expect((await bashOutput({ bash_id: id })).content).toBe('one\n')
    expect((await bashOutput({ bash_id: id })).content, 'again, all of it').toBe('one\n')
    writeFileSync(join(cwd, 'further'), '')
    await ended(id)
    expect((await bashOutput({ bash_id: id })).content).toBe('one\ntwo\n')
  })

  test('3. KillBash with its ID: the process MUST be terminated (FR-006, BG-12)', async () => {
    const mark = uniqueSleep()
    const id = await start(mark)
    await until(() => processesWith(mark).length > 0)
    expect(await killBash({ shell_id: id })).toMatchObject({
      success: true,
      content: `Background shell ${id} has been killed`,
    })
    expect(processesWith(mark)).toEqual([])
  })
})

describe('Edge Cases', () => {
  test('Output Truncation: more than 30,000 characters are truncated, exactly 30,000 are not (FR-008, EXEC-12)', async () => {
    const over = await bash({ command: 'head -c 30001 /dev/zero | tr "\\0" x' })
    expect(over.content).toBe(`${'x'.repeat(30_000)}\n\n... (output truncated)`)
    expect((await bash({ command: 'head -c 30000 /dev/zero | tr "\\0" x' })).content).toBe('x'.repeat(30_000))
  })

  test('ANSI Color Codes are stripped: colours, cursor, links, also split across writes (FR-007, EXEC-14)', async () => {
    const command = `printf '\\033[31mred\\033[0m \\033[?25l\\033]8;;http://x\\033\\\\link\\033]8;;\\033\\\\ \\033[1'; sleep 0.1; printf ';32mgreen\\033(B\\n'`
    expect((await bash({ command })).content).toBe('red link green\n')
    const id = await start(command)
    await ended(id)
    expect((await bashOutput({ bash_id: id })).content).toBe('red link green\n')
  })

  test('Process Group Termination: killing leaves no orphan (BG-12)', async () => {
    const mark = uniqueSleep()
    const id = await start(`(${mark} &); ${mark} & setsid ${mark} & ${mark}`)
    await until(() => processesWith(mark).length >= 4)
    await killBash({ shell_id: id })
    expect(processesWith(mark)).toEqual([])
  })

  test('a background process leads a group of its own (EXEC-08)', async () => {
    const id = await start('echo $$; ps -o pgid= -p $$')
    await ended(id)
    const [shell, group] = (await bashOutput({ bash_id: id })).content.split('\n').map((line) => line.trim())
    expect(shell).toMatch(/^\d+$/)
    expect(group).toBe(shell)
  })

  test('commands run in the directory of the host (CWD-01)', async () => {
    mkdirSync(join(cwd, 'project'), { recursive: true })
    const project = wave({ cwd: join(cwd, 'project'), session: 'project' })
    expect((await project.bash({ command: 'pwd' })).content).toBe(`${join(cwd, 'project')}\n`)
  })

  test('Invalid Bash ID: BashOutput and KillBash return a clear error (BG-11)', async () => {
    for (const result of [await bashOutput({ bash_id: 'bash_999' }), await killBash({ shell_id: 'bash_999' })]) {
      expect(result).toMatchObject({ success: false, isError: true })
      expect(result.error).toContain('not found')
      expect(result.error).toContain('bash_999')
    }
  })

  test('killing one that has ended is a clear error here (BG-13)', async () => {
    const id = await start('true')
    await ended(id)
    expect(await killBash({ shell_id: id })).toMatchObject({
      success: false,
      error: `Background shell ${id} is not running (status: completed)`,
    })
  })
})

describe('Functional Requirements', () => {
  const { list } = createTools(engine, { dialect: 'wave' })

  test('FR-001, FR-004, FR-006: Bash, BashOutput and KillBash are provided (TOOL-01)', () => {
    expect(list().map(({ name, inputSchema }) => [name, inputSchema.required])).toEqual([
      ['Bash', ['command']],
      ['BashOutput', ['bash_id']],
      ['KillBash', ['shell_id']],
    ])
  })

  test('FR-002: timeout is optional, 120 s by default (EXEC-03, EXEC-04)', async () => {
    const { engine: noted, requests } = watched(engine)
    await wave({}, noted).bash({ command: 'true' })
    await wave({}, noted).bash({ command: 'true', timeout: 5_000 })
    expect(requests.map(({ timeoutMs }) => timeoutMs)).toEqual([120_000, 5_000])
    expect((await bash({ command: 'true', timeout: 700_000 })).error).toContain('maximum')
  })

  test('FR-003: run_in_background ignores the foreground timeout', async () => {
    const id = (await bash({ command: 'sleep 0.4; echo survived', timeout: 50, run_in_background: true })).bash_id!
    await ended(id)
    expect((await bashOutput({ bash_id: id })).content).toBe('survived\n')
  })

  test('FR-005: BashOutput filters lines with a regular expression (BG-08)', async () => {
    const id = await start('printf "error one\\ninfo two\\nerror three\\n"')
    await ended(id)
    expect((await bashOutput({ bash_id: id, filter: '^error' })).content).toBe('error one\nerror three\n')
    expect((await bashOutput({ bash_id: id, filter: '(' })).error).toContain('Invalid filter regex')
  })

  test('FR-009: environment variables are maintained across sequential Bash calls (ENV-04)', async () => {
    await bash({ command: 'export KEPT=yes; cd /; greet() { echo "hi $1"; }' })
    expect((await bash({ command: 'echo $KEPT; pwd; greet you' })).content).toBe('yes\n/\nhi you\n')
    await bash({ command: 'kill -9 $$' })
    expect((await bash({ command: 'echo $KEPT' })).content, 'also after a crash of the shell').toContain('yes\n')
    await bash({ command: `cd ${cwd}` })
  })
})

describe('Assumptions', () => {
  test('the PermissionManager is asked before any command is executed (SEC-05)', async () => {
    const asked: string[] = []
    const careful = await liveEngine({
      policy: { rules: [{ name: 'ask-touch', decision: 'ask', commands: ['touch *'] }] },
    })
    const tools = createTools(careful.engine, {
      dialect: 'wave',
      ask: async ({ command }) => (asked.push(command), command.includes('good') ? 'once' : 'deny'),
    })
    expect((await tools.execute('Bash', { command: 'touch bad' })).isError).toBe(true)
    expect((await tools.execute('Bash', { command: 'touch good' })).isError).toBe(false)
    expect((await tools.execute('Bash', { command: 'ls' })).text).toBe('good\n')
    expect(asked).toEqual(['touch bad', 'touch good'])
  })

  test('agents are told to prefer specialized tools (SEC-05)', () => {
    expect(createTools(engine, { dialect: 'wave' }).get('Bash')!.description).toContain('Prefer the specialized tools')
  })
})

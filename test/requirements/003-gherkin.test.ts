/** Document 003, scenario by scenario, in the forge dialect against real processes. */
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { createTools, registerExecutionTools, ToolRegistry, type ToolOptions } from '../../src/tools/index.js'
import { liveEngine, processesWith, uniqueSleep, type Meta } from './world.js'
import { until } from '../fixtures/until.js'

const { engine, cwd } = await liveEngine({
  env: { ...process.env, npm_config_update_notifier: 'false', npm_config_offline: 'true', npm_config_logs_max: '0' },
})

const forge = (options: ToolOptions = {}) => {
  const tools = createTools(engine, { dialect: 'forge', ...options })
  const call = async (name: string, input: Meta, given = {}) => {
    const result = await tools.execute(name, input, given)
    const structured = result.structured as { success: boolean; output: string; error: string | null; metadata: Meta }
    return { ...structured, error: structured.error ?? '', text: result.text, isError: result.isError }
  }
  return {
    bash: (input: Meta, given = {}) => call('Bash', input, given),
    bashOutput: (input: Meta) => call('BashOutput', input),
    killShell: (input: Meta) => call('KillShell', input),
    /** Starts a background shell and gives its id. */
    start: async (command: string): Promise<string> =>
      (await call('Bash', { command, run_in_background: true })).metadata['bash_id'],
    ended: async (id: string) => {
      await (await engine.job(id)).wait({ exit: true })
    },
  }
}

describe('Feature: Bash Tool - Foreground Execution', () => {
  const { bash } = forge()

  test('Scenario: Execute simple command (EXEC-01)', async () => {
    const result = await bash({ command: 'echo hello' })
    expect(result).toMatchObject({ success: true, isError: false, metadata: { exit_code: 0 } })
    expect(result.output).toContain('hello')
  })

  test('Scenario: Execute command with output (EXEC-01, CWD-01)', async () => {
    writeFileSync(join(cwd, 'a file.txt'), '')
    writeFileSync(join(cwd, 'b.txt'), '')
    const result = await bash({ command: 'ls -la' })
    expect(result).toMatchObject({ success: true, metadata: { exit_code: 0 } })
    expect(result.output).toContain('a file.txt')
    expect(result.output).toContain('b.txt')
  })

  test('Scenario: Execute command that fails (EXEC-10)', async () => {
    const result = await bash({ command: 'exit 1' })
    expect(result).toMatchObject({ success: false, isError: true, metadata: { exit_code: 1 } })
    expect(result.error).toContain('Command failed with exit code 1')
  })

  test('Scenario: Execute command with stderr (BG-09)', async () => {
    const result = await bash({ command: 'echo error >&2' })
    expect(result.success).toBe(true)
    expect(result.output).toBe('[stderr]\nerror\n')
  })

  test('Scenario: Execute chained commands with && (EXEC-02)', async () => {
    const result = await bash({ command: 'echo first && echo second' })
    expect(result.success).toBe(true)
    expect(result.output).toContain('first')
    expect(result.output).toContain('second')
  })

  test('Scenario: Execute chained commands with failing first (EXEC-02)', async () => {
    const result = await bash({ command: 'exit 1 && echo second' })
    expect(result.success).toBe(false)
    expect(`${result.output}${result.error}`).not.toContain('second')
  })

  test('Scenario: Execute command with timeout (EXEC-04)', async () => {
    const result = await bash({ command: 'sleep 1 && echo done', timeout: 5_000 })
    expect(result.success).toBe(true)
    expect(result.output).toContain('done')
  })

  test('Scenario: Execute command that times out (EXEC-06)', async () => {
    const mark = uniqueSleep()
    const result = await bash({ command: `echo so far; ${mark} & ${mark}`, timeout: 1_000 })
    expect(result.success).toBe(false)
    expect(result.error, 'with the partial output').toBe('Command timed out after 1000ms\nso far\n')
    expect(result.output).toBe('so far\n')
    expect(result.metadata).toMatchObject({ timeout_ms: 1_000, status: 'timeout' })
    expect(processesWith(mark)).toEqual([])
  })

  test('Scenario: Execute command with description (EXEC-15)', async () => {
    writeFileSync(join(cwd, 'package.json'), '{"name":"x","version":"1.0.0","private":true}')
    const result = await bash({ command: 'npm install', description: 'Install dependencies' })
    expect(result.metadata).toMatchObject({ description: 'Install dependencies' })
  })

  test('Scenario: Execute command with large output (EXEC-12)', async () => {
    const result = await bash({ command: 'head -c 50000 /dev/zero | tr "\\0" x' })
    expect(result.success).toBe(true)
    expect(result.output).toBe(`${'x'.repeat(30_000)}\n\n[Output truncated at 30000 characters]`)
    expect(result.metadata['truncated']).toBe(true)
  })

  test('exactly 30,000 characters pass untouched, one more does not (EXEC-12)', async () => {
    const full = await bash({ command: 'head -c 30000 /dev/zero | tr "\\0" x' })
    expect(full.output).toBe('x'.repeat(30_000))
    expect(full.metadata['truncated']).toBe(false)
    const over = await bash({ command: 'head -c 30001 /dev/zero | tr "\\0" x' })
    expect(over.metadata['truncated']).toBe(true)
  })

  test('Scenario: Execute command in dry run mode (SEC-03)', async () => {
    const made = !existsSync('/tmp/test')
    if (made) mkdirSync('/tmp/test')
    const result = await forge({ dryRun: true }).bash({ command: 'rm -rf /tmp/test' })
    expect(result).toMatchObject({ success: true, metadata: { dry_run: true } })
    expect(result.output).toBe('[Dry Run] Would execute: rm -rf /tmp/test')
    expect(existsSync('/tmp/test'), 'the command was NOT executed').toBe(true)
    if (made) rmdirSync('/tmp/test')
  })

  test('a dry run of a background command starts nothing either (SEC-03)', async () => {
    const result = await forge({ dryRun: true }).bash({ command: 'sleep 60', run_in_background: true })
    expect(result).toMatchObject({ success: true, metadata: { dry_run: true } })
    expect(result.output).toContain('[Dry Run] Would execute: sleep 60')
    expect(await engine.jobs()).toEqual([])
  })
})

describe('Feature: Bash Tool - Security', () => {
  const { bash } = forge()

  test('Scenario: Block dangerous rm -rf / (SEC-01)', async () => {
    const result = await bash({ command: 'rm -rf /' })
    expect(result).toMatchObject({ success: false, isError: true })
    expect(result.error).toContain('blocked')
    expect(result.error).toContain('dangerous')
  })

  test('Scenario: Block dangerous rm -rf /* (SEC-01)', async () => {
    const result = await bash({ command: 'rm -rf /*' })
    expect(result.success).toBe(false)
    expect(result.error).toContain('blocked')
  })

  test('Scenario: Block fork bomb (SEC-01)', async () => {
    const result = await bash({ command: ':(){ :|:& };:' })
    expect(result.success).toBe(false)
    expect(result.error).toContain('blocked')
  })

  test('Scenario: Block mkfs command (SEC-01)', async () => {
    const result = await bash({ command: 'mkfs.ext4 /dev/sda1' })
    expect(result.success).toBe(false)
    expect(result.error).toContain('blocked')
  })

  test('what is blocked stays blocked in the background and in a dry run (SEC-01, SEC-03)', async () => {
    for (const result of [
      await bash({ command: 'rm -rf /', run_in_background: true }),
      await forge({ dryRun: true }).bash({ command: 'rm -rf /' }),
    ]) {
      expect(result.success).toBe(false)
      expect(result.error).toMatch(/blocked.*dangerous/s)
    }
  })

  test('Scenario: Allow safe rm command (SEC-02)', async () => {
    writeFileSync('/tmp/test_file.txt', '')
    const result = await bash({ command: 'rm /tmp/test_file.txt' })
    expect(result.error).not.toContain('blocked')
    expect(existsSync('/tmp/test_file.txt')).toBe(false)
  })

  test('Scenario: Allow git commands (SEC-02)', async () => {
    expect((await bash({ command: 'git init -q .' })).success).toBe(true)
    const result = await bash({ command: 'git status' })
    expect(result.success).toBe(true)
    expect(result.output).toContain('branch')
  })

  test('Scenario: Allow npm commands (SEC-02)', async () => {
    const result = await bash({ command: 'npm --version' })
    expect(result.success).toBe(true)
    expect(result.output).toMatch(/\d+\.\d+\.\d+/)
  })
})

describe('Feature: Bash Tool - Background Execution', () => {
  const { bash, killShell } = forge()

  test('Scenario: Start background command (BG-01)', async () => {
    const result = await bash({ command: 'sleep 5 && echo done', run_in_background: true })
    expect(result.success).toBe(true)
    expect(result.output).toContain('Started background shell')
    const id = result.metadata['bash_id']
    expect(id).toMatch(/^shell_[0-9a-f]{8}$/)
    expect(result.output).toContain(id)
    await killShell({ shell_id: id })
  })

  test('Scenario: Background command returns immediately (BG-01)', async () => {
    const begun = performance.now()
    const result = await bash({ command: 'sleep 60', run_in_background: true })
    expect(performance.now() - begun, 'at once, not when it ends after a minute').toBeLessThan(10_000)
    const id = result.metadata['bash_id']
    expect((await engine.jobs()).map((info) => info.id)).toContain(id)
    await killShell({ shell_id: id })
  })
})

describe('Feature: BashOutput Tool', () => {
  const { bashOutput, killShell, start, ended } = forge()

  test('Scenario: Get output from running shell (BG-05)', async () => {
    const id = await start('while true; do echo tick; sleep 1; done')
    await (await engine.job(id)).wait({ until: 'tick' })
    const result = await bashOutput({ bash_id: id })
    expect(result).toMatchObject({ success: true, metadata: { status: 'running', is_running: true } })
    expect(result.output).toContain('tick')
    await killShell({ shell_id: id })
  })

  test('Scenario: Get output from completed shell (BG-05)', async () => {
    const id = await start('echo hello')
    await ended(id)
    const result = await bashOutput({ bash_id: id })
    expect(result).toMatchObject({ success: true, metadata: { status: 'completed', exit_code: 0, is_running: false } })
    expect(result.output).toContain('hello')
  })

  test('a failed one reaches failed with its exit code without being polled (BG-05)', async () => {
    const id = await start('echo error; exit 1')
    await ended(id)
    expect((await bashOutput({ bash_id: id })).metadata).toMatchObject({
      status: 'failed',
      exit_code: 1,
      is_running: false,
    })
  })

  test('Scenario: Get only new output since last read (BG-06)', async () => {
    const id = await start('echo line-1; while [ ! -e go ]; do sleep 0.02; done; echo line-2; sleep 60')
    const job = await engine.job(id)
    await job.wait({ until: 'line-1' })
    const first = await bashOutput({ bash_id: id })
    expect(first.output).toContain('line-1')
    writeFileSync(join(cwd, 'go'), '')
    await job.wait({ until: 'line-2' })
    const second = await bashOutput({ bash_id: id })
    expect(second.output).toContain('line-2')
    expect(second.output).not.toContain('line-1')
    expect((await bashOutput({ bash_id: id })).output).toContain('(no new output since last check)')
    await killShell({ shell_id: id })
  })

  test('two sets of tools each have their own "last read"', async () => {
    const other = forge()
    const id = await start('echo once')
    await ended(id)
    expect((await bashOutput({ bash_id: id })).output).toContain('once')
    expect((await other.bashOutput({ bash_id: id })).output).toContain('once')
  })

  test('Scenario: Shell not found (BG-11)', async () => {
    const result = await bashOutput({ bash_id: 'shell_nonexistent' })
    expect(result.success).toBe(false)
    expect(result.error).toContain('not found')
  })

  test('Scenario: Filter output with regex (BG-08)', async () => {
    const id = await start('echo "error: one"; echo "info: two"; echo "error: three" >&2')
    await ended(id)
    const result = await bashOutput({ bash_id: id, filter: 'error' })
    expect(result.success).toBe(true)
    expect(result.output).toContain('error: one')
    expect(result.output).toContain('[stderr]')
    expect(result.output).toContain('error: three')
    expect(result.output).not.toContain('info')
  })

  test('Scenario: Invalid filter regex (BG-08), and it consumes nothing', async () => {
    const id = await start('echo kept')
    await ended(id)
    const result = await bashOutput({ bash_id: id, filter: '[invalid(regex' })
    expect(result.success).toBe(false)
    expect(result.error).toContain('Invalid filter regex')
    expect((await bashOutput({ bash_id: id })).output).toContain('kept')
  })

  test('Scenario: Get output with duration info (BG-10)', async () => {
    const id = await start('true')
    await ended(id)
    const result = await bashOutput({ bash_id: id })
    expect(result.output).toContain('Duration:')
    expect(result.metadata).toHaveProperty('exit_code', 0)
  })
})

describe('Feature: KillShell Tool', () => {
  const { bashOutput, killShell, start, ended } = forge()

  test('Scenario: Kill running shell (BG-12)', async () => {
    const id = await start('sleep 300')
    const result = await killShell({ shell_id: id })
    expect(result.success).toBe(true)
    expect(result.output).toContain('terminated')
    expect((await bashOutput({ bash_id: id })).metadata).toMatchObject({ status: 'killed', is_running: false })
  })

  test('grandchildren go with it (BG-12)', async () => {
    const mark = uniqueSleep()
    const id = await start(`(${mark} & ${mark}) & ${mark}`)
    await until(() => processesWith(mark).length >= 3)
    await killShell({ shell_id: id })
    expect(processesWith(mark)).toEqual([])
  })

  test('Scenario: Kill already stopped shell (BG-13)', async () => {
    const id = await start('true')
    await ended(id)
    const result = await killShell({ shell_id: id })
    expect(result).toMatchObject({ success: true, metadata: { already_stopped: true } })
    expect(result.output).toContain('already stopped')
  })

  test('Scenario: Kill non-existent shell (BG-11)', async () => {
    const result = await killShell({ shell_id: 'shell_nonexistent' })
    expect(result.success).toBe(false)
    expect(result.error).toContain('not found')
  })

  test('Scenario: Kill shell returns metadata (BG-12)', async () => {
    const id = await start('sleep 300')
    const { metadata } = await killShell({ shell_id: id })
    expect(metadata).toMatchObject({ shell_id: id, command: 'sleep 300', duration_ms: expect.any(Number) })
  })
})

describe('Feature: Tool Registration', () => {
  const registry = new ToolRegistry()
  registerExecutionTools(registry, engine, { dialect: 'forge' })

  test('Scenario: All execution tools are registered (TOOL-01)', () => {
    expect(registry.count()).toBe(3)
    for (const name of ['Bash', 'BashOutput', 'KillShell']) expect(registry.get(name)?.category).toBe('execution')
    expect(() => registerExecutionTools(registry, engine, { dialect: 'forge' })).toThrow(/already registered/)
  })

  test('Scenario: Execution tools generate valid schemas (TOOL-01)', () => {
    const ajv = new Ajv2020()
    const schemas = registry.getAllSchemas('openai') as {
      type: string
      function: { name: string; description: string; parameters: { required: string[] } }
    }[]
    expect(schemas.map(({ function: { name, parameters } }) => [name, parameters.required])).toEqual([
      ['Bash', ['command']],
      ['BashOutput', ['bash_id']],
      ['KillShell', ['shell_id']],
    ])
    for (const schema of schemas) {
      expect(schema.type).toBe('function')
      expect(ajv.validateSchema(schema.function.parameters)).toBe(true)
    }
  })
})

describe('Feature: Integration Tests', () => {
  const { bash, bashOutput, killShell, start, ended } = forge()

  test('Scenario: Full background command workflow (BG-01, BG-05)', async () => {
    const begun = await bash({ command: 'echo working; sleep 0.2; echo result', run_in_background: true })
    const id = begun.metadata['bash_id']
    const progress = await bashOutput({ bash_id: id })
    await ended(id)
    const final = await bashOutput({ bash_id: id })
    expect([begun.success, progress.success, final.success]).toEqual([true, true, true])
    expect(final.output).toContain('result')
    expect(final.metadata).toMatchObject({ status: 'completed', exit_code: 0 })
  })

  test('Scenario: Kill and verify workflow (BG-12)', async () => {
    const id = await start('sleep 300')
    expect((await bashOutput({ bash_id: id })).metadata).toMatchObject({ status: 'running', is_running: true })
    expect((await killShell({ shell_id: id })).success).toBe(true)
    expect((await bashOutput({ bash_id: id })).metadata).toMatchObject({ status: 'killed', is_running: false })
  })

  test('Scenario: Multiple concurrent shells (BG-14)', async () => {
    const ids = await Promise.all([1, 2, 3, 4, 5].map((number) => start(`echo shell number ${number}; sleep 60`)))
    expect(new Set(ids).size).toBe(5)
    const tracked = (await engine.jobs()).map((info) => info.id)
    expect(tracked).toEqual(expect.arrayContaining(ids))
    await Promise.all(
      ids.map(async (id, index) => {
        await (await engine.job(id)).wait({ until: 'number' })
        const { output } = await bashOutput({ bash_id: id })
        expect(output).toContain(`shell number ${index + 1}`)
        expect(output.match(/shell number/g)).toHaveLength(1)
        await killShell({ shell_id: id })
      }),
    )
  })

  test('Scenario: Timeout does not affect other shells (BG-14)', async () => {
    const a = await start('i=0; while :; do echo tick $((i += 1)).; sleep 0.05; done')
    const job = await engine.job(a)
    await job.wait({ until: 'tick 1\\.' })
    const b = await bash({ command: 'sleep 10', timeout: 1_000 })
    expect(b.error).toContain('timed out')
    await job.wait({ until: 'tick', since: (await job.info()).bytes.total })
    const { output, metadata } = await bashOutput({ bash_id: a })
    expect(metadata).toMatchObject({ status: 'running', is_running: true })
    const ticks = [...output.matchAll(/^tick (\d+)\.$/gm)].map(([, number]) => Number(number))
    expect(ticks, 'not one line is missing').toEqual(ticks.map((_, index) => index + 1))
    expect(ticks.length).toBeGreaterThan(1)
    await killShell({ shell_id: a })
  })
})

/** Document 000, scenario by scenario, in the lango dialect against real processes. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { AuditSink } from '../../src/engine/audit-sink.js'
import { createTools, type ToolOptions } from '../../src/tools/index.js'
import { eventually, liveEngine, processesWith, uniqueSleep, type Meta } from './world.js'

const logged: unknown[] = []
const audit: AuditSink = { write: (entry: unknown) => void logged.push(entry) } as AuditSink
const { engine, cwd } = await liveEngine({
  env: { ...process.env, LANGO_PASSPHRASE: 'open sesame', LD_PRELOAD: '/nowhere/evil.so', BASE_VARIABLE: 'from the base' },
  audit,
})

const lango = (options: ToolOptions = {}) => {
  const tools = createTools(engine, { dialect: 'lango', ...options })
  const call = async (name: string, input: Meta, given = {}) => {
    const { structured, ...rest } = await tools.execute(name, input, given)
    return { ...(structured as Meta), ...rest } as Meta & { text: string; isError: boolean }
  }
  return {
    exec: (input: Meta, given = {}) => call('exec', input, given),
    execBg: (input: Meta) => call('exec_bg', input),
    execStatus: (id: string) => call('exec_status', { id }),
    execStop: (id: string) => call('exec_stop', { id }),
  }
}
const { exec, execBg, execStatus, execStop } = lango()

const ended = async (id: string): Promise<void> => {
  await (await engine.job(id)).wait({ exit: true })
}

describe('Requirement: Shell command execution', () => {
  test('Scenario: Synchronous command execution (EXEC-01)', async () => {
    expect(await exec({ command: 'echo out; echo err >&2; exit 3', timeout: 5_000 })).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exitCode: 3, timedOut: false })
  })

  test('Scenario: Command timeout (EXEC-06)', async () => {
    const mark = uniqueSleep()
    const result = await exec({ command: `echo so far; ${mark} & ${mark}`, timeout: 1_000 })
    expect(result).toMatchObject({ timedOut: true, exitCode: -1, stdout: 'so far\n', isError: true })
    expect(result.text).toContain('timed out')
    expect(processesWith(mark)).toEqual([])
  })

  test('the default timeout is configurable, 30 seconds otherwise (EXEC-03)', async () => {
    expect(createTools(engine, { dialect: 'lango' }).get('exec')!.description).toContain('30000 ms')
    expect(await lango({ timeouts: { defaultMs: 200 } }).exec({ command: 'sleep 5' })).toMatchObject({ timedOut: true })
  })
})

describe('Requirement: PTY support', () => {
  test('Scenario: PTY command execution (PTY-01)', async () => {
    const result = await exec({ command: 'tty && test -t 0 && echo a terminal', pty: true })
    expect(result['exitCode']).toBe(0)
    expect(result['stdout']).toMatch(/\/dev\/pts\/\d+\s+a terminal/)
  })

  test('Scenario: ANSI escape handling (PTY-01, EXEC-14)', async () => {
    const command = 'printf "\\033[31mred\\033[0m\\n"'
    expect((await lango({ ansi: 'keep' }).exec({ command, pty: true }))['stdout']).toContain('\u001b[31mred')
    expect((await lango({ ansi: 'strip' }).exec({ command, pty: true }))['stdout'].trim()).toBe('red')
  })
})

describe('Requirement: Background process management', () => {
  test('Scenario: Background execution (BG-01)', async () => {
    const { id } = await execBg({ command: 'sleep 60' })
    expect(id).toMatch(/^bg-\d+$/)
    expect(await execStop(id)).toMatchObject({ id, stopped: true })
    expect(await execStatus(id)).toMatchObject({ done: true })
  })

  test('Scenario: Background process status (BG-05, BG-07)', async () => {
    const { id } = await execBg({ command: 'echo one; while [ ! -e more ]; do sleep 0.02; done; echo two; exit 5' })
    await (await engine.job(id)).wait({ until: 'one' })
    const early = await execStatus(id)
    expect(early).toMatchObject({ id, done: false, exitCode: null, output: 'one\n', command: expect.stringContaining('echo one') })
    expect(new Date(early['startTime']).getTime()).toBeLessThanOrEqual(Date.now())
    writeFileSync(join(cwd, 'more'), '')
    await ended(id)
    expect(await execStatus(id), 'the whole output, not only what is new').toMatchObject({ done: true, exitCode: 5, output: 'one\ntwo\n' })
    expect(await execStop(id)).toMatchObject({ id, stopped: true, isError: false })
    expect((await execStatus('bg-0')).text).toContain('not found')
  })

  test('Scenario: Concurrent output access (BG-14)', async () => {
    const { id } = await execBg({ command: 'for i in $(seq 1 3000); do echo "line $i end"; done' })
    const reads = await Promise.all(Array.from({ length: 20 }, () => execStatus(id)))
    for (const { output } of reads) for (const line of (output as string).split('\n').slice(0, -1)) expect(line).toMatch(/^line \d+ end$/)
    await ended(id)
    const lines = ((await execStatus(id))['output'] as string).trimEnd().split('\n')
    expect(lines).toHaveLength(3_000)
    expect(lines.at(-1)).toBe('line 3000 end')
  })

  test('ids are told apart even when they are made at the same moment (BG-14)', async () => {
    const started = await Promise.all(Array.from({ length: 5 }, () => execBg({ command: 'true' })))
    expect(new Set(started.map(({ id }) => id)).size).toBe(5)
  })
})

describe('Requirement: Working directory control', () => {
  test('Scenario: Custom working directory (CWD-01)', async () => {
    mkdirSync(join(cwd, 'deep er'), { recursive: true })
    expect((await exec({ command: 'pwd', workdir: join(cwd, 'deep er') }))['stdout']).toBe(`${join(cwd, 'deep er')}\n`)
    expect((await exec({ command: 'pwd', workdir: 'deep er' }))['stdout']).toBe(`${join(cwd, 'deep er')}\n`)
  })

  test('Scenario: Invalid working directory (CWD-02)', async () => {
    const result = await exec({ command: 'touch ran-anyway', workdir: '/no/such/place' })
    expect(result.isError).toBe(true)
    expect(result.text).toContain('/no/such/place')
    expect((await exec({ command: 'ls ran-anyway' }))['exitCode']).not.toBe(0)
    expect((await execBg({ command: 'true', workdir: '/no/such/place' })).isError).toBe(true)
  })
})

describe('Requirement: Environment variable handling', () => {
  test('Scenario: Custom environment (ENV-01)', async () => {
    const command = 'echo "$CUSTOM/$BASE_VARIABLE"'
    const env = [{ name: 'CUSTOM', value: 'mine' }]
    expect((await exec({ command, env }))['stdout']).toBe('mine/from the base\n')
    expect((await exec({ command, env: { CUSTOM: 'mine' } }))['stdout'], 'a plain map is understood too').toBe('mine/from the base\n')
    expect((await lango({ envMode: 'replace' }).exec({ command, env }))['stdout']).toBe('mine/\n')
    const { id } = await execBg({ command, env })
    await ended(id)
    expect((await execStatus(id))['output']).toBe('mine/from the base\n')
  })

  test('Scenario: Dangerous variable filtering (ENV-02)', async () => {
    const { stdout } = await exec({ command: 'env' })
    expect(stdout).not.toContain('LD_PRELOAD')
    expect((await exec({ command: 'env', env: { LD_PRELOAD: '/nowhere/evil.so' } }))['stdout'] ?? '').not.toContain('LD_PRELOAD')
  })

  test('Scenario: LANGO_PASSPHRASE filtered (ENV-03)', async () => {
    for (const command of ['env', 'cat /proc/self/environ']) expect((await exec({ command }))['stdout']).not.toContain('sesame')
    const { id } = await execBg({ command: 'echo "[$LANGO_PASSPHRASE]"' })
    await ended(id)
    expect((await execStatus(id))['output']).toBe('[]\n')
  })
})

describe('Requirement: Enhanced execution feedback', () => {
  test('Scenario: Detailed failure message (EXEC-10)', async () => {
    const result = await exec({ command: 'echo clue one; echo clue two >&2; exit 9' })
    expect(result.text).toContain('Command failed with exit code 9')
    expect(result.text).toContain('clue one')
    expect(result.text).toContain('clue two')
  })
})

describe('Requirement: Reference token resolution in exec', () => {
  engine.secrets.set('api-key', `k3y'"$(id)`)
  engine.secrets.setDecrypted('uuid-123', 'decrypted text')

  test('Scenario: Command with secret reference (REF-01, REF-05, REF-06)', async () => {
    const command = 'printf %s "Auth: {{secret:api-key}}" > request; wc -c < request'
    const result = await exec({ command })
    expect(readFileSync(join(cwd, 'request'), 'utf8')).toBe(`Auth: k3y'"$(id)`)
    expect(result['stdout'].trim()).toBe('16')
    const shown = await exec({ command: 'cat request; echo {{secret:api-key}}' })
    expect(JSON.stringify(shown), 'a resolved value is never returned').not.toContain('k3y')
    const log = JSON.stringify(logged)
    expect(log, 'the log keeps the token').toContain('{{secret:api-key}}')
    expect(log).not.toContain('k3y')
  })

  test('Scenario: Command with decrypt reference (REF-02)', async () => {
    await exec({ command: 'echo {{decrypt:uuid-123}} > plain' })
    expect(readFileSync(join(cwd, 'plain'), 'utf8')).toBe('decrypted text\n')
  })

  test('Scenario: Command with unknown reference (REF-03)', async () => {
    expect((await exec({ command: 'echo {{secret:unknown}}' }))['stdout']).toBe('{{secret:unknown}}\n')
  })

  test('Scenario: Command without references (REF-04)', async () => {
    expect((await exec({ command: `echo '{{ no token }}' "a  b"` }))['stdout']).toBe('{{ no token }} a  b\n')
  })

  test('Scenario: Reference resolution in PTY mode (REF-01)', async () => {
    await exec({ command: 'printf %s {{secret:api-key}} > from-pty', pty: true })
    expect(readFileSync(join(cwd, 'from-pty'), 'utf8')).toBe(`k3y'"$(id)`)
  })

  test('Scenario: Reference resolution in background mode (REF-01, REF-06)', async () => {
    const { id } = await execBg({ command: 'printf %s {{secret:api-key}} | tee from-bg' })
    await ended(id)
    expect(readFileSync(join(cwd, 'from-bg'), 'utf8')).toBe(`k3y'"$(id)`)
    const status = await execStatus(id)
    expect(status['command']).toBe('printf %s {{secret:api-key}} | tee from-bg')
    expect(JSON.stringify(status)).not.toContain('k3y')
  })
})

describe('Requirement: Block lango automation commands via exec', () => {
  const rows = [
    ['Block lango cron command', 'lango cron list', 'cron_add'],
    ['Block lango bg command', 'lango bg submit x', 'bg_submit'],
    ['Block lango bg command (background)', 'lango background list', 'bg_list'],
    ['Block lango workflow command', 'lango workflow run x.yaml', 'workflow_run'],
  ] as const
  for (const [scenario, command, tool] of rows) {
    test(`Scenario: ${scenario} (SEC-04)`, async () => {
      for (const result of [await exec({ command }), await execBg({ command })]) {
        expect(result).toMatchObject({ blocked: true, message: expect.stringContaining(tool) })
        expect(result).not.toHaveProperty('exitCode')
      }
    })
  }

  test('wrapped in another shell it is the same command (SEC-04)', async () => {
    expect(await exec({ command: `bash -c 'lango cron list'` })).toMatchObject({ blocked: true })
  })

  test('Scenario: Context-aware guidance when feature is disabled (SEC-04)', async () => {
    const off = lango({ features: { cron: false } })
    expect((await off.exec({ command: 'lango cron list' }))['message']).toMatch(/Enable .*cron.* in Settings/)
    expect((await off.exec({ command: 'lango workflow list' }))['message']).not.toContain('Settings')
  })

  test('Scenario: Allow non-lango commands (SEC-04)', async () => {
    expect(await exec({ command: 'echo lango cron' })).toMatchObject({ exitCode: 0, stdout: 'lango cron\n' })
    expect(await exec({ command: 'lango version' }), 'runs, and only is not installed here').toMatchObject({ exitCode: 127 })
    const { id } = await execBg({ command: 'echo fine' })
    await eventually(async () => (await execStatus(id))['done'])
    expect((await execStatus(id))['output']).toBe('fine\n')
  })
})

/** Document 000, scenario by scenario, in the lango dialect against real processes. */
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { AuditSink } from '../../src/engine/services/audit-sink.js'
import { createTools, type ToolOptions } from '../../src/tools/index.js'
import { makeGate } from '../fixtures/gate.js'
import { liveEngine, processesWith, uniqueSleep, watched, type Meta } from './world.js'
import { until } from '../fixtures/until.js'
import { temporaryFolder } from '../fixtures/folder.js'

const logged: Meta[] = []
const audit: AuditSink = { write: (entry: unknown) => void logged.push(entry as Meta) } as AuditSink

/** A lango that leaves a trace, so that "blocked" can be told from "not installed". */
const bin = temporaryFolder('lango')
writeFileSync(join(bin, 'lango'), '#!/bin/bash\necho "lango $*" | tee -a "$0.ran"\n')
chmodSync(join(bin, 'lango'), 0o755)

/** Each would make the child, or the shell itself, run or load something else. */
const DANGEROUS = {
  LD_PRELOAD: '/nowhere/evil.so',
  LD_AUDIT: '/nowhere/evil.so',
  LD_LIBRARY_PATH: '/nowhere',
  DYLD_INSERT_LIBRARIES: '/nowhere/evil.dylib',
  BASH_ENV: '/nowhere/evil.sh',
  ENV: '/nowhere/evil.sh',
  PROMPT_COMMAND: 'touch evil',
  NODE_OPTIONS: '--require /nowhere/evil.js',
  PYTHONSTARTUP: '/nowhere/evil.py',
  PERL5OPT: '-Mevil',
  GIT_SSH_COMMAND: 'evil',
}
const { engine, cwd } = await liveEngine({
  env: {
    ...process.env,
    ...DANGEROUS,
    PATH: `${bin}${delimiter}${process.env['PATH']}`,
    LANGO_PASSPHRASE: 'open sesame',
    BASE_VARIABLE: 'from the base',
  },
  audit,
})

const lango = (options: ToolOptions = {}, on = engine) => {
  const tools = createTools(on, { dialect: 'lango', ...options })
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
    expect(await exec({ command: 'echo out; echo err >&2; exit 3', timeout: 5_000 })).toMatchObject({
      stdout: 'out\n',
      stderr: 'err\n',
      exitCode: 3,
      timedOut: false,
    })
  })

  test('Scenario: Command timeout (EXEC-06)', async () => {
    const mark = uniqueSleep()
    const result = await exec({ command: `echo so far; ${mark} & ${mark}`, timeout: 1_000 })
    expect(result).toMatchObject({ timedOut: true, exitCode: -1, stdout: 'so far\n', isError: true })
    expect(result.text).toBe('Command timed out after 1000ms\nOutput:\nso far\n')
    expect(processesWith(mark)).toEqual([])
  })

  test('the default timeout is configurable, 30 seconds otherwise (EXEC-03)', async () => {
    expect(createTools(engine, { dialect: 'lango' }).get('exec')!.description).toContain('30000 ms')
    const { engine: noted, requests } = watched(engine)
    await lango({}, noted).exec({ command: 'true' })
    await lango({ timeouts: { defaultMs: 7_000 } }, noted).exec({ command: 'true' })
    await lango({}, noted).exec({ command: 'true', timeout: 9_000 })
    expect(requests.map(({ timeoutMs }) => timeoutMs)).toEqual([30_000, 7_000, 9_000])
    expect(await lango({ timeouts: { defaultMs: 200 } }).exec({ command: 'sleep 5' })).toMatchObject({ timedOut: true })
  })
})

describe('Requirement: PTY support', () => {
  test('Scenario: PTY command execution (PTY-01)', async () => {
    const result = await exec({ command: 'tty && test -t 0 && echo a terminal', pty: true })
    expect(result['exitCode']).toBe(0)
    expect(result['stdout']).toMatch(/\/dev\/pts\/\d+\s+a terminal/)
    const { id } = await execBg({ command: 'tty', pty: true })
    await ended(id)
    expect((await execStatus(id))['output']).toMatch(/\/dev\/pts\/\d+/)
    expect((await exec({ command: 'tty' }))['stdout'], 'only on request').toBe('not a tty\n')
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
    expect(early).toMatchObject({
      id,
      done: false,
      exitCode: null,
      output: 'one\n',
      command: expect.stringContaining('echo one'),
    })
    expect(new Date(early['startTime']).getTime()).toBeLessThanOrEqual(Date.now())
    writeFileSync(join(cwd, 'more'), '')
    await ended(id)
    expect(await execStatus(id), 'the whole output, not only what is new').toMatchObject({
      done: true,
      exitCode: 5,
      output: 'one\ntwo\n',
    })
    expect(await execStop(id)).toMatchObject({ id, stopped: true, isError: false })
    expect((await execStatus('bg-0')).text).toContain('not found')
  })

  test('Scenario: Concurrent output access (BG-14)', async () => {
    // It writes on until it was read often enough while it wrote.
    const gate = makeGate()
    const { id } = await execBg({
      command: `(${gate.wait}) & i=0; while kill -0 $! 2>/dev/null || [ $i -lt 300 ]; do echo "line $((i += 1)) end"; ((i % 50)) || sleep 0.01; done`,
    })
    const numbers = (output: string): number[] =>
      output
        .split('\n')
        .slice(0, -1)
        .map((line) => Number(/^line (\d+) end$/.exec(line)?.[1]))
    const whole = (found: number[]): boolean => found.every((number, index) => number === index + 1)
    await (await engine.job(id)).wait({ until: 'line 100 ' })
    for (let rounds = 0; rounds < 5; rounds += 1) {
      for (const { output, done } of await Promise.all(Array.from({ length: 4 }, () => execStatus(id)))) {
        expect(done, 'still writing').toBe(false)
        expect(whole(numbers(output)), 'every line once, in order, none torn').toBe(true)
        expect(numbers(output).length).toBeGreaterThanOrEqual(100)
      }
    }
    gate.open()
    await ended(id)
    expect(await execStatus(id)).toMatchObject({ done: true, exitCode: 0 })
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
    writeFileSync(join(cwd, 'a-file'), '')
    expect(
      (await exec({ command: 'touch ran-anyway', workdir: 'a-file' })).text,
      'nor in what is no directory',
    ).toContain('Not a directory')
    expect(existsSync(join(cwd, 'ran-anyway'))).toBe(false)
  })
})

describe('Requirement: Environment variable handling', () => {
  test('Scenario: Custom environment (ENV-01)', async () => {
    const command = 'echo "$CUSTOM/$BASE_VARIABLE"'
    const env = [{ name: 'CUSTOM', value: 'mine' }]
    expect((await exec({ command, env }))['stdout']).toBe('mine/from the base\n')
    expect((await exec({ command, env: { CUSTOM: 'mine' } }))['stdout'], 'a plain map is understood too').toBe(
      'mine/from the base\n',
    )
    expect((await lango({ envMode: 'replace' }).exec({ command, env }))['stdout']).toBe('mine/\n')
    const { id } = await execBg({ command, env })
    await ended(id)
    expect((await execStatus(id))['output']).toBe('mine/from the base\n')
  })

  test('Scenario: Dangerous variable filtering (ENV-02)', async () => {
    const names = (environment: string): string[] => environment.split('\n').map((line) => line.replace(/=.*/, ''))
    const { id } = await execBg({ command: 'env' })
    await ended(id)
    const given = await exec({ command: 'env', env: { ...DANGEROUS, HARMLESS: 'yes' } })
    expect(given['stdout'], 'the rest of what was given for this call is passed').toContain('HARMLESS=yes')
    for (const environment of [
      (await exec({ command: 'env' }))['stdout'],
      (await execStatus(id))['output'],
      given['stdout'],
    ])
      for (const name of Object.keys(DANGEROUS)) expect(names(environment), name).not.toContain(name)
  })

  test('Scenario: LANGO_PASSPHRASE filtered (ENV-03)', async () => {
    for (const command of ['env', 'cat /proc/self/environ'])
      expect((await exec({ command }))['stdout']).not.toContain('sesame')
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
    expect(
      logged.map((entry) => entry['command']),
      'the log keeps the original command with its token',
    ).toContain(command)
    expect(JSON.stringify(logged)).not.toContain('k3y')
  })

  test('Scenario: Command with decrypt reference (REF-02)', async () => {
    await exec({ command: 'echo {{decrypt:uuid-123}} > plain' })
    expect(readFileSync(join(cwd, 'plain'), 'utf8')).toBe('decrypted text\n')
    const shown = await exec({ command: 'echo {{decrypt:uuid-123}}' })
    expect(shown['exitCode']).toBe(0)
    expect(JSON.stringify([shown, logged]), 'neither returned nor logged').not.toContain('decrypted text')
  })

  test('Scenario: Command with unknown reference (REF-03)', async () => {
    expect((await exec({ command: 'echo {{secret:unknown}}' }))['stdout']).toBe('{{secret:unknown}}\n')
  })

  test('Scenario: Command without references (REF-04)', async () => {
    expect((await exec({ command: `echo '{{ no token }}' "a  b"` }))['stdout']).toBe('{{ no token }} a  b\n')
  })

  test('Scenario: Reference resolution in PTY mode (REF-01)', async () => {
    const result = await exec({
      command: 'printf %s {{secret:api-key}} | tee from-pty; echo {{secret:unknown}}',
      pty: true,
    })
    expect(readFileSync(join(cwd, 'from-pty'), 'utf8')).toBe(`k3y'"$(id)`)
    expect(result['stdout'], 'an unknown one stays as it is').toContain('{{secret:unknown}}')
    expect(JSON.stringify([result, logged])).not.toContain('k3y')
  })

  test('Scenario: Reference resolution in background mode (REF-01, REF-06)', async () => {
    const { id } = await execBg({ command: 'printf %s {{secret:api-key}} | tee from-bg' })
    await ended(id)
    expect(readFileSync(join(cwd, 'from-bg'), 'utf8')).toBe(`k3y'"$(id)`)
    const status = await execStatus(id)
    expect(status['command']).toBe('printf %s {{secret:api-key}} | tee from-bg')
    expect(JSON.stringify([status, logged])).not.toContain('k3y')
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
      expect(
        existsSync(join(bin, 'lango.ran')) ? readFileSync(join(bin, 'lango.ran'), 'utf8') : '',
        'it was not executed',
      ).not.toContain(command)
    })
  }

  test('wrapped in another shell it is the same command (SEC-04)', async () => {
    expect(await exec({ command: `bash -c 'lango cron list'` })).toMatchObject({ blocked: true })
  })

  test('Scenario: Context-aware guidance when feature is disabled (SEC-04)', async () => {
    const off = lango({ features: { cron: false, background: false, workflow: false } })
    for (const [command, feature] of [
      ['lango cron list', 'cron'],
      ['lango bg list', 'background'],
      ['lango background list', 'background'],
      ['lango workflow list', 'workflow'],
    ] as const)
      for (const result of [await off.exec({ command }), await off.execBg({ command })]) {
        expect(result).toMatchObject({
          blocked: true,
          message: expect.stringMatching(new RegExp(`Enable .*${feature}.* in Settings`)),
        })
      }
    expect(
      (await lango({ features: { cron: false } }).exec({ command: 'lango workflow list' }))['message'],
      'only the one that is off',
    ).not.toContain('Settings')
  })

  test('Scenario: Allow non-lango commands (SEC-04)', async () => {
    expect(await exec({ command: 'echo lango cron' })).toMatchObject({ exitCode: 0, stdout: 'lango cron\n' })
    for (const command of ['lango version', 'lango cronjobs', 'lango serve --cron'])
      expect(await exec({ command })).toMatchObject({ exitCode: 0, stdout: `${command}\n` })
    const { id } = await execBg({ command: 'echo fine' })
    await until(async () => (await execStatus(id))['done'])
    expect((await execStatus(id))['output']).toBe('fine\n')
  })
})

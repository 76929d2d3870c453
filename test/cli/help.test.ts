/** Help, mistakes, completion, doctor, bench: what a newcomer meets first. */
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { VERBS } from '../../src/cli/verbs.js'
import { age, cut, size, table } from '../../src/cli/io/table.js'
import { makeWorld } from './harness.js'

const world = makeWorld()
const { cli } = world

describe('help', () => {
  test('without a verb lists them all in 80 columns', async () => {
    for (const argv of [[], ['--help'], ['-h'], ['help']]) {
      const { code, out } = await cli(...argv)
      expect(code).toBe(0)
      for (const { name } of VERBS) expect(out).toContain(`  ${name} `)
      for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    }
  })

  test.each(VERBS.map(({ name }) => name))('of %s has two examples and fits 80 columns', async (name) => {
    const { code, out } = await cli(name, '--help')
    expect(code).toBe(0)
    expect(out).toContain(`Usage: cerith ${name}`)
    const examples = out
      .slice(out.indexOf('Examples:'))
      .split('\n')
      .filter((line) => /^ {2}\S/.test(line))
    expect(examples.length).toBeGreaterThanOrEqual(2)
    for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
    expect((await cli('help', name)).out).toBe(out)
  })

  test('--version says the version', async () => {
    for (const word of ['--version', '-V', '-v', 'version']) expect((await cli(word)).out).toMatch(/^\d+\.\d+\.\d+/)
  })
})

describe('mistakes', () => {
  test('in a verb or an option suggest the right one and exit with 125', async () => {
    expect(await cli('rnu', 'ls')).toMatchObject({ code: 125, err: expect.stringContaining('cerith run') })
    expect(await cli('frobnicate')).toMatchObject({ code: 125, err: expect.stringContaining('cerith --help') })
    expect(await cli('--json', 'run')).toMatchObject({ code: 125, err: expect.stringContaining('after the verb') })
    expect(await cli('run', '--timout', '5', 'ls')).toMatchObject({
      code: 125,
      err: expect.stringContaining('--timeout'),
    })
    expect(await cli('run')).toMatchObject({ code: 125, err: expect.stringContaining('COMMAND') })
    expect(await cli('clean', 'everything')).toMatchObject({ code: 125, err: expect.stringContaining('everything') })
    expect(await cli('run', '--env', 'NOVALUE', 'ls')).toMatchObject({
      code: 125,
      err: expect.stringContaining('NAME=VALUE'),
    })
    expect(await cli('run', '--background', '--input', 'x', 'cat')).toMatchObject({ code: 125 })
    expect(await cli('wait', 'x', '--port', 'http')).toMatchObject({
      code: 125,
      err: expect.stringContaining('whole number'),
    })
    expect(await cli('run', '--owner', 'nobody', 'ls')).toMatchObject({
      code: 125,
      err: expect.stringContaining('detached'),
    })
    expect(await cli('mcp', '--set', 'dialect=klingon')).toMatchObject({
      code: 125,
      err: expect.stringContaining('house'),
    })
  })

  test('name the option, the value and the way out, each in its own line', async () => {
    const err = async (...argv: string[]): Promise<string> => {
      const answer = await cli(...argv)
      expect(answer).toMatchObject({ code: 125, out: '' })
      expect(answer.err).toMatch(/^cerith: [^\n]+\n( {8}[^\n]+\n)?$/)
      return answer.err
    }
    expect(await err('run', '--grace', 'x', 'ls')).toContain('--grace: "x" is not a time')
    expect(await err('read', 'x', '--since', '-1')).toContain('--since: "-1" is not a whole number')
    expect(await err('run', '--timeout', '0', 'ls')).toContain('`none` for no limit')
    expect(await err('run', '--cwd', '', 'ls')).toContain('--cwd')
    expect(await err('run', '--cwd', '/etc/passwd', 'ls')).toContain('Not a directory: /etc/passwd')
    expect(await err('run', '--jsn', 'ls')).toContain('        Did you mean --json? See')
    expect(await err('serve', '--port', '99999')).toContain('--port: "99999" is not a port')
    expect(await err('serve', '--host', '0.0.0.0')).toContain('--allow-remote')
    expect(await err('--verison')).toContain('Did you mean --version?')
    expect(await err('')).not.toContain('Did you mean')
    expect(await err('logs', 'shell_1')).toContain('Did you mean `cerith read`?')
    expect(await err('stop', 'shell_1')).toContain('Did you mean `cerith kill`?')
    expect(await err('constructor')).not.toContain('Did you mean')
    expect(await err('secret', 'list', 'x')).toContain('takes no NAME')
    expect(JSON.parse((await cli('frobnicate', '--json')).out)).toMatchObject({
      status: 'error',
      error: { code: 'USAGE' },
    })
  })

  test('a secret on the command line is refused and not repeated', async () => {
    const { code, err } = await cli('secret', 'set', 'NAME', 'hunter2-in-clear')
    expect(code).toBe(125)
    expect(err).toContain('standard input')
    expect(err).not.toContain('hunter2')
  })

  test('options after the command belong to the command', async () => {
    expect((await cli('run', 'echo', '--timeout', '5', '--json')).out).toBe('--timeout 5 --json\n')
    expect((await cli('run', '--', 'echo', '-n', '--help')).out).toBe('--help')
  })
})

describe('completion', () => {
  test('completes verbs, options and choices in a real bash', async () => {
    const { out } = await cli('completion', 'bash')
    const complete = (...words: string[]): string[] => {
      const ask = `${out}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _cerith; printf '%s\\n' "\${COMPREPLY[@]}"`
      return spawnSync('bash', ['--norc', '-c', ask], { encoding: 'utf8' }).stdout.trim().split('\n')
    }
    expect(complete('cerith', 'co')).toEqual(['config', 'completion'])
    expect(complete('cerith', 'run', '--tim')).toEqual(['--timeout'])
    expect(complete('cerith', 'schema', '--dialect', 'ho')).toEqual(['house'])
    expect((await cli('completion', 'zsh')).out).toContain('bashcompinit')
    expect((await cli('completion', 'fish')).code).toBe(125)
  })
})

describe('doctor', () => {
  test('says what works and how to fix the rest', async () => {
    const { code, out } = await cli('doctor', '--no-mcp')
    expect(code).toBe(0)
    expect(out).toMatch(/ok +bash +\d/)
    expect(out).toMatch(/native helper/)
    expect(out).toContain(world.home)
    const { findings, ok } = JSON.parse((await cli('doctor', '--no-mcp', '--json')).out)
    expect(ok).toBe(true)
    for (const { state, fix } of findings) if (state !== 'ok') expect(fix).toBeTruthy()
  })

  test('tests MCP in both eras against the built program', async () => {
    const { findings } = JSON.parse((await cli('doctor', '--json')).out)
    expect(findings).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'MCP 2025', state: 'ok' }),
        expect.objectContaining({ name: 'MCP 2026', state: 'ok' }),
      ]),
    )
  })

  test('finds a broken configuration, a stray variable, a bad state directory', async () => {
    expect(await world.with({ env: { CERITH_TIMEOUT_MS: 'x' } })('doctor', '--no-mcp')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/broken +configuration/),
    })
    expect((await world.with({ env: { CERITH_TIMEOT_MS: '5' } })('doctor', '--no-mcp')).out).toContain(
      'Did you mean CERITH_TIMEOUT_MS?',
    )
    expect(await world.with({ env: { CERITH_HOME: '/proc/nowhere' } })('doctor', '--no-mcp')).toMatchObject({
      code: 1,
      out: expect.stringMatching(/broken +state directory/),
    })
  })
})

test('bench compares with plain spawn and gives ratios', async () => {
  const { results } = JSON.parse((await cli('bench', '--quick', '--json')).out)
  expect(results.length).toBeGreaterThanOrEqual(5)
  for (const { ratio, cerith_ms, spawn_ms } of results) {
    expect(ratio).toBeGreaterThan(0)
    expect(cerith_ms.p95).toBeGreaterThanOrEqual(cerith_ms.p50)
    expect(spawn_ms.p50).toBeGreaterThan(0)
  }
})

test('tables, sizes and times read well', () => {
  expect(table(['A', 'B'], [['1', 'x\u001B[2Jy']], 80)).toEqual(['A  B', '1  x�[2Jy'])
  expect(table(['A', 'B'], [['aaaaaaaaaa', 'b'.repeat(60)]], 30)[1]?.length).toBeLessThanOrEqual(30)
  expect([500, 5_000, 300_000, 7_200_000, 200_000_000].map(age)).toEqual(['500ms', '5s', '5m', '2h', '2d'])
  expect([5, 5_000, 50_000_000, 5_000_000_000].map(size)).toEqual(['5 B', '4.9 KB', '48 MB', '4.7 GB'])
  expect(cut('abcdef', 4)).toBe('abc…')
  expect(cut('日本語日本語', 6)).toBe('日本…')
  expect(
    table(
      ['A', 'B'],
      [
        ['日本', 'x'],
        ['abcd', 'y'],
      ],
      80,
    ),
  ).toEqual(['A     B', '日本  x', 'abcd  y'])
  expect(
    table(['ID', 'C', 'B'], [['shell_12345678', 'x'.repeat(20), '']], 24, { whole: ['ID'], spare: ['B'] }),
  ).toEqual(['ID              C', 'shell_12345678  xxxxxxx…'])
})

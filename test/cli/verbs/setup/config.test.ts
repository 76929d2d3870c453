/** The configuration: layers, origins, mistakes, and what a project may not do to its user. */
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { beforeEach, describe, expect, test } from 'vitest'
import { ShellError } from '../../../../src/contract/errors.js'
import { loadConfig, type LoadedConfig } from '../../../../src/config/load.js'
import { nearest } from '../../../../src/contract/names/nearest.js'
import { configJsonSchema } from '../../../../src/config/json-schema.js'
import { SETTINGS } from '../../../../src/config/schema.js'
import { makeWorld } from '../../harness.js'
import { temporaryFolder } from '../../../fixtures/folder.js'

const base = temporaryFolder('config')
const home = join(base, 'home')
const project = join(home, 'project')
const deep = join(project, 'src', 'deep')
const userFile = join(home, '.config', 'cerith', 'cerith.config.json')
const projectFile = join(project, 'cerith.config.json')

beforeEach(() => {
  rmSync(home, { recursive: true, force: true })
  mkdirSync(deep, { recursive: true })
  mkdirSync(join(home, '.config', 'cerith'), { recursive: true })
})

const user = (value: unknown): void =>
  writeFileSync(userFile, typeof value === 'string' ? value : JSON.stringify(value))
const proj = (value: unknown): void =>
  writeFileSync(projectFile, typeof value === 'string' ? value : JSON.stringify(value))
const load = (env: Record<string, string> = {}, flags: string[] = []): LoadedConfig =>
  loadConfig({ cwd: deep, env: { HOME: home, ...env }, flags })
const mistake = (work: () => unknown): ShellError => {
  try {
    work()
  } catch (error) {
    if (ShellError.is(error)) return error
    throw error
  }
  throw new Error('there should have been a mistake')
}

describe('layers', () => {
  test('defaults, user, project, environment, flags: the later wins, and each value knows where it came from', () => {
    expect(load().values['limits.timeoutMs']).toBe(120_000)
    user({ limits: { timeoutMs: 1_000, graceMs: 5 } })
    proj({ limits: { timeoutMs: 2_000 } })
    expect(load()).toMatchObject({
      values: { 'limits.timeoutMs': 2_000, 'limits.graceMs': 5 },
      origins: { 'limits.timeoutMs': ['project'], 'limits.graceMs': ['user'], 'limits.yieldMs': ['default'] },
    })
    expect(load({ CERITH_TIMEOUT_MS: '3_000' })).toMatchObject({
      values: { 'limits.timeoutMs': 3_000 },
      origins: { 'limits.timeoutMs': ['environment'] },
    })
    expect(load({ CERITH_TIMEOUT_MS: '3000' }, ['limits.timeoutMs=4000'])).toMatchObject({
      values: { 'limits.timeoutMs': 4_000 },
      origins: { 'limits.timeoutMs': ['flag'] },
    })
  })

  test('the project file is found above, and paths in a file are relative to it', () => {
    proj({ roots: ['.', 'src'], protectedPaths: ['~/.ssh'] })
    const { values, files } = load()
    expect(files.project).toBe(projectFile)
    expect(values).toMatchObject({ roots: [project, join(project, 'src')], protectedPaths: [join(home, '.ssh')] })
  })

  test('CERITH_CONFIG and XDG_CONFIG_HOME say where the user file is', () => {
    const other = join(base, 'other.json')
    writeFileSync(other, '{"dialect": "codex"}')
    expect(load({ CERITH_CONFIG: other }).values['dialect']).toBe('codex')
    expect(load({ XDG_CONFIG_HOME: join(base, 'xdg') }).files.user).toBe(
      join(base, 'xdg', 'cerith', 'cerith.config.json'),
    )
  })

  test('variables are read by type', () => {
    expect(
      load({ CERITH_AUDIT: 'off', CERITH_ENV_DROP: 'A,B*', CERITH_ROOTS: '/tmp:/srv', CERITH_POLICY_PRESET: 'careful' })
        .values,
    ).toMatchObject({
      'audit.enabled': false,
      'env.drop': ['A', 'B*'],
      roots: ['/tmp', '/srv'],
      'policy.preset': 'careful',
    })
    expect(mistake(() => load({ CERITH_AUDIT: 'perhaps' })).message).toContain('$CERITH_AUDIT')
    expect(mistake(() => load({ CERITH_TIMEOUT_MS: 'soon' })).message).toContain('whole number')
    expect(load({ CERITH_AUDIT: '' }).values['audit.enabled']).toBe(true)
  })
})

describe('mistakes', () => {
  test('a policy that is meant and cannot be found is a mistake, not the absence of a policy', () => {
    for (const file of [userFile, projectFile]) {
      symlinkSync(join(base, 'moved-away.json'), file)
      expect(mistake(() => load())).toMatchObject({
        code: 'BAD_CONFIG',
        message: `${file}: cannot be read (a link to a file that is not there)`,
      })
      rmSync(file)
      mkdirSync(file)
      expect(mistake(() => load()).message).toBe(`${file}: cannot be read (not a file)`)
      rmSync(file, { recursive: true })
    }
    const gone = join(base, 'no-such.json')
    expect(mistake(() => load({ CERITH_CONFIG: gone })).message).toContain(`${gone}: there is no such file`)
    expect(load().files.project).toBe(null)
  })

  test('an unknown key is named with the file and the nearest right one', () => {
    user({ limits: { timeoutMS: 5 } })
    expect(mistake(() => load())).toMatchObject({
      code: 'BAD_CONFIG',
      message: `${userFile}: unknown key "limits.timeoutMS"`,
      hint: 'Did you mean "limits.timeoutMs"?',
    })
    user({ timeoutMs: 5 })
    expect(mistake(() => load()).hint).toContain('limits.timeoutMs')
    user({ polcy: {} })
    expect(mistake(() => load()).hint).toContain('policy')
    user('{"__proto__": {"roots": []}}')
    expect(mistake(() => load()).message).toContain('__proto__')
    user({})
    expect(mistake(() => load({}, ['limits.tmeoutMs=5'])).hint).toContain('limits.timeoutMs')
    expect(mistake(() => load({}, ['nonsense'])).message).toContain('KEY=VALUE')
  })

  test('a value of the wrong kind says what was expected', () => {
    for (const [value, expected] of [
      [{ limits: { timeoutMs: '5' } }, 'a whole number'],
      [{ limits: { timeoutMs: -1 } }, 'from 1 to'],
      [{ limits: { timeoutMs: 1.5 } }, 'a whole number'],
      [{ policy: { preset: 'lax' } }, 'one of open, careful, readonly'],
      [{ roots: 'here' }, 'a list'],
      [{ roots: [''] }, 'a list of non-empty'],
      [{ env: { keep: [5] } }, 'a list'],
      [{ features: { cron: 'yes' } }, 'true and false'],
      [{ secrets: { environment: { A: 5 } } }, 'an object of texts'],
      [{ secrets: { commands: { A: [] } } }, 'lists of words'],
      [{ audit: { enabled: 1 } }, 'true or false'],
      [{ bash: 5 }, 'a path'],
      [{ dialect: 5 }, 'a text'],
      [{ automation: {} }, 'a list of objects'],
    ] as const) {
      user(value)
      expect(mistake(() => load()).message, JSON.stringify(value)).toContain(expected)
    }
  })

  test('a file that is no JSON, no object, or not readable is an error and never an empty policy', () => {
    for (const text of ['{', '[]', '5', '']) {
      user(text)
      expect(mistake(() => load()).code).toBe('BAD_CONFIG')
    }
    user('\uFEFF{"dialect": "forge"}')
    expect(load().values['dialect']).toBe('forge')
    rmSync(userFile)
    mkdirSync(userFile)
    expect(mistake(() => load()).message).toContain('cannot be read')
    proj(`{"dialect": "${'x'.repeat(1024 * 1024)}"}`)
    rmSync(userFile, { recursive: true })
    expect(mistake(() => load()).message).toContain('larger than')
  })

  test.skipIf(process.getuid?.() === 0)('a file without permission is an error', () => {
    user({})
    chmodSync(userFile, 0)
    expect(mistake(() => load()).message).toContain('cannot be read')
  })
})

describe('a project', () => {
  test('may not set what decides over its user', () => {
    for (const value of [
      { bash: '/tmp/evil' },
      { env: { keep: ['AWS_*'] } },
      { env: { allowDangerous: true } },
      { secrets: { commands: { A: ['sh', '-c', 'true'] } } },
      { secrets: { keyFile: '/tmp/k' } },
      { audit: { enabled: false } },
      { env: { pathFromLoginShell: true } },
      { env: { loginShell: true } },
      { env: { direnv: true } },
      { env: { mise: true } },
      { env: { dotenv: ['.'] } },
      { approval: { waitMs: 1 } },
    ]) {
      proj(value)
      expect(
        mistake(() => load()),
        JSON.stringify(value),
      ).toMatchObject({ code: 'BAD_CONFIG', message: expect.stringContaining('cannot be set by a project') })
    }
  })

  test('may lower the limits of commands, never raise them', () => {
    user({ commandLimits: { memoryBytes: 1_000, processes: 50 } })
    proj({ commandLimits: { memoryBytes: 9_000, processes: 5, cpuSeconds: 60 } })
    expect(load().values).toMatchObject({
      'commandLimits.memoryBytes': 1_000,
      'commandLimits.processes': 5,
      'commandLimits.cpuSeconds': 60,
    })
  })

  test('makes a preset stricter, never looser, also against variables and flags', () => {
    user({ policy: { preset: 'careful' } })
    proj({ policy: { preset: 'open' } })
    expect(load()).toMatchObject({ values: { 'policy.preset': 'careful' }, origins: { 'policy.preset': ['user'] } })
    proj({ policy: { preset: 'readonly' } })
    expect(load()).toMatchObject({ values: { 'policy.preset': 'readonly' }, origins: { 'policy.preset': ['project'] } })
    expect(load({ CERITH_POLICY_PRESET: 'open' }).values['policy.preset']).toBe('readonly')
  })

  test('adds its deny and ask rules to those of the user; its allow rules count only where the user has no policy', () => {
    const deny = { decision: 'deny', commands: ['git push'] }
    const allow = { decision: 'allow', commands: ['curl *'] }
    proj({ policy: { preset: 'careful', rules: [allow, deny] } })
    expect(load().values['policy.rules']).toEqual([allow, deny])
    user({ policy: { rules: [{ decision: 'ask', commands: ['curl *'] }] } })
    expect(load()).toMatchObject({
      values: { 'policy.rules': [{ decision: 'ask', commands: ['curl *'] }, deny] },
      origins: { 'policy.rules': ['user', 'project'] },
    })
    rmSync(userFile)
    expect(load({ CERITH_POLICY_PRESET: 'careful' }).values['policy.rules']).toEqual([deny])
  })

  test('protects more paths and denies where either denies', () => {
    user({ policy: { protected: { paths: ['~/.ssh'], decision: 'deny' } } })
    proj({ policy: { protected: { paths: ['.git/hooks'], decision: 'ask' } } })
    expect(load().values['policy.protected']).toEqual({ paths: ['~/.ssh', '.git/hooks'], decision: 'deny' })
  })

  test('may narrow the roots, not widen them', () => {
    user({ roots: ['~/project'] })
    proj({ roots: ['src'] })
    expect(load().values['roots']).toEqual([join(project, 'src')])
    proj({ roots: ['..'] })
    expect(mistake(() => load()).message).toContain('outside your own roots')
    proj({ roots: [] })
    expect(load().values['roots']).toEqual([project])
  })

  test('may not widen where `careful` of its user lets commands write', () => {
    user({ policy: { preset: 'careful' } })
    proj({ policy: { roots: ['/'] } })
    expect(mistake(() => load()).message).toContain('policy.roots')
    proj({ policy: { roots: ['build'] } })
    expect(load().values['policy.roots']).toEqual([join(project, 'build')])
  })
})

describe('the JSON Schema', () => {
  const validate = new Ajv({ strict: false }).compile(configJsonSchema())

  test('accepts what the loader accepts and refuses unknown keys', () => {
    expect(
      validate({
        $schema: 'x',
        policy: {
          preset: 'careful',
          rules: [{ decision: 'deny', commands: ['git push'], match: ['git push origin'] }],
        },
        limits: { timeoutMs: 5 },
        env: { drop: ['A'] },
      }),
    ).toBe(true)
    expect(validate({ limits: { timeoutMS: 5 } })).toBe(false)
    expect(validate({ policy: { rules: [{ decision: 'perhaps', commands: [] }] } })).toBe(false)
  })

  test('has a description and every key of the table', () => {
    for (const { key, about } of SETTINGS) {
      const [group, name] = key.split('.') as [string, string?]
      const properties = configJsonSchema()['properties'] as Record<
        string,
        { description?: string; properties?: Record<string, { description?: string }> }
      >
      expect(name ? properties[group]?.properties?.[name]?.description : properties[group]?.description).toBe(about)
    }
  })

  test('is what the package publishes', () => {
    expect(JSON.parse(readFileSync(new URL('../../../../dist/cerith.schema.json', import.meta.url), 'utf8'))).toEqual(
      configJsonSchema(),
    )
  })
})

describe('cerith config', () => {
  const world = makeWorld()

  test('prints every value with its origin', async () => {
    writeFileSync(join(world.dir, 'cerith.config.json'), '{"limits": {"timeoutMs": 5000}, "env": {"drop": ["X"]}}')
    const { code, out } = await world.with({ env: { CERITH_DIALECT: 'codex' } })('config')
    expect(code).toBe(0)
    expect(out).toMatch(/limits\.timeoutMs +5000 +\(project\)/)
    expect(out).toMatch(/dialect +codex +\(environment\)/)
    expect(out).toContain(join(world.dir, 'cerith.config.json'))
    const { settings } = JSON.parse((await world.cli('config', '--json', '--set', 'limits.graceMs=7')).out)
    expect(settings).toMatchObject({
      'limits.timeoutMs': { value: 5000, origin: ['project'] },
      'limits.graceMs': { value: 7, origin: ['flag'] },
      'limits.yieldMs': { origin: ['default'] },
    })
    expect((await world.cli('config', 'limits.timeoutMs')).out).toBe('5000\n')
    expect((await world.cli('config', 'limts')).err).toContain('limits')
    expect(JSON.parse((await world.cli('config', '--schema')).out)).toHaveProperty('properties')
  })

  test('a limit of the project counts for a run', async () => {
    writeFileSync(join(world.dir, 'cerith.config.json'), '{"limits": {"timeoutMs": 150}}')
    expect((await world.cli('run', 'sleep 30')).code).toBe(124)
  })

  test('a mistake in the policy stops everything before it runs', async () => {
    writeFileSync(
      join(world.dir, 'cerith.config.json'),
      '{"policy": {"rules": [{"decision": "deny", "commands": ["git push"], "match": ["git pull"]}]}}',
    )
    const { code, err } = await world.cli('run', 'echo ran')
    expect(code).toBe(125)
    expect(err).toContain('policy.')
  })

  test('the project file cannot be changed by a command', async () => {
    writeFileSync(join(world.dir, 'cerith.config.json'), '{}')
    expect((await world.cli('run', 'echo "{}" > cerith.config.json')).code).toBe(126)
    expect((await world.cli('run', 'rm -f cerith.config.json')).code).toBe(126)
    rmSync(join(world.dir, 'cerith.config.json'))
    expect((await world.cli('run', 'echo "{}" > cerith.config.json')).code).toBe(126)
  })
})

test('the nearest name is found for a slip and not for something else', () => {
  expect(nearest('timeotMs', ['timeoutMs', 'graceMs'])).toBe('timeoutMs')
  expect(nearest('rnu', ['run', 'ps'])).toBe('run')
  expect(nearest('desc', ['command', 'description'])).toBe('description')
  expect(nearest('timeoutSeconds', ['command', 'timeout'])).toBe('timeout')
  expect(nearest('--', ['--version'])).toBe(null)
  expect(nearest('id', ['command', 'cwd'])).toBe(null)
  expect(nearest('entirely-different', ['run', 'ps'])).toBe(null)
  expect(nearest('x'.repeat(5_000), ['run'])).toBe(null)
})

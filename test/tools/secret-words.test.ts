/**
 * A model is told that there are secrets and what they are called, in every dialect, and pays nothing while there are
 * none.
 */
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { createEngine } from '../../src/index.js'
import { instructionsFor, shellFacts } from '../../src/mcp/setup/identity.js'
import { settingsOf } from '../../src/mcp/setup/options.js'
import { environmentSource } from '../../src/secrets/sources.js'
import { DIALECTS, type DialectName } from '../../src/tools/dialects/index.js'
import { createTools, toolSchemas } from '../../src/tools/index.js'
import { temporaryFolder } from '../fixtures/folder.js'

const base = temporaryFolder('names')
const engine = await createEngine({
  cwd: base,
  stateDir: join(base, 'state'),
  secretSources: [environmentSource({ DEPLOY: 'A_VARIABLE' }, { A_VARIABLE: 'a value nobody sees' })],
})
afterAll(async () => {
  await engine.close()
})
const names = Object.keys(DIALECTS) as DialectName[]

describe.each(names)('dialect %s', (dialect) => {
  test('the tools that take a command name the secrets, also those that were set later', () => {
    const tools = createTools(engine, { dialect })
    const told = (): string[] =>
      tools.list().flatMap((tool) => /Secrets:.*Names: (.*)\.$/.exec(tool.description)?.[1] ?? [])
    const before = told()
    expect(before.length).toBeGreaterThan(0)
    expect(new Set(before)).toEqual(new Set(['DEPLOY']))
    engine.secrets.set('later', 'another value')
    expect(new Set(told())).toEqual(new Set(['DEPLOY, later']))
    engine.secrets.delete('later')
    expect(JSON.stringify(tools.schemas('mcp'))).not.toContain('a value')
  })

  test('without secrets there is not a word of them', () => {
    expect(JSON.stringify(toolSchemas(dialect, 'mcp'))).not.toContain('Secrets:')
  })
})

test('the instructions of the MCP server name them', () => {
  const settings = settingsOf({})
  expect(instructionsFor(shellFacts(engine, settings), settings)).toMatch(/\{\{secret:NAME\}\}.*Names: DEPLOY\.$/)
})

test('of many names the first are told, and how many there are', () => {
  for (let i = 100; i < 130; i++) engine.secrets.set(`n${i}`, `value ${i}`)
  const [bash] = createTools(engine).list()
  expect(bash?.description).toMatch(/Names: DEPLOY, n100, .* and 11 more\.$/)
  engine.secrets.clear()
})

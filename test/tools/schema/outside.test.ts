/** One command outside the sandbox, in the words of each dialect that has the notion. */
import { describe, expect, test } from 'vitest'
import type { RunRequest } from '../../../src/contract/request.js'
import type { SandboxOptions } from '../../../src/contract/sandbox.js'
import { createTools, toolDefinitions, type DialectName } from '../../../src/tools/index.js'
import { scriptedEngine } from '../scripted-engine.js'

const sandbox: SandboxOptions = { profile: 'workspace' }

interface Words {
  readonly dialect: DialectName
  readonly tool: string
  readonly asks: Record<string, unknown>
  readonly plain: Record<string, unknown>
  readonly fields: readonly string[]
}

const WORDS: readonly Words[] = [
  {
    dialect: 'house',
    tool: 'Bash',
    asks: { command: 'make install', outside: 'it writes to /usr' },
    plain: { command: 'make', outside: '' },
    fields: ['outside'],
  },
  {
    dialect: 'codex',
    tool: 'exec_command',
    asks: { cmd: 'make install', sandbox_permissions: 'require_escalated', justification: 'it writes to /usr' },
    plain: { cmd: 'make', sandbox_permissions: 'use_default', justification: 'unused' },
    fields: ['sandbox_permissions', 'justification'],
  },
  ...(['forge', 'wave'] as const).map((dialect) => ({
    dialect,
    tool: 'Bash',
    asks: { command: 'make install', dangerouslyDisableSandbox: true, description: 'it writes to /usr' },
    plain: { command: 'make', dangerouslyDisableSandbox: false },
    fields: ['dangerouslyDisableSandbox'],
  })),
]

const run = async (words: Words, input: Record<string, unknown>, given?: SandboxOptions): Promise<RunRequest[]> => {
  const requests: RunRequest[] = []
  const tools = createTools(scriptedEngine({ requests, ...(given ? { sandbox: given } : {}) }), {
    dialect: words.dialect,
  })
  await tools.execute(words.tool, input)
  return requests
}

describe.each(WORDS.map((words) => [words.dialect, words] as const))('%s', (_, words) => {
  test('its own fields become `outside` with the reason that was given', async () => {
    const [request] = await run(words, words.asks, sandbox)
    expect(request?.outside).toBe('it writes to /usr')
    const [usual] = await run(words, words.plain, sandbox)
    expect(usual?.outside).toBeUndefined()
  })

  test('without a sandbox the fields are accepted, not shown, and mean nothing', async () => {
    const [request] = await run(words, words.asks)
    expect(request?.outside).toBeUndefined()
    const shown = (given: SandboxOptions | null): string[] =>
      Object.keys(
        toolDefinitions(words.dialect, { sandbox: given }).find(({ name }) => name === words.tool)?.inputSchema
          .properties ?? {},
      )
    for (const field of words.fields) {
      expect(shown(null)).not.toContain(field)
      expect(shown(sandbox)).toContain(field)
      expect(shown({ ...sandbox, outside: 'never' })).not.toContain(field)
    }
  })
})

test('without a reason the question says that none was given', async () => {
  const [, codex, forge] = WORDS as [Words, Words, Words]
  const [bare] = await run(codex, { cmd: 'make', sandbox_permissions: 'require_escalated' }, sandbox)
  expect(bare?.outside).toContain('none was given')
  const [also] = await run(forge, { command: 'make', dangerouslyDisableSandbox: true }, sandbox)
  expect(also?.outside).toContain('none was given')
})

test('the house understands the switch of its sibling, with the description as the reason', async () => {
  const [house] = WORDS as [Words]
  const [request] = await run(
    house,
    { command: 'make', dangerouslyDisableSandbox: true, description: 'needs docker' },
    sandbox,
  )
  expect(request?.outside).toBe('needs docker')
})

test('a command outside does not go to the background', async () => {
  const tools = createTools(scriptedEngine({ sandbox }), { dialect: 'house' })
  const result = await tools.execute('Bash', { command: 'make', outside: 'why', run_in_background: true })
  expect(result.isError).toBe(true)
  expect(result.text).toContain('cannot go to the background')
})

test('codex gets the exit code and the output of a command outside in its own shape', async () => {
  const tools = createTools(scriptedEngine({ sandbox, outcome: { output: 'made\n' } }), { dialect: 'codex' })
  const result = await tools.execute('exec_command', {
    cmd: 'make',
    sandbox_permissions: 'require_escalated',
    justification: 'x',
  })
  expect(result.structured).toMatchObject({ output: 'made\n', exit_code: 0 })
  expect(result.text).toContain('Process exited with code 0')
})

test('every tool that runs commands says what confines them', () => {
  const told = (dialect: DialectName, given: SandboxOptions): string =>
    toolDefinitions(dialect, { sandbox: given })[0]?.description ?? ''
  for (const dialect of ['house', 'codex', 'forge', 'wave', 'gemini', 'anthropic', 'lango', 'phoenix'] as const) {
    expect(told(dialect, sandbox)).toContain('Sandboxed: only the workspace and /tmp can be written; no network')
    expect(told(dialect, { profile: 'read-only', network: 'allow-list', domains: ['a.test'] })).toContain(
      'Sandboxed: only /tmp can be written; network: a.test',
    )
  }
  expect(toolDefinitions('house')[0]?.description).not.toContain('Sandboxed')
})

/** What the tools cost a model before they do anything, and on top of what a command printed. */
import { encode } from 'gpt-tokenizer'
import { expect, test } from 'vitest'
import type { SandboxOptions } from '../../src/contract/sandbox.js'
import { createTools, toolDefinitions, toolSchemas } from '../../src/tools/index.js'
import { scriptedEngine, type Script } from './scripted-engine.js'

test('the house tool list stays under 3 KB of JSON, with and without a yield', () => {
  for (const options of [{}, { yieldMs: 45_000 }]) {
    const tools = toolSchemas('house', 'mcp', { shell: 'GNU bash, version 5.2.15(1)-release', ...options })
    expect(tools).toHaveLength(5)
    expect(Buffer.byteLength(JSON.stringify({ tools }))).toBeLessThan(3_000)
  }
})

test('a sandbox adds at most 60 tokens to the house tool list', () => {
  const tokens = (sandbox: SandboxOptions | null): number =>
    encode(JSON.stringify(toolDefinitions('house', { sandbox }))).length
  expect(tokens({ profile: 'workspace' }) - tokens(null)).toBeLessThanOrEqual(60)
})

test('a house result adds at most 40 tokens to the raw output in the usual cases', async () => {
  const raw = 'On branch main\nnothing to commit, working tree clean\n'
  const usual: Script[] = [
    { outcome: { stdout: raw } },
    { outcome: { stdout: raw, durationMs: 75_400 } },
    { outcome: { stdout: raw, stderr: raw } },
    { outcome: { stdout: raw, status: 'failed', exitCode: 1, end: { kind: 'exit', code: 1 } } },
    {
      outcome: {
        stdout: raw,
        status: 'timeout',
        exitCode: null,
        end: { kind: 'timeout', afterMs: 120_000, forced: false },
      },
    },
    { outcome: { stdout: raw, cwd: '/srv/app/packages/core' } },
  ]
  for (const script of usual) {
    const { text } = await createTools(scriptedEngine(script)).execute('Bash', { command: 'git status' })
    const plain = `${script.outcome?.stdout}${script.outcome?.stderr ?? ''}`
    expect(encode(text).length - encode(plain).length, text).toBeLessThanOrEqual(40)
  }
  const read = await createTools(scriptedEngine({ streams: { output: raw } })).execute('BashOutput', {
    bash_id: 'shell_0a1b2c3d',
  })
  expect(encode(read.text).length - encode(raw).length, read.text).toBeLessThanOrEqual(40)
})

/**
 * The examples, run against the real SDKs without a network: stub fetch or mock model on one side, a real shell on the
 * other.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import { Usage, type Model, type ModelRequest, type ModelResponse, type Shell } from '@openai/agents'
import { streamText, stepCountIs } from 'ai'
import { MockLanguageModelV3, simulateReadableStream } from 'ai/test'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { ask as askAiSdk } from '../../examples/ai-sdk.js'
import { ask as askAnthropic } from '../../examples/anthropic-bash.js'
import { ask as askGemini } from '../../examples/gemini.js'
import { shellTools } from '../../examples/langchain.js'
import { askWithFunctions, askWithShell } from '../../examples/openai-agents.js'
import { ask as askOpenAI } from '../../examples/openai-responses.js'
import {
  agentsSandbox,
  agentsShell,
  aiSdkSandbox,
  aiSdkTools,
  answerResponse,
  answerToolUses,
  createTools,
} from '../../src/tools/index.js'
import { makeGate } from '../fixtures/gate.js'
import { liveEngine, type Loose } from './live-engine.js'

const { engine, cwd } = await liveEngine()

/** Answers each request with the next reply and keeps the bodies. */
function stubFetch(replies: readonly unknown[]) {
  const bodies: Record<string, Loose>[] = []
  const fetch = async (_url: unknown, init?: { body?: unknown }): Promise<Response> => {
    bodies.push(JSON.parse(String(init?.body)))
    return new Response(JSON.stringify(replies[bodies.length - 1]), { headers: { 'content-type': 'application/json' } })
  }
  return { bodies, fetch: fetch as unknown as typeof globalThis.fetch }
}

describe('Vercel AI SDK', () => {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  }
  const call = (name: string, input: unknown) => ({
    content: [{ type: 'tool-call' as const, toolCallId: 'c1', toolName: name, input: JSON.stringify(input) }],
    finishReason: { unified: 'tool-calls' as const, raw: undefined },
    usage,
    warnings: [],
  })
  const say = (text: string) => ({
    content: [{ type: 'text' as const, text }],
    finishReason: { unified: 'stop' as const, raw: undefined },
    usage,
    warnings: [],
  })

  test('a model calls Bash and reads the text of the result', async () => {
    const model = new MockLanguageModelV3({
      doGenerate: [call('Bash', { command: 'echo hello' }), say('It said hello.')],
    })
    expect(await askAiSdk(model, engine, 'Say hello')).toBe('It said hello.')
    expect(model.doGenerateCalls[0]!.tools).toHaveLength(5)
    expect(model.doGenerateCalls[0]!.tools![0]).toMatchObject({
      type: 'function',
      name: 'Bash',
      inputSchema: { type: 'object', required: ['command'] },
    })
    const [result] = (model.doGenerateCalls[1]!.prompt.at(-1) as Loose).content
    expect(result.output.type).toBe('text')
    expect(result.output.value).toMatch(/^\[exit 0, .+\]\nhello\n/)
  })

  test('a failed command is an error text, and wrong input is answered in words', async () => {
    const model = new MockLanguageModelV3({
      doGenerate: [call('Bash', { command: 'echo no >&2; exit 3' }), call('Bash', { comand: 'x' }), say('ok')],
    })
    await askAiSdk(model, engine, 'x')
    const outputs = model.doGenerateCalls.slice(1).map((made) => (made.prompt.at(-1) as Loose).content[0].output)
    expect(outputs[0]).toMatchObject({ type: 'error-text', value: expect.stringContaining('exit 3') })
    expect(outputs[1]).toMatchObject({ type: 'error-text', value: expect.stringContaining("Did you mean 'command'") })
  })

  test('output arrives as preliminary results while the command runs (EXEC-16)', async () => {
    const parts = [
      { type: 'stream-start' as const, warnings: [] },
      {
        type: 'tool-call' as const,
        toolCallId: 'c1',
        toolName: 'Bash',
        input: JSON.stringify({ command: 'echo one; sleep 0.3; echo two' }),
      },
      { type: 'finish' as const, finishReason: { unified: 'tool-calls' as const, raw: undefined }, usage },
    ]
    const model = new MockLanguageModelV3({
      doStream: async () => ({ stream: simulateReadableStream({ chunks: parts }) }),
    })
    const seen: { preliminary: boolean; text: string }[] = []
    const { fullStream } = streamText({
      model,
      tools: aiSdkTools(createTools(engine)),
      prompt: 'x',
      stopWhen: stepCountIs(1),
    })
    for await (const part of fullStream)
      if (part.type === 'tool-result')
        seen.push({ preliminary: part.preliminary === true, text: (part.output as { text: string }).text })
    expect(seen[0]).toEqual({ preliminary: true, text: 'one\n' })
    expect(seen.at(-1)).toMatchObject({ preliminary: false, text: expect.stringContaining('one\ntwo\n') })
  })

  test('the sandbox session runs, spawns, reads and writes', async () => {
    const sandbox = aiSdkSandbox(engine)
    expect(sandbox.description).toContain(cwd)
    expect(await sandbox.run({ command: 'echo out; echo err >&2; exit 4' })).toEqual({
      exitCode: 4,
      stdout: 'out\n',
      stderr: 'err\n',
    })
    await sandbox.writeTextFile({ path: 'deep/in/note.txt', content: 'one\ntwo\nthree\n' })
    expect(await sandbox.readTextFile({ path: 'deep/in/note.txt', startLine: 2, endLine: 2 })).toBe('two')
    expect(await sandbox.readTextFile({ path: 'nowhere.txt' })).toBeNull()
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
    await sandbox.writeBinaryFile({ path: 'all bytes', content: bytes })
    expect(await sandbox.readBinaryFile({ path: 'all bytes' })).toEqual(bytes)
    await sandbox.writeFile({ path: 'streamed', content: new Blob(['abc']).stream() })
    expect(await new Response(await sandbox.readFile({ path: 'streamed' })).text()).toBe('abc')
  })

  test('the sandbox says in stderr why something did not run or did not end', async () => {
    const sandbox = aiSdkSandbox(engine, { timeoutMs: 1_000 })
    expect(await sandbox.run({ command: 'rm -rf /' })).toMatchObject({
      exitCode: 126,
      stderr: expect.stringMatching(/blocked.*dangerous/s),
    })
    expect(await sandbox.run({ command: 'echo early; sleep 30' })).toMatchObject({
      exitCode: 124,
      stdout: 'early\n',
      stderr: expect.stringContaining('timeout'),
    })
    await expect(sandbox.readTextFile({ path: '/' })).rejects.toThrow(/Could not read \//)
    await expect(sandbox.writeTextFile({ path: '/proc/nothing/x', content: '' })).rejects.toThrow(/Could not write/)
  })

  test('a spawned process streams, can be waited for and killed', async () => {
    const sandbox = aiSdkSandbox(engine)
    const child = await sandbox.spawn({ command: 'echo one; echo bad >&2; exit 5' })
    expect(child.pid).toBeGreaterThan(0)
    expect(await new Response(child.stdout).text()).toBe('one\n')
    expect(await new Response(child.stderr).text()).toBe('bad\n')
    expect(await child.wait()).toEqual({ exitCode: 5 })
    const sleeper = await sandbox.spawn({ command: 'sleep 300' })
    await sleeper.kill()
    expect((await sleeper.wait()).exitCode, 'ended by SIGTERM').toBe(143)
  })
})

describe('Anthropic SDK', () => {
  const message = (content: unknown[]) => ({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'x',
    content,
    stop_reason: content.some((block: Loose) => block.type === 'tool_use') ? 'tool_use' : 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  })
  const use = (name: string, input: unknown) => message([{ type: 'tool_use', id: 'tu1', name, input }])

  test('the tool runner drives bash_20250124 in a session that remembers', async () => {
    const { bodies, fetch } = stubFetch([
      use('bash', { command: 'export GREETING=hello; cd /' }),
      use('bash', { command: 'echo $GREETING; pwd' }),
      message([{ type: 'text', text: 'done' }]),
    ])
    const client = new Anthropic({ apiKey: 'none', fetch, maxRetries: 0 })
    expect(await askAnthropic(client, engine, 'x')).toBe('done')
    expect(bodies[0]!['tools']).toEqual([{ type: 'bash_20250124', name: 'bash' }])
    expect(JSON.stringify(bodies[2]!['messages'].at(-1).content)).toContain('hello\\n/\\n')
  })

  test('custom tools: a refusal is an error result with its guidance', async () => {
    const { bodies, fetch } = stubFetch([
      use('Bash', { command: 'rm -rf /' }),
      message([{ type: 'text', text: 'sorry' }]),
    ])
    const client = new Anthropic({ apiKey: 'none', fetch, maxRetries: 0 })
    await askAnthropic(client, engine, 'x', 'house')
    expect(bodies[0]!['tools'][0]).toMatchObject({ name: 'Bash', input_schema: { type: 'object' } })
    const [result] = bodies[1]!['messages'].at(-1).content
    expect(result).toMatchObject({ type: 'tool_result', tool_use_id: 'tu1', is_error: true })
    expect(JSON.stringify(result.content)).toMatch(/blocked.*dangerous/)
  })

  test('restart gives a new shell, and a hand-written loop gets tool_result blocks', async () => {
    const tools = createTools(engine, { dialect: 'anthropic', session: 'restarted' })
    await tools.execute('bash', { command: 'X=kept' })
    const results = await answerToolUses(
      [
        { type: 'tool_use', id: 'a', name: 'bash', input: { restart: true } } as never,
        { type: 'tool_use', id: 'b', name: 'bash', input: { command: 'echo "[$X]"' } } as never,
      ],
      tools,
    )
    expect(results).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: 'The shell was restarted.', is_error: false },
      { type: 'tool_result', tool_use_id: 'b', content: '[]\n', is_error: false },
    ])
  })
})

describe('OpenAI Responses', () => {
  test('shell_call items are answered one output per command', async () => {
    const { bodies, fetch } = stubFetch([
      {
        id: 'r1',
        object: 'response',
        output: [
          {
            type: 'shell_call',
            id: 's',
            call_id: 'call_1',
            status: 'completed',
            environment: null,
            action: { commands: ['echo hello', 'sleep 30', 'exit 3'], timeout_ms: 1_000, max_output_length: 4_096 },
          },
        ],
      },
      {
        id: 'r2',
        object: 'response',
        output: [
          {
            type: 'message',
            role: 'assistant',
            id: 'm',
            status: 'completed',
            content: [{ type: 'output_text', text: 'done', annotations: [] }],
          },
        ],
      },
    ])
    const client = new OpenAI({ apiKey: 'none', fetch, maxRetries: 0 })
    expect(await askOpenAI(client, engine, 'x')).toBe('done')
    expect(bodies[0]!['tools']).toEqual([{ type: 'shell', environment: { type: 'local' } }])
    expect(bodies[1]).toMatchObject({
      previous_response_id: 'r1',
      input: [{ type: 'shell_call_output', call_id: 'call_1', max_output_length: 4_096 }],
    })
    const { output } = bodies[1]!['input'][0]
    expect(output.map((entry: Loose) => entry.outcome)).toEqual([
      { type: 'exit', exit_code: 0 },
      { type: 'timeout' },
      { type: 'exit', exit_code: 3 },
    ])
    expect(output[0].stdout).toBe('hello\n')
  })
})

test('function calls of any dialect are answered too, what is not ours is left alone, and an empty action says why', async () => {
  const house = createTools(engine)
  const calls = [
    { type: 'message' },
    { type: 'function_call', call_id: 'a', name: 'Bash', arguments: '{"command":"echo hello"}' },
    { type: 'function_call', call_id: 'b', name: 'somebody_elses', arguments: '{}' },
    { type: 'function_call', call_id: 'c', name: 'Bash', arguments: 'not json' },
  ]
  const answers = await answerResponse(calls, house)
  expect(answers).toEqual([
    { type: 'function_call_output', call_id: 'a', output: expect.stringContaining('hello') },
    { type: 'function_call_output', call_id: 'c', output: expect.stringContaining('must be an object') },
  ])
  const shell = createTools(engine, { dialect: 'openai-shell' })
  const [bad] = await answerResponse(
    [
      {
        type: 'shell_call',
        call_id: 'd',
        action: { commands: ['true'], timeout_ms: -1, max_output_length: null },
      } as never,
    ],
    shell,
  )
  expect(bad).toMatchObject({
    type: 'shell_call_output',
    output: [
      { stderr: expect.stringContaining("'timeout_ms' below minimum"), outcome: { type: 'exit', exit_code: 125 } },
    ],
  })
  const [none] = await answerResponse(
    [
      {
        type: 'shell_call',
        call_id: 'e',
        action: { commands: [], timeout_ms: null, max_output_length: null },
      } as never,
    ],
    shell,
  )
  expect(none).toMatchObject({
    output: [{ stderr: expect.stringContaining('at least one command'), outcome: { type: 'exit', exit_code: 125 } }],
  })
  expect(await house.execute('Nope', {})).toMatchObject({
    isError: true,
    text: expect.stringContaining('Tool not found: Nope. The tools are Bash'),
  })
})

describe('OpenAI Agents SDK', () => {
  /** Plays the replies one after the other. */
  function scripted(replies: readonly unknown[][]): { model: Model; requests: ModelRequest[] } {
    const requests: ModelRequest[] = []
    const model = {
      getResponse: async (request: ModelRequest) => {
        requests.push(request)
        return { usage: new Usage(), output: replies[requests.length - 1] } as unknown as ModelResponse
      },
      getStreamedResponse: () => {
        throw new Error('not streamed')
      },
    } as unknown as Model
    return { model, requests }
  }
  const said = (text: string) => [
    { type: 'message', role: 'assistant', status: 'completed', content: [{ type: 'output_text', text }] },
  ]

  test('shellTool runs its actions through the engine', async () => {
    const { model, requests } = scripted([
      [{ type: 'shell_call', callId: 'c1', status: 'completed', action: { commands: ['echo hello', 'false'] } }],
      said('done'),
    ])
    expect(await askWithShell(model, engine, 'x')).toBe('done')
    const answer = (requests[1]!.input as Loose[]).find((item) => item.type === 'shell_call_output')
    expect(answer.output).toMatchObject([
      { stdout: 'hello\n', outcome: { type: 'exit', exitCode: 0 } },
      { outcome: { type: 'exit', exitCode: 1 } },
    ])
  })

  test('the Shell fits the interface, and times out as the action says', async () => {
    const shell: Shell = agentsShell(engine)
    const { output } = await shell.run({ commands: ['echo early; sleep 30'], timeoutMs: 1_000 })
    expect(output).toEqual([{ stdout: 'early\n', stderr: '', outcome: { type: 'timeout' } }])
  })

  test('exec_command and write_stdin as function tools', async () => {
    const { model, requests } = scripted([
      [
        {
          type: 'function_call',
          callId: 'c1',
          name: 'exec_command',
          status: 'completed',
          arguments: JSON.stringify({ cmd: 'echo hello; exit 7' }),
        },
      ],
      said('done'),
    ])
    expect(await askWithFunctions(model, engine, 'x')).toBe('done')
    expect(requests[0]!.tools.map((tool) => tool.name)).toEqual(['exec_command', 'write_stdin'])
    const answer = (requests[1]!.input as Loose[]).find((item) => item.type === 'function_call_result')
    expect(JSON.stringify(answer.output)).toMatch(/Process exited with code 7.*hello/)
  })

  test('the sandbox session: what is alive after the yield is polled by its number', async () => {
    const sandbox = agentsSandbox(engine)
    const gate = makeGate()
    const first = await sandbox.execCommand({ cmd: `echo one; ${gate.wait}; echo two`, yieldTimeMs: 1_000 })
    gate.open()
    const sessionId = Number(/session ID (\d+)/.exec(first)?.[1])
    expect(first).toContain('one')
    expect(sessionId).toBeGreaterThanOrEqual(1_000)
    const second = await sandbox.writeStdin({ sessionId, chars: '', yieldTimeMs: 20_000 })
    expect(second).toContain('Process exited with code 0')
    expect(second).toContain('two')
    expect(second).not.toContain('one')
  })

  test('the sandbox session does not pretend to be another user', async () => {
    await expect(agentsSandbox(engine).execCommand({ cmd: 'touch as-nobody', runAs: 'nobody' })).rejects.toThrow(
      'cannot run as nobody',
    )
    expect(existsSync(join(cwd, 'as-nobody'))).toBe(false)
  })

  test('a signal, a time out and an interrupt are told apart in numbers', async () => {
    const { output } = await agentsShell(engine, { session: 'numbers' }).run({
      commands: ['kill -KILL $$', 'echo "NOT killed" >&2; sleep 30', 'rm -rf /'],
      timeoutMs: 1_000,
    })
    expect(output.map(({ outcome }) => outcome)).toEqual([
      { type: 'exit', exitCode: 137 },
      { type: 'timeout' },
      { type: 'exit', exitCode: 126 },
    ])
    const text = (
      await createTools(engine, { dialect: 'openai-shell', session: 'numbers' }).execute('shell', {
        commands: ['echo "NOT killed" >&2; sleep 30'],
        timeout_ms: 1_000,
      })
    ).text
    expect(text, 'what a command prints decides nothing').toBe('[timed out]\n[stderr]\nNOT killed\n')
  })
})

describe('LangChain', () => {
  test('tools are invoked by a tool call and return content with the structured result as artifact', async () => {
    const [bash] = shellTools(engine)
    const message = await bash!.invoke({
      type: 'tool_call',
      id: 'c1',
      name: 'Bash',
      args: { command: 'echo hello' },
    } as never)
    expect(message).toMatchObject({
      tool_call_id: 'c1',
      content: expect.stringMatching(/exit 0[^]*hello/),
      artifact: { status: 'completed', stdout: 'hello\n', is_error: false },
    })
  })

  test('wrong input names the field, although LangChain looks at it first', async () => {
    const [bash] = shellTools(engine)
    const call = (args: unknown) => bash!.invoke({ type: 'tool_call', id: 'c1', name: 'Bash', args } as never)
    await expect(call({ comand: 'x' })).rejects.toThrow('comand')
    await expect(call({ command: 'x', timeout: 700_000 })).rejects.toThrow('700000 is greater than 600000')
  })
})

describe('Gemini', () => {
  test('function calls are answered with output or error', async () => {
    const call = (args: unknown) => ({
      candidates: [
        { content: { role: 'model', parts: [{ functionCall: { id: 'f', name: 'run_shell_command', args } }] } },
      ],
    })
    const { bodies, fetch } = stubFetch([
      call({ command: 'echo hello; exit 2', description: 'Say hello' }),
      call({ dir_path: '/' }),
      { candidates: [{ content: { role: 'model', parts: [{ text: 'done' }] } }] },
    ])
    const real = globalThis.fetch
    globalThis.fetch = fetch
    try {
      expect(await askGemini(new GoogleGenAI({ apiKey: 'none' }), engine, 'x')).toBe('done')
    } finally {
      globalThis.fetch = real
    }
    expect(bodies[1]!['contents'].at(-1).parts[0].functionResponse).toEqual({
      id: 'f',
      name: 'run_shell_command',
      response: { output: 'Exit Code: 2\nOutput: hello\n' },
    })
    expect(bodies[2]!['contents'].at(-1).parts[0].functionResponse.response.error).toContain(
      "Missing required field: 'command'",
    )
  })
})

/**
 * The engine as the OpenAI Agents SDK wants it: a `Shell` for its shell tool, a sandbox
 * session, or function tools. Needs no import of the SDK.
 */
import type { Engine } from '../../contract/engine.js'
import { createTools } from '../create-tools.js'
import { shellOutputs } from '../dialects/openai-shell.js'
import type { ToolOptions } from '../options.js'
import type { ToolSet } from '../tool.js'

export interface AgentsShellAction {
  readonly commands: string[]
  readonly timeoutMs?: number
  readonly maxOutputLength?: number
}

/** A type, not an interface: only a type fits the SDK's open record. */
export type AgentsShellOutput = {
  stdout: string
  stderr: string
  outcome: { type: 'exit'; exitCode: number } | { type: 'timeout' }
}

/** For `shellTool({ shell: agentsShell(engine) })`: commands run in one session that remembers. */
export function agentsShell(
  engine: Engine,
  options: ToolOptions = {},
): { run(action: AgentsShellAction): Promise<{ output: AgentsShellOutput[]; maxOutputLength?: number }> } {
  const tools = createTools(engine, { ...options, dialect: 'openai-shell' })
  return {
    run: async ({ commands, timeoutMs, maxOutputLength }) => {
      const result = await tools.execute('shell', {
        commands,
        timeout_ms: timeoutMs,
        max_output_length: maxOutputLength,
      })
      const output = shellOutputs(result).map(({ stdout, stderr, outcome }): AgentsShellOutput => ({
        stdout,
        stderr,
        outcome: outcome.type === 'exit' ? { type: 'exit', exitCode: outcome.exit_code } : { type: 'timeout' },
      }))
      return { output, ...(maxOutputLength === undefined ? {} : { maxOutputLength }) }
    },
  }
}

export interface AgentsExecArgs {
  readonly cmd: string
  readonly workdir?: string
  readonly tty?: boolean
  readonly yieldTimeMs?: number
  readonly maxOutputTokens?: number
  readonly runAs?: string
}

export interface AgentsWriteArgs {
  readonly sessionId: number
  readonly chars?: string
  readonly yieldTimeMs?: number
  readonly maxOutputTokens?: number
}

/**
 * The command half of the SDK's sandbox session: `exec_command` and `write_stdin` as its shell capability calls them.
 */
export function agentsSandbox(
  engine: Engine,
  options: ToolOptions = {},
): {
  execCommand(args: AgentsExecArgs): Promise<string>
  writeStdin(args: AgentsWriteArgs): Promise<string>
  supportsPty(): boolean
} {
  const tools = createTools(engine, { ...options, dialect: 'codex' })
  return {
    execCommand: async ({ cmd, workdir, tty, yieldTimeMs, maxOutputTokens, runAs }) => {
      // A call for another user means to take rights away; running it with this user's instead would be the opposite.
      if (runAs !== undefined)
        throw new TypeError(
          `Commands cannot run as ${runAs}: the engine has one user. Start the host as that user, or leave runAs out.`,
        )
      return (
        await tools.execute('exec_command', {
          cmd,
          workdir,
          tty,
          yield_time_ms: yieldTimeMs,
          max_output_tokens: maxOutputTokens,
        })
      ).text
    },
    writeStdin: async ({ sessionId, chars, yieldTimeMs, maxOutputTokens }) =>
      (
        await tools.execute('write_stdin', {
          session_id: sessionId,
          chars,
          yield_time_ms: yieldTimeMs,
          max_output_tokens: maxOutputTokens,
        })
      ).text,
    supportsPty: () => true,
  }
}

/** What the SDK's `tool()` takes. */
export interface AgentsFunctionOptions {
  name: string
  description: string
  parameters: { type: 'object'; properties: Record<string, never>; required: string[]; additionalProperties: true }
  strict: false
  execute(input: unknown, context?: unknown, details?: { signal?: AbortSignal }): Promise<string>
}

/**
 * `agentsTools(tools).map((options) => tool(options))` with the SDK's own `tool` gives function tools of any dialect.
 */
export function agentsTools(tools: ToolSet): AgentsFunctionOptions[] {
  return tools.list().map((tool) => ({
    name: tool.name,
    description: tool.description,
    // The SDK's types know only open objects as loose schemas; at run time the schema goes to the model as it is.
    parameters: tool.inputSchema as unknown as AgentsFunctionOptions['parameters'],
    strict: false,
    execute: async (input, _context, details) => (await tool.execute(input, { signal: details?.signal })).text,
  }))
}

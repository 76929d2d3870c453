/** OpenAI Agents SDK: its shell tool on this engine, beside function tools of a dialect. In your project import from 'cerith' and 'cerith/tools'. */
import { Agent, run, shellTool, tool, type Model } from '@openai/agents'
import type { Engine } from '../src/index.js'
import { agentsShell, agentsTools, createTools } from '../src/tools/index.js'

/** The model's own `shell` action. */
export async function askWithShell(model: Model, engine: Engine, prompt: string): Promise<string> {
  const agent = new Agent({ name: 'Builder', model, tools: [shellTool({ shell: agentsShell(engine) })] })
  return String((await run(agent, prompt)).finalOutput)
}

/** `exec_command` and `write_stdin` as function tools; any other dialect works the same way. */
export async function askWithFunctions(model: Model, engine: Engine, prompt: string): Promise<string> {
  const tools = agentsTools(createTools(engine, { dialect: 'codex' })).map((options) => tool(options))
  const agent = new Agent({ name: 'Builder', model, tools })
  return String((await run(agent, prompt)).finalOutput)
}

/** Everything that belongs to one client: its view of the engine, its tools with their cursors, its retries and open questions. */
import type { CallToolResult, InputRequiredResult, Tool } from '@modelcontextprotocol/server'
import type { Engine } from '../contract/engine.js'
import { createTools } from '../tools/create-tools.js'
import type { ToolSet } from '../tools/tool.js'
import { ApprovalDesk, ApprovalStates } from './approvals.js'
import { instructionsFor, listedTools } from './identity.js'
import type { Settings } from './options.js'
import { engineOf, FIRST_CLIENT } from './owned-engine.js'
import { Retries } from './retries.js'

export type Answer = CallToolResult | InputRequiredResult

export interface Client {
  readonly name: string
  readonly engine: Engine
  readonly tools: ToolSet
  /** The tools as `tools/list` gives them; made once, because the list must not change with the connection. */
  readonly listed: readonly Tool[]
  readonly instructions: string
  readonly desk: ApprovalDesk
  readonly states: ApprovalStates
  readonly retries: Retries<Answer>
  readonly settings: Settings
}

export function createClient(
  engine: Engine,
  settings: Settings,
  { name = FIRST_CLIENT, alone = true }: { name?: string; alone?: boolean } = {},
): Client {
  const desk = new ApprovalDesk()
  const owned = engineOf(name, engine, desk, { alone })
  const tools = createTools(owned, { ...settings.tools, yieldMs: settings.yieldMs, door: 'mcp' })
  return {
    name,
    engine: owned,
    tools,
    listed: listedTools(tools.list(), settings),
    instructions: instructionsFor(engine.shell.version, settings, settings.tools.cwd ?? engine.cwd),
    desk,
    states: new ApprovalStates(name, settings.approvalMs),
    retries: new Retries(),
    settings,
  }
}

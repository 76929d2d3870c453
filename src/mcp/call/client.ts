/**
 * Everything that belongs to one client: its view of the engine, its tools with their cursors,
 * its retries and open questions.
 */
import type { CallToolResult, InputRequiredResult, Tool } from '@modelcontextprotocol/server'
import type { Engine } from '../../contract/engine.js'
import { createTools } from '../../tools/create-tools.js'
import type { ToolSet } from '../../tools/tool.js'
import { APPROVALS, ApprovalStates } from './approvals.js'
import { instructionsFor, listedTools, shellFacts } from '../setup/identity.js'
import type { Settings } from '../setup/options.js'
import type { Host } from '../setup/hosts.js'
import { engineOf, FIRST_CLIENT } from './owned-engine.js'
import { Retries } from './retries.js'

export type Answer = CallToolResult | InputRequiredResult

export interface Client {
  readonly name: string
  readonly engine: Engine
  readonly tools: ToolSet
  /**
   * The same tools with the memory of one connection: what it has read, which screens it saw,
   * whose job it was warned about.
   */
  toolsFor(connection: string | null): ToolSet
  /** The tools as `tools/list` gives them; without the second half's schema for hosts that get no second half. */
  listed(host: Host): readonly Tool[]
  /** The session of calls that name none: `main` for the first connection, `main.2` for the second. */
  sessionFor(connection: string | null): string | undefined
  /** Connections that have a session, and the end of one: its session goes with it. */
  readonly connections: Iterable<string>
  forget(connection: string): Promise<void>
  readonly instructions: string
  readonly states: ApprovalStates
  readonly retries: Retries<Answer>
  readonly settings: Settings
}

export function createClient(
  engine: Engine,
  settings: Settings,
  { name = FIRST_CLIENT, alone = true }: { name?: string; alone?: boolean } = {},
): Client {
  const owned = engineOf(name, engine, APPROVALS, { alone })
  const makeTools = (): ToolSet => createTools(owned, { ...settings.tools, yieldMs: settings.yieldMs, door: 'mcp' })
  const tools = makeTools()
  return {
    name,
    engine: owned,
    tools,
    listed: listOnce(tools, settings),
    ...connectionsOf(owned, tools, makeTools, settings.tools.session ?? 'main'),
    instructions: instructionsFor(shellFacts(engine, settings), settings),
    states: new ApprovalStates(name, settings.approvalMs),
    retries: new Retries(),
    settings,
  }
}

/** Each list is made once: it must not differ between two requests. */
function listOnce(tools: ToolSet, settings: Settings): Client['listed'] {
  const made = new Map<boolean, readonly Tool[]>()
  return (host) => {
    const structured = settings.structured && host.structured
    const known = made.get(structured) ?? listedTools(tools.list(), structured)
    made.set(structured, known)
    return known
  }
}

/** A connection keeps its session's name and its tools to its end. Null: there is only one connection. */
function connectionsOf(
  engine: Engine,
  tools: ToolSet,
  makeTools: () => ToolSet,
  usual: string,
): Pick<Client, 'sessionFor' | 'toolsFor' | 'connections' | 'forget'> {
  const names = new Map<string, string>()
  const toolsOf = new Map<string, ToolSet>()
  const freeName = (): string => {
    const taken = new Set(names.values())
    for (let number = 1; ; number += 1) {
      const name = number === 1 ? usual : `${usual}.${number}`
      if (!taken.has(name)) return name
    }
  }
  return {
    connections: { [Symbol.iterator]: () => names.keys() },
    sessionFor(connection) {
      if (connection === null) return undefined
      const name = names.get(connection) ?? freeName()
      names.set(connection, name)
      return name
    },
    toolsFor(connection) {
      if (connection === null) return tools
      const own = toolsOf.get(connection) ?? makeTools()
      toolsOf.set(connection, own)
      return own
    },
    async forget(connection) {
      toolsOf.delete(connection)
      const name = names.get(connection)
      if (name === undefined) return
      const isThere = (await engine.sessions()).some((session) => session.name === name)
      if (isThere) await (await engine.session(name)).close()
      // Only now: the next connection must not be given a shell that is about to end.
      names.delete(connection)
    },
  }
}

/** What the server says about itself: its name, its instructions, its tools. All of it is known before an engine is. */
import type { Tool } from '@modelcontextprotocol/server'
import type { Engine } from '../../contract/engine.js'
import { secretWords } from '../../tools/secret-words.js'
import type { ToolDefinition } from '../../tools/tool.js'
import type { Settings } from './options.js'

/** A test compares it with package.json. */
export const VERSION = '0.1.0'

export const IDENTITY = { name: 'cerith', title: 'cerith shell', version: VERSION } as const

/** What the texts say about the shell. */
export interface ShellFacts {
  readonly version: string
  readonly cwd: string
  /** Null: this machine. */
  readonly place: string | null
  /** What `{{secret:NAME}}` may name. */
  readonly secrets: readonly string[]
}

export function shellFacts(engine: Engine, settings: Settings): ShellFacts {
  const place = engine.place?.url ?? null
  return {
    version: engine.shell.version,
    cwd: settings.tools.cwd ?? engine.cwd,
    place,
    secrets: engine.secrets.names(),
  }
}

/** What a model should know before its first call; some hosts show it as the description of all the tools together. */
export function instructionsFor({ version, cwd, place, secrets }: ShellFacts, settings: Settings): string {
  const session = settings.tools.session ?? 'main'
  return [
    `Shell ${place === null ? 'on this machine' : `at ${place}`}: bash ${version} on ` +
      `${place === null ? process.platform : 'linux'}. Directory: ${cwd}. Default session: ${session}.`,
    `A command still running after ${settings.yieldMs / 1_000} s is NOT killed: it goes on with an id, and ` +
      'that id stays valid after its end.',
    'Wait on the server (wait_ms, until) instead of polling. Background shells end with this server unless ' +
      'they were started detached.',
    'Output of a shell is also the resource shell://ID/output.',
    secretWords(secrets),
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}

export const CAPABILITIES = { tools: {}, resources: { subscribe: true, listChanged: true }, logging: {} } as const

/** The tools as `tools/list` gives them. */
export function listedTools(definitions: readonly ToolDefinition[], structured: boolean): readonly Tool[] {
  return definitions.map(({ name, title, description, inputSchema, outputSchema, annotations }) => ({
    name,
    title,
    description,
    inputSchema: { ...inputSchema } as Tool['inputSchema'],
    ...(structured ? { outputSchema: { ...outputSchema } } : {}),
    annotations,
  }))
}

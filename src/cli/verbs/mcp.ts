/** `cerith mcp`: the tools for one MCP client, on stdin and stdout. */
import { engineOptions } from '../../setup/from-config.js'
import { loadConfig } from '../../config/load.js'
import { stateDirectory } from '../../os/state-dir.js'
import { DIALECTS, type DialectName } from '../../tools/index.js'
import { directoryFor } from '../directory.js'
import { CWD_OPTION, readDuration, SET_OPTION } from '../option-rows.js'
import type { OptionRow, Verb } from '../verb.js'
import { UsageError, type Io } from '../io.js'
import { resolve } from 'node:path'

/** What `mcp` and `serve` have in common. */
export const MCP_OPTIONS: readonly OptionRow[] = [
  { flags: '--dialect <NAME>', about: 'tool names and texts (default: house)', choices: Object.keys(DIALECTS) },
  CWD_OPTION,
  { flags: '--yield <MS>', about: 'a command still running after so long becomes a job', read: readDuration },
  { flags: '--no-structured', about: 'results as text alone, for hosts that show both' },
  { flags: '--text-only', about: 'the same as --no-structured', hidden: true },
  { flags: '--no-failed-is-error', about: 'an exit code other than 0 is a plain result, not an MCP error' },
  SET_OPTION,
]

export interface McpVerbOptions {
  readonly dialect?: DialectName
  readonly cwd?: string
  readonly yield?: number
  readonly structured?: boolean
  readonly textOnly?: boolean
  readonly failedIsError?: boolean
  readonly set?: readonly string[]
}

export const verb: Verb = {
  name: 'mcp',
  usage: '',
  about: 'MCP server on stdin and stdout',
  words: [0, 0],
  options: MCP_OPTIONS,
  examples: [
    ['claude mcp add cerith -- npx cerith mcp', 'in Claude Code'],
    ['cerith mcp --dialect codex --cwd /srv/app', 'other tool names, another directory'],
  ],
  details:
    'For the configuration of a client: {"command": "npx", "args": ["cerith", "mcp"]}.\nEnds with the client, and everything that was started for it ends too.',
  async run({ options }, io) {
    const { serveStdio } = await import('../../mcp/index.js')
    const served = serveStdio(await mcpOptions(options as McpVerbOptions, io))
    return (await served.ended).exitCode
  },
}

/** The configuration as the MCP door wants it. */
export async function mcpOptions(options: McpVerbOptions, io: Io) {
  const cwd = directoryFor(resolve(io.cwd, options.cwd ?? '.'), io)
  const config = loadConfig({ cwd, env: io.env, ...(options.set ? { flags: options.set } : {}) })
  const { values } = config
  const dialect = (options.dialect ?? values['dialect']) as DialectName
  if (!(dialect in DIALECTS))
    throw new UsageError(
      `there is no dialect ${JSON.stringify(dialect)}`,
      `The dialects are ${Object.keys(DIALECTS).join(', ')}.`,
    )
  return {
    tools: {
      dialect,
      cwd,
      ...(config.isSet('features') ? { features: values['features'] as Record<string, boolean> } : {}),
    },
    yieldMs: options.yield ?? (values['limits.yieldMs'] as number),
    // A flag can only switch off; what is on comes from the configuration.
    structured: options.structured !== false && !options.textOnly && (values['mcp.structured'] as boolean),
    failedIsError: options.failedIsError !== false && (values['mcp.failedIsError'] as boolean),
    engine: await engineOptions(config, stateDirectory(io.env), {
      cwd,
      env: io.env,
      door: 'mcp',
      onProblem: (message) => io.err.write(`cerith: ${message}\n`),
    }),
  }
}

/** `cerith mcp`: the tools for one MCP client, on stdin and stdout. */
import { engineOptions } from '../../../setup/from-config.js'
import { loadConfig } from '../../../config/load.js'
import { findStateDirectory } from '../../../os/files/state-dir.js'
import { DIALECTS, type DialectName } from '../../../tools/index.js'
import { directoryFor } from '../../verb/directory.js'
import { placeOf } from '../../verb/open-engine.js'
import { CWD_OPTION, readDuration, SET_OPTION } from '../../verb/option-rows.js'
import { SANDBOX_OPTIONS, settingsOf } from '../../verb/sandbox-flags.js'
import { defineVerb, type OptionRow, type OptionsOf } from '../../verb/verb.js'
import { EXIT, UsageError, type Io } from '../../io/io.js'
import { entryFor, HOSTS } from './mcp-entry.js'
import { resolve } from 'node:path'

/** What `mcp` and `serve` have in common. */
export const MCP_OPTIONS = [
  {
    flags: '--dialect <NAME>',
    about: 'tool names and texts (default: house)',
    choices: Object.keys(DIALECTS) as DialectName[],
  },
  CWD_OPTION,
  {
    flags: '--yield <MS>',
    about: 'a command that runs longer than this becomes a job (default: 45s)',
    read: readDuration,
  },
  {
    flags: '--approval-wait <MS>',
    about: 'how long a call waits for `cerith approve` (at most as long as --yield)',
    read: readDuration,
  },
  { flags: '--no-structured', about: 'results as text alone, for hosts that show both' },
  { flags: '--text-only', about: 'the same as --no-structured', hidden: true },
  { flags: '--no-failed-is-error', about: 'an exit code other than 0 is a plain result, not an MCP error' },
  ...SANDBOX_OPTIONS,
  SET_OPTION,
] as const satisfies readonly OptionRow[]

type McpVerbOptions = OptionsOf<typeof MCP_OPTIONS>

export const verb = defineVerb({
  options: [
    ...MCP_OPTIONS,
    {
      flags: '--print-config <HOST>',
      about: 'print the entry for the settings of a host, and end',
      choices: HOSTS,
    },
  ],
  examples: [
    [
      'cerith mcp --print-config claude-code >> .mcp.json',
      'a new project of Claude Code; also codex, gemini, vscode, cursor',
    ],
    ['cerith mcp --dialect codex --cwd /srv/app', 'other tool names, another directory'],
  ],
  details:
    'Hosts wait about a second for a server: name the program by its absolute path, as --print-config\n' +
    'does, or install it globally. `npx cerith mcp` works and takes half a second more.\n' +
    'Ends with the client, and everything that was started for it ends too.',
  async run({ options }, io) {
    const { printConfig } = options
    if (printConfig !== undefined) {
      const { file, text } = entryFor(printConfig, flagsToKeep(options, io))
      io.err.write(`For ${file}:\n`)
      io.out.write(text)
      return EXIT.ok
    }
    if (io.person) io.err.write(ON_A_TERMINAL)
    const { serveStdio } = await import('../../../mcp/index.js')
    const served = serveStdio(await mcpOptions(options, io))
    return (await served.ended).exitCode
  },
})

/** Said to a person who starts it by hand: a host would have given it pipes. */
const ON_A_TERMINAL = [
  'This is an MCP server: it waits for a host that speaks JSON on stdin. To use it, give it to your host:',
  '  claude mcp add cerith -- "$(command -v cerith)" mcp      Claude Code',
  '  cerith mcp --print-config codex                          also claude, gemini, vscode, cursor',
  'Your own commands run with `cerith run`. C-c ends this.',
  '',
].join('\n')

/** The place and the other flags of the same command line belong into the entry. */
function flagsToKeep(options: McpVerbOptions, io: Io): string[] {
  const { dialect, cwd, structured, textOnly, failedIsError } = options
  const at = io.env['CERITH_AT']
  return [
    ...(at ? ['--at', at] : []),
    ...(dialect === undefined ? [] : ['--dialect', dialect]),
    ...(cwd === undefined ? [] : ['--cwd', at ? cwd : resolve(cwd)]),
    ...(options.yield === undefined ? [] : ['--yield', String(options.yield)]),
    ...(options.approvalWait === undefined ? [] : ['--approval-wait', String(options.approvalWait)]),
    ...(structured === false || textOnly ? ['--no-structured'] : []),
    ...(failedIsError === false ? ['--no-failed-is-error'] : []),
    ...settingsOf(options, io.cwd).flatMap((each) => ['--set', each]),
  ]
}

/** The configuration as the MCP door wants it. */
export async function mcpOptions(options: McpVerbOptions, io: Io) {
  const flags = settingsOf(options, io.cwd)
  const isElsewhere = placeOf(io, flags) !== null
  // Elsewhere a directory is one of that place; the configuration is that of this one.
  const here = directoryFor(isElsewhere ? io.cwd : resolve(io.cwd, options.cwd ?? '.'), io)
  const cwd = isElsewhere ? options.cwd : here
  const config = loadConfig({ cwd: here, env: io.env, flags })
  const { values } = config
  const dialect = (options.dialect ?? values['dialect']) as DialectName
  if (!(dialect in DIALECTS))
    throw new UsageError(
      `there is no dialect ${JSON.stringify(dialect)}`,
      `The dialects are ${Object.keys(DIALECTS).join(', ')}.`,
    )
  const state = findStateDirectory(io.env)
  if (state.problem) io.err.write(`cerith: ${state.problem}\n`)
  return {
    tools: {
      dialect,
      cwd,
      features: config.isSet('features') ? (values['features'] as Record<string, boolean>) : undefined,
    },
    yieldMs: options.yield ?? (values['limits.yieldMs'] as number),
    approvalWaitMs: options.approvalWait ?? (values['approval.waitMs'] as number | null) ?? undefined,
    // A flag can only switch off; what is on comes from the configuration.
    structured: options.structured !== false && !options.textOnly && (values['mcp.structured'] as boolean),
    failedIsError: options.failedIsError !== false && (values['mcp.failedIsError'] as boolean),
    engine: await engineOptions(config, state.path, {
      cwd,
      env: io.env,
      door: 'mcp',
      onProblem: (message) => io.err.write(`cerith: ${message}\n`),
    }),
  }
}

/** Every setting of cerith.config.json, one row each: its type, its default, who may set it, and what it is for. */
import { LIMITS } from '../contract/limits.js'
import { COMMAND_ROWS } from './command-rows.js'
import { PLACE_ROWS } from './place-rows.js'
import { SANDBOX_ROWS } from './sandbox-rows.js'

export type SettingType =
  | 'boolean'
  | 'number'
  | 'string'
  | 'path'
  | 'names'
  | 'paths'
  | 'numbers'
  | 'flags'
  | 'texts'
  | 'commands'
  | 'object'
  | 'objects'

/**
 * What happens when the project's file, which may come with a cloned repository, sets it too:
 * `override` replaces the user's value, `add` extends the list, `within` must lie inside the
 * user's, `never` is an error, `tightens` counts only as far as it allows less.
 */
export type ProjectRule = 'override' | 'add' | 'within' | 'never' | 'stricter' | 'tightens'

export interface Setting {
  readonly key: string
  readonly type: SettingType
  readonly default: unknown
  readonly about: string
  readonly project: ProjectRule
  /** The environment variable of the same meaning. */
  readonly variable?: string
  readonly choices?: readonly string[]
  readonly min?: number
  readonly max?: number
}

const DAY_MS = 24 * 60 * 60_000

const limit = (name: keyof typeof LIMITS, about: string, min: number, max: number): Setting => ({
  key: `limits.${name}`,
  type: 'number',
  default: LIMITS[name],
  about,
  project: 'override',
  variable: `CERITH_${snake(name)}`,
  min,
  max,
})

export const SETTINGS: readonly Setting[] = [
  {
    key: 'policy.preset',
    type: 'string',
    default: 'open',
    about:
      'What the guard lets through: `open` denies only the catastrophic, `careful` asks before writes elsewhere, network and installs, `readonly` allows only what reads.',
    project: 'stricter',
    variable: 'CERITH_POLICY_PRESET',
    choices: ['open', 'careful', 'readonly'],
  },
  {
    key: 'policy.rules',
    type: 'objects',
    default: [],
    about:
      'Rules on argv: {name?, decision, commands, directories?, reason?, guidance?, match?, notMatch?}. See docs/safety.md.',
    project: 'stricter',
  },
  {
    key: 'policy.protected',
    type: 'object',
    default: null,
    about: 'Paths whose change is asked about or denied: {paths, decision?}.',
    project: 'stricter',
  },
  {
    key: 'policy.roots',
    type: 'paths',
    default: [],
    about: 'Directories in which `careful` lets commands write; the working directory when empty.',
    project: 'within',
  },
  {
    key: 'roots',
    type: 'paths',
    default: [],
    about: 'Commands may only be started in these directories or below; anywhere when empty.',
    project: 'within',
    variable: 'CERITH_ROOTS',
  },
  {
    key: 'protectedPaths',
    type: 'paths',
    default: [],
    about: 'Further paths that no command may change; the configuration and the state directory always are.',
    project: 'add',
    variable: 'CERITH_PROTECTED_PATHS',
  },
  {
    key: 'bash',
    type: 'path',
    default: null,
    about: 'A particular bash; the first real one on PATH when absent.',
    project: 'never',
    variable: 'CERITH_BASH',
  },
  {
    key: 'env.defaults',
    type: 'boolean',
    default: true,
    about: 'Set pagers, prompts and colours to values that never wait for a person.',
    project: 'override',
    variable: 'CERITH_ENV_DEFAULTS',
  },
  {
    key: 'env.keep',
    type: 'names',
    default: [],
    about: 'Variables (or prefixes ending in *) that commands inherit although they look like secrets.',
    project: 'never',
    variable: 'CERITH_ENV_KEEP',
  },
  {
    key: 'env.drop',
    type: 'names',
    default: [],
    about: 'Further variables that commands do not inherit.',
    project: 'add',
    variable: 'CERITH_ENV_DROP',
  },
  {
    key: 'env.allowDangerous',
    type: 'boolean',
    default: false,
    about: 'Let loader and interpreter hooks (LD_PRELOAD, NODE_OPTIONS ...) through.',
    project: 'never',
    variable: 'CERITH_ALLOW_DANGEROUS_ENV',
  },
  {
    key: 'env.pathFromLoginShell',
    type: 'boolean',
    default: false,
    about: 'Take PATH from your login shell once (nvm, pyenv).',
    project: 'never',
    variable: 'CERITH_LOGIN_PATH',
  },
  {
    key: 'env.loginShell',
    type: 'boolean',
    default: false,
    about:
      'Begin with what your login shell sets up: PATH and other variables (nvm, pyenv, conda), and in sessions its functions and aliases. Taken once, without secrets; `cerith config` shows it.',
    project: 'never',
    variable: 'CERITH_LOGIN_SHELL',
  },
  {
    key: 'env.direnv',
    type: 'boolean',
    default: false,
    about: 'Use the variables that direnv exports for the directory of a command, where `direnv allow` has allowed it.',
    project: 'never',
    variable: 'CERITH_DIRENV',
  },
  {
    key: 'env.mise',
    type: 'boolean',
    default: false,
    about: 'Use the variables and tools that mise sets for the directory of a command, where `mise trust` trusts it.',
    project: 'never',
    variable: 'CERITH_MISE',
  },
  {
    key: 'env.dotenv',
    type: 'paths',
    default: [],
    about: 'Directories whose `.env` is used while commands run in them or below.',
    project: 'never',
    variable: 'CERITH_DOTENV',
  },
  limit('timeoutMs', 'How long a foreground command may run unless the call says otherwise.', 1, 7 * DAY_MS),
  limit('maxTimeoutMs', 'The longest time limit a call may ask for.', 1, 7 * DAY_MS),
  limit('graceMs', 'Time between SIGTERM and SIGKILL.', 0, 600_000),
  limit(
    'yieldMs',
    'A command of an MCP client that runs longer than this becomes a job (clients give up after 60 s).',
    100,
    DAY_MS,
  ),
  limit('clipChars', 'Characters of output that a result shows.', 200, 10_000_000),
  limit('memoryBytes', 'Bytes of a foreground stream kept in memory.', 4_096, 1 << 30),
  limit('storedBytes', 'Bytes of output kept on disk per run or job (head + tail).', 4_096, 2 ** 40),
  limit('totalStoredBytes', 'Bytes of output kept on disk for all finished jobs together.', 4_096, 2 ** 50),
  limit('keepFinishedMs', 'How long finished jobs are kept.', 0, 3_650 * DAY_MS),
  limit('maxRunningJobs', 'Jobs that may run at once.', 1, 100_000),
  limit('maxSessions', 'Sessions that may live at once.', 1, 100_000),
  ...COMMAND_ROWS,
  ...SANDBOX_ROWS,
  {
    key: 'secrets.vault',
    type: 'boolean',
    default: true,
    about: 'Resolve {{secret:NAME}} from the vault (`cerith secret`).',
    project: 'never',
    variable: 'CERITH_VAULT',
  },
  {
    key: 'secrets.keyFile',
    type: 'path',
    default: null,
    about: 'A file, 0600, that opens the vault instead of a pass phrase.',
    project: 'never',
    variable: 'CERITH_KEY_FILE',
  },
  {
    key: 'secrets.environment',
    type: 'texts',
    default: {},
    about: 'Secret name to variable of the host: {"DEPLOY_TOKEN": "CI_DEPLOY_TOKEN"}.',
    project: 'never',
  },
  {
    key: 'secrets.commands',
    type: 'commands',
    default: {},
    about: 'Secret name to a program that prints it: {"NPM": ["pass", "show", "npm"]}.',
    project: 'never',
  },
  {
    key: 'secrets.askpass',
    type: 'objects',
    default: [],
    about:
      'Password prompts of sudo -A, ssh and git that are answered with a secret: {program, prompt?, secret}, prompt a regular expression.',
    project: 'never',
  },
  {
    key: 'record.sessions',
    type: 'boolean',
    default: false,
    about:
      'Record what sessions print, masked, for `cerith replay` and the page; 16 MB per session, kept as long as jobs.',
    project: 'never',
    variable: 'CERITH_RECORD_SESSIONS',
  },
  {
    key: 'audit.enabled',
    type: 'boolean',
    default: true,
    about: 'Write every decision and run to audit.jsonl in the state directory.',
    project: 'never',
    variable: 'CERITH_AUDIT',
  },
  {
    key: 'audit.maxBytes',
    type: 'number',
    default: 16 * 1024 * 1024,
    about: 'Size at which audit.jsonl is rotated.',
    project: 'never',
    variable: 'CERITH_AUDIT_MAX_BYTES',
    min: 4_096,
    max: 2 ** 40,
  },
  {
    key: 'audit.keepFiles',
    type: 'number',
    default: 8,
    about: 'Rotated audit files that are kept.',
    project: 'never',
    variable: 'CERITH_AUDIT_KEEP_FILES',
    min: 1,
    max: 10_000,
  },
  {
    key: 'audit.headFile',
    type: 'path',
    default: null,
    about: 'A second place for the end of the audit log (count and hash), e.g. on a disk that agents cannot write.',
    project: 'never',
    variable: 'CERITH_AUDIT_HEAD_FILE',
  },
  ...PLACE_ROWS,
  {
    key: 'dialect',
    type: 'string',
    default: 'house',
    about: 'The tool dialect of `cerith mcp` and `cerith serve`.',
    project: 'override',
    variable: 'CERITH_DIALECT',
  },
  {
    key: 'mcp.structured',
    type: 'boolean',
    default: true,
    about: 'Whether results of the MCP server carry structured content beside the text.',
    project: 'override',
    variable: 'CERITH_MCP_STRUCTURED',
  },
  {
    key: 'mcp.failedIsError',
    type: 'boolean',
    default: true,
    about:
      'Whether a command that ran and exited with another code than 0 is an error result for an MCP client; refusals and timeouts always are.',
    project: 'override',
    variable: 'CERITH_MCP_FAILED_IS_ERROR',
  },
  {
    key: 'features',
    type: 'flags',
    default: {},
    about: 'Features of the host whose command line is blocked in favour of its tools: {"cron": true}.',
    project: 'override',
  },
  {
    key: 'automation',
    type: 'objects',
    default: [],
    about: 'Programs to be used through tools, not through the shell: {program, subcommands, tools, feature, enabled}.',
    project: 'add',
  },
]

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
}

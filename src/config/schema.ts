/** Every setting of cerith.config.json, one row each: its facts, and what it is for. */
import { LIMITS } from '../contract/limits.js'
import { COMMAND_ROWS } from './command-rows.js'
import { PLACE_ROWS } from './place-rows.js'
import { SANDBOX_ROWS } from './sandbox-rows.js'
import { setting, snake, type Setting } from './setting.js'

const DAY_MS = 24 * 60 * 60_000

const limit = (name: keyof typeof LIMITS, about: string, min: number, max: number): Setting => {
  const facts = { type: 'number', default: LIMITS[name], project: 'override', min, max } as const
  return setting({ key: `limits.${name}`, variable: `CERITH_${snake(name)}`, ...facts }, about)
}

export const SETTINGS: readonly Setting[] = [
  setting(
    {
      key: 'policy.preset',
      type: 'string',
      default: 'open',
      project: 'stricter',
      variable: 'CERITH_POLICY_PRESET',
      choices: ['open', 'careful', 'readonly'],
    },
    'What the guard lets through: `open` denies only the catastrophic, `careful` asks before writes elsewhere, ' +
      'network and installs, `readonly` allows only what reads.',
  ),
  setting(
    { key: 'policy.rules', type: 'objects', project: 'stricter' },
    'Rules on argv: {name?, decision, commands, directories?, reason?, guidance?, match?, notMatch?}. See ' +
      'docs/safety.md.',
  ),
  setting(
    { key: 'policy.protected', type: 'object', default: null, project: 'stricter' },
    'Paths whose change is asked about or denied: {paths, decision?}.',
  ),
  setting(
    { key: 'policy.roots', type: 'paths', project: 'within' },
    'Directories in which `careful` lets commands write; the working directory when empty.',
  ),
  setting(
    { key: 'roots', type: 'paths', project: 'within', variable: 'CERITH_ROOTS' },
    'Commands may only be started in these directories or below; anywhere when empty.',
  ),
  setting(
    { key: 'protectedPaths', type: 'paths', project: 'add', variable: 'CERITH_PROTECTED_PATHS' },
    'Further paths that no command may change; the configuration and the state directory always are.',
  ),
  setting(
    { key: 'bash', type: 'path', variable: 'CERITH_BASH' },
    'A particular bash; the first real one on PATH when absent.',
  ),
  setting(
    { key: 'env.defaults', type: 'boolean', default: true, project: 'override', variable: 'CERITH_ENV_DEFAULTS' },
    'Set pagers, prompts and colours to values that never wait for a person.',
  ),
  setting(
    { key: 'env.keep', type: 'names', variable: 'CERITH_ENV_KEEP' },
    'Variables (or prefixes ending in *) that commands inherit although they look like secrets.',
  ),
  setting(
    { key: 'env.drop', type: 'names', project: 'add', variable: 'CERITH_ENV_DROP' },
    'Further variables that commands do not inherit.',
  ),
  setting(
    { key: 'env.allowDangerous', type: 'boolean', variable: 'CERITH_ALLOW_DANGEROUS_ENV' },
    'Let loader and interpreter hooks (LD_PRELOAD, NODE_OPTIONS ...) through.',
  ),
  setting(
    { key: 'env.pathFromLoginShell', type: 'boolean', variable: 'CERITH_LOGIN_PATH' },
    'Take PATH from your login shell once (nvm, pyenv).',
  ),
  setting(
    { key: 'env.loginShell', type: 'boolean', variable: 'CERITH_LOGIN_SHELL' },
    'Begin with what your login shell sets up: PATH and other variables (nvm, pyenv, conda), and in sessions ' +
      'its functions and aliases. Taken once, without secrets; `cerith config` shows it.',
  ),
  setting(
    { key: 'env.direnv', type: 'boolean', variable: 'CERITH_DIRENV' },
    'Use the variables that direnv exports for the directory of a command, where `direnv allow` has allowed it.',
  ),
  setting(
    { key: 'env.mise', type: 'boolean', variable: 'CERITH_MISE' },
    'Use the variables and tools that mise sets for the directory of a command, where `mise trust` trusts it.',
  ),
  setting(
    { key: 'env.dotenv', type: 'paths', variable: 'CERITH_DOTENV' },
    'Directories whose `.env` is used while commands run in them or below.',
  ),
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
  setting(
    { key: 'secrets.vault', type: 'boolean', default: true, variable: 'CERITH_VAULT' },
    'Resolve {{secret:NAME}} from the vault (`cerith secret`).',
  ),
  setting(
    { key: 'secrets.keyFile', type: 'path', variable: 'CERITH_KEY_FILE' },
    'A file, 0600, that opens the vault instead of a pass phrase.',
  ),
  setting(
    { key: 'secrets.environment', type: 'texts' },
    'Secret name to variable of the host: {"DEPLOY_TOKEN": "CI_DEPLOY_TOKEN"}.',
  ),
  setting(
    { key: 'secrets.commands', type: 'commands' },
    'Secret name to a program that prints it: {"NPM": ["pass", "show", "npm"]}.',
  ),
  setting(
    { key: 'secrets.askpass', type: 'objects' },
    'Password prompts of sudo -A, ssh and git that are answered with a secret: {program, prompt?, secret}, ' +
      'prompt a regular expression.',
  ),
  setting(
    { key: 'record.sessions', type: 'boolean', variable: 'CERITH_RECORD_SESSIONS' },
    'Record what sessions print, masked, for `cerith replay` and the page; 16 MB per session, kept as long as jobs.',
  ),
  setting(
    { key: 'audit.enabled', type: 'boolean', default: true, variable: 'CERITH_AUDIT' },
    'Write every decision and run to audit.jsonl in the state directory.',
  ),
  setting(
    {
      key: 'audit.maxBytes',
      type: 'number',
      default: 16 * 1024 * 1024,
      variable: 'CERITH_AUDIT_MAX_BYTES',
      min: 4_096,
      max: 2 ** 40,
    },
    'Size at which audit.jsonl is rotated.',
  ),
  setting(
    { key: 'audit.keepFiles', type: 'number', default: 8, variable: 'CERITH_AUDIT_KEEP_FILES', min: 1, max: 10_000 },
    'Rotated audit files that are kept.',
  ),
  setting(
    { key: 'audit.headFile', type: 'path', variable: 'CERITH_AUDIT_HEAD_FILE' },
    'A second place for the end of the audit log (count and hash), e.g. on a disk that agents cannot write.',
  ),
  ...PLACE_ROWS,
  setting(
    { key: 'dialect', type: 'string', default: 'house', project: 'override', variable: 'CERITH_DIALECT' },
    'The tool dialect of `cerith mcp` and `cerith serve`.',
  ),
  setting(
    { key: 'mcp.structured', type: 'boolean', default: true, project: 'override', variable: 'CERITH_MCP_STRUCTURED' },
    'Whether results of the MCP server carry structured content beside the text.',
  ),
  setting(
    {
      key: 'mcp.failedIsError',
      type: 'boolean',
      default: true,
      project: 'override',
      variable: 'CERITH_MCP_FAILED_IS_ERROR',
    },
    'Whether a command that ran and exited with another code than 0 is an error result for an MCP client; ' +
      'refusals and timeouts always are.',
  ),
  setting(
    { key: 'features', type: 'flags', project: 'override' },
    'Features of the host whose command line is blocked in favour of its tools: {"cron": true}.',
  ),
  setting(
    { key: 'automation', type: 'objects', project: 'add' },
    'Programs to be used through tools, not through the shell: {program, subcommands, tools, feature, enabled}.',
  ),
]

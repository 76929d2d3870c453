/**
 * `cerith hook HOST`: the guard in front of the shell that a host already has; `install` and `uninstall` put it there.
 */
import { homeDirectory } from '../../../os/files/home.js'
import type { HookHostName } from '../../../hooks/hosts/index.js'
import { EXIT, UsageError, type Io } from '../../io/io.js'
import { ownProgram } from '../../verb/own-program.js'
import { SET_OPTION } from '../../verb/option-rows.js'
import { defineVerb, type OptionRow, type OptionsOf } from '../../verb/verb.js'
import { quoteWord } from '../../../contract/quote.js'

const OPTIONS = [
  {
    flags: '--auto-allow <WHAT>',
    about: 'readonly: what only reads passes without a question',
    choices: ['readonly'],
  },
  { flags: '--wrap', about: 'run commands through `cerith run`: a session that remembers, masked output' },
  { flags: '--sandbox <PROFILE>', about: 'with --wrap: in a sandbox of this profile' },
  {
    flags: '--fail <HOW>',
    about: 'a command that cannot be judged is blocked (closed, the default) or left to the host (open)',
    choices: ['closed', 'open'],
  },
  { flags: '--user', about: 'install for every project of this user (default)' },
  { flags: '--project', about: 'install in the settings of this project' },
  { flags: '--dry-run', about: 'say what would be written, and write nothing' },
  SET_OPTION,
] as const satisfies readonly OptionRow[]

type HookVerbOptions = OptionsOf<typeof OPTIONS>

export const verb = defineVerb({
  usage: '[install|uninstall] HOST',
  words: [1, 2],
  options: OPTIONS,
  examples: [
    [
      'cerith hook install claude-code --auto-allow readonly',
      'Claude Code: dangerous commands denied, harmless ones not asked about',
    ],
    ['cerith hook install codex --project', 'in .codex/hooks.json of this project'],
    ['cerith hook uninstall claude-code', 'every other byte of the settings stays as it was'],
  ],
  details: `Hosts: claude-code, codex, gemini, cursor, vscode. Without install or uninstall it reads one message of
the host on stdin and answers on stdout, as the host calls it. Deny and ask are the guard's (see cerith
check and docs/safety.md); what it allows is left to the host's own permissions unless --auto-allow.`,
  // A host runs the command after any other code: an entry with a flag that this version does not know would let
  // everything pass.
  failure: (argv) => (isAnswer(argv) && !failsOpen(argv) ? BLOCKED : EXIT.error),
  run: ({ words, options }, io) => hook(words, options, io),
})

/** The exit code that blocks in every host; the reason stands on stderr. */
const BLOCKED = 2

function isAnswer(argv: readonly string[]): boolean {
  return !argv.some((word) => word === 'install' || word === 'uninstall')
}

function failsOpen(argv: readonly string[]): boolean {
  return argv.some((word, i) => word === '--fail=open' || (word === 'open' && argv[i - 1] === '--fail'))
}

async function hook(words: readonly string[], options: HookVerbOptions, io: Io): Promise<number> {
  const [first = '', second] = words
  const { hookHostNamed, HOOK_HOSTS } = await import('../../../hooks/hosts/index.js')
  const word = second ?? first
  const name = hookHostNamed(word)
  if (name === null)
    throw new UsageError(
      `there is no hook for ${JSON.stringify(word)}`,
      `The hosts are ${Object.keys(HOOK_HOSTS).join(', ')}.`,
    )
  if (options.sandbox !== undefined && !options.wrap)
    throw new UsageError('--sandbox needs --wrap', 'Only a command that cerith runs can be put into its sandbox.')
  if (second === undefined) return answer(name, options, io)
  if (first !== 'install' && first !== 'uninstall')
    throw new UsageError(
      `hook does not know what to do with ${JSON.stringify(first)}`,
      'Usage: cerith hook [install|uninstall] HOST',
    )
  if (options.user && options.project)
    throw new UsageError('--user and --project exclude each other', 'Choose one of the two places.')
  return change(first, name, options, io)
}

async function answer(name: HookHostName, options: HookVerbOptions, io: Io): Promise<number> {
  const { answerHook } = await import('../../../hooks/hook.js')
  const text = Buffer.from(await io.readStdin()).toString('utf8')
  const { stdout, stderr, exitCode } = await answerHook(name, text, {
    autoAllow: options.autoAllow ?? 'nothing',
    fail: options.fail ?? 'closed',
    wrap: options.wrap
      ? [...ownProgram(), 'run', ...(options.sandbox === undefined ? [] : ['--sandbox', options.sandbox])]
      : null,
    cwd: io.cwd,
    env: io.env,
    flags: options.set,
  })
  if (stdout) {
    io.orElse(
      `The answer of \`cerith hook ${name}\` could not be written. The command was not run.\n${stdout}`,
      BLOCKED,
    )
    io.out.write(stdout)
  }
  if (stderr) io.err.write(stderr)
  return exitCode
}

async function change(
  what: 'install' | 'uninstall',
  name: HookHostName,
  options: HookVerbOptions,
  io: Io,
): Promise<number> {
  const { HOOK_HOSTS } = await import('../../../hooks/hosts/index.js')
  const settings = await import('../../../hooks/settings.js')
  const host = HOOK_HOSTS[name]
  // A host that keeps hooks in one place only needs no choice.
  const scope = options.project || host.settings.user === null ? 'project' : 'user'
  const file = settings.settingsFile(host, scope, { home: homeDirectory(io.env), cwd: io.cwd, env: io.env })
  if (file === null) throw new UsageError(`${host.title} has no hooks of a ${scope}`, 'Leave the flag out.')
  const command = [...ownProgram(), 'hook', name, ...flagsOf(options)].map(quoteWord).join(' ')
  const place = { host, name, file }
  const planned = settings[what](place, command)
  if (options.dryRun) {
    io.out.write(
      `${planned.what === 'installed' ? 'would write' : planned.what === 'removed' ? 'would change' : planned.what}: ` +
        `${file}\n`,
    )
    if (planned.text !== null && planned.what !== 'already there' && planned.what !== 'not there')
      io.out.write(planned.text)
    return EXIT.ok
  }
  settings.apply(planned)
  const said = {
    installed: `${host.title}: hook installed in ${file}`,
    'already there': `${host.title}: the hook is in ${file} already`,
    removed: `${host.title}: hook removed from ${file}`,
    'not there': `${host.title}: there is no hook of cerith in ${file}`,
  }[planned.what]
  io.out.write(`${said}\n`)
  if (planned.what === 'installed' && host.settings.afterwards) io.out.write(`${host.settings.afterwards}\n`)
  return EXIT.ok
}

function flagsOf({ autoAllow, fail, wrap, sandbox, set }: HookVerbOptions): string[] {
  return [
    ...(autoAllow === undefined ? [] : ['--auto-allow', autoAllow]),
    ...(fail === undefined ? [] : ['--fail', fail]),
    ...(wrap ? ['--wrap'] : []),
    ...(sandbox === undefined ? [] : ['--sandbox', sandbox]),
    ...(set ?? []).flatMap((each) => ['--set', each]),
  ]
}

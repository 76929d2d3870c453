/**
 * What the user's login shell sets up (variables, functions, aliases): asked for once, with a
 * limit, and kept in a file.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { basename, join } from 'node:path'
import { readPrivateFile, replacePrivateFile } from '../files/private.js'
import { attempt } from '../../contract/attempt.js'

export interface LoginShell {
  readonly shell: string
  /** Epoch milliseconds. */
  readonly takenAt: number
  readonly tookMs: number
  readonly variables: Readonly<Record<string, string>>
  /** Bash code by name, as bytes (latin1). */
  readonly functions: Readonly<Record<string, string>>
  readonly aliases: Readonly<Record<string, string>>
  /** Names of what was left out: it holds a secret, or would wait for a person. */
  readonly left: readonly string[]
  /** Sentences for the user about what went wrong. */
  readonly notes: readonly string[]
  /** The start-up files as they were when the shell was asked. */
  readonly files: string
}

/** The part of the answer that may be kept: nothing that looks like a secret. */
export interface Keep {
  variable(name: string, value: string): boolean
  code(text: string): boolean
}

const LIMIT_MS = 5_000
/** A dump beyond this is not read, functions beyond this are not kept. */
const MAX_DUMP_BYTES = 16 * 1024 * 1024
const MAX_CODE_BYTES = 1024 * 1024
const FORMAT = 1

/** From the file as long as the shell and its start-up files are the same, else asked for anew. */
export async function loginShell(
  stateDir: string,
  env: Readonly<Record<string, string | undefined>>,
  keep: Keep,
  { refresh = false }: { refresh?: boolean } = {},
): Promise<LoginShell> {
  const shell = shellOf(env)
  const home = env['HOME'] ?? '/'
  const kept = refresh ? null : readLoginShell(stateDir)
  if (kept && kept.shell === shell && kept.files === filesOf(home)) return kept
  const taken = await take(shell, home, env, keep)
  // A disk that cannot be written costs a second look the next time.
  attempt(() => replacePrivateFile(fileIn(stateDir), JSON.stringify({ format: FORMAT, ...taken })))
  return taken
}

/** What is kept, if anything; starts no shell. */
export function readLoginShell(stateDir: string): LoginShell | null {
  return attempt(() => {
    const value = JSON.parse(readPrivateFile(fileIn(stateDir)) ?? 'null') as (LoginShell & { format: number }) | null
    return value?.format === FORMAT ? value : null
  }, null)
}

function fileIn(stateDir: string): string {
  return join(stateDir, 'login-shell.json')
}

function shellOf(env: Readonly<Record<string, string | undefined>>): string {
  if (env['SHELL'] && existsSync(env['SHELL'])) return env['SHELL']
  return attempt(() => userInfo().shell ?? '/bin/bash', '/bin/bash')
}

const START_FILES = [
  '.bash_profile',
  '.bash_login',
  '.profile',
  '.bashrc',
  '.bash_aliases',
  '.zshenv',
  '.zprofile',
  '.zshrc',
  '.zlogin',
  '.config/fish/config.fish',
  '/etc/profile',
  '/etc/bash.bashrc',
  '/etc/bashrc',
  '/etc/zsh/zshrc',
  '/etc/zshrc',
]

function filesOf(home: string): string {
  return START_FILES.map((name) => (name.startsWith('/') ? name : join(home, name)))
    .flatMap((file) => {
      const stat = attempt(() => statSync(file))
      return stat ? [`${file} ${stat.mtimeMs} ${stat.size}`] : []
    })
    .join('\n')
}

type Attempt = { readonly dump: string } | { readonly failed: 'time' | 'silent' }

async function take(
  shell: string,
  home: string,
  env: Readonly<Record<string, string | undefined>>,
  keep: Keep,
): Promise<LoginShell> {
  const startedAt = performance.now()
  const files = filesOf(home)
  const notes: string[] = []
  let dump: string | null = null
  // Start-up files that replace or leave an interactive shell often spare one that is not.
  for (const flags of [['-l', '-i'], ['-l'], ['-i']]) {
    const attempt = await ask(shell, flags, home, env)
    if ('dump' in attempt) {
      dump = attempt.dump
      if (notes.length > 0) notes.push(`With ${flags.join(' ')} it did; what only the other way sets up is missing.`)
      break
    }
    notes.push(
      attempt.failed === 'time'
        ? `${shell} ${flags.join(' ')} did not come to its prompt within ${LIMIT_MS / 1_000} s.`
        : `${shell} ${flags.join(' ')} never came to its prompt: a start-up file leaves it or replaces it (exit, ` +
            'exec).',
    )
    if (attempt.failed === 'time') break
  }
  if (dump === null) notes.push('Nothing of it is used.')
  const read = parse(dump ?? '', basename(shell), keep)
  return {
    shell,
    takenAt: Date.now(),
    tookMs: Math.round(performance.now() - startedAt),
    ...read,
    notes: [...notes, ...read.notes],
    files,
  }
}

/** A session of its own: neither the terminal nor the host's input can be reached, and all of it can be ended. */
async function ask(
  shell: string,
  flags: readonly string[],
  home: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Attempt> {
  const folder = mkdtempSync(join(tmpdir(), 'cerith-login-'))
  const file = join(folder, 'dump')
  try {
    const child = spawn(shell, [...flags, '-c', `${before(shell, home)}${SCRIPTS[basename(shell)] ?? ENV_ONLY}`], {
      cwd: existsSync(home) ? home : '/',
      // Not the host's environment: what comes back is what the start-up files set.
      env: {
        HOME: home,
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        TERM: 'dumb',
        SHELL: shell,
        CERITH_LOGIN_DUMP: file,
        ...Object.fromEntries(INHERITED.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
      },
      stdio: 'ignore',
      detached: true,
    })
    let late = false
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        late = true
        end(child.pid)
      }, LIMIT_MS)
      const done = (): void => {
        clearTimeout(timer)
        resolve()
      }
      child.once('exit', done)
      child.once('error', done)
    })
    end(child.pid)
    const dump = readDump(file)
    if (dump !== null) return { dump }
    return { failed: late ? 'time' : 'silent' }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const INHERITED = ['USER', 'LOGNAME', 'LANG', 'LC_ALL', 'TZ', 'XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME']

function end(pid: number | undefined): void {
  // The group may have ended by itself.
  if (pid !== undefined) attempt(() => process.kill(-pid, 'SIGKILL'))
}

/** Null unless it is whole. */
function readDump(file: string): string | null {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0 || size > MAX_DUMP_BYTES) return null
  const text = readFileSync(file, 'latin1')
  return text.endsWith(`${MARK}end\0`) ? text : null
}

const MARK = 'cerith-login:'
const VARIABLES = 'command -p env -0'
const mark = (name: string): string => `printf '%s\\0' ${MARK}${name}`
/** Into a file: start-up files print, and close or move descriptors, as they like. */
const into = (...parts: readonly string[]): string =>
  `{ ${parts.join('; ')}; } >"$CERITH_LOGIN_DUMP" 2>/dev/null </dev/null`
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: into(
    `\\builtin ${VARIABLES}`,
    `\\builtin ${mark('functions')}`,
    '\\builtin declare -f',
    `\\builtin ${mark('aliases')}`,
    '\\builtin alias -p',
    `\\builtin ${mark('end')}`,
  ),
  zsh: into(VARIABLES, mark('functions'), mark('aliases'), 'alias -L', mark('end')),
  fish:
    `begin; command env -0; ${mark('functions')}; ${mark('aliases')}; ${mark('end')}; end >$CERITH_LOGIN_DUMP ` +
    '2>/dev/null </dev/null',
}
const ENV_ONLY = into(VARIABLES, mark('functions'), mark('aliases'), mark('end'))

/** A login bash reads ~/.bashrc only when its own file says so; what people set up for their terminals stands there. */
function before(shell: string, home: string): string {
  const rc = join(home, '.bashrc')
  if (basename(shell) !== 'bash' || !existsSync(rc)) return ''
  const own = ['.bash_profile', '.bash_login', '.profile']
    .map((name) => join(home, name))
    .find((file) => existsSync(file))
  // A file that cannot be read is not read by the shell either.
  const readsRc = own !== undefined && attempt(() => readFileSync(own, 'utf8').includes('bashrc'), false)
  if (readsRc) return ''
  return '\\builtin shopt -q login_shell && . ~/.bashrc >/dev/null 2>&1 </dev/null; '
}

/** Of the shell itself, of this look at it, or different every time. */
const NOT_TAKEN = /^(?:_|PWD|OLDPWD|SHLVL|TERM|SHELL|HOME|PS\d|COLUMNS|LINES|CERITH_LOGIN_DUMP|CERITH_HOME)$/

function parse(
  dump: string,
  shell: string,
  keep: Keep,
): Pick<LoginShell, 'variables' | 'functions' | 'aliases' | 'left' | 'notes'> {
  const [environment = '', functionText = '', aliasText = ''] = dump.split(new RegExp(`${MARK}\\w+\\0`))
  const left: string[] = []
  const notes: string[] = []
  const variables: Record<string, string> = {}
  for (const entry of environment.split('\0')) {
    const at = entry.indexOf('=')
    const [name, value] = [entry.slice(0, at), Buffer.from(entry.slice(at + 1), 'latin1').toString()]
    if (at < 1 || !/^[A-Za-z_]\w*$/.test(name) || NOT_TAKEN.test(name)) continue
    if (keep.variable(name, value)) variables[name] = value
    else left.push(name)
  }
  let functions: Record<string, string> = {}
  for (const text of functionText.split(/^(?=[^\s{}()]+ \(\) *$)/m)) {
    const name = /^([^\s{}()]+) \(\)/.exec(text)?.[1]
    if (name === undefined || name === 'command_not_found_handle') continue
    if (keep.code(text)) functions[name] = text
    else left.push(`${name}()`)
  }
  const size = Object.values(functions).reduce((sum, text) => sum + text.length, 0)
  if (size > MAX_CODE_BYTES) {
    functions = {}
    notes.push(`Its functions are ${(size / 1e6).toFixed(1)} MB of code; they are left out.`)
  }
  const aliases: Record<string, string> = {}
  for (const [, name = '', quoted = ''] of aliasText.matchAll(
    /^alias (?:-- )?'?([^=\s']+)=((?:'(?:[^']|'\\'')*'|[^\s'])*)'?$/gm,
  )) {
    const value = quoted.replaceAll(/^'|'$/g, '').replaceAll(String.raw`'\''`, "'")
    // `rm -i` asks, and no person answers.
    if (keep.code(`${name}=${value}`) && !/^(?:rm|cp|mv|ln)\s+(?:-\w*i|--interactive)/.test(value))
      aliases[name] = value
    else left.push(`alias ${name}`)
  }
  if (dump !== '' && shell !== 'bash') notes.push(`Functions of ${shell} are not bash's and are left out.`)
  return { variables, functions, aliases, left, notes }
}

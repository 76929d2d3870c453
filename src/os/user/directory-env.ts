/**
 * Variables that belong to a directory: from direnv and mise where these trust it, and from
 * `.env` files where the user said so.
 */
import type { Note } from '../../contract/note.js'
import { execFile } from 'node:child_process'
import { statSync, type Stats } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { attempt, parseRecord } from '../../contract/attempt.js'
import { readRegular } from '../files/shared-file.js'

export interface DirectoryEnvOptions {
  /** Ask `direnv export json`, which answers only for what `direnv allow` has allowed. */
  readonly direnv?: boolean
  /** Ask `mise env --json`, which answers only for what `mise trust` trusts. */
  readonly mise?: boolean
  /** Directories whose `.env` is read while commands run in them or below. */
  readonly dotenv?: readonly string[]
}

export interface DirectoryEnv {
  readonly set: Readonly<Record<string, string>>
  readonly unset: readonly string[]
  readonly notes: readonly Note[]
}

type Environment = Readonly<Record<string, string>>

const LIMIT_MS = 10_000
const MAX_DOTENV_BYTES = 1024 * 1024
const MISE_FILES = [
  'mise.toml',
  '.mise.toml',
  'mise.local.toml',
  '.tool-versions',
  '.config/mise.toml',
  'mise/config.toml',
]

/** Changes when what a directory means may have changed; reading it costs a few looks at the disk and no program. */
export function directoryMark(
  cwd: string,
  { direnv, mise, dotenv = [] }: DirectoryEnvOptions,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const names = [...(direnv ? ['.envrc'] : []), ...(mise ? MISE_FILES : [])]
  const files = [
    ...upwards(cwd).flatMap((dir) => names.map((name) => join(dir, name))),
    ...dotenvFiles(cwd, dotenv),
    ...(direnv || mise ? trustStores(env) : []),
  ]
  const found = files.flatMap((file) => {
    const stat = look(file)
    return stat ? [`${file} ${stat.mtimeMs} ${stat.size}`] : []
  })
  return [cwd, ...found].join('\n')
}

/** Where direnv and mise write down what the person trusts. */
function trustStores({
  HOME = '/',
  XDG_DATA_HOME,
  XDG_STATE_HOME,
}: Readonly<Record<string, string | undefined>>): string[] {
  return [
    join(XDG_DATA_HOME || join(HOME, '.local/share'), 'direnv/allow'),
    join(XDG_STATE_HOME || join(HOME, '.local/state'), 'mise/trusted-configs'),
  ]
}

/** Undefined when it is not there, or may not be looked at. */
function look(path: string): Stats | undefined {
  return attempt(() => statSync(path, { throwIfNoEntry: false }), undefined)
}

/** What commands in this directory get on top of `env`. */
export async function directoryEnv(
  cwd: string,
  env: Environment,
  { direnv, mise, dotenv = [] }: DirectoryEnvOptions,
  parse: (text: string) => { readonly values: Environment; readonly unread: readonly number[] },
  /** Commands in a sandbox could lay a link to what they may not read. */
  confined: boolean,
): Promise<DirectoryEnv> {
  const set: Record<string, string> = {}
  const unset: string[] = []
  const notes: Note[] = []
  const take = (from: Readonly<Record<string, string | null>>): void => {
    for (const [name, value] of Object.entries(from)) {
      if (/^(?:DIRENV_|__MISE_|MISE_SHELL$)/.test(name) || !/^[A-Za-z_]\w*$/.test(name)) continue
      if (value === null) unset.push(name)
      else set[name] = value
    }
  }
  for (const file of dotenvFiles(cwd, dotenv)) {
    const { values, note } = readDotenv(file, confined ? 'none' : 'follow', parse)
    take(values)
    if (note !== null) notes.push({ code: 'environment', text: note })
  }
  const tools = [
    ...(mise && upwards(cwd).some((dir) => MISE_FILES.some((name) => isFile(join(dir, name))))
      ? [['mise', ['env', '--json']] as const]
      : []),
    ...(direnv && upwards(cwd).some((dir) => isFile(join(dir, '.envrc')))
      ? [['direnv', ['export', 'json']] as const]
      : []),
  ]
  for (const [program, words] of tools) {
    const { values, note } = await askTool(program, words, cwd, { ...env, ...set })
    take(values)
    if (note !== null) notes.push({ code: 'environment', text: note })
  }
  return { set, unset: unset.filter((name) => set[name] === undefined), notes }
}

function upwards(cwd: string): string[] {
  const found = [resolve(cwd)]
  for (let dir = found[0] as string; dir !== dirname(dir);) found.push((dir = dirname(dir)))
  return found
}

/** Of the outermost directory first: the inner one wins. */
function dotenvFiles(cwd: string, directories: readonly string[]): string[] {
  return directories
    .filter((dir) => !relative(dir, cwd).startsWith('..'))
    .sort((a, b) => a.length - b.length)
    .map((dir) => join(dir, '.env'))
}

function isFile(path: string): boolean {
  return look(path)?.isFile() ?? false
}

function readDotenv(
  file: string,
  links: 'none' | 'follow',
  parse: Parameters<typeof directoryEnv>[3],
): { readonly values: Environment; readonly note: string | null } {
  try {
    const stat = statSync(file, { throwIfNoEntry: false })
    if (!stat?.isFile()) return { values: {}, note: null }
    if (stat.size > MAX_DOTENV_BYTES) return { values: {}, note: `${file} is larger than 1 MiB and was not read.` }
    const bytes = readRegular(file, MAX_DOTENV_BYTES, links)
    if (bytes === null) return { values: {}, note: `${file} leads elsewhere, and was not read.` }
    const { values, unread } = parse(bytes.toString('utf8'))
    const lines = unread.slice(0, 5).join(', ')
    return { values, note: unread.length === 0 ? null : `${file}: not NAME=VALUE in line ${lines}.` }
  } catch (error) {
    return { values: {}, note: `${file} could not be read (${(error as NodeJS.ErrnoException).code}).` }
  }
}

function askTool(
  program: string,
  words: readonly string[],
  cwd: string,
  env: Environment,
): Promise<{ readonly values: Readonly<Record<string, string | null>>; readonly note: string | null }> {
  return new Promise((resolve) => {
    const child = execFile(
      program,
      [...words],
      { cwd, env, timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const values = valuesOf(stdout)
        const why = values && !error ? null : whyNot(program, cwd, error, stderr)
        resolve({ values: values ?? {}, note: why })
      },
    )
    child.stdin?.end()
  })
}

/** Null: no JSON. Nothing at all means that nothing changes. */
function valuesOf(stdout: string): Record<string, string | null> | null {
  if (stdout.trim() === '') return {}
  const value = parseRecord(stdout)
  const isValue = (entry: [string, unknown]): entry is [string, string | null] =>
    entry[1] === null || typeof entry[1] === 'string'
  return value && Object.fromEntries(Object.entries(value).filter(isValue))
}

function whyNot(program: string, cwd: string, error: Error | null, stderr: string): string {
  const { code, killed } = (error ?? {}) as { code?: unknown; killed?: boolean }
  if (code === 'ENOENT') return `${program} is switched on (env.${program}), but it is not installed or not on PATH.`
  if (killed) return `${program} did not answer within ${LIMIT_MS / 1_000} s in ${cwd}; its variables are missing.`
  if (/is blocked|not trusted/i.test(stderr))
    return `${program} does not trust what is set up in ${cwd}, so its variables are missing. The person can allow it: ${program === 'direnv' ? 'direnv allow' : 'mise trust'}.`
  const said = stderr.trim().split('\n').at(-1)?.slice(0, 200) ?? ''
  return `${program} failed in ${cwd}${said === '' ? '' : `: ${said}`}; its variables are missing.`
}

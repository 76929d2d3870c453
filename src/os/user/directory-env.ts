/**
 * Variables that belong to a directory: from direnv and mise where these trust it, and from
 * `.env` files where the user said so.
 */
import type { Note } from '../../contract/note.js'
import { execFile } from 'node:child_process'
import { statSync, type Stats } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { attempt, parseRecord } from '../../contract/attempt.js'
import { nameList } from '../../contract/quote.js'
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

interface Answer {
  readonly values: Readonly<Record<string, string | null>>
  /** What went wrong. */
  readonly note: string | null
}

const LIMIT_MS = 10_000
const MAX_DOTENV_BYTES = 1024 * 1024
const MISE_FILES = 'mise.toml .mise.toml mise.local.toml .tool-versions .config/mise.toml mise/config.toml'
/** In the order in which they are asked. */
const TOOLS = [
  { program: 'mise', words: ['env', '--json'], files: nameList(MISE_FILES), trust: 'mise trust' },
  { program: 'direnv', words: ['export', 'json'], files: ['.envrc'], trust: 'direnv allow' },
] as const

/** Changes when what a directory means may have changed; reading it costs a few looks at the disk and no program. */
export function directoryMark(
  cwd: string,
  options: DirectoryEnvOptions,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const tools = toolsOf(options)
  const files = [
    ...tools.flatMap((tool) => filesOf(tool, cwd)),
    ...dotenvFiles(cwd, options.dotenv),
    ...(tools.length > 0 ? trustStores(env) : []),
  ]
  const found = files.flatMap((file) => {
    const stat = look(file)
    return stat ? [`${file} ${stat.mtimeMs} ${stat.size}`] : []
  })
  return [cwd, ...found].join('\n')
}

type Tool = (typeof TOOLS)[number]

function toolsOf(options: DirectoryEnvOptions): readonly Tool[] {
  return TOOLS.filter(({ program }) => options[program])
}

/** What the tool reads in this directory, there or not. */
function filesOf({ files }: Tool, cwd: string): string[] {
  return upwards(cwd).flatMap((dir) => files.map((name) => join(dir, name)))
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
  options: DirectoryEnvOptions,
  parse: (text: string) => { readonly values: Environment; readonly unread: readonly number[] },
  /** Commands in a sandbox could lay a link to what they may not read. */
  confined: boolean,
): Promise<DirectoryEnv> {
  const set: Record<string, string> = {}
  const unset: string[] = []
  const notes: Note[] = []
  const take = ({ values, note }: Answer): void => {
    for (const [name, value] of Object.entries(values)) {
      if (/^(?:DIRENV_|__MISE_|MISE_SHELL$)/.test(name) || !/^[A-Za-z_]\w*$/.test(name)) continue
      if (value === null) unset.push(name)
      else set[name] = value
    }
    if (note !== null) notes.push({ code: 'environment', text: note })
  }
  for (const file of dotenvFiles(cwd, options.dotenv)) take(readDotenv(file, confined ? 'none' : 'follow', parse))
  for (const tool of toolsOf(options).filter((each) => filesOf(each, cwd).some(isFile)))
    take(await askTool(tool, cwd, { ...env, ...set }))
  return { set, unset: unset.filter((name) => set[name] === undefined), notes }
}

function upwards(cwd: string): string[] {
  const found = [resolve(cwd)]
  for (let dir = found[0] as string; dir !== dirname(dir);) found.push((dir = dirname(dir)))
  return found
}

/** Of the outermost directory first: the inner one wins. */
function dotenvFiles(cwd: string, directories: readonly string[] = []): string[] {
  return directories
    .filter((dir) => !relative(dir, cwd).startsWith('..'))
    .sort((a, b) => a.length - b.length)
    .map((dir) => join(dir, '.env'))
}

function isFile(path: string): boolean {
  return look(path)?.isFile() ?? false
}

function readDotenv(file: string, links: 'none' | 'follow', parse: Parameters<typeof directoryEnv>[3]): Answer {
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

function askTool(tool: Tool, cwd: string, env: Environment): Promise<Answer> {
  return new Promise((resolve) => {
    const child = execFile(
      tool.program,
      tool.words,
      { cwd, env, timeout: LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const values = valuesOf(stdout)
        const why = values && !error ? null : whyNot(tool, cwd, error, stderr)
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

function whyNot({ program, trust }: Tool, cwd: string, error: Error | null, stderr: string): string {
  const { code, killed } = (error ?? {}) as { code?: unknown; killed?: boolean }
  if (code === 'ENOENT') return `${program} is switched on (env.${program}), but it is not installed or not on PATH.`
  if (killed) return `${program} did not answer within ${LIMIT_MS / 1_000} s in ${cwd}; its variables are missing.`
  if (/is blocked|not trusted/i.test(stderr))
    return (
      `${program} does not trust what is set up in ${cwd}, so its variables are missing. The person can allow ` +
      `it: ${trust}.`
    )
  const said = stderr.trim().split('\n').at(-1)?.slice(0, 200) ?? ''
  return `${program} failed in ${cwd}${said === '' ? '' : `: ${said}`}; its variables are missing.`
}

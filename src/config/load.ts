/**
 * The settings in force and where each came from: defaults, then the user's file, the
 * project's, the environment, the flags.
 */
import { lstatSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { badConfig, ShellError } from '../contract/errors.js'
import { combine, type Layer, type LayerName } from './layers.js'
import { nearest } from '../contract/names/nearest.js'
import { SETTINGS } from './schema.js'
import type { Setting } from './setting.js'
import { readText, readValue, type Place } from './values.js'
import { homeDirectory } from '../os/files/home.js'
import { isRecord } from '../contract/attempt.js'

const CONFIG_FILE = 'cerith.config.json'
const MAX_BYTES = 1024 * 1024

export interface LoadedConfig {
  /** By key, e.g. `limits.timeoutMs`. */
  readonly values: Readonly<Record<string, unknown>>
  /** Which layer had the last word; lists that grow name all of theirs. */
  readonly origins: Readonly<Record<string, readonly LayerName[]>>
  /** The files that were looked for; commands may not change them, present or not. */
  readonly files: {
    readonly user: string
    readonly project: string | null
    readonly projectCandidates: readonly string[]
  }
  /** Whether a user or project file, the environment or a flag set it. */
  isSet(key: string): boolean
}

export interface ConfigInput {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** `KEY=VALUE` texts of `--set`. */
  readonly flags?: readonly string[]
}

export function loadConfig({ cwd, env, flags = [] }: ConfigInput): LoadedConfig {
  const home = homeDirectory(env)
  const user = userFile(env, home)
  if (env['CERITH_CONFIG'] && !isThere(user))
    throw badConfig(`${user}: there is no such file, and $CERITH_CONFIG names it`, 'Correct the variable, or unset it.')
  const project = findProjectFile(cwd, user)
  const layers: Layer[] = [
    { name: 'user', values: fileValues(user, home) },
    { name: 'project', values: project ? fileValues(project, home) : new Map() },
    { name: 'environment', values: environmentValues(env, cwd, home) },
    { name: 'flag', values: flagValues(flags, cwd, home) },
  ]
  const { values, origins } = combine(layers, project)
  return {
    values,
    origins,
    files: { user, project, projectCandidates: project ? [project] : [join(resolve(cwd), CONFIG_FILE)] },
    isSet: (key) => (origins[key] ?? []).some((name) => name !== 'default'),
  }
}

/** `$CERITH_CONFIG`, else `$XDG_CONFIG_HOME/cerith/cerith.config.json`, else `~/.config/cerith/cerith.config.json`. */
function userFile(env: Readonly<Record<string, string | undefined>>, home: string): string {
  if (env['CERITH_CONFIG']) return resolve(env['CERITH_CONFIG'])
  return join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'cerith', CONFIG_FILE)
}

function findProjectFile(cwd: string, user: string): string | null {
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    const file = join(dir, CONFIG_FILE)
    if (file !== user && isThere(file)) return file
    if (dir === dirname(dir)) return null
  }
}

/** Also a link to nothing, or a directory: a configuration is meant, and reading it says what is wrong. */
function isThere(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // ENOTDIR: the given directory is a file, which the verb that runs there reports.
    if (code === 'ENOENT' || code === 'ENOTDIR') return false
    throw badConfig(`${path}: cannot be looked for (${code})`, 'Make the directory readable, or start elsewhere.', {
      cause: error,
    })
  }
}

function fileValues(file: string, home: string): Map<string, unknown> {
  const values = new Map<string, unknown>()
  if (!isThere(file)) return values
  const text = read(file)
  const place: Place = { name: file, base: dirname(file), home }
  const take = (object: Record<string, unknown>, prefix: string): void => {
    for (const [name, value] of Object.entries(object)) {
      const key = prefix + name
      if (key === '$schema') continue
      const setting = settingNamed(key)
      if (setting) values.set(key, readValue(setting, value, place))
      else if (isGroup(key) && isRecord(value)) take(value, `${key}.`)
      else throw unknownKey(key, file)
    }
  }
  take(parse(text, file), '')
  return values
}

function environmentValues(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  home: string,
): Map<string, unknown> {
  const values = new Map<string, unknown>()
  for (const setting of SETTINGS) {
    const text = setting.variable ? env[setting.variable] : undefined
    if (setting.variable && text !== undefined && text !== '')
      values.set(setting.key, readText(setting, text, { name: `$${setting.variable}`, base: cwd, home }))
  }
  return values
}

function flagValues(flags: readonly string[], cwd: string, home: string): Map<string, unknown> {
  const values = new Map<string, unknown>()
  for (const flag of flags) {
    const [key, text] = [flag.slice(0, Math.max(0, flag.indexOf('='))), flag.slice(flag.indexOf('=') + 1)]
    if (key === '')
      throw badConfig(`--set wants KEY=VALUE, got ${JSON.stringify(flag)}`, 'For example: --set limits.timeoutMs=60000')
    const setting = settingNamed(key)
    if (!setting) throw unknownKey(key, '--set')
    values.set(key, readText(setting, text, { name: '--set', base: cwd, home }))
  }
  return values
}

function settingNamed(key: string): Setting | undefined {
  return SETTINGS.find((setting) => setting.key === key)
}

function isGroup(key: string): boolean {
  return SETTINGS.some((setting) => setting.key.startsWith(`${key}.`))
}

function unknownKey(key: string, where: string): ShellError {
  return badConfig(`${where}: unknown key ${JSON.stringify(key)}`, hintForKey(key))
}

/** The key that was probably meant by this misspelt one. */
export function hintForKey(key: string): string {
  const keys = SETTINGS.map((setting) => setting.key)
  const leaf = key.split('.').at(-1) as string
  const groups = [...new Set(keys.filter((known) => known.includes('.')).map((known) => known.split('.')[0] as string))]
  // A right name in the wrong group is the likeliest mistake of all.
  const close =
    keys.find((known) => known.split('.').at(-1)?.toLowerCase() === leaf.toLowerCase()) ??
    nearest(key, [...keys, ...groups])
  return close ? `Did you mean ${JSON.stringify(close)}?` : 'Run `cerith config` to see every key.'
}

function parse(text: string, file: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    throw badConfig(`${file}: not JSON: ${(error as Error).message}`, 'Fix the file, or remove it.')
  }
  if (!isRecord(value))
    throw badConfig(`${file}: must hold one JSON object`, 'Start with {} and add keys; `cerith config` lists them.')
  return value
}

function read(file: string): string {
  try {
    const stat = statSync(file)
    // Reading a pipe would wait for ever, and a huge file would fill the memory of everything that starts here.
    if (!stat.isFile() || stat.size > MAX_BYTES)
      throw badConfig(
        `${file}: cannot be read (${stat.isFile() ? `larger than ${MAX_BYTES} bytes` : 'not a file'})`,
        'A configuration is one small JSON file.',
      )
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (ShellError.is(error)) throw error
    const { code } = error as NodeJS.ErrnoException
    // A policy that cannot be read must not turn into no policy.
    const why = code === 'ENOENT' || code === 'ENOTDIR' ? 'a link to a file that is not there' : code
    throw badConfig(`${file}: cannot be read (${why})`, 'Make it readable, or remove it.', {
      cause: error,
    })
  }
}

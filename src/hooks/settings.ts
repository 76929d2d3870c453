/** Puts the hook into a host's settings file and takes it out again, leaving every other byte as it was. */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { badConfig } from '../contract/errors.js'
import { hookHostNamed, type HookHostName } from './hosts/index.js'
import { appendAt, parseJson, removeAt } from './jsonc.js'
import type { HookHost } from './protocol.js'

export interface SettingsChange {
  readonly file: string
  readonly what: 'installed' | 'already there' | 'removed' | 'not there'
  /** The new text; null where the file goes. */
  readonly text: string | null
}

export interface SettingsPlace {
  readonly host: HookHost
  /** `cerith hook HOST`, by which an entry of cerith is known, whatever program path and options stand around it. */
  readonly name: HookHostName
  readonly file: string
}

export function settingsFile(
  host: HookHost,
  scope: 'user' | 'project',
  where: { readonly home: string; readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): string | null {
  const { user, project, homeVariable } = host.settings
  if (scope === 'project') return project === null ? null : join(where.cwd, project)
  if (user === null) return null
  const folder = homeVariable === undefined ? undefined : where.env[homeVariable]
  return folder ? join(folder, user.split('/').slice(1).join('/')) : join(where.home, user)
}

/** Plans the change; `apply` makes it. */
export function install(place: SettingsPlace, command: string): SettingsChange {
  const { host, file } = place
  const before = readText(file)
  const wanted = host.settings.entries(command).map(({ entry }) => entry)
  if (JSON.stringify(ownEntries(place)) === JSON.stringify(wanted)) return { file, what: 'already there', text: before }
  const base = before === null ? freshText(host) : withoutEntries(before, place)
  return { file, what: 'installed', text: edit(file, () => withEntries(base, host, command)) }
}

export function uninstall(place: SettingsPlace, command: string): SettingsChange {
  const { host, file } = place
  const before = readText(file)
  if (before === null || !isInstalled(place)) return { file, what: 'not there', text: before }
  // Unchanged since the installation: exactly what was there before it, also when that was no file.
  const original = readText(backupOf(file))
  if (withEntries(original ?? freshText(host), host, command) === before)
    return { file, what: 'removed', text: original }
  return { file, what: 'removed', text: withoutEntries(before, place) }
}

/** The command of the installed hook; null where there is none. */
export function ownCommand(place: SettingsPlace): string | null {
  const [entry] = ownEntries(place) as { command?: string; hooks?: { command: string }[] }[]
  return entry ? (entry.command ?? entry.hooks?.[0]?.command ?? null) : null
}

export function isInstalled(place: SettingsPlace): boolean {
  return ownEntries(place).length > 0
}

function freshText(host: HookHost): string {
  return `${JSON.stringify({ ...host.settings.fresh }, null, 2)}\n`
}

function withEntries(text: string, host: HookHost, command: string): string {
  return host.settings
    .entries(command)
    .reduce((so, { event, entry }) => appendAt(so, ['hooks', event], entry), text.trim() === '' ? '{}\n' : text)
}

function ownEntries({ host, name, file }: SettingsPlace): readonly unknown[] {
  const text = readText(file)
  if (text === null || text.trim() === '') return []
  const { hooks } = edit(file, () => parseJson(text)).value as { hooks?: Record<string, unknown> }
  return host.settings
    .entries('')
    .flatMap(({ event }) => (Array.isArray(hooks?.[event]) ? hooks[event].filter((each) => isOurs(each, name)) : []))
}

/** Writes beside the file and renames; what was there before the first installation stays beside it. */
export function apply({ file, what, text }: SettingsChange): void {
  if (what === 'already there' || what === 'not there') return
  const backup = backupOf(file)
  // A link (dotfiles in a repository) stays a link.
  const target = existsSync(file) && lstatSync(file).isSymbolicLink() ? realpathSync(file) : file
  if (text === null) rmSync(target)
  else {
    mkdirSync(dirname(target), { recursive: true })
    const mode = existsSync(target) ? statSync(target).mode & 0o777 : 0o600
    if (what === 'installed' && existsSync(target) && !existsSync(backup))
      writeFileSync(backup, readFileSync(target), { mode, flag: 'wx' })
    const draft = `${target}.cerith-${process.pid}`
    writeFileSync(draft, text, { mode, flag: 'wx' })
    renameSync(draft, target)
  }
  if (what === 'removed') rmSync(backup, { force: true })
}

function withoutEntries(text: string, { host, name, file }: SettingsPlace): string {
  if (text.trim() === '') return text
  return edit(file, () =>
    host.settings
      .entries('')
      .reduce((so, { event }) => removeAt(so, ['hooks', event], (entry) => isOurs(entry, name)), text),
  )
}

/** An entry that starts `cerith hook HOST`, in whichever form it was written. */
function isOurs(entry: unknown, name: HookHostName): boolean {
  const { command, hooks } = (entry ?? {}) as { command?: unknown; hooks?: unknown }
  if (typeof command === 'string') return isOurCommand(command, name)
  return (
    Array.isArray(hooks) &&
    hooks.length === 1 &&
    isOurCommand(String((hooks[0] as { command?: unknown } | null)?.command), name)
  )
}

function isOurCommand(command: string, name: HookHostName): boolean {
  if (!/cerith|cli\.c?js/.test(command)) return false
  return [...command.matchAll(/\bhook (\S+)/g)].some(([, word = '']) => hookHostNamed(word) === name)
}

function backupOf(file: string): string {
  return `${file}.before-cerith`
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw badConfig(`Cannot read ${file}: ${(error as Error).message}`, 'Nothing was changed.')
  }
}

/** A file that cannot be read as settings is left as it is. */
function edit<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw badConfig(`${file} is broken: ${error.message}`, 'Correct it first; nothing was changed.', { cause: error })
  }
}

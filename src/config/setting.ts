/** What a setting is, and how a row of the schema is written. */

/** The types, and the default of a setting whose row names none. */
const DEFAULTS = {
  boolean: false,
  number: null,
  string: null,
  path: null,
  names: [],
  paths: [],
  numbers: [],
  flags: {},
  texts: {},
  commands: {},
  object: {},
  objects: [],
} as const

export type SettingType = keyof typeof DEFAULTS

/**
 * What happens when the project's file, which may come with a cloned repository, sets it too:
 * `override` replaces the user's value, `add` extends the list, `within` must lie inside the
 * user's, `never` is an error, `stricter` and `tightens` count only as far as they allow less.
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

type Facts = Pick<Setting, 'key' | 'type'> & Partial<Omit<Setting, 'about'>>

/** A row. Unless it says otherwise, a project may not set it. */
export function setting(facts: Facts, about: string): Setting {
  return { default: DEFAULTS[facts.type], project: 'never', ...facts, about }
}

/** The values of one group by their names: `limits.graceMs` as `graceMs`. */
export function groupOf(values: Readonly<Record<string, unknown>>, group: string): Record<string, unknown> {
  const own = Object.entries(values).filter(([key]) => key.startsWith(`${group}.`))
  return Object.fromEntries(own.map(([key, value]) => [key.slice(group.length + 1), value]))
}

/** `timeoutMs` as `TIMEOUT_MS`, for names of variables. */
export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
}

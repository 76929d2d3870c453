/**
 * What each field of each request may be: one row per field. A field without a row does not
 * compile, a value that no row allows is refused.
 */
import { sandboxMistake } from '../../confine/check.js'
import type { AcceptOptions, ChangesOptions } from '../../contract/changes.js'
import type { KillOptions, ReadOptions, SendOptions, WaitOptions } from '../../contract/job.js'
import type { ReachOptions } from '../../contract/place.js'
import type { AutomationRule, ResourceLimits, RunRequest, StartRequest } from '../../contract/request.js'
import { LIMITS } from '../../contract/limits.js'
import type { EngineLimits, EngineOptions } from '../services/options.js'
import { wrongValue } from './wrong-value.js'

/** Null when the value will do; else what was expected and what to pass. */
type Check = (value: unknown, name: string) => readonly [what: string, hint: string] | null
type Rows<T> = Readonly<Record<keyof T, Check>>
const DAY_MS = 86_400_000

/**
 * Refuses options that are no object, a field that does not exist, and a value that its row
 * does not allow. `undefined` is left out.
 */
export function checkFields(of: string, options: unknown, rows: Readonly<Record<string, Check>>): void {
  if (options === undefined) return
  if (!isObject(options))
    throw wrongValue(`the options of ${of} must be an object`, options, 'Pass { ... }, or nothing.')
  for (const name of Object.keys(options)) {
    const value = options[name]
    if (!Object.hasOwn(rows, name))
      throw wrongValue(`unknown option ${name}`, name, `Known options: ${Object.keys(rows).join(', ')}.`)
    const wrong = value === undefined ? null : (rows[name] as Check)(value, name)
    if (wrong) throw wrongValue(wrong[0], value, wrong[1])
  }
}

// ---- kinds of values ----

const is =
  (what: string, hint: string, allows: (value: unknown) => boolean): Check =>
  (value, name) =>
    allows(value) ? null : [`${name} must be ${what}`, hint.replaceAll('NAME', name)]

const flag = is('true or false', 'Pass true or false, or leave NAME out.', (value) => typeof value === 'boolean')
const text = is('a string', 'Leave it out or pass a text.', isText)
const func = is('a function', 'Leave it out or pass a function.', (value) => typeof value === 'function')
const object = is('an object', 'Leave it out or pass { ... }.', isObject)
const texts = is('a list of strings', 'Pass ["..."], or leave NAME out.', isTextList)
const whole = (unit = ''): Check => is(`a whole number${unit}, 0 or more`, 'Pass a number, or leave NAME out.', isWhole)
const number = is('a number, 0 or more', 'Pass a number for NAME, or leave it out.', isNotNegative)
const oneOf = (...allowed: readonly string[]): Check =>
  is(`one of ${allowed.join(', ')}`, `Use one of: ${allowed.join(', ')}.`, (value) => allowed.includes(value as string))
const signal = is(
  'an AbortSignal',
  'Pass the signal of an AbortController, or leave it out.',
  (value) =>
    typeof (value as Partial<AbortSignal> | null)?.addEventListener === 'function' &&
    typeof (value as Partial<AbortSignal> | null)?.removeEventListener === 'function',
)

function milliseconds(low: number, high: number, orNull = false): Check {
  const hint = `Pass a number from ${low} to ${high}${orNull ? ', or null for no limit' : ''}.`
  return (value, name) => {
    if (orNull && value === null) return null
    if (typeof value !== 'number' || !Number.isFinite(value)) return [`${name} must be a number of milliseconds`, hint]
    if (value < low) return [`${name} below minimum: ${low}`, hint]
    return value > high ? [`${name} above maximum: ${high}`, hint] : null
  }
}

const CLIPS: Readonly<Record<string, readonly string[]>> = {
  none: [],
  head: ['maxChars'],
  ends: ['maxChars'],
  middle: ['maxBytes', 'endBytes'],
}

const clip: Check = (value) => {
  const hint =
    "Use { kind: 'none' }, { kind: 'head', maxChars }, { kind: 'ends', maxChars } or { kind: 'middle', " +
    'maxBytes, endBytes }; the numbers are whole, 0 or more.'
  const given = isObject(value) ? value : {}
  const fields = typeof given['kind'] === 'string' && Object.hasOwn(CLIPS, given['kind']) ? CLIPS[given['kind']] : null
  if (!fields) return ['clip must say its kind: none, head, ends or middle', hint]
  const wrong = fields.find((field) => !isWhole(given[field]))
  if (wrong) return [`clip.${wrong} must be a whole number, 0 or more`, hint]
  const odd = Object.keys(given).find((field) => field !== 'kind' && !fields.includes(field))
  return odd === undefined ? null : [`clip of kind ${String(given['kind'])} has no ${odd}`, hint]
}

const sandbox: Check = (value) => {
  const mistake = sandboxMistake(value)
  return mistake ? [mistake, 'See docs/sandbox.md.'] : null
}

const environment: Check = (env) => {
  if (!isObject(env)) return ['env must be an object of strings', 'Pass { NAME: "value" }.']
  for (const [name, value] of Object.entries(env)) {
    if (typeof value !== 'string') return [`env.${name} must be a string`, 'Convert the value to a string.']
    if (value.includes('\0') || name.includes('\0'))
      return [`env.${name.replaceAll('\0', '\\0')} must not contain NUL bytes`, 'Remove the NUL byte.']
    if (name === '' || name.includes('='))
      return [`${JSON.stringify(name)} cannot be the name of a variable`, 'Use letters, digits and underscores.']
  }
  return null
}

const input = is('a string or bytes', 'Pass text or a Uint8Array.', (value) => {
  return typeof value === 'string' || value instanceof Uint8Array
})
const labels = is('an object of strings', 'Pass { name: "value" }.', (value) => {
  return isObject(value) && Object.values(value).every(isText)
})
const size = is(
  'true, or a size { cols, rows } of whole numbers from 1 to 10000',
  'Pass true or { cols: 120, rows: 40 }.',
  (value) => {
    return (
      typeof value === 'boolean' ||
      (isObject(value) && [value['cols'], value['rows']].every((n) => isWhole(n) && n >= 1 && n <= 10_000))
    )
  },
)
const rules = is(
  'a list of rules',
  'Pass [{ program, subcommands, tools, feature, enabled }], or leave it out.',
  (value) => {
    return Array.isArray(value) && value.every(isRule)
  },
)

function isRule(value: unknown): value is AutomationRule {
  if (!isObject(value)) return false
  const { program, subcommands, tools, feature, enabled } = value
  return (
    typeof program === 'string' &&
    isTextList(subcommands) &&
    [tools, feature].every(isText) &&
    typeof enabled === 'boolean'
  )
}

const nested =
  (rows: Readonly<Record<string, Check>>): Check =>
  (value, name) => {
    if (!isObject(value)) return [`${name} must be an object`, `Pass { ${Object.keys(rows).join(', ')} }.`]
    for (const [field, one] of Object.entries(value)) {
      if (!Object.hasOwn(rows, field))
        return [`unknown option ${name}.${field}`, `Known: ${Object.keys(rows).join(', ')}.`]
      const wrong = one === undefined ? null : (rows[field] as Check)(one, `${name}.${field}`)
      if (wrong) return wrong
    }
    return null
  }

/** What a Map or Headers holds is in no field of it: it would count for nothing. */
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(Symbol.iterator in value)
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.every(isText)
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isNotNegative(value: unknown): boolean {
  return typeof value === 'number' && value >= 0
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isFilled(value: unknown): boolean {
  return isText(value) && value !== ''
}

// ---- the rows ----

const anything: Check = () => null // Checked where it is read, with a message of its own.
const directory = is('a non-empty string', 'Pass an absolute path, or leave NAME out.', isFilled)
const door = oneOf('library', 'cli', 'mcp', 'tools')
const limit = is('a whole number above 0', 'Pass a number, or leave NAME out.', (value) => isWhole(value) && value > 0)

const KERNEL_LIMITS: Rows<ResourceLimits> = {
  cpuSeconds: limit,
  memoryBytes: limit,
  processes: limit,
  fileBytes: limit,
}

type Request = RunRequest & StartRequest

const requestRows = (limits: EngineLimits): Rows<Request> => ({
  command: anything,
  cwd: directory,
  env: environment,
  envMode: oneOf('merge', 'replace'),
  timeoutMs: milliseconds(1, limits.maxTimeoutMs, true),
  graceMs: milliseconds(0, 600_000),
  signal,
  input,
  streams: oneOf('separate', 'merged'),
  ansi: oneOf('keep', 'strip'),
  progress: oneOf('keep', 'collapse'),
  binary: oneOf('keep', 'describe'),
  clip,
  dryRun: flag,
  pty: size,
  record: is('the path of a file', 'Pass { pty: true, record: "run.cast" }.', isFilled),
  onOutput: func,
  onBytes: func,
  yieldMs: milliseconds(0, limits.maxTimeoutMs),
  onTimeout: oneOf('kill', 'background'),
  owner: oneOf('manager', 'detached'),
  reportInput: flag,
  description: text,
  labels,
  newId: func,
  door,
  client: text,
  ask: func,
  approvalId: text,
  approvalWaitMs: milliseconds(0, DAY_MS),
  key: text,
  automation: rules,
  maxStoredBytes: whole(' of bytes'),
  openStdin: flag,
  session: text,
  limits: nested(KERNEL_LIMITS),
  sandbox,
  outside: is(
    'the reason, as a text',
    'Say why it cannot be done in the sandbox.',
    (value) => typeof value === 'string' && value.trim() !== '',
  ),
})

const rowsFor = new WeakMap<EngineLimits, Rows<Request>>()

/** The rows of `run`, `stream`, `start` and the like: some limits are the engine's own. */
export function rowsOfRequest(limits: EngineLimits): Rows<Request> {
  const known = rowsFor.get(limits)
  if (known) return known
  const rows = requestRows(limits)
  rowsFor.set(limits, rows)
  return rows
}

export const READ_ROWS: Rows<ReadOptions> = {
  since: is('a whole number of bytes, 0 or more', 'Pass the cursor of an earlier read, or leave since out.', isWhole),
  maxBytes: whole(' of bytes'),
  stream: oneOf('stdout', 'stderr', 'output'),
  filter: text,
  before: whole(),
  after: whole(),
  tail: whole(),
  ansi: oneOf('keep', 'strip'),
  progress: oneOf('keep', 'collapse'),
  encoding: oneOf('utf8', 'latin1'),
}

export const WAIT_ROWS: Rows<WaitOptions> = {
  exit: flag,
  until: is(
    'a regular expression',
    'Pass a RegExp, or its text.',
    (value) => typeof value === 'string' || value instanceof RegExp,
  ),
  port: is(
    'a TCP port',
    'Pass a whole number from 1 to 65535.',
    (value) => isWhole(value) && value > 0 && value < 65_536,
  ),
  idleMs: number,
  input: flag,
  file: is('the path of a file', 'Pass a path; relative ones count from the directory of the job.', isFilled),
  since: number,
  sinceStderr: number,
  timeoutMs: number,
  signal,
}

export const KILL_ROWS: Rows<KillOptions> = {
  signal: is(
    'the name or number of a signal',
    'Use TERM, KILL, INT, HUP, USR1 ... or a number.',
    (value) => typeof value === 'string' || isWhole(value),
  ),
  graceMs: is('a number of milliseconds', 'Pass 0 or more.', isNotNegative),
  why: oneOf('caller', 'timeout'),
  by: text,
}

const TYPED = 'Pass text, keys (a list of names such as "C-c"), enter or eof.'
export const SEND_ROWS: Rows<SendOptions> = {
  text: is('a string', TYPED, isText),
  keys: is('a list of names', TYPED, isTextList),
  enter: is('true or false', TYPED, (value) => typeof value === 'boolean'),
  eof: is('true or false', TYPED, (value) => typeof value === 'boolean'),
  by: text,
}

export const SCREEN_ROWS = { since: number }
export const JOBS_ROWS = { all: flag }
export const CLEAN_ROWS = {
  olderThanMs: is('a number, 0 or more', 'Pass milliseconds, or leave it out for all that have ended.', isNotNegative),
}
export const DISCARD_ROWS = { id: text }
export const CHANGES_ROWS: Rows<ChangesOptions> = { ...DISCARD_ROWS, paths: texts, text: flag }
export const ACCEPT_ROWS: Rows<AcceptOptions> = {
  ...DISCARD_ROWS,
  paths: texts,
  force: flag,
  protected: flag,
  digest: text,
  signal,
  ask: func,
  door,
  approvalWaitMs: milliseconds(0, DAY_MS),
}
export const CHECK_ROWS = { session: anything, cwd: directory, home: directory }

const LIMIT_ROWS = Object.fromEntries(
  Object.entries(LIMITS).map(([name, value]) => [name, typeof value === 'number' ? number : size]),
)

const REACH_ROWS: Rows<ReachOptions> = {
  leaseMs: milliseconds(1, DAY_MS),
  linkWaitMs: milliseconds(0, DAY_MS),
  beatMs: milliseconds(1, DAY_MS),
  runtime: text,
  uploadDir: text,
  stateDir: text,
  clientArgs: texts,
  secrets: texts,
  keep: text,
  note: text,
  labels,
}

export const ENGINE_ROWS: Rows<EngineOptions> = {
  cwd: directory,
  roots: texts,
  env: object,
  envDefaults: flag,
  allowDangerousEnv: flag,
  keepEnv: texts,
  dropEnv: texts,
  pathFromLoginShell: flag,
  loginShell: flag,
  directoryEnv: nested({ direnv: flag, mise: flag, dotenv: texts }),
  bash: is('the path of a bash', 'Pass a path, or leave it out.', isFilled),
  stateDir: is('the path of a directory', 'Pass a path, or leave it out.', isFilled),
  policy: object,
  protectedPaths: texts,
  automation: rules,
  secretSources: is(
    'a list of sources',
    'Pass [{ lookup }], or leave it out.',
    (value) =>
      Array.isArray(value) && value.every((one) => typeof (one as { lookup?: unknown } | null)?.lookup === 'function'),
  ),
  askpass: is(
    'a list of rules',
    'Pass [{ program, prompt, secret }], or leave it out.',
    (value) => Array.isArray(value) && value.every(isObject),
  ),
  ask: func,
  limits: nested(LIMIT_ROWS),
  audit: is(
    'an audit sink',
    'Pass { write(entry) { ... } }, or leave it out.',
    (value) => typeof (value as { write?: unknown } | null)?.write === 'function',
  ),
  persistSessions: flag,
  recordSessions: flag,
  door,
  tier: oneOf('auto', 'plain'),
  sandbox,
  approvals: oneOf('files', 'ask'),
  commandLimits: nested(KERNEL_LIMITS),
  approvalWaitMs: milliseconds(0, DAY_MS),
  at: text,
  reach: nested(REACH_ROWS),
  runDir: directory,
}

/**
 * Builds the environment of a command: no loader hooks, no secrets it was not given, nothing that waits for a person.
 */
import { LIMITS } from '../contract/limits.js'
import { nonInteractiveDefaults } from './defaults.js'
import { hookOf, isFunctionDefinition } from './hooks.js'
import { isSecretName } from './secret-names.js'
import { secretLook } from './secret-values.js'

/** `inherited`: the engine's own environment. `explicit`: given for this call. */
export type Origin = 'inherited' | 'explicit'
export type DropReason = 'injection' | 'secret-name' | 'secret-value' | 'invalid'

export type VariableVerdict =
  | { readonly keep: true }
  | { readonly keep: false; readonly why: DropReason; readonly because: string }

export interface JudgeOptions {
  readonly allowDangerous?: boolean
  /** Names, or prefixes ending in `*`, that stay although a rule would drop them. A pass phrase never does. */
  readonly keep?: readonly string[]
  /** Names, or prefixes ending in `*`, to drop as well. */
  readonly drop?: readonly string[]
}

export interface EnvironmentInput extends JudgeOptions {
  readonly base: Readonly<Record<string, string | undefined>>
  readonly given?: Readonly<Record<string, string>>
  readonly mode?: 'merge' | 'replace'
  /** The non-interactive defaults; on when merging, off when replacing. */
  readonly defaults?: boolean
  /** HOME where none is inherited or given; a replaced environment stays exactly as given. */
  readonly home?: string
}

export interface EnvironmentProblem {
  readonly variable: string
  readonly message: string
  readonly hint: string
}

export interface Environment {
  readonly env: Record<string, string>
  readonly dropped: readonly { readonly name: string; readonly why: DropReason }[]
  /** Names the defaults added or changed. */
  readonly added: readonly string[]
  /** Set when the kernel would not take this environment; nothing may be started with it. */
  readonly problem: EnvironmentProblem | null
}

/** The environment of a fresh shell, and what was taken out of the host's or put into it. */
export interface PlannedEnvironment {
  readonly env: Readonly<Record<string, string>>
  readonly dropped: readonly string[]
  readonly added: readonly string[]
}

export function buildEnvironment(input: EnvironmentInput): Environment {
  const { base, given = {}, mode = 'merge', defaults = mode === 'merge', home } = input
  const env = new Map<string, string>()
  const dropped: { name: string; why: DropReason }[] = []
  const take = (variables: Readonly<Record<string, string | undefined>>, origin: Origin): void => {
    for (const [name, value] of Object.entries(variables)) {
      if (value === undefined) continue
      const verdict = judgeVariable(name, value, origin, input)
      if (verdict.keep) env.set(name, value)
      else dropped.push({ name, why: verdict.why })
    }
  }
  if (mode === 'merge') take(base, 'inherited')
  const inherited = Object.fromEntries(env)
  const settings = defaults ? nonInteractiveDefaults(inherited, given) : {}
  for (const [name, value] of Object.entries(settings)) env.set(name, value)
  take(given, 'explicit')
  if (mode === 'merge' && home !== undefined && !env.has('HOME')) env.set('HOME', home)
  return {
    env: Object.fromEntries(env),
    dropped,
    added: Object.keys(settings),
    problem: findInvalid(given) ?? findTooLarge(env),
  }
}

/** Whether one variable may reach a command, and why not. */
export function judgeVariable(
  name: string,
  value: string,
  origin: Origin,
  options: JudgeOptions = {},
): VariableVerdict {
  if (!isPossible(name, value)) return no('invalid', 'the kernel cannot hold it')
  if (listed(name, options.drop)) return no('injection', 'listed to be dropped')
  if (origin === 'explicit') {
    if (options.allowDangerous || (hookOf(name) !== 'hook' && !isFunctionDefinition(value))) return yes
    return no('injection', `${name} makes programs run other code`)
  }
  if (/PASSPHRASE$/i.test(name)) return no('secret-name', 'pass phrases never reach a command by inheritance')
  if (listed(name, options.keep)) return yes
  if (!options.allowDangerous && (hookOf(name) !== null || isFunctionDefinition(value)))
    return no('injection', `${name} makes programs run or read something else`)
  if (isSecretName(name, value)) return no('secret-name', 'named like a secret')
  const look = secretLook(value)
  return look === null ? yes : no('secret-value', `looks like ${look}`)
}

const yes: VariableVerdict = { keep: true }

function no(why: DropReason, because: string): VariableVerdict {
  return { keep: false, why, because }
}

function isPossible(name: string, value: string): boolean {
  return (
    typeof value === 'string' && name !== '' && !name.includes('=') && !name.includes('\0') && !value.includes('\0')
  )
}

function listed(name: string, list: readonly string[] | undefined): boolean {
  return list?.some((entry) => (entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : entry === name)) ?? false
}

/** What the caller gave and no process can have is the caller's mistake, told before anything starts. */
function findInvalid(given: Readonly<Record<string, string>>): EnvironmentProblem | null {
  for (const [name, value] of Object.entries(given)) {
    const shown = JSON.stringify(name)
    if (typeof value !== 'string')
      return {
        variable: name,
        message: `Environment variable ${shown} is not a string: ${typeof value}`,
        hint: 'Give every variable as a string.',
      }
    if (value.includes('\0'))
      return {
        variable: name,
        message: `Environment variable ${shown} contains a NUL character`,
        hint: 'Hand binary content over in a file.',
      }
    if (!isPossible(name, value))
      return {
        variable: name,
        message: `Not a possible name for an environment variable: ${shown}`,
        hint: 'A name is not empty and has no "=" and no NUL in it.',
      }
  }
  return null
}

/**
 * The kernel refuses a single string beyond 128 KiB (name, "=", value and NUL) and too much of
 * them together, with an E2BIG that names nothing.
 */
function findTooLarge(env: ReadonlyMap<string, string>): EnvironmentProblem | null {
  let total = 0
  let largest = { name: '', bytes: 0 }
  for (const [name, value] of env) {
    const bytes = utf8Bytes(name) + utf8Bytes(value) + 2
    total += bytes
    if (bytes > largest.bytes) largest = { name, bytes }
  }
  const hint = 'Write the content to a file and pass its path, or leave the variable out.'
  if (largest.bytes > LIMITS.maxVariableBytes)
    return {
      variable: largest.name,
      message:
        `Environment variable ${largest.name} is too large: ${largest.bytes} bytes, the kernel takes ` +
        `${LIMITS.maxVariableBytes}`,
      hint,
    }
  if (total > LIMITS.maxEnvironmentBytes)
    return {
      variable: largest.name,
      message:
        `The environment is too large: ${total} bytes of ${LIMITS.maxEnvironmentBytes}; the largest variable is ` +
        `${largest.name} with ${largest.bytes}`,
      hint,
    }
  return null
}

function utf8Bytes(text: string): number {
  // oxlint-disable-next-line no-control-regex -- ASCII is the usual case and needs no encoding to be counted
  return /^[\x00-\x7f]*$/.test(text) ? text.length : new TextEncoder().encode(text).length
}

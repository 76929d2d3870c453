/** Checks what a caller asked for before anything starts, and says which field is wrong and what was expected. */
import { sandboxMistake } from '../../confine/check.js'
import type { RunRequest, StartRequest } from '../../contract/request.js'
import type { EngineLimits } from '../services/options.js'
import { quoteArgv } from './quote.js'
import { checkOptions, checkSignal, wrongValue as bad } from './wrong-value.js'

const KNOWN = new Set([
  'command', 'cwd', 'env', 'envMode', 'timeoutMs', 'graceMs', 'signal', 'input', 'streams', 'ansi', 'progress', 'binary', 'clip', 'dryRun', 'pty', 'record', 'onOutput', 'onBytes', 'yieldMs', 'onTimeout',
  'reportInput', 'description', 'labels', 'newId', 'door', 'ask', 'approvalId', 'key', 'automation', 'owner', 'maxStoredBytes', 'openStdin', 'session', 'limits', 'sandbox',
  'client',
]) // prettier-ignore

/** The command line of a request, after every field was checked. */
export function checkRequest(request: RunRequest, limits: EngineLimits): string {
  if (typeof request !== 'object' || request === null || Array.isArray(request))
    throw bad('a request must be an object with a command', request, 'Pass { command: "..." }.')
  const keys = Object.keys(request)
  for (const key of keys)
    if (!KNOWN.has(key)) throw bad(`unknown option ${key}`, key, `Known options: ${[...KNOWN].join(', ')}.`)
  const command = commandLine(request.command)
  if (command.trim() === '') throw bad('command must not be empty', request.command, 'Pass the command line to run.')
  if (command.includes('\0'))
    throw bad(
      'command must not contain NUL bytes',
      command.slice(0, 60),
      'Remove the NUL byte; to print one use printf "\\0".',
    )
  if (Buffer.byteLength(command) > limits.maxCommandBytes)
    throw bad(
      `command is longer than ${limits.maxCommandBytes} bytes`,
      `${Buffer.byteLength(command)} bytes`,
      'Put the text into a file and run that.',
    )
  if (keys.length === 1) return command
  oneOf(request, 'envMode', ['merge', 'replace'])
  oneOf(request, 'streams', ['separate', 'merged'])
  oneOf(request, 'ansi', ['keep', 'strip'])
  oneOf(request, 'progress', ['keep', 'collapse'])
  oneOf(request, 'binary', ['keep', 'describe'])
  oneOf(request, 'onTimeout', ['kill', 'background'])
  oneOf(request, 'owner', ['manager', 'detached'])
  if (request.timeoutMs !== undefined && request.timeoutMs !== null)
    milliseconds('timeoutMs', request.timeoutMs, 1, limits.maxTimeoutMs)
  if (request.graceMs !== undefined) milliseconds('graceMs', request.graceMs, 0, 600_000)
  if (request.yieldMs !== undefined) milliseconds('yieldMs', request.yieldMs, 0, limits.maxTimeoutMs)
  if (request.record !== undefined && (typeof request.record !== 'string' || request.record === '' || !request.pty))
    throw bad(
      'record must be the path of a file, and needs pty',
      request.record,
      'Pass { pty: true, record: "run.cast" }.',
    )
  if (request.env !== undefined) checkEnv(request.env)
  if (request.input !== undefined && typeof request.input !== 'string' && !(request.input instanceof Uint8Array))
    throw bad('input must be a string or bytes', request.input, 'Pass text or a Uint8Array.')
  checkSignal(request.signal)
  const { maxStoredBytes, limits: kernel } = request as Partial<StartRequest>
  if (maxStoredBytes !== undefined && !(Number.isSafeInteger(maxStoredBytes) && maxStoredBytes >= 0))
    throw bad('maxStoredBytes must be a whole number of bytes', maxStoredBytes, 'Leave it out or pass 0 or more.')
  checkOptions('the field limits', kernel)
  const wrongSandbox = request.sandbox === undefined ? null : sandboxMistake(request.sandbox)
  if (wrongSandbox) throw bad(wrongSandbox, request.sandbox, 'See docs/sandbox.md.')
  for (const name of ['description', 'approvalId', 'key'] as const)
    if (request[name] !== undefined && typeof request[name] !== 'string')
      throw bad(`${name} must be a string`, request[name], 'Leave it out or pass a text.')
  if (request.labels !== undefined && !isTexts(request.labels))
    throw bad('labels must be an object of strings', request.labels, 'Pass { name: "value" }.')
  if (request.automation !== undefined && !Array.isArray(request.automation))
    throw bad('automation must be a list of rules', request.automation, 'Leave it out or pass a list.')
  for (const name of ['onOutput', 'onBytes', 'newId', 'ask'] as const)
    if (request[name] !== undefined && typeof request[name] !== 'function')
      throw bad(`${name} must be a function`, request[name], 'Leave it out or pass a function.')
  return command
}

function commandLine(command: unknown): string {
  if (typeof command === 'string') return command
  if (Array.isArray(command) && command.length > 0 && command.every((word) => typeof word === 'string'))
    return quoteArgv(command)
  throw bad(
    'command must be a string or a non-empty array of strings',
    command,
    'Pass a command line, or an argv that cerith quotes.',
  )
}

function oneOf(
  request: RunRequest,
  field: 'envMode' | 'streams' | 'ansi' | 'progress' | 'binary' | 'onTimeout' | 'owner',
  allowed: readonly string[],
): void {
  const value = request[field]
  if (value !== undefined && !allowed.includes(value))
    throw bad(`${field} must be one of ${allowed.join(', ')}`, value, `Use one of: ${allowed.join(', ')}.`)
}

function milliseconds(field: string, value: unknown, low: number, high: number): void {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw bad(`${field} must be a number of milliseconds`, value, `Pass a number from ${low} to ${high}.`)
  if (value < low) throw bad(`${field} below minimum: ${low}`, value, `Pass a number from ${low} to ${high}.`)
  if (value > high)
    throw bad(
      `${field} above maximum: ${high}`,
      value,
      `Pass a number from ${low} to ${high}${field === 'timeoutMs' ? ', or null for no limit' : ''}.`,
    )
}

function checkEnv(env: unknown): void {
  if (typeof env !== 'object' || env === null || Array.isArray(env))
    throw bad('env must be an object of strings', env, 'Pass { NAME: "value" }.')
  for (const [name, value] of Object.entries(env)) {
    if (typeof value !== 'string') throw bad(`env.${name} must be a string`, value, 'Convert the value to a string.')
    if (value.includes('\0') || name.includes('\0'))
      throw bad(`env.${name.replaceAll('\0', '\\0')} must not contain NUL bytes`, name, 'Remove the NUL byte.')
    if (name === '' || name.includes('='))
      throw bad(
        `${JSON.stringify(name)} cannot be the name of a variable`,
        name,
        'Use letters, digits and underscores.',
      )
  }
}

function isTexts(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((text) => typeof text === 'string')
  )
}

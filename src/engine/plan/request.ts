/** Checks what a caller asked for before anything starts, and says which field is wrong and what was expected. */
import type { RunRequest } from '../../contract/request.js'
import type { EngineLimits } from '../services/options.js'
import { quoteArgv } from '../../contract/quote.js'
import { wrongValue as bad } from './wrong-value.js'
import { checkFields, rowsOfRequest } from './fields.js'

/** The command line of a request, after every field was checked. */
export function checkRequest(request: RunRequest, limits: EngineLimits): string {
  if (typeof request !== 'object' || request === null || Array.isArray(request))
    throw bad('a request must be an object with a command', request, 'Pass { command: "..." }.')
  checkFields('the request', request, rowsOfRequest(limits))
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
  if (request.record !== undefined && !request.pty)
    throw bad('record needs pty', request.record, 'Pass { pty: true, record: "run.cast" }.')
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

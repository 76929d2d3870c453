/** Settings of what one command may use, and of how long it waits for a person. */
import type { ResourceLimits } from '../contract/request.js'
import type { Setting } from './schema.js'

const commandLimit = (name: keyof ResourceLimits, about: string, variable: string, max: number): Setting => ({
  key: `commandLimits.${name}`,
  type: 'number',
  default: null,
  about,
  project: 'tightens',
  variable,
  min: 1,
  max,
})

export const COMMAND_ROWS: readonly Setting[] = [
  commandLimit(
    'memoryBytes',
    'The memory that a command may use, with all processes that it starts. No limit when absent.',
    'CERITH_COMMAND_MEMORY_BYTES',
    2 ** 50,
  ),
  commandLimit(
    'cpuSeconds',
    'The CPU time that a command may use, with all processes that it starts. No limit when absent.',
    'CERITH_COMMAND_CPU_SECONDS',
    10 ** 9,
  ),
  commandLimit(
    'processes',
    'How many processes a command may have at once. No limit when absent.',
    'CERITH_COMMAND_PROCESSES',
    10 ** 7,
  ),
  commandLimit(
    'fileBytes',
    'The size of the largest file that a command may write. Not for sessions. No limit when absent.',
    'CERITH_COMMAND_FILE_BYTES',
    2 ** 50,
  ),
  {
    key: 'approval.waitMs',
    type: 'number',
    default: null,
    about:
      'How long a call waits for a person to approve a command. When absent: 40 s while a terminal or page is open that can answer, otherwise not at all. An MCP call never waits longer than `limits.yieldMs`.',
    project: 'never',
    variable: 'CERITH_APPROVAL_WAIT_MS',
    min: 0,
    max: 86_400_000,
  },
]

const PREFIX = 'commandLimits.'

/** Null where none is set. */
export function commandLimitsOf(values: Readonly<Record<string, unknown>>): ResourceLimits | null {
  const set = Object.entries(values).flatMap(([key, value]) =>
    key.startsWith(PREFIX) && typeof value === 'number' ? [[key.slice(PREFIX.length), value] as const] : [],
  )
  return set.length === 0 ? null : (Object.fromEntries(set) as ResourceLimits)
}

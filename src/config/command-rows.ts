/** Settings of what one command may use, and of how long it waits for a person. */
import type { ResourceLimits } from '../contract/request.js'
import { groupOf, setting, snake, type Setting } from './setting.js'

const commandLimit = (name: keyof ResourceLimits, about: string, max: number): Setting => {
  const variable = `CERITH_COMMAND_${snake(name)}`
  return setting({ key: `commandLimits.${name}`, type: 'number', project: 'tightens', variable, min: 1, max }, about)
}

export const COMMAND_ROWS: readonly Setting[] = [
  commandLimit(
    'memoryBytes',
    'The memory that a command may use, with all processes that it starts. No limit when absent.',
    2 ** 50,
  ),
  commandLimit(
    'cpuSeconds',
    'The CPU time that a command may use, with all processes that it starts. No limit when absent.',
    10 ** 9,
  ),
  commandLimit('processes', 'How many processes a command may have at once. No limit when absent.', 10 ** 7),
  commandLimit(
    'fileBytes',
    'The size of the largest file that a command may write. Not for sessions. No limit when absent.',
    2 ** 50,
  ),
  setting(
    { key: 'approval.waitMs', type: 'number', variable: 'CERITH_APPROVAL_WAIT_MS', min: 0, max: 86_400_000 },
    'How long a call waits for a person to approve a command. When absent: 40 s while a terminal or page is ' +
      'open that can answer, otherwise not at all. An MCP call never waits longer than `limits.yieldMs`.',
  ),
]

/** Null where none is set. */
export function commandLimitsOf(values: Readonly<Record<string, unknown>>): ResourceLimits | null {
  const set = Object.entries(groupOf(values, 'commandLimits')).filter(([, value]) => value !== null)
  return set.length === 0 ? null : (Object.fromEntries(set) as ResourceLimits)
}

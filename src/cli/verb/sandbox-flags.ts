/** The flags of a sandbox, as the settings that they stand for. */
import { resolve } from 'node:path'
import { SANDBOX_NETWORKS, SANDBOX_PROFILES } from '../../contract/sandbox.js'
import type { SET_OPTION } from './option-rows.js'
import type { OptionRow, OptionsOf } from './verb.js'

export const SANDBOX_OPTIONS = [
  {
    flags: '--sandbox [PROFILE]',
    about: 'confine it: workspace (default), read-only, strict, off',
    choices: SANDBOX_PROFILES,
    otherwise: 'workspace',
  },
  { flags: '--network <MODE>', about: 'of a sandbox: none (default), allow-list, all', choices: SANDBOX_NETWORKS },
  { flags: '--allow-domain <NAME>', about: 'a host that the sandbox may reach (repeatable)', many: true },
  {
    flags: '--try [HOW]',
    about: 'what it writes counts when you `cerith accept` it; new: begin another try',
    choices: ['on', 'new'],
    otherwise: 'on',
  },
  { flags: '--write <DIR>', about: 'a further writable directory of the sandbox (repeatable)', many: true },
] as const satisfies readonly OptionRow[]

type Flags = OptionsOf<readonly [...typeof SANDBOX_OPTIONS, typeof SET_OPTION]>

/** `--set` as given, after what the flags mean: the more exact word wins. */
export function settingsOf(flags: Flags, cwd: string): string[] {
  const { sandbox, network, allowDomain, write, try: tried, set = [] } = flags
  const settings: string[] = []
  if (sandbox !== undefined) settings.push(`sandbox.profile=${sandbox}`)
  if (network !== undefined) settings.push(`sandbox.network=${network}`)
  else if (allowDomain) settings.push('sandbox.network=allow-list')
  if (allowDomain) settings.push(`sandbox.domains=${JSON.stringify(allowDomain)}`)
  if (write) settings.push(`sandbox.write=${JSON.stringify(write.map((path) => resolve(cwd, path)))}`)
  if (tried !== undefined) settings.push(`sandbox.try=${tried}`)
  return [...settings, ...set]
}

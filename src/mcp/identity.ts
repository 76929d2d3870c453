/** Who the server says it is. */
import type { Engine } from '../contract/engine.js'
import type { Settings } from './options.js'

/** A test compares it with package.json. */
export const VERSION = '0.1.0'

export const IDENTITY = { name: 'cerith', title: 'cerith shell', version: VERSION } as const

/** What a model should know before its first call; some hosts show it as the description of all the tools together. */
export function instructionsFor(engine: Engine, settings: Settings, cwd: string): string {
  const session = settings.tools.session ?? 'main'
  return [
    `Shell on this machine: bash ${engine.shell.version} on ${process.platform}. Directory: ${cwd}. Default session: ${session}.`,
    `A command still running after ${settings.yieldMs / 1_000} s is NOT killed: it goes on with an id, and that id stays valid after its end.`,
    'Wait on the server (wait_ms, until) instead of polling. Background shells end with this server unless they were started detached.',
    'Output of a shell is also the resource shell://ID/output.',
  ].join(' ')
}

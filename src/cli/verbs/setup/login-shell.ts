/** What is known of the user's login shell, as `cerith config` shows it: names, never values. */
import { loginShell, type LoginShell } from '../../../os/user/login-shell.js'
import { findStateDirectory } from '../../../os/files/state-dir.js'
import type { LoadedConfig } from '../../../config/load.js'
import { keepOf } from '../../../engine/services/world.js'
import type { Io } from '../../io/io.js'
import { visible } from '../../../output/terminal/visible.js'

export function loginOf({ values }: LoadedConfig, io: Io, refresh: boolean): Promise<LoginShell> {
  const keep = keepOf({
    allowDangerous: values['env.allowDangerous'] as boolean,
    keep: values['env.keep'] as readonly string[],
    drop: values['env.drop'] as readonly string[],
  })
  return loginShell(findStateDirectory(io.env).path, io.env, keep, { refresh })
}

export function loginToJson(login: LoginShell): Record<string, unknown> {
  return {
    shell: login.shell,
    taken_at: new Date(login.takenAt).toISOString(),
    took_ms: login.tookMs,
    variables: Object.keys(login.variables),
    functions: Object.keys(login.functions),
    aliases: Object.keys(login.aliases),
    left_out: login.left,
    notes: login.notes,
  }
}

const SHOWN = 12

export function loginText(login: LoginShell): string {
  const rows: [string, string][] = [
    ['login shell', `${login.shell}, taken ${new Date(login.takenAt).toISOString()} in ${login.tookMs} ms`],
    ['variables', names(Object.keys(login.variables))],
    ['functions', names(Object.keys(login.functions))],
    ['aliases', names(Object.keys(login.aliases))],
    ['left out', names(login.left)],
    ...login.notes.map((note): [string, string] => ['note', note]),
  ]
  return rows.map(([name, text]) => `${name.padEnd(12)} ${visible(text)}\n`).join('')
}

function names(all: readonly string[]): string {
  if (all.length === 0) return 'none'
  const more = all.length > SHOWN ? ` and ${all.length - SHOWN} more` : ''
  return `${all.length}: ${all.slice(0, SHOWN).join(' ')}${more}`
}

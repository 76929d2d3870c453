/** Every host whose hooks are spoken, by the word after `cerith hook`. */
import type { HookHost } from '../protocol.js'
import { claude, vscode } from './claude.js'
import { codex } from './codex.js'
import { cursor } from './cursor.js'
import { gemini } from './gemini.js'

export const HOOK_HOSTS = { 'claude-code': claude, codex, gemini, cursor, vscode } as const satisfies Record<
  string,
  HookHost
>

export type HookHostName = keyof typeof HOOK_HOSTS

/** `claude` is what entries of earlier versions say. */
export function hookHostNamed(word: string): HookHostName | null {
  const name = word === 'claude' ? 'claude-code' : word
  return Object.hasOwn(HOOK_HOSTS, name) ? (name as HookHostName) : null
}

/** Every dialect by its name. Adding one is adding a file, a row here, and its row in the tests. */
import type { Dialect } from '../dialect.js'
import { anthropic } from './anthropic.js'
import { codex } from './codex.js'
import { forge } from './forge.js'
import { gemini } from './gemini.js'
import { house } from './house.js'
import { lango } from './lango.js'
import { openaiShell } from './openai-shell.js'
import { phoenix } from './phoenix.js'
import { wave } from './wave.js'

export const DIALECTS = {
  house,
  lango,
  phoenix,
  forge,
  wave,
  anthropic,
  codex,
  gemini,
  'openai-shell': openaiShell,
} as const satisfies Record<string, Dialect>

export type DialectName = keyof typeof DIALECTS

export function isDialectName(name: string): name is DialectName {
  return Object.hasOwn(DIALECTS, name)
}

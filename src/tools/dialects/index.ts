/** Every dialect by its name. Adding one is adding a folder, a row here, and its test table. */
import type { Dialect } from '../dialect.js'
import { anthropic } from './anthropic/index.js'
import { codex } from './codex/index.js'
import { forge } from './forge/index.js'
import { gemini } from './gemini/index.js'
import { house } from './house/index.js'
import { lango } from './lango/index.js'
import { openaiShell } from './openai-shell/index.js'
import { phoenix } from './phoenix/index.js'
import { wave } from './wave/index.js'

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

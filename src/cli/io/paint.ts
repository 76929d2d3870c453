/** Colours for people: only on a terminal, and never against their wish. */
import type { Sink } from './io.js'

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export type Paint = (style: keyof typeof CODES, text: string) => string

export function hasColor(sink: Sink, env: Readonly<Record<string, string | undefined>>): boolean {
  return sink.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}

export function painter(sink: Sink, env: Readonly<Record<string, string | undefined>>): Paint {
  return hasColor(sink, env) ? (style, text) => `\u001B[${CODES[style]}m${text}\u001B[0m` : (_style, text) => text
}

/** Makes the protocol's result of a tool's: both channels complete, and never larger than a reader accepts. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import { clipEnds } from '../../output/clip.js'
import type { ToolResult } from '../../tools/tool.js'
import type { Settings } from '../setup/options.js'

export function toProtocol(result: ToolResult, settings: Settings): CallToolResult {
  const isError = result.isError && (settings.failedIsError || !result.failedByExit)
  const make = (text: string, structured: Record<string, unknown>): CallToolResult => {
    const made: CallToolResult = { content: [{ type: 'text', text }] }
    if (settings.structured) made.structuredContent = structured
    if (isError) made.isError = true
    return made
  }
  const { text, structured } = result
  const whole = make(text, structured)
  if (surelyFits(text, structured, settings.maxResultBytes) || bytesOf(whole) <= settings.maxResultBytes) return whole
  return shrink({ text, structured, isError }, make, settings.maxResultBytes)
}

/** One UTF-16 unit becomes at most six bytes of JSON (\u0000); most results are far below and need no counting. */
function surelyFits(text: string, structured: Record<string, unknown>, maxBytes: number): boolean {
  return (text.length + unitsOf(structured)) * 6 + 1_024 <= maxBytes
}

function unitsOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  if (typeof value !== 'object' || value === null) return 24
  let units = 2
  const isList = Array.isArray(value)
  for (const key in value) units += (isList ? 1 : key.length + 4) + unitsOf((value as Record<string, unknown>)[key])
  return units
}

/** Shortens every long text and list alike until the whole fits; what was cut says so in its own place. */
function shrink(
  result: ToolResult,
  make: (text: string, structured: Record<string, unknown>) => CallToolResult,
  maxBytes: number,
): CallToolResult {
  let maxChars = Math.floor(maxBytes / 4)
  for (
    let items = 1_000;
    ;
    items = Math.max(5, Math.floor(items / 2)), maxChars = Math.max(500, Math.floor(maxChars / 2))
  ) {
    const structured = shorten(result.structured, maxChars, items) as Record<string, unknown>
    for (const [key, value] of Object.entries(result.structured))
      if (Array.isArray(value) && value.length > items) structured[`${key}_omitted`] = value.length - items
    if ('truncated' in structured) structured['truncated'] = true
    const smaller = make(clip(result.text, maxChars), structured)
    if (bytesOf(smaller) <= maxBytes || (maxChars === 500 && items === 5)) return smaller
  }
}

function shorten(value: unknown, maxChars: number, items: number): unknown {
  if (typeof value === 'string') return clip(value, maxChars)
  if (typeof value !== 'object' || value === null) return value
  // The newest of a list are at its end.
  if (Array.isArray(value)) return value.slice(-items).map((item) => shorten(item, maxChars, items))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shorten(inner, maxChars, items)]))
}

function clip(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : clipEnds(text, { maxChars }).text
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value))
}

/**
 * The audit log as people read it: commands, how each ended and what people did to it, in the
 * order in which they began.
 */
import type { AuditLine } from './chain.js'

/** Entries about what a person or a program did to a command; those of `ENDS` say how it ended. */
const DEEDS: Readonly<Record<string, string>> = {
  start: 'started',
  approve: 'approved',
  deny: 'denied',
  interrupt: 'interrupted',
  kill: 'killed',
  background: 'to jobs',
  send: 'typed',
  attach: 'attached',
}
const ENDS = new Set(['run', 'session', 'job', 'refused', 'dry_run'])
/** A deed may be written a little after the command that it is about. */
const LATER_MS = 60_000

export type Tone = 'ok' | 'bad' | 'warn' | 'plain'

export interface Block {
  readonly entry: AuditLine
  /** It has begun, and nothing is known of its end. */
  readonly isOpen: boolean
  /** What people did about it. */
  readonly deeds: readonly AuditLine[]
}

export function textOf(entry: AuditLine, key: string): string {
  const value = entry[key]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

export function isDeed(entry: AuditLine): boolean {
  return textOf(entry, 'kind') in DEEDS
}

/** In a word or two: `exit 0`, `SIGTERM`, `refused wipe-root`, `approved`. */
export function whatCame(entry: AuditLine): string {
  const kind = textOf(entry, 'kind')
  if (DEEDS[kind]) return DEEDS[kind]
  if (kind === 'refused') return `refused ${textOf(entry, 'rule')}`.trimEnd()
  // The line stays when the job has long ended: what it says must stay true.
  if (kind === 'job' && entry['status'] === 'running') return 'to jobs'
  const isOpen = entry['exitCode'] === null || entry['exitCode'] === undefined
  return textOf(entry, 'signal') || (isOpen ? textOf(entry, 'status') : `exit ${textOf(entry, 'exitCode')}`)
}

export function toneOf(entry: AuditLine): Tone {
  const kind = textOf(entry, 'kind')
  if (kind === 'refused') return 'warn'
  if (kind === 'deny' || kind === 'kill') return 'bad'
  if (isDeed(entry)) return 'plain'
  if (entry['status'] === 'running' || kind === 'dry_run') return 'plain'
  return entry['exitCode'] === 0 && !textOf(entry, 'signal') ? 'ok' : 'bad'
}

/** The end of a command says when it began, too: its start counts only while there is no end. */
export function withoutStarts(lines: readonly AuditLine[]): AuditLine[] {
  const ended = new Set(lines.filter(({ kind }) => ENDS.has(kind as string)).map(callKey))
  return lines.filter((entry) => entry['kind'] !== 'start' || !ended.has(callKey(entry)))
}

/** By when they began: lines are written in the order of their ends. */
export function blocksOf(lines: readonly AuditLine[]): Block[] {
  const all = withoutStarts(lines)
  const deeds = all.filter((entry) => isDeed(entry) && entry['kind'] !== 'start')
  return all
    .filter(({ kind }) => ENDS.has(kind as string) || kind === 'start')
    .sort((a, b) => (a.at ?? 0) - (b.at ?? 0))
    .map((entry) => {
      const until = (entry.at ?? 0) + Number(entry['durationMs'] ?? 0) + LATER_MS
      const isAbout = (deed: AuditLine): boolean =>
        deed['command'] === entry['command'] && (deed.at ?? 0) >= (entry.at ?? 0) && (deed.at ?? 0) <= until
      return { entry, isOpen: entry['kind'] === 'start', deeds: deeds.filter(isAbout) }
    })
}

/** The same for the start and the end of one command. */
function callKey(entry: AuditLine): string {
  return [textOf(entry, 'engine'), textOf(entry, 'at'), textOf(entry, 'command')].join(' ')
}

/** A line of the audit log as a person reads it. */
import type { AuditLine } from '../audit/chain.js'
import type { Paint } from './paint.js'
import { oneLine } from './table.js'

/** What was done to a command, as opposed to what came of it. */
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

export function textOf(entry: AuditLine, key: string): string {
  const value = entry[key]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** The same for the start and the end of one command. */
export function callKey(entry: AuditLine): string {
  return [textOf(entry, 'engine'), textOf(entry, 'at'), textOf(entry, 'command')].join(' ')
}

/** In a word or two: `exit 0`, `SIGTERM`, `refused wipe-root`, `approved`. */
export function whatCame(entry: AuditLine): string {
  const kind = textOf(entry, 'kind')
  if (DEEDS[kind]) return DEEDS[kind]
  if (kind === 'refused') return `refused ${textOf(entry, 'rule')}`
  const isOpen = entry['exitCode'] === null || entry['exitCode'] === undefined
  return textOf(entry, 'signal') || (isOpen ? textOf(entry, 'status') : `exit ${textOf(entry, 'exitCode')}`)
}

export function auditLine(entry: AuditLine, paint: Paint): string {
  const came = whatCame(entry)
  const kind = textOf(entry, 'kind')
  const isBad = kind === 'refused' || kind === 'deny' || kind === 'kill'
  const style = isBad ? 'red' : came === 'exit 0' || kind === 'approve' ? 'green' : kind === 'start' ? 'dim' : 'yellow'
  const time = new Date(entry.at ?? 0).toISOString().slice(0, 19).replace('T', ' ')
  const by = textOf(entry, 'by')
  const waited = textOf(entry, 'waitedMs')
  const who = by ? `  (${oneLine(by)}${waited ? `, after ${waited} ms` : ''})` : ''
  const took = kind in DEEDS ? ''.padStart(9) : `${textOf(entry, 'durationMs').padStart(6)} ms`
  const where = `${oneLine(textOf(entry, 'cwd'))}$ ${oneLine(textOf(entry, 'command'))}`
  return `${time}  ${textOf(entry, 'door').padEnd(7)} ${paint(style, came.padEnd(10))} ${took}  ${where}${who}`
}

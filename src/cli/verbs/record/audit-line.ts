/** A line of the audit log as a person reads it. */
import { isDeed, textOf, whatCame } from '../../../audit/blocks.js'
import type { AuditLine } from '../../../audit/chain.js'
import type { Paint } from '../../io/paint.js'
import { localTime, oneLine } from '../../io/table.js'

export function auditLine(entry: AuditLine, paint: Paint): string {
  const came = whatCame(entry)
  const kind = textOf(entry, 'kind')
  const isBad = kind === 'refused' || kind === 'deny' || kind === 'kill'
  const style = isBad ? 'red' : came === 'exit 0' || kind === 'approve' ? 'green' : kind === 'start' ? 'dim' : 'yellow'
  const time = localTime(entry.at ?? 0)
  const by = textOf(entry, 'by')
  const waited = textOf(entry, 'waitedMs')
  const who = by ? `  (${oneLine(by)}${waited ? `, after ${waited} ms` : ''})` : ''
  const took =
    isDeed(entry) || entry['status'] === 'running' ? ''.padStart(9) : `${textOf(entry, 'durationMs').padStart(6)} ms`
  const where = `${oneLine(textOf(entry, 'cwd'))}$ ${oneLine(textOf(entry, 'command'))}`
  return `${time}  ${textOf(entry, 'door').padEnd(7)} ${paint(style, came.padEnd(10))} ${took}  ${where}${who}`
}

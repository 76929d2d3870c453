/** A line per call, for a server that runs in a terminal: which command ran for which client, and how it ended. */
import { whatCame } from '../../../audit/blocks.js'
import type { AuditEntry, AuditSink } from '../../../engine/services/audit-sink.js'
import type { Io } from '../../io/io.js'
import { painter } from '../../io/paint.js'
import { cut, oneLine } from '../../io/table.js'

/** The same sink, with each entry told as a line too. */
export function withCallLines(sink: AuditSink | undefined, io: Io): AuditSink {
  return {
    write(entry) {
      sink?.write(entry)
      io.out.write(`${lineOf(entry, io)}\n`)
    },
    ...(sink?.started ? { started: (entry: AuditEntry) => sink.started!(entry) } : {}),
    close: async () => sink?.close?.(),
  }
}

function lineOf(entry: AuditEntry, io: Io): string {
  const paint = painter(io.out, io.env)
  const { kind, client, session, command, durationMs, by } = entry
  const came = whatCame({ ...entry })
  const isGood = came === 'exit 0' || kind === 'approve'
  const style = isGood ? 'green' : kind === 'refused' || kind === 'deny' ? 'red' : 'yellow'
  const time = new Date(entry.at).toTimeString().slice(0, 8)
  const who = [client, session].filter(Boolean).map(String).join(' ')
  const text = cut(oneLine(command), Math.max(40, io.out.columns - 60))
  return `${time}  ${oneLine(who)}  ${paint(style, came)}  ${durationMs} ms  ${text}${by ? `  (${oneLine(by)})` : ''}`
}

/** What is told about a call: its command with secrets masked, where it stands, and the last line that it printed. */
import { stripAnsi } from '../../output/terminal/ansi.js'
import type { LiveCall } from '../services/live-calls.js'
import type { Services } from '../services/services.js'

const LONGEST_COMMAND = 16_000
const LAST_BYTES = 2_048

/** What is looked at: an engine, or the near half of one elsewhere. */
export type LiveHost = Pick<Services, 'id' | 'door' | 'cwd' | 'runDir' | 'questions' | 'calls' | 'audit'> & {
  readonly secrets: Pick<Services['secrets'], 'mask'>
  readonly launcher: Pick<Services['launcher'], 'lost'>
}

export function callFacts(call: LiveCall, services: Pick<LiveHost, 'calls' | 'door' | 'secrets'>) {
  const { request, session, at, pid, captures } = call
  const asked: unknown = request?.command
  const command = services.secrets.mask(typeof asked === 'string' ? asked : JSON.stringify(asked ?? ''))
  return {
    run: services.calls.numberOf(call),
    session,
    command: command.length > LONGEST_COMMAND ? `${command.slice(0, LONGEST_COMMAND)}…` : command,
    description: typeof request?.description === 'string' ? services.secrets.mask(request.description) : null,
    cwd: typeof request?.cwd === 'string' ? request.cwd : null,
    client: request?.client ?? request?.labels?.['mcp_client'] ?? null,
    door: request?.door ?? services.door,
    pty: Boolean(request?.pty),
    at,
    pid,
    bytes: captures.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

/** Of whichever stream has printed. */
export function lastLineOf({ captures }: LiveCall): string {
  for (const { transcript } of captures) {
    const { head, tail } = transcript.snapshot()
    const bytes = tail.length > 0 ? tail : head
    const text = stripAnsi(Buffer.from(bytes.subarray(-LAST_BYTES)).toString('utf8'))
    const line =
      text
        .trimEnd()
        .split(/[\r\n]/)
        .at(-1) ?? ''
    if (line !== '') return line
  }
  return ''
}

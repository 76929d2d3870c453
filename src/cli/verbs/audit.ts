/** `cerith audit`: who ran what, what was decided, what came of it; and whether the log is still what was written. */
import { join } from 'node:path'
import { readAudit, verifyAudit, type AuditLine } from '../../audit/chain.js'
import { loadConfig } from '../../config/load.js'
import { nearestExisting } from '../../os/paths.js'
import { stateDirectory } from '../../os/state-dir.js'
import { EXIT, type Io } from '../io.js'
import { JSON_OPTION, readDuration, readWhole } from '../option-rows.js'
import { painter } from '../paint.js'
import { oneLine } from '../table.js'
import type { Verb } from '../verb.js'

export const verb: Verb = {
  name: 'audit',
  usage: '',
  about: 'who ran what, what was decided, what came of it',
  words: [0, 0],
  options: [
    { flags: '--since <TIME>', about: 'only the last so long: 1h, 7d', read: readDuration },
    { flags: '-n, --last <N>', about: 'only the last so many lines', read: readWhole },
    { flags: '--refused', about: 'only what was refused' },
    { flags: '--verify', about: 'check the chain; exit 1 when lines were changed or taken out' },
    JSON_OPTION,
  ],
  examples: [
    ['cerith audit --since 1h', 'what happened lately'],
    ['cerith audit --verify', 'nothing changed, nothing missing?'],
  ],
  details: 'Commands are kept with their {{secret:NAME}} unresolved; output is not kept at all.',
  run: ({ options }, io) => audit(options as Options, io),
}

interface Options {
  readonly since?: number
  readonly last?: number
  readonly refused?: boolean
  readonly verify?: boolean
  readonly json?: boolean
}

async function audit(options: Options, io: Io): Promise<number> {
  const file = join(stateDirectory(io.env), 'audit.jsonl')
  if (options.verify) return verify(file, options.json === true, io)
  const from = options.since === undefined ? 0 : Date.now() - options.since
  const lines: AuditLine[] = []
  for await (const entry of readAudit(file)) {
    if ((entry.at ?? 0) < from || entry['kind'] === 'rotated' || (options.refused && entry['kind'] !== 'refused'))
      continue
    lines.push(entry)
    if (options.last !== undefined && lines.length > options.last) lines.shift()
  }
  if (options.json) for (const entry of lines) io.out.write(`${JSON.stringify(entry)}\n`)
  else if (lines.length === 0) io.out.write('Nothing yet.\n')
  else for (const entry of lines) io.out.write(`${shown(entry, io)}\n`)
  return EXIT.ok
}

async function verify(file: string, json: boolean, io: Io): Promise<number> {
  const { values } = loadConfig({ cwd: nearestExisting(io.cwd), env: io.env })
  const headCopy = values['audit.headFile'] as string | null
  const { lines, files, head, problems, intact } = await verifyAudit(file, headCopy ?? undefined)
  if (json) io.out.write(`${JSON.stringify({ intact, lines, files, head, problems })}\n`)
  else {
    for (const { file: where, line, message } of problems) io.out.write(`${where}:${line}: ${message}\n`)
    io.out.write(
      `${intact ? 'Intact' : 'NOT INTACT'}: ${lines} lines in ${files.length} ${files.length === 1 ? 'file' : 'files'}${head ? `, head ${head.slice(0, 16)}` : ''}\n`,
    )
  }
  return intact ? EXIT.ok : 1
}

function shown(entry: AuditLine, io: Io): string {
  const paint = painter(io.out, io.env)
  const text = (key: string): string =>
    typeof entry[key] === 'string' || typeof entry[key] === 'number' ? String(entry[key]) : ''
  const end =
    text('signal') ||
    (entry['exitCode'] === null || entry['exitCode'] === undefined ? text('status') : `exit ${text('exitCode')}`)
  const style = entry['kind'] === 'refused' ? 'red' : end === 'exit 0' ? 'green' : 'yellow'
  const time = new Date(entry.at ?? 0).toISOString().slice(0, 19).replace('T', ' ')
  return `${time}  ${text('door').padEnd(7)} ${paint(style, (entry['kind'] === 'refused' ? `refused ${text('rule')}` : end).padEnd(10))} ${text('durationMs').padStart(6)} ms  ${oneLine(text('cwd'))}$ ${oneLine(text('command'))}`
}

/** `cerith audit`: who ran what, what was decided, what came of it; and whether the log is still what was written. */
import { join } from 'node:path'
import { withoutStarts } from '../../../audit/blocks.js'
import { readAudit, verifyAudit, type AuditLine } from '../../../audit/chain.js'
import { followAudit } from '../../../audit/follow.js'
import { loadConfig } from '../../../config/load.js'
import { nearestExisting } from '../../../os/files/paths.js'
import { stateDirectory } from '../../../os/files/state-dir.js'
import { EXIT, type Io } from '../../io/io.js'
import { listenForStop } from '../../io/stop.js'
import { JSON_OPTION, readDuration, readWhole } from '../../verb/option-rows.js'
import { painter } from '../../io/paint.js'
import { auditLine } from './audit-line.js'
import { defineVerb } from '../../verb/verb.js'

export const verb = defineVerb({
  options: [
    { flags: '--since <TIME>', about: 'only entries of the last 1h, 7d, ...', read: readDuration },
    { flags: '-n, --last <N>', about: 'only the last N lines', read: readWhole },
    { flags: '--refused', about: 'only what was refused' },
    { flags: '-f, --follow', about: 'go on with each line as it is written, until Ctrl-C' },
    { flags: '--verify', about: 'check the chain; exit 1 when lines were changed or taken out' },
    JSON_OPTION,
  ],
  examples: [
    ['cerith audit --since 1h', 'what happened lately'],
    ['cerith audit --verify', 'nothing changed, nothing missing?'],
  ],
  details: 'Commands are kept with their {{secret:NAME}} unresolved; output is not kept at all.',
  async run({ options }, io) {
    const file = join(stateDirectory(io.env), 'audit.jsonl')
    if (options.verify) return verify(file, options.json === true, io)
    const from = options.since === undefined ? 0 : Date.now() - options.since
    const isWanted = (entry: AuditLine): boolean =>
      (entry.at ?? 0) >= from && entry['kind'] !== 'rotated' && (!options.refused || entry['kind'] === 'refused')
    const paint = painter(io.out, io.env)
    const show = (entry: AuditLine): void =>
      io.out.write(`${options.json ? JSON.stringify(entry) : auditLine(entry, paint)}\n`)
    const fresh: AuditLine[] = []
    let tell = (entry: AuditLine): void => void fresh.push(entry)
    const unfollow = options.follow ? followAudit(file, (entry) => isWanted(entry) && tell(entry)) : null
    const lines: AuditLine[] = []
    for await (const entry of readAudit(file)) {
      if (!isWanted(entry)) continue
      lines.push(entry)
      if (options.last !== undefined && lines.length > options.last) lines.shift()
    }
    const shown = options.json ? lines : withoutStarts(lines)
    for (const entry of shown) show(entry)
    if (!unfollow) {
      if (shown.length === 0 && !options.json) io.out.write('Nothing yet.\n')
      return EXIT.ok
    }
    // What was written while the past was read may be in both.
    const last = new Set(lines.slice(-1_000).map(({ hash }) => hash))
    for (const entry of fresh) if (!last.has(entry.hash)) show(entry)
    tell = show
    const { signal } = listenForStop(io)
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    unfollow()
    return EXIT.ok
  },
})

async function verify(file: string, json: boolean, io: Io): Promise<number> {
  const { values } = loadConfig({ cwd: nearestExisting(io.cwd), env: io.env })
  const headCopy = values['audit.headFile'] as string | null
  const { lines, files, head, problems, intact } = await verifyAudit(file, headCopy ?? undefined)
  if (json) io.out.write(`${JSON.stringify({ intact, lines, files, head, problems })}\n`)
  else {
    for (const { file: where, line, message } of problems) io.out.write(`${where}:${line}: ${message}\n`)
    io.out.write(
      `${intact ? 'Intact' : 'NOT INTACT'}: ${lines} lines in ${files.length} ` +
        `${files.length === 1 ? 'file' : 'files'}${head ? `, head ${head.slice(0, 16)}` : ''}\n`,
    )
  }
  return intact ? EXIT.ok : 1
}

/** `cerith wait`: blocks until something about a job comes true. Waiting never ends the job. */
import { EXIT, type Io } from '../../io/io.js'
import { jobToJson } from '../../io/json.js'
import { withEngine } from '../../verb/open-engine.js'
import { JSON_OPTION, readDuration, readPort, readWhole } from '../../verb/option-rows.js'
import { age, cut, oneLine, size } from '../../io/table.js'
import type { Job, WaitOptions } from '../../../contract/job.js'
import { endWords } from '../../../tools/texts.js'
import { defineVerb } from '../../verb/verb.js'

export const verb = defineVerb({
  usage: 'ID',
  words: [1, 1],
  options: [
    { flags: '--exit', about: 'until it has ended (the default)' },
    { flags: '--until <REGEX>', about: 'until a line matches' },
    { flags: '--port <N>', about: 'until something listens on this port', read: readPort },
    { flags: '--idle <MS>', about: 'until it has printed nothing for this long', read: readDuration },
    { flags: '--file <PATH>', about: 'until this file is there' },
    { flags: '--since <BYTE>', about: 'with --until: look only at output from this byte on', read: readWhole },
    { flags: '--timeout <MS>', about: 'give up after this long', read: readDuration },
    JSON_OPTION,
  ],
  examples: [
    ['cerith wait shell_1a2b3c4d --port 3000 --timeout 30s', 'a development server is up'],
    ["cerith wait shell_1a2b3c4d --until 'ready in'", 'a line has appeared'],
  ],
  details:
    'Whichever comes first wins and is named. Exit code: 0 when it came true, 124 when\n' +
    'the time was up, 1 when the job ended before anything else came true.',
  run: ({ words, options }, io) =>
    withEngine(io, {}, async (engine) => {
      const { json, exit, idle, timeout, ...rest } = options
      const { until, port, file } = rest
      const other = until !== undefined || port !== undefined || idle !== undefined || file !== undefined
      const wanted = { ...rest, exit: exit || !other, idleMs: idle, timeoutMs: timeout }
      return wait(await engine.job(words[0] as string), wanted, json === true, io)
    }),
})

async function wait(job: Job, wanted: WaitOptions, json: boolean, io: Io): Promise<number> {
  const stopped = new AbortController()
  const unlisten = io.onSignal(() => stopped.abort())
  const clear = progress(job, io, json)
  try {
    const { reason, match, info } = await job.wait({ ...wanted, signal: stopped.signal })
    clear()
    if (json) io.out.write(`${JSON.stringify({ reason, match, ...jobToJson(info) })}\n`)
    else
      io.out.write(
        `${reason}${match === null ? '' : `: ${oneLine(match)}`}${reason === 'exit' ? ` (${info.status}${info.exitCode === null ? '' : `, exit code ${info.exitCode}`}${info.signal ? `, ${info.signal}` : ''}${info.end?.kind === 'kill' ? ` ${endWords(info)}` : ''})` : ''}\n`,
      )
    if (reason === 'timeout') return EXIT.timeout
    if (reason === 'aborted') return EXIT.signal + 2
    return reason === 'exit' && !wanted.exit ? 1 : EXIT.ok
  } finally {
    clear()
    unlisten()
  }
}

/** One quiet line on a terminal: how long, how much, what it said last. Gives the function that takes it away. */
function progress(job: Job, io: Io, quiet: boolean): () => void {
  if (quiet || !io.err.isTTY) return () => {}
  const startedAt = Date.now()
  let over = false
  const timer = setInterval(async () => {
    try {
      const info = await job.info()
      const { text } = await job.read({ since: Math.max(0, info.bytes.total - 2_048), ansi: 'strip' })
      if (!over)
        io.err.write(
          `\r\u001B[K${cut(`waiting ${age(Date.now() - startedAt)}, ${size(info.bytes.total)}: ` + `${oneLine(text.trimEnd().split('\n').at(-1) ?? '')}`, io.err.columns - 1)}`,
        )
    } catch {
      // The job was cleaned away; the wait itself will say so.
    }
  }, 500)
  return () => {
    if (!over) io.err.write('\r\u001B[K')
    over = true
    clearInterval(timer)
  }
}

/** `cerith read`: output of a job, from any byte on, filtered, or followed to its end. */
import type { Job, ReadOptions } from '../../../contract/job.js'
import { EXIT, type Io } from '../../io/io.js'
import { withEngine } from '../../verb/open-engine.js'
import { JSON_OPTION, readWhole } from '../../verb/option-rows.js'
import { defineVerb, type OptionRow, type OptionsOf } from '../../verb/verb.js'

const OPTIONS = [
  { flags: '--since <BYTE>', about: 'from this byte on (the cursor of the last read)', read: readWhole },
  { flags: '--max-bytes <N>', about: 'at most N bytes', read: readWhole },
  { flags: '--filter <REGEX>', about: 'only lines that match' },
  { flags: '-B, --before <N>', about: 'and N lines before each match', read: readWhole },
  { flags: '-A, --after <N>', about: 'and N lines after each match', read: readWhole },
  { flags: '-n, --tail <N>', about: 'only the last N lines', read: readWhole },
  { flags: '--stderr', about: 'the error stream, when the two were kept apart' },
  {
    flags: '--ansi <MODE>',
    about: 'keep or strip escape sequences (default: keep on a terminal)',
    choices: ['keep', 'strip'],
  },
  { flags: '--screen', about: 'what a person would see on the terminal of the job' },
  { flags: '-f, --follow', about: 'go on until the job ends' },
  JSON_OPTION,
] as const satisfies readonly OptionRow[]

export const verb = defineVerb({
  usage: 'ID',
  words: [1, 1],
  options: OPTIONS,
  examples: [
    ['cerith read shell_1a2b3c4d --follow', 'like tail -f, and ends with the job'],
    ["cerith read shell_1a2b3c4d --filter 'error|warn' -A 2", 'matching lines with two more'],
  ],
  run: ({ words, options }, io) =>
    withEngine(io, {}, async (engine) => read(await engine.job(words[0] as string), options, io)),
})

/** So much is read and shown at once. */
const BLOCK_BYTES = 1024 * 1024

async function read(job: Job, options: OptionsOf<typeof OPTIONS>, io: Io): Promise<number> {
  if (options.screen) {
    const { text, cursor: at, title, size } = await job.screen()
    io.out.write(options.json ? `${JSON.stringify({ id: job.id, text, cursor: at, title, size })}\n` : `${text}\n`)
    return EXIT.ok
  }
  const { since, maxBytes, filter, before, after, tail, stderr, follow, json } = options
  const ansi = options.ansi ?? (io.out.isTTY ? 'keep' : 'strip')
  const base: ReadOptions = {
    ansi,
    maxBytes,
    filter,
    before,
    after,
    stream: stderr ? 'stderr' : undefined,
    // Bytes leave as they came; only a filter and JSON need text.
    encoding: json === true || filter !== undefined ? undefined : 'latin1',
  }
  const stopped = new AbortController()
  const givenUp = new Promise<void>((resolve) => stopped.signal.addEventListener('abort', () => resolve()))
  let cursor = since ?? 0
  let first = true
  const wholeRange = filter !== undefined || maxBytes !== undefined || json === true
  // In blocks, each when our own reader has taken the one before; a filter and the last lines look at the whole range.
  const show = async (): Promise<boolean> => {
    const began = cursor
    let end = Number.POSITIVE_INFINITY
    for (let at = -1; cursor > at && cursor < end && !stopped.signal.aborted;) {
      at = cursor
      const total = await showOne()
      end = wholeRange ? cursor : Math.min(end, total)
    }
    return cursor > began
  }
  const showOne = async (): Promise<number> => {
    const lines = first && tail !== undefined ? { tail } : {}
    const block = wholeRange || 'tail' in lines ? {} : { maxBytes: BLOCK_BYTES }
    const result = await job.read({ ...base, ...block, since: cursor, ...lines })
    const moved = result.cursor > cursor
    if (json) {
      const info = await job.info()
      if (moved || first)
        io.out.write(
          JSON.stringify({
            id: job.id,
            status: info.status,
            text: result.text,
            cursor: result.cursor,
            start: result.start,
            omitted_bytes: result.omittedBytes,
            total_bytes: result.totalBytes,
            matches: result.matches,
            exit_code: info.exitCode,
            signal: info.signal,
          }) + '\n',
        )
    } else {
      if (result.omittedBytes > 0)
        io.err.write(`cerith: ${result.omittedBytes} bytes before byte ${result.start} are no longer kept\n`)
      io.out.write(base.encoding === 'latin1' ? Buffer.from(result.text, 'latin1') : result.text)
    }
    cursor = result.cursor
    first = false
    if ((await Promise.race([io.out.taken(), givenUp])) === 'closed') stopped.abort()
    return result.totalBytes
  }
  // A signal ends what follows a job in good order; everything else it ends as it ends any program.
  const unlisten = [follow ? io.onSignal(() => stopped.abort()) : () => {}, io.onOutputClosed(() => stopped.abort())]
  try {
    await show()
    while (follow && !stopped.signal.aborted) {
      // Any line is news; the end of the job is the last.
      const { reason } = await job.wait({ exit: true, until: '', since: cursor, signal: stopped.signal })
      const moved = await show()
      if (reason === 'exit' && !moved) break
      if (reason !== 'exit' && !moved) await new Promise((resolve) => setTimeout(resolve, 50))
    }
  } finally {
    for (const each of unlisten) each()
  }
  return EXIT.ok
}

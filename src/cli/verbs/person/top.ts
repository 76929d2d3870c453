/** `cerith top`: everything that agents do, full screen, with the keys to step in. */
import { ShellError } from '../../../contract/errors.js'
import { EXIT, UsageError, type Io } from '../../io/io.js'
import { withJobs } from '../../verb/open-engine.js'
import { painter } from '../../io/paint.js'
import { defineVerb } from '../../verb/verb.js'

const ENTER = '\u001B[?1049h\u001B[?25l'
const LEAVE = '\u001B[?25h\u001B[?1049l'

export const verb = defineVerb({
  options: [],
  examples: [
    ['cerith top', 'arrows select, the keys of the moment stand at the bottom'],
    ['cerith ps --watch', 'the same without the keys, for a small terminal'],
  ],
  details:
    'Questions of agents come first, with a bell; an answer needs its key twice. While this runs,\n' +
    'commands that need an approval wait for it.',
  async run(_, io) {
    if (!io.person || !io.out.isTTY)
      throw new UsageError('top needs a terminal', 'Use `cerith ps`, or `cerith ps --json` in scripts.')
    if (io.insideEngine)
      throw new ShellError('REFUSED', 'This was started by an agent’s shell', 'Run it in a terminal of your own.')
    for (;;) {
      const job = await session(io)
      if (job === null) return EXIT.ok
      const { verb: attach } = await import('../job/attach.js')
      await attach.run({ words: [job], options: {} }, io)
    }
  },
})

/** Until the person leaves; gives the job that they want to attach to. */
function session(io: Io): Promise<string | null> {
  return withJobs(io, async (jobs, stateDir) => {
    const { Top } = await import('../../live/top.js')
    const { stdin, stdout } = process
    const top = new Top({
      jobs,
      stateDir,
      env: io.env,
      paint: painter(io.out, io.env),
      terminal: {
        size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
        draw: (lines) => io.out.write(`\u001B[H${lines.map((line) => `${line}\u001B[K`).join('\r\n')}\u001B[J`),
        bell: () => io.out.write('\u0007'),
      },
    })
    io.out.write(ENTER)
    stdin.setRawMode?.(true)
    stdin.resume()
    try {
      return await new Promise<string | null>((resolve) => {
        const onKeys = (bytes: Buffer): void => {
          for (const key of bytes.toString('utf8').match(/\u001B\[[A-D]|[^]/g) ?? [])
            void top.press(key).then(({ leave, attach }) => {
              if (!leave) return
              stdin.off('data', onKeys)
              resolve(attach ?? null)
            })
        }
        stdin.on('data', onKeys)
        io.onSignal(() => resolve(null))
        stdout.on('resize', () => top.draw())
        void top.look()
      })
    } finally {
      top.close()
      stdin.setRawMode?.(false)
      stdin.pause()
      io.out.write(LEAVE)
    }
  })
}

/** Wakes a client up: a line when one of its jobs has ended, or waits for somebody to type. Nothing else is worth an interruption. */
import type { Engine } from '../contract/engine.js'
import type { JobInfo } from '../contract/job.js'
import { jobWords } from '../tools/texts.js'

export type Wake = (level: 'info' | 'notice' | 'warning', text: string) => void

/** Returns the function that ends it. */
export function wakeFor(engine: Pick<Engine, 'onJobEvent' | 'job' | 'secrets'>, wake: Wake): () => void {
  const over = new AbortController()
  const stop = engine.onJobEvent((event) => {
    if (event.kind === 'ended') wake(event.info.exitCode === 0 ? 'info' : 'warning', endText(event.info, engine))
    // A command without a terminal has no stdin that could be answered.
    if (event.kind === 'started' && event.info.pty)
      void followQuestions(event.info, engine, wake, over.signal).catch(() => {})
  })
  return () => {
    stop()
    over.abort()
  }
}

function endText(info: JobInfo, { secrets }: Pick<Engine, 'secrets'>): string {
  return `${info.id} ${jobWords(info)}: ${shortly(secrets.mask(info.command))}`
}

/** Each question once: after one the output has to go on before the next is one. */
async function followQuestions(
  { id, command }: JobInfo,
  engine: Pick<Engine, 'job' | 'secrets'>,
  wake: Wake,
  signal: AbortSignal,
): Promise<void> {
  const job = await engine.job(id)
  for (;;) {
    const asked = await job.wait({ input: true, signal })
    if (asked.reason !== 'input') return
    wake(
      'notice',
      `${id} waits for input: ${JSON.stringify(asked.match ?? '')} (${shortly(engine.secrets.mask(command))})`,
    )
    const answered = await job.wait({ until: /[^]/, since: asked.info.bytes.total, signal })
    if (answered.reason !== 'until') return
  }
}

function shortly(command: string): string {
  const flat = command.replace(/\s+/g, ' ').trim()
  return flat.length > 80 ? `${flat.slice(0, 79)}…` : flat
}

/**
 * Wakes a client up: a line when one of its jobs has ended, waits for input, or did later what
 * a call had waited for in vain.
 */
import type { Engine } from '../../contract/engine.js'
import type { JobInfo } from '../../contract/job.js'
import type { MissedWait } from '../../tools/tool.js'
import { jobWords } from '../../tools/texts.js'

export type Wake = (level: 'info' | 'notice' | 'warning', text: string) => void

export interface Waker {
  /** A wait that ran out: says so when it comes true after all. */
  readonly later: (missed: MissedWait) => void
  stop(): void
}

/** `isMine`: jobs of other connections are not worth an interruption. */
export function wakeFor(
  engine: Pick<Engine, 'onJobEvent' | 'job' | 'secrets'>,
  isMine: (info: JobInfo) => boolean,
  wake: Wake,
): Waker {
  const over = new AbortController()
  const { signal } = over
  const { mask } = engine.secrets
  const waited = new Set<string>()

  /** The end of the job is told by itself. */
  const followWait = async ({ id, until, port, since }: MissedWait): Promise<void> => {
    const { reason, match } = await (await engine.job(id)).wait({ until, port, since, signal })
    if (reason === 'until') wake('notice', `${id} matched ${JSON.stringify(mask(match ?? ''))}`)
    if (reason === 'port') wake('notice', `${id}: port ${port} is open`)
  }

  /** Each question once: after one the output has to go on before the next is one. */
  const followQuestions = async ({ id, command }: JobInfo): Promise<void> => {
    const job = await engine.job(id)
    for (;;) {
      const asked = await job.wait({ input: true, signal })
      if (asked.reason !== 'input') return
      wake('notice', `${id} waits for input: ${JSON.stringify(asked.match ?? '')} (${shortly(mask(command))})`)
      const answered = await job.wait({ until: /[^]/, since: asked.info.bytes.total, signal })
      if (answered.reason !== 'until') return
    }
  }

  const stop = engine.onJobEvent((event) => {
    if (event.kind === 'output' || !isMine(event.info)) return
    if (event.kind === 'ended')
      wake(
        event.info.exitCode === 0 ? 'info' : 'warning',
        `${event.info.id} ${jobWords(event.info)}: ${shortly(mask(event.info.command))}`,
      )
    // A command without a terminal has no stdin that could be answered.
    else if (event.info.pty) void followQuestions(event.info).catch(() => {})
  })
  return {
    later(missed) {
      const key = JSON.stringify(missed)
      if (waited.has(key)) return
      waited.add(key)
      void followWait(missed)
        .catch(() => {})
        .finally(() => waited.delete(key))
    },
    stop() {
      stop()
      over.abort()
    },
  }
}

/** A command on one line of a few words. */
export function shortly(command: string): string {
  const flat = command.replace(/\s+/g, ' ').trim()
  return flat.length > 80 ? `${flat.slice(0, 79)}…` : flat
}

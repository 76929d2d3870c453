/** Long commands are judged in a thread of their own: a verdict that takes long holds up no other command. */
import { existsSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import type { Verdict } from '../../../contract/verdict.js'
import type { GuardContext } from '../../../guard/policy/context.js'
import { distFile } from '../../../os/package/file.js'

export interface Question {
  readonly id: number
  readonly command: string
  readonly context: GuardContext
  /** The thread looks at the disk by itself: a function cannot be sent. */
  readonly looks: boolean
}

export interface Judged {
  readonly id: number
  readonly verdict: Verdict
}

/** A verdict that takes longer begins again in the thread. */
const PATIENCE_MS = 25
/** Reading a longer command alone takes too long to be tried here first. */
const LONG_COMMAND = 24_000
/** A thread that has nothing to do ends; it holds some megabytes. */
const IDLE_MS = 20_000

export type Guard = Pick<typeof import('../../../guard/inspect.js'), 'inspect' | 'inspectWithin'>

export class GuardThread {
  #worker: Worker | null = null
  #idle: NodeJS.Timeout | null = null
  #next = 0
  readonly #waiting = new Map<number, { resolve: (verdict: Verdict) => void; reject: (error: Error) => void }>()

  judge({ inspect, inspectWithin }: Guard, command: string, context: GuardContext): Verdict | Promise<Verdict> {
    const here = command.length < LONG_COMMAND ? inspectWithin(PATIENCE_MS, command, context) : null
    // No threads here, or not the built files: slow is better than not at all.
    return here ?? this.#ask(command, context).catch(() => inspect(command, context))
  }

  async #ask(command: string, { resolveSymlink, ...context }: GuardContext): Promise<Verdict> {
    const worker = (this.#worker ??= this.#start())
    const id = ++this.#next
    if (this.#idle) clearTimeout(this.#idle)
    // A caller waits: the process must not end before the answer.
    worker.ref()
    try {
      return await new Promise<Verdict>((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject })
        worker.postMessage({ id, command, context, looks: resolveSymlink !== undefined } satisfies Question)
      })
    } finally {
      this.#waiting.delete(id)
      if (this.#waiting.size === 0 && this.#worker) this.#rest(this.#worker)
    }
  }

  #rest(worker: Worker): void {
    worker.unref()
    if (this.#idle) clearTimeout(this.#idle)
    this.#idle = setTimeout(() => void this.end(), IDLE_MS)
    this.#idle.unref()
  }

  #start(): Worker {
    const file = distFile('guard.js')
    if (!existsSync(file)) throw new Error(`there is no ${file}`)
    const worker = new Worker(file, { execArgv: [], trackUnmanagedFds: false })
    worker.on('message', ({ id, verdict }: Judged) => this.#waiting.get(id)?.resolve(verdict))
    const over = (error: Error): void => {
      if (this.#worker === worker) this.#worker = null
      for (const { reject } of this.#waiting.values()) reject(error)
    }
    worker.on('error', over)
    worker.on('exit', () => over(new Error('the thread ended')))
    return worker
  }

  async end(): Promise<void> {
    if (this.#idle) clearTimeout(this.#idle)
    this.#idle = null
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
  }
}

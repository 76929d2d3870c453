/** A job elsewhere as its caller holds it. */
import { isUtf8 } from 'node:buffer'
import { StringDecoder } from 'node:string_decoder'
import type {
  Attachment,
  AttachOptions,
  Doing,
  Job,
  JobEvent,
  JobInfo,
  KillOptions,
  KillResult,
} from '../../contract/job.js'
import type { ReadOptions, ReadResult, Screen, SendOptions, WaitOptions, WaitResult } from '../../contract/job.js'
import type { CallMessage, StopMessage } from '../messages.js'
import { pack } from '../messages.js'
import type { CallListener, PendingCall } from './calls.js'

export interface JobWire {
  /** One call that runs nothing: its result, or an error that says why there is none. */
  ask(verb: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<unknown>
  begin(verb: string, args: Record<string, unknown>, listener: CallListener, live?: CallMessage['live']): PendingCall
  order(call: PendingCall, order: Omit<StopMessage, 'id'>): void
  answer(call: PendingCall): Promise<unknown>
  mask(text: string): string
}

export function nearJob(id: string, wire: JobWire): Job {
  const ask = (verb: string, options?: object, signal?: AbortSignal): Promise<unknown> =>
    wire.ask(
      `job.${verb}`,
      { job: id, ...(options === undefined ? {} : { options: options === null ? null : pack(options) }) },
      signal,
    )
  return {
    id,
    info: async () => (await ask('info')) as JobInfo,
    read: async (options?: ReadOptions) => {
      const result = (await ask('read', options)) as ReadResult
      return { ...result, text: maskText(result.text, options?.encoding, wire) }
    },
    wait: async (options?: WaitOptions) => {
      const { signal, ...rest } = options ?? {}
      const result = (await ask('wait', options && rest, signal)) as WaitResult
      return result.match === null ? result : { ...result, match: wire.mask(result.match) }
    },
    kill: async (options?: KillOptions) => (await ask('kill', options)) as KillResult,
    send: async (options: SendOptions) => void (await ask('send', options)),
    resize: async (size) => void (await ask('resize', size)),
    screen: async (options) => {
      const screen = (await ask('screen', options)) as Screen
      return { ...screen, text: wire.mask(screen.text) }
    },
    doing: async () => (await ask('doing')) as Doing,
    attach: (options) => attach(id, options, wire),
    events: () => events(id, wire),
  }
}

/** With a character for each byte, what is UTF-8 is masked as the text that it is. */
function maskText(text: string, encoding: ReadOptions['encoding'], wire: JobWire): string {
  if (encoding !== 'latin1') return wire.mask(text)
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? Buffer.from(wire.mask(bytes.toString())).toString('latin1') : wire.mask(text)
}

async function attach(id: string, { show, ...options }: AttachOptions, wire: JobWire): Promise<Attachment> {
  const decoder = new StringDecoder('utf8')
  let attached!: () => void
  const isAttached = new Promise<void>((resolve) => (attached = resolve))
  const call = wire.begin(
    'job.attach',
    { job: id, options: pack(options) },
    {
      onOutput: (chunk, confirm) => {
        void Promise.resolve(show(wire.mask(decoder.write(Buffer.from(chunk.bytes))))).then((taken) => {
          confirm()
          if (taken === 'closed') wire.order(call, { how: 'leave' })
        })
      },
      onEvent: () => attached(),
    },
    'text',
  )
  const done = wire.answer(call) as Promise<'ended' | 'left'>
  await Promise.race([isAttached, done])
  done.catch(() => {})
  return {
    done,
    type: (bytes) => wire.order(call, { how: 'type', bytes: Buffer.from(bytes).toString('base64') }),
    resize: async (size) => wire.order(call, { how: 'resize', size }),
    leave: async () => {
      wire.order(call, { how: 'leave' })
      await done.catch(() => {})
    },
  }
}

async function* events(id: string, wire: JobWire): AsyncIterable<JobEvent> {
  const queue: JobEvent[] = []
  let wake: (() => void) | null = null
  let isOver = false
  let problem: unknown = null
  const call = wire.begin(
    'job.events',
    { job: id },
    {
      onEvent: ({ event }) => {
        if (event) queue.push(event)
        wake?.()
      },
    },
  )
  const end = (): void => {
    isOver = true
    wake?.()
  }
  wire.answer(call).then(end, (error: unknown) => {
    problem = error
    end()
  })
  try {
    for (;;) {
      const event = queue.shift()
      if (event) yield event
      else if (isOver) break
      else await new Promise<void>((resolve) => (wake = resolve))
    }
    if (problem) throw problem
  } finally {
    if (!isOver) wire.order(call, { how: 'abort' })
  }
}

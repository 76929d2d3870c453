/** A job elsewhere as its caller holds it. */
import { StringDecoder } from 'node:string_decoder'
import type { Attachment, AttachOptions, Job, JobEvent, ReadResult, WaitOptions } from '../../contract/job.js'
import type { Taken } from '../../contract/output.js'
import { checkFields, KILL_ROWS, READ_ROWS, SCREEN_ROWS, SEND_ROWS, WAIT_ROWS } from '../../engine/plan/fields.js'
import { checkSize } from '../../engine/terminal/size.js'
import type { CallMessage, StopMessage } from '../messages.js'
import { pack } from '../messages.js'
import type { CallListener, PendingCall } from './pending-call.js'

export interface JobWire {
  /** One call that runs nothing: its result, or an error that says why there is none. */
  ask<T>(verb: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<T>
  begin(verb: string, args: Record<string, unknown>, listener?: CallListener, live?: CallMessage['live']): PendingCall
  order(call: PendingCall, order: Omit<StopMessage, 'id'>): void
  answer<T>(call: PendingCall): Promise<T>
  maskBytes(bytes: Uint8Array): Uint8Array
}

/** Refused here as a job here refuses them: not all that is wrong can travel. */
const ROWS: Record<string, Parameters<typeof checkFields>[2]> = {
  read: READ_ROWS,
  wait: WAIT_ROWS,
  kill: KILL_ROWS,
  send: SEND_ROWS,
  screen: SCREEN_ROWS,
}

export function nearJob(id: string, wire: JobWire): Job {
  const ask = async <T>(verb: string, options?: object): Promise<T> => {
    if (ROWS[verb]) checkFields(verb, options, ROWS[verb])
    const { signal, ...rest } = (options ?? {}) as WaitOptions
    // Of `kill` it is the name of one.
    const sent = typeof signal === 'string' ? { ...rest, signal } : rest
    const stop = typeof signal === 'string' ? undefined : signal
    return wire.ask(`job.${verb}`, { job: id, ...(options === undefined ? {} : { options: pack(sent) }) }, stop)
  }
  return {
    id,
    info: () => ask('info'),
    read: async (options) => {
      const result = await ask<ReadResult>('read', options)
      // With a character for each byte, a value that is UTF-8 is known by its bytes only.
      const plain = (text: string): string =>
        Buffer.from(wire.maskBytes(Buffer.from(text, 'latin1'))).toString('latin1')
      return options?.encoding === 'latin1' ? { ...result, text: plain(result.text) } : result
    },
    wait: (options) => ask('wait', options),
    kill: (options) => ask('kill', options),
    send: async (options) => void (await ask('send', options)),
    resize: async (size) => void (await ask('resize', checkSize(size))),
    screen: (options) => ask('screen', options),
    doing: () => ask('doing'),
    attach: (options) => attach(id, options, wire),
    events: () => events(id, wire),
  }
}

/** Of what is typed, in one message. */
const TYPED_BYTES = 64 * 1024

async function attach(id: string, { show, ...options }: AttachOptions, wire: JobWire): Promise<Attachment> {
  const decoder = new StringDecoder('utf8')
  let attached!: () => void
  const isAttached = new Promise<void>((resolve) => (attached = resolve))
  const call = wire.begin(
    'job.attach',
    { job: id, options: pack(options) },
    {
      onOutput: (chunk, confirm) => {
        const text = decoder.write(Buffer.from(chunk.bytes))
        // One that cannot be shown anything has left.
        const shown = new Promise<Taken>((resolve) => resolve(show(text))).catch(() => 'closed')
        void shown.then((taken) => {
          confirm()
          if (taken === 'closed') wire.order(call, { how: 'leave' })
        })
      },
      onEvent: () => attached(),
    },
    'text',
  )
  const done = wire.answer<'ended' | 'left'>(call)
  await Promise.race([isAttached, done])
  done.catch(() => {})
  return {
    done,
    type: (bytes) => {
      // Each in one message: what is typed next would overtake one that leaves in pieces.
      for (let at = 0; at < bytes.length; at += TYPED_BYTES)
        wire.order(call, { how: 'type', bytes: Buffer.from(bytes.subarray(at, at + TYPED_BYTES)).toString('base64') })
    },
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
  const onEvent: CallListener['onEvent'] = ({ event }) => {
    if (event) queue.push(event)
    wake?.()
  }
  const call = wire.begin('job.events', { job: id }, { onEvent })
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

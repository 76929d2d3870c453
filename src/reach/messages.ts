/** What the two halves say to each other, and how values that JSON does not know travel. */
import { createHmac } from 'node:crypto'
import { ShellError, type ShellErrorCode } from '../contract/errors.js'
import type { JobEvent } from '../contract/job.js'
import type { OutputChunk } from '../contract/output.js'
import type { AuditEntry } from '../engine/services/audit-sink.js'
import { isSameSecret } from '../os/peer/same-secret.js'
import { BadFrame } from './frames.js'
import { isRecord } from '../contract/attempt.js'

/**
 * Both halves come from the same build: the code there is named by its digest. This guards an engine that was joined.
 */
export const WIRE_VERSION = 4

/** `H` and `h`, first step: the name of the client, and a number that the other side signs with the key. */
export interface Greeting {
  readonly version: number
  readonly client: string
  readonly nonce: string
}
export interface Challenge {
  readonly nonce: string
  readonly proof: string
}
/** `H`, second step. */
export interface Hello {
  readonly proof: string
  readonly options: object
  readonly keep: boolean
  readonly events: boolean
  /** False: near writes no audit log, and no entry has to travel. */
  readonly audit?: boolean
  /** Calls without a result, how much of their live output arrived, and how much of that its reader has taken. */
  readonly pending: readonly { readonly id: number; readonly seen: number; readonly taken: number }[]
  /** The number of the last news that arrived: what came after it is said again. */
  readonly heard: number
}
/** `h`, second step. */
export interface Welcome {
  readonly engine: string
  readonly pid: number
  readonly identity: string
  readonly host: string
  readonly platform: string
  readonly shell: { readonly path: string; readonly version: string }
  readonly cwd: string
  /** The digest of its code; engines of earlier builds do not say it. */
  readonly build?: string
  /** Epoch milliseconds by the clock there. */
  readonly now?: number
  /** False: this client is new there, or was given up; what it had asked for before is lost. */
  readonly isKnown: boolean
  /** Those of the pending calls that have begun. The others never arrived. */
  readonly begun: readonly number[]
}
export interface CallMessage {
  readonly id: number
  readonly verb: string
  readonly args: Record<string, unknown>
  /** Output while it runs: as text, or as bytes that hold the command back. */
  readonly live?: 'text' | 'bytes'
}
export interface WireError {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly hint?: string
}
/** `E`: what happened, numbered for each client and kept until it says that it has heard it. */
export interface News {
  readonly n: number
  readonly job?: JobEvent
  readonly audit?: AuditEntry
  /** The engine there ends because of this. */
  readonly failure?: string
  /** Of a call that tells events. */
  readonly call?: number
  readonly event?: JobEvent
  readonly attached?: boolean
}
export interface ResultMessage {
  readonly id: number
  readonly value?: unknown
  readonly error?: WireError
}
/** `G`: live output that was dropped for a slow reader: how much of a stream in all, and where the last of it ended. */
export interface Gap {
  readonly id: number
  readonly stream: OutputChunk['stream']
  readonly bytes: number
  readonly end: number
}
export interface StopMessage {
  readonly id: number
  readonly how: 'interrupt' | 'kill' | 'background' | 'abort' | 'live' | 'closed' | 'type' | 'resize' | 'leave'
  readonly stream?: string
  readonly bytes?: string
  /** `live`: with what was printed before. */
  readonly isWhole?: boolean
  /** The id of the job that it becomes. */
  readonly newId?: string
  readonly size?: { readonly cols: number; readonly rows: number }
}
/** Asked of near. `call` is the call that made the question necessary; null when a password prompt did. */
export type Question =
  | {
      readonly n: number
      readonly call: number | null
      readonly ask: 'secret'
      readonly kind: 'secret' | 'decrypt'
      readonly name: string
    }
  | {
      readonly n: number
      readonly call: number
      readonly ask: 'approval'
      readonly cwd: string
      /** Which directory that is: another one under the same name is another question. */
      readonly mark: string | null
      readonly reason: string | null
      readonly rule: string | null
    }
export interface Answer {
  readonly n: number
  readonly value?: unknown
  readonly error?: WireError
}

/** `change` gets every value of the message, wherever it stands, with the name of its field. */
export function parse<T>(payload: Buffer, change?: (name: string, value: unknown) => unknown): T {
  let value: unknown
  try {
    value = JSON.parse(payload.toString('utf8'), change)
  } catch (error) {
    // No JSON, or so deep that no stack holds it.
    throw new BadFrame((error as Error).message)
  }
  if (!isRecord(value)) throw new BadFrame('a message that is no object')
  return value as T
}

/**
 * Proves the knowledge of the key for this one conversation. Each side signs with its own name,
 * so that none can be sent back.
 */
export function proofOf(key: Buffer, side: 'near' | 'far', client: string, near: string, far: string): string {
  return createHmac('sha256', key)
    .update(`cerith-reach ${WIRE_VERSION}\n${side}\n${client}\n${near}\n${far}`)
    .digest('hex')
}

export function isProof(given: unknown, wanted: string): boolean {
  return typeof given === 'string' && isSameSecret(given, wanted)
}

export function errorToWire(error: unknown): WireError {
  if (ShellError.is(error)) return { name: 'ShellError', message: error.message, code: error.code, hint: error.hint }
  if (!(error instanceof Error)) return { name: 'Error', message: String(error) }
  const { name, message, code } = error as NodeJS.ErrnoException
  return { name, message, ...(code === undefined ? {} : { code }) }
}

export function errorFromWire({ name, message, code, hint }: WireError): Error {
  if (name === 'ShellError') return new ShellError((code ?? 'SPAWN_FAILED') as ShellErrorCode, message, hint ?? '')
  const error = name === 'TypeError' ? new TypeError(message) : new Error(message)
  return code === undefined ? error : Object.assign(error, { code })
}

const BYTES = '\0bytes'
const PATTERN = '\0pattern'

/** Fields of a request or of options as JSON can carry them: bytes and patterns are marked, functions stay here. */
export function pack(fields: object): Record<string, unknown> {
  const packed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || typeof value === 'function') continue
    packed[name] = typeof value === 'object' ? packValue(value) : value
  }
  return packed
}

function packValue(value: unknown): unknown {
  if (value instanceof Uint8Array) return { [BYTES]: Buffer.from(value).toString('base64') }
  if (value instanceof RegExp) return { [PATTERN]: value.source, flags: value.flags }
  if (Array.isArray(value)) return value.some((each) => typeof each === 'object') ? value.map(packValue) : value
  return typeof value === 'object' && value !== null && Object.values(value).some((each) => typeof each === 'object')
    ? pack(value)
    : value
}

export function unpack(fields: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'object' && value !== null) fields[name] = unpackValue(value as Record<string, unknown>)
  return fields
}

function unpackValue(value: Record<string, unknown>): unknown {
  if (Array.isArray(value))
    return value.map((each: unknown) =>
      typeof each === 'object' && each !== null ? unpackValue(each as Record<string, unknown>) : each,
    )
  const bytes = value[BYTES]
  if (typeof bytes === 'string') return new Uint8Array(Buffer.from(bytes, 'base64'))
  const pattern = value[PATTERN]
  if (typeof pattern === 'string') return new RegExp(pattern, value['flags'] as string)
  return unpack(value)
}

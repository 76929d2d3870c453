/** The output of every shell as a resource, readable in ranges: `shell://ID/output?since=BYTE`. */
import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ReadResourceResult,
  type Resource,
  type Server,
} from '@modelcontextprotocol/server'
import { attempt } from '../../contract/attempt.js'
import { ShellError } from '../../contract/errors.js'
import type { JobInfo, ReadOptions, ReadResult } from '../../contract/job.js'
import type { StreamName } from '../../contract/output.js'
import type { Client } from '../call/client.js'
import { shortly } from './wake.js'

const PAGE = 100
const DEFAULT_BYTES = 65_536
const MAX_BYTES = 262_144
/** The longest character: less could never be handed out whole. */
const MIN_BYTES = 4

export function outputUri(id: string): string {
  return `shell://${encodeURIComponent(id)}/output`
}

export function serveResources(server: Server, client: Client): void {
  server.setRequestHandler('resources/list', async ({ params }) => {
    const from = pageStart(params?.cursor)
    // Newest first: what a person looks for is on the first page.
    const jobs = [...(await client.engine.jobs({ all: true }))].sort(
      (a, b) => b.startedAt - a.startedAt || (a.id < b.id ? -1 : 1),
    )
    const next = from + PAGE
    return {
      resources: jobs.slice(from, next).map((info) => describe(info, client)),
      ...(next < jobs.length ? { nextCursor: String(next) } : {}),
    }
  })
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      {
        uriTemplate: 'shell://{id}/output{?since,max_bytes,stream,filter,tail}',
        name: 'shell-output',
        title: 'Output of a shell',
        description:
          `What a shell printed, from byte \`since\` on, at most \`max_bytes\` (default ${DEFAULT_BYTES}). _meta ` +
          'has the cursor to go on from.',
        mimeType: 'text/plain',
      },
    ],
  }))
  server.setRequestHandler('resources/read', ({ params }) => readResource(client, params.uri))
}

function describe(info: JobInfo, { engine }: Client): Resource {
  return {
    uri: outputUri(info.id),
    name: info.id,
    title: shortly(engine.secrets.mask(info.command)),
    description: `${info.status}${info.exitCode === null ? '' : ` (exit ${info.exitCode})`}, ${info.bytes.total} bytes`,
    mimeType: 'text/plain',
    size: info.bytes.total,
  }
}

async function readResource({ engine }: Client, uri: string): Promise<ReadResourceResult> {
  const { id, options } = parse(uri)
  try {
    const job = await engine.job(id)
    const info = await job.info()
    const found = await job.read(options)
    return {
      contents: [{ uri, mimeType: 'text/plain', text: engine.secrets.mask(found.text), _meta: metaOf(info, found) }],
    }
  } catch (error) {
    if (!ShellError.is(error)) throw error
    if (error.code === 'JOB_NOT_FOUND') throw new ResourceNotFoundError(uri)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, engine.secrets.mask(`${error.message}. ${error.hint}`))
  }
}

function metaOf(info: JobInfo, found: ReadResult): Record<string, unknown> {
  return {
    'cerith/status': info.status,
    'cerith/exit_code': info.exitCode,
    'cerith/cursor': found.cursor,
    'cerith/start': found.start,
    'cerith/total_bytes': found.totalBytes,
    'cerith/omitted_bytes': found.omittedBytes,
    ...(found.cursor < found.totalBytes ? { 'cerith/next': `${outputUri(info.id)}?since=${found.cursor}` } : {}),
  }
}

/** Throws "not found" for what cannot be a resource of cerith, and names the parameter that is wrong. */
export function parse(uri: string): { id: string; options: ReadOptions } {
  const [, name, given = ''] = /^shell:\/\/([^/?#]+)\/output(?:\?([^#]*))?$/.exec(uri) ?? []
  const id = name === undefined ? undefined : attempt(() => decodeURIComponent(name))
  if (id === undefined) throw new ResourceNotFoundError(uri)
  const query = new URLSearchParams(given)
  const stream = query.get('stream')
  if (stream !== null && !['stdout', 'stderr', 'output'].includes(stream))
    throw wrong('stream', 'stdout, stderr or output')
  const filter = query.get('filter')
  const tail = query.get('tail')
  return {
    id,
    options: {
      since: wholeNumber(query, 'since', 0, Number.MAX_SAFE_INTEGER) ?? 0,
      maxBytes: wholeNumber(query, 'max_bytes', MIN_BYTES, MAX_BYTES) ?? DEFAULT_BYTES,
      ansi: 'strip',
      ...(stream === null ? {} : { stream: stream as StreamName }),
      ...(filter === null ? {} : { filter }),
      ...(tail === null ? {} : { tail: wholeNumber(query, 'tail', 1, 100_000)! }),
    },
  }
}

function wholeNumber(query: URLSearchParams, name: string, low: number, high: number): number | null {
  const text = query.get(name)
  if (text === null) return null
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < low || value > high) throw wrong(name, `a whole number from ${low} to ${high}`)
  return value
}

function pageStart(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  if (!/^\d{1,9}$/.test(cursor)) throw wrong('cursor', 'one that an earlier list gave')
  return Number(cursor)
}

function wrong(name: string, expected: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `${name} must be ${expected}`)
}

/**
 * What is served over plain HTTP: the files of the page, and the output of a job or a session
 * for a page that shows its key.
 */
import { attempt } from '../contract/attempt.js'
import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { Asset } from './assets.js'
import { recordedEvents } from './recordings.js'
import type { Ui } from './ui.js'

const gzipped = promisify(gzip)

export async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  {
    ui,
    assets,
    allowed,
  }: { ui: Ui; assets: ReadonlyMap<string, Asset>; allowed: (host: string | undefined) => boolean },
): Promise<void> {
  const no = (code: number): void => {
    response.writeHead(code, { 'content-length': 0, connection: 'close' })
    response.end()
  }
  if (!allowed(request.headers.host)) return no(403)
  if (request.method !== 'GET') return no(405)
  // A worker would outlive the page and see every later one.
  if (request.headers['service-worker'] !== undefined || request.headers['sec-fetch-dest'] === 'serviceworker')
    return no(403)
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  const job = /^\/output\/([\w-]{1,80})$/.exec(path)?.[1]
  const recording = /^\/recording\/([0-9a-f]{1,20}|any)\/([^/]{1,300})$/.exec(path)
  if (job !== undefined || recording) {
    const entry = ui.keys.enter(/^Bearer ([\w-]+)$/.exec(request.headers.authorization ?? '')?.[1])
    if (entry.kind !== 'in') return no(401)
    const { only } = entry.session
    if (only !== null && only !== job) return no(403)
    if (job !== undefined) return sendOutput(job, { response, ui, no })
    return sendRecording(recording?.[1] ?? '', recording?.[2] ?? '', { response, ui, no })
  }
  const asset = assets.get(path)
  if (!asset) return no(404)
  if (asset.type === 'text/html') return sendPage(asset, response)
  const head = {
    ...COMMON,
    'content-type': `${asset.type}; charset=utf-8`,
    'cache-control': 'no-cache',
    etag: asset.etag,
  }
  if (request.headers['if-none-match'] === asset.etag) {
    response.writeHead(304, head)
    response.end()
    return
  }
  response.writeHead(200, { ...head, 'content-encoding': 'gzip', 'content-length': asset.gzipped.length })
  response.end(asset.gzipped)
}

const COMMON = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/**
 * Only what this server sends may run; nothing may be framed, posted or loaded from elsewhere.
 * xterm.js makes styles: they carry the nonce.
 */
function sendPage(asset: Asset, response: ServerResponse): void {
  const nonce = randomBytes(16).toString('base64')
  const body = Buffer.from(asset.body.toString('utf8').replace('%NONCE%', nonce))
  const policy = [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self' 'nonce-${nonce}'`,
    `img-src 'self' data:`,
    `connect-src 'self'`,
    `worker-src 'none'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
    `require-trusted-types-for 'script'`,
    `trusted-types 'none'`,
  ]
  response.writeHead(200, {
    ...COMMON,
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), clipboard-read=()',
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
    'content-length': body.length,
  })
  response.end(body)
}

interface Exchange {
  readonly response: ServerResponse
  readonly ui: Ui
  /** Answers with this status and nothing else. */
  readonly no: (code: number) => void
}

/** The whole output of a job as a file. */
async function sendOutput(id: string, { response, ui, no }: Exchange): Promise<void> {
  const job = await ui.jobs.job(id).catch(() => null)
  if (!job) return no(404)
  response.writeHead(200, {
    ...COMMON,
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': `attachment; filename="${id}.log"`,
    'cache-control': 'no-store',
  })
  for (let since = 0; !response.destroyed;) {
    const { text, cursor, totalBytes } = await job.read({ since, maxBytes: 1024 * 1024 })
    if (!response.write(text)) await new Promise((resolve) => response.once('drain', resolve).once('close', resolve))
    if (cursor >= totalBytes || cursor === since) break
    since = cursor
  }
  response.end()
}

/** What a session printed. */
async function sendRecording(engine: string, session: string, { response, ui, no }: Exchange): Promise<void> {
  const name = attempt(() => decodeURIComponent(session), null)
  const of = { engine: engine === 'any' ? null : engine, session: name ?? '' }
  const events = name === null ? null : recordedEvents(ui.stateDir, of)
  if (!events) return no(404)
  const body = await gzipped(JSON.stringify(events))
  const head = { ...COMMON, 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
  response.writeHead(200, { ...head, 'content-encoding': 'gzip', 'content-length': body.length })
  response.end(body)
}

/** The files of the page, known by name: nothing is read by a path that a request names. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync, gzipSync } from 'node:zlib'
import { badRequest } from '../contract/errors.js'

export interface Asset {
  readonly type: string
  readonly body: Buffer
  readonly gzipped: Buffer
  readonly etag: string
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
}

export function loadAssets(): ReadonlyMap<string, Asset> {
  // Bundled files stand in dist/ or dist/chunks/, sources two levels below the package.
  const places = ['./web', '../web', '../../dist/web'].map((path) => fileURLToPath(new URL(path, import.meta.url)))
  const dir = places.find((place) => existsSync(join(place, 'index.html.br')))
  if (!dir) throw badRequest('The files of the page were not found', 'Run `npm run build`.')
  const assets = new Map<string, Asset>()
  for (const file of readdirSync(dir)) {
    const [, name, kind] = /^(.+\.(\w+))\.br$/.exec(file) ?? []
    const type = TYPES[kind ?? '']
    if (!name || !type) continue
    const body = brotliDecompressSync(readFileSync(join(dir, file)))
    const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`
    assets.set(name === 'index.html' ? '/' : `/${name}`, { type, body, gzipped: gzipSync(body, { level: 9 }), etag })
  }
  return assets
}

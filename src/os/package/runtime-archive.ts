/**
 * This machine's own Node, with its loader and libraries: it runs on any Linux of the same
 * architecture, with any libc or none. For another architecture one from the person's npm registry.
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { runClient } from '../process/client.js'
import { tarOf } from './archive.js'
import type { PackageFile } from './shipment.js'
import { ensurePrivateDirectory } from '../files/state-dir.js'

export interface RuntimeArchive {
  readonly architecture: string
  readonly digest: string
  /** The compressed archive, made once per Node and kept in the state directory. */
  bytes(): Promise<Buffer>
}

const FETCH_MS = 5 * 60_000

/**
 * Whether this machine's Node can be sent: not from elsewhere than Linux, nor one that was itself started by a loader.
 */
export function canSendRuntime(): boolean {
  return process.platform === 'linux' && !basename(process.execPath).startsWith('ld-')
}

/** Takes seconds the first time; `make: false` gives null then. */
export async function ownRuntime(
  stateDir: string,
  { make: mayMake }: { readonly make: boolean },
): Promise<RuntimeArchive | null> {
  if (!canSendRuntime()) return null
  const node = realpathSync(process.execPath)
  const { size, mtimeMs } = statSync(node)
  const dir = ensurePrivateDirectory(join(ensurePrivateDirectory(stateDir), 'runtimes'))
  // The name is of what it is made from; the digest in it is of what it holds.
  const source = createHash('sha256').update(`${node} ${size} ${mtimeMs} ${process.version} 1`).digest('hex')
  const note = join(dir, `${source}.json`)
  if (!existsSync(note) || !existsSync(archiveFile(dir, digestIn(note)))) {
    if (!mayMake) return null
    await keep(await runtimeFiles(node), dir, note)
  }
  return archiveOf(dir, note, process.arch)
}

function archiveOf(dir: string, note: string, architecture: string): RuntimeArchive {
  const digest = digestIn(note)
  return { architecture, digest, bytes: async () => readFileSync(archiveFile(dir, digest)) }
}

/** What `npm pack node-linux-ARCH@VERSION` must give: the registry's own word is not enough. */
const FOREIGN_VERSION = '22.23.3'
const FOREIGN: Readonly<Record<string, string>> = {
  arm64: 'l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
  x64: 'qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
}

/** A Node for another kind of machine; it needs a glibc there. A text says why there is none. */
export async function foreignRuntime(stateDir: string, architecture: string): Promise<RuntimeArchive | string> {
  const wanted = FOREIGN[architecture]
  if (wanted === undefined) return `none is known for ${architecture}`
  const dir = ensurePrivateDirectory(join(ensurePrivateDirectory(stateDir), 'runtimes'))
  const note = join(dir, `${architecture}-${FOREIGN_VERSION}.json`)
  if (existsSync(note) && existsSync(archiveFile(dir, digestIn(note)))) return archiveOf(dir, note, architecture)
  const work = mkdtempSync(join(tmpdir(), 'cerith-runtime-'))
  try {
    const name = `node-linux-${architecture}`
    const words = ['npm', 'pack', `${name}@${FOREIGN_VERSION}`, '--pack-destination', work]
    const packed = await runClient(words, { timeoutMs: FETCH_MS })
    if (packed.code !== 0) return `npm could not fetch ${name}: ${packed.stderr.trim().split('\n').at(-1)}`
    const file = join(work, `${name}-${FOREIGN_VERSION}.tgz`)
    const digest = createHash('sha512').update(readFileSync(file)).digest('base64')
    if (digest !== wanted) return `the ${name} of this npm registry is not the one that was checked for this release`
    await runClient(['tar', '-xzf', file, '-C', work, 'package/bin/node'])
    const node = { path: 'node', mode: 0o700, bytes: readFileSync(join(work, 'package/bin/node')) }
    await keep([node], dir, note)
    return archiveOf(dir, note, architecture)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function archiveFile(dir: string, digest: string): string {
  return join(dir, `${digest}.tar.gz`)
}

function digestIn(note: string): string {
  return (JSON.parse(readFileSync(note, 'utf8')) as { digest: string }).digest
}

async function keep(files: readonly PackageFile[], dir: string, note: string): Promise<void> {
  const hash = createHash('sha256')
  for (const { path, bytes } of files) hash.update(`${path} ${bytes.length}\n`).update(bytes)
  const digest = hash.digest('hex')
  const named = files.map((file) => ({ ...file, path: `${digest}/${file.path}` }))
  const packed = await promisify(gzip)(tarOf(named), { level: 1 })
  put(archiveFile(dir, digest), packed)
  put(note, Buffer.from(JSON.stringify({ digest })))
}

function put(file: string, bytes: Buffer): void {
  const temporary = `${file}.${process.pid}`
  writeFileSync(temporary, bytes, { mode: 0o600 })
  renameSync(temporary, file)
}

/** `node`, `ld` (its loader) and `lib/` (what it is linked with). */
async function runtimeFiles(node: string): Promise<PackageFile[]> {
  const { stdout } = await runClient(['ldd', node])
  const paths = [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map(([, path]) => path as string)
  const loader = paths.find((path) => basename(path).startsWith('ld-'))
  if (!loader) throw new Error(`ldd does not name the loader of ${node}`)
  const file = (path: string, from: string): PackageFile => ({
    path,
    mode: 0o700,
    bytes: readFileSync(realpathSync(from)),
  })
  const libraries = paths.filter((path) => path !== loader).map((path) => file(`lib/${basename(path)}`, path))
  return [{ path: 'node', mode: 0o700, bytes: await stripped(node) }, file('ld', loader), ...libraries]
}

/** Without its symbols it is a third smaller; where there is no strip it goes as it is. */
async function stripped(node: string): Promise<Uint8Array> {
  const work = mkdtempSync(join(tmpdir(), 'cerith-runtime-'))
  try {
    const target = join(work, 'node')
    const { code } = await runClient(['strip', '-o', target, node])
    return readFileSync(code === 0 ? target : node)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

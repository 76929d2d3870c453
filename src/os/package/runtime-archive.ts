/**
 * This machine's own Node, with its loader and libraries: it runs on any Linux of the same
 * architecture, with any libc or none.
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
import type { PackageFile } from './shipment.js'
import { ensurePrivateDirectory } from '../files/state-dir.js'

export interface RuntimeArchive {
  readonly digest: string
  /** The compressed archive, made once per Node and kept in the state directory. */
  bytes(): Promise<Buffer>
}

/**
 * Whether this machine's Node can be sent: not from elsewhere than Linux, nor one that was itself started by a loader.
 */
export function canSendRuntime(): boolean {
  return process.platform === 'linux' && !basename(process.execPath).startsWith('ld-')
}

/** Takes seconds the first time; `make: false` gives null then. */
export async function ownRuntime(
  stateDir: string,
  { make: mayMake, tarOf }: { readonly make: boolean; tarOf(files: readonly PackageFile[]): Buffer },
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
    await make(node, dir, note, tarOf)
  }
  const digest = digestIn(note)
  return { digest, bytes: async () => readFileSync(archiveFile(dir, digest)) }
}

function archiveFile(dir: string, digest: string): string {
  return join(dir, `${digest}.tar.gz`)
}

function digestIn(note: string): string {
  return (JSON.parse(readFileSync(note, 'utf8')) as { digest: string }).digest
}

async function make(
  node: string,
  dir: string,
  note: string,
  tarOf: (files: readonly PackageFile[]) => Buffer,
): Promise<void> {
  const files = await runtimeFiles(node)
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

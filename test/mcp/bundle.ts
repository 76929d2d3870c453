/** Bundles the servers of ./fixtures once per state of the sources, so that tests start them as fast as users do. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('../../', import.meta.url))
const fixtures = join(root, 'test/mcp/fixtures')

/** The path of a bundled fixture, e.g. `stdio`. */
export async function bundled(name: string): Promise<string> {
  return join(await bundleAll(), `${name}.js`)
}

let made: Promise<string> | null = null

function bundleAll(): Promise<string> {
  return (made ??= make())
}

async function make(): Promise<string> {
  const home = join(tmpdir(), `cerith-test-mcp-${process.getuid?.() ?? 0}`)
  const target = join(home, stateOf([join(root, 'src'), fixtures]))
  if (existsSync(target)) return target
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const names = readdirSync(fixtures).filter((file) => file.endsWith('.ts'))
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(names.map((file) => [file.slice(0, -3), join(fixtures, file)])),
    platform: 'node',
    tsconfig: false,
    resolve: { alias: { '@modelcontextprotocol/server/_shims': join(root, 'src/mcp/server/sdk-shims.ts') } },
    external: (id) =>
      id.startsWith('node:') || id.startsWith('@xterm') || id.startsWith('@napi-rs') || id.startsWith('@opentelemetry'),
    onLog: () => {},
  })
  const staging = mkdtempSync(join(home, '.staging-'))
  await build.write({
    dir: staging,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  })
  await build.close()
  try {
    renameSync(staging, target)
  } catch {
    // Another worker was quicker with the same thing.
    rmSync(staging, { recursive: true, force: true })
  }
  // Another worker may be renaming or removing at the same time.
  for (const old of readdirSync(home))
    if (Date.now() - (statSync(join(home, old), { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > 60 * 60_000)
      rmSync(join(home, old), { recursive: true, force: true })
  return target
}

function stateOf(folders: readonly string[]): string {
  const hash = createHash('sha256')
  for (const folder of folders) {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue
      const file = join(entry.parentPath, entry.name)
      hash.update(`${file} ${statSync(file).mtimeMs}\n`)
    }
  }
  return hash.digest('hex').slice(0, 16)
}

// Bundles the package into dist/: six entries with shared chunks, the command line as one script, the native helper,
// types, the config schema.
//   node scripts/build.mjs [--if-stale] [--no-types] [--clean] [--into=DIR]
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { takeLock } from './lock.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const into = process.argv.find((word) => word.startsWith('--into='))?.slice('--into='.length)
const dist = into ?? join(root, 'dist')
const stamp = join(dist, '.built')

/** What `import 'cerith...'` and the command line start from; each one is listed in package.json. */
const ENTRIES = {
  index: 'src/index.ts',
  tools: 'src/tools/index.ts',
  mcp: 'src/mcp/index.ts',
  testing: 'src/testing.ts',
  far: 'src/far.ts',
  guard: 'src/engine/services/guard-worker.ts',
}

/** Blanks, comments and long names of variables are left out, which every start would have to read; functions keep theirs, for stack traces. */
const SMALL = { compress: false, mangle: { keepNames: { function: true, class: true } } }

/** Found at run time where they are installed, and done without where they are not. */
const OPTIONAL = ['@opentelemetry/api', '@xterm/headless', '@napi-rs/keyring']

const wants = new Set(process.argv.slice(2))
mkdirSync(dist, { recursive: true })
const release = await takeLock(join(dist, '.lock'))
try {
  if (!wants.has('--if-stale') || isStale()) await build()
} catch (error) {
  console.error(`cerith: the build failed. ${String(error.message).replace(/\x1b\[[\d;]*m/g, '')}`)
  process.exitCode = 1
} finally {
  release()
}

async function build() {
  const startedAt = new Date()
  run(process.execPath, ['scripts/build-native.mjs'])
  if (into) cpSync(join(root, 'dist/native'), join(into, 'native'), { recursive: true })
  const staging = mkdtempSync(join(dist, '.staging-'))
  try {
    await bundle(staging)
    install(staging)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  await bundlePage()
  await publishConfigSchema()
  if (!wants.has('--no-types')) writeTypes()
  writeFileSync(stamp, '')
  // A source saved while the bundler ran must count as newer than what it made.
  utimesSync(stamp, startedAt, startedAt)
}

async function bundle(outDir) {
  const input = Object.fromEntries(Object.entries(ENTRIES).filter(([, file]) => existsSync(join(root, file))))
  const output = await write(input, {
    dir: outDir,
    format: 'esm',
    minify: SMALL,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  })
  checkLibrary(output)
  const program = await bundleProgram(outDir)
  const moduleIds = [...output, ...program].flatMap(({ moduleIds: ids = [] }) => ids)
  writeFileSync(join(outDir, 'THIRD_PARTY.md'), licencesOf(moduleIds))
}

/** `import 'cerith'` loads modules of Node and of this package, and of no other. */
function checkLibrary(output) {
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]))
  const seen = new Set(['index.js'])
  for (const name of seen) {
    const { imports, moduleIds } = chunks.get(name)
    const others = moduleIds.filter((id) => id.includes('/node_modules/'))
    const unknown = imports.filter((each) => !chunks.has(each) && !each.startsWith('node:'))
    if (others.length + unknown.length > 0)
      throw new Error(`the library would load ${[...others, ...unknown].join(', ')} with ${name}.`)
    for (const each of imports) if (chunks.has(each)) seen.add(each)
  }
  if (seen.size < 2) throw new Error('the library has no chunks: it was not looked at.')
}

/** The page of `cerith ui`: its own bundle for browsers, with the styles of what it uses. */
async function bundlePage() {
  const { rolldown } = await import('rolldown')
  const source = join(root, 'src/web/page')
  const build = await rolldown({
    input: { app: join(source, 'app.tsx') },
    platform: 'browser',
    tsconfig: false,
    transform: { target: 'es2022', jsx: { runtime: 'automatic', importSource: 'preact' } },
  })
  const staging = mkdtempSync(join(dist, '.web-'))
  await build.write({
    dir: staging,
    format: 'esm',
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  })
  await build.close()
  const withoutComments = (file) => readFileSync(join(root, file), 'utf8').replace(/\/\*[^]*?\*\//g, '')
  const styles = [
    'src/web/page/app.css',
    'node_modules/@xterm/xterm/css/xterm.css',
    'node_modules/uplot/dist/uPlot.min.css',
  ]
  writeFileSync(join(staging, 'app.css'), styles.map(withoutComments).join('\n'))
  cpSync(join(source, 'index.html'), join(staging, 'index.html'))
  rmSync(join(dist, 'web'), { recursive: true, force: true })
  renameSync(staging, join(dist, 'web'))
  chmodSync(join(dist, 'web'), 0o755)
}

/** The command line: one script whose name holds its digest, and the small file that loads it with V8's cache. */
async function bundleProgram(outDir) {
  // Compiled code that comes from the cache cannot import: what is loaded later is required.
  const script = { dir: outDir, format: 'cjs', codeSplitting: false, minify: SMALL, dynamicImportInCjs: false }
  const program = await write({ cli: 'src/cli/main.ts' }, { ...script, entryFileNames: 'chunks/[name]-[hash].cjs' })
  const defines = { define: { __CERITH_PROGRAM__: JSON.stringify(program[0].fileName) } }
  await write(
    { cli: 'src/cli/start.ts' },
    { ...script, entryFileNames: '[name].cjs', banner: '#!/usr/bin/env node' },
    defines,
  )
  // For those who name the file in a host's settings: an ES module that does the same, a few milliseconds later.
  writeFileSync(join(outDir, 'cli.js'), "#!/usr/bin/env node\nimport './cli.cjs'\n")
  return program
}

async function write(input, output, transform = {}) {
  const { rolldown } = await import('rolldown')
  const build = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    tsconfig: false,
    external: (id) => id.startsWith('node:') || OPTIONAL.some((name) => id === name || id.startsWith(`${name}/`)),
    transform: { target: 'node20', ...transform },
    // The SDK would bring a JSON Schema compiler of 300 KB that nothing here uses.
    resolve: { alias: { '@modelcontextprotocol/server/_shims': join(root, 'src/mcp/sdk-shims.ts') } },
    onLog(level, log, handle) {
      // Dependencies carry annotations and circles of their own; ours are checked by the tests.
      if (log.code !== 'CIRCULAR_DEPENDENCY' && log.code !== 'INVALID_ANNOTATION') handle(level, log)
    },
  })
  const { output: made } = await build.write(output)
  await build.close()
  return made
}

/** Whose code is inside the bundle, with their licences, which ask to be passed on. */
function licencesOf(moduleIds) {
  const folders = new Set(moduleIds.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? []))
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
    return `## ${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : 'See its repository.'}\n`
  })
  const native = readFileSync(join(root, 'native/THIRD_PARTY.md'), 'utf8')
  return ['# Third-party code in this package', ...texts, native].join('\n\n')
}

/** Moves the new files in one by one: a command line that is running keeps finding the chunks it was built with. */
function install(staging) {
  const made = filesBelow(staging).map((file) => relative(staging, file))
  // Chunks first: an entry never names one that is not there yet.
  for (const file of made.sort((a, b) => depth(b) - depth(a))) {
    const target = join(dist, file)
    mkdirSync(dirname(target), { recursive: true })
    if (/^cli\.c?js$/.test(file)) chmodSync(join(staging, file), 0o755)
    renameSync(join(staging, file), target)
  }
  const keepMs = wants.has('--clean') ? 0 : 15 * 60_000
  const chunks = join(dist, 'chunks')
  for (const name of existsSync(chunks) ? readdirSync(chunks) : []) {
    const file = join(chunks, name)
    if (!made.includes(join('chunks', name)) && Date.now() - statSync(file).mtimeMs > keepMs)
      rmSync(file, { force: true })
  }
}

/** The JSON Schema that editors use for cerith.config.json comes from the same source as the checks at run time. */
async function publishConfigSchema() {
  const chunk = join(dist, 'index.js')
  if (!existsSync(join(root, 'src/config/schema.ts')) || !existsSync(chunk)) return
  const { rolldown } = await import('rolldown')
  const build = await rolldown({
    cwd: root,
    input: 'src/config/schema.ts',
    platform: 'node',
    tsconfig: false,
    external: /^node:/,
  })
  const { output } = await build.generate({ format: 'esm' })
  await build.close()
  const module = await import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString('base64')}`)
  writeFileSync(join(dist, 'cerith.schema.json'), `${JSON.stringify(module.configJsonSchema(), null, 2)}\n`)
}

function writeTypes() {
  const types = join(dist, 'types')
  const staging = mkdtempSync(join(dist, '.types-'))
  try {
    const result = spawnSync(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json', '--outDir', staging],
      { cwd: root, encoding: 'utf8' },
    )
    if (result.status !== 0) throw new Error(`tsc found mistakes:\n${result.stdout}${result.stderr}`)
    // Nobody imports the command line.
    rmSync(join(staging, 'cli'), { recursive: true, force: true })
    rmSync(types, { recursive: true, force: true })
    renameSync(staging, types)
    chmodSync(types, 0o755)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** True when any source is newer than the last complete build. */
export function isStale() {
  const built = statSync(stamp, { throwIfNoEntry: false })
  if (
    !built ||
    !existsSync(join(dist, 'cli.cjs')) ||
    Object.keys(ENTRIES).some((name) => existsSync(join(root, ENTRIES[name])) && !existsSync(join(dist, `${name}.js`)))
  )
    return true
  const sources = [
    ...filesBelow(join(root, 'src')),
    ...filesBelow(join(root, 'native')),
    join(root, 'package.json'),
    fileURLToPath(import.meta.url),
  ]
  return sources.some((file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs > built.mtimeMs)
}

function filesBelow(dir) {
  if (!existsSync(dir)) return []
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
}

function depth(file) {
  return file.split('/').length
}

function run(command, args) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  if (result.status !== 0) throw new Error(`${args.join(' ')} failed with ${result.status ?? result.signal}`)
}

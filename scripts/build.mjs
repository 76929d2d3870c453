// Bundles the package into dist/: a few scripts that hold all code, a small file for each entry, the native helper,
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
import { fileURLToPath, pathToFileURL } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { inLines } from './lines.mjs'
import { takeLock } from './lock.mjs'
import { SMALL_SCRIPT } from './native-targets.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const into = process.argv.find((word) => word.startsWith('--into='))?.slice('--into='.length)
const dist = into ?? join(root, 'dist')
const stamp = join(dist, '.built')

/**
 * What `import 'cerith...'` and the command line start from, and the script that holds it; each
 * one is listed in package.json.
 */
const ENTRIES = {
  index: { file: 'src/index.ts', script: 'library' },
  tools: { file: 'src/tools/index.ts', script: 'program' },
  mcp: { file: 'src/mcp/index.ts', script: 'program' },
  testing: { file: 'src/testing.ts', script: 'program' },
  far: { file: 'src/far.ts', script: 'library' },
  guard: { file: 'src/engine/services/judge/worker.ts', script: 'library' },
  cli: { file: 'src/cli/main.ts', script: 'program' },
}

/** Entries that are programs: they export nothing. */
const RUNS = ['far', 'guard', 'cli']

/** Which script code goes to: the engine, a search that few calls need, and the doors. Nothing is in two of them. */
const SCRIPTS = [
  { name: 'search', test: /\/node_modules\/re2js\// },
  {
    name: 'library',
    test: /entry:library|\/src\/(?:contract|output|env|secrets|guard|confine|os|audit|vault|engine|reach|setup\/create-engine|index|far)\b/,
  },
  { name: 'program', test: /./ },
]

/** Found at run time where they are installed, and done without where they are not. */
const OPTIONAL = ['@opentelemetry/api', '@xterm/headless']

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
  const modules = []
  try {
    modules.push(...(await bundle(staging)))
    install(staging)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  modules.push(...(await bundlePage()))
  writeFileSync(join(dist, 'THIRD_PARTY.md'), licencesOf(modules))
  await publishConfigSchema()
  if (!wants.has('--no-types')) writeTypes()
  writeFileSync(stamp, '')
  // A source saved while the bundler ran must count as newer than what it made.
  utimesSync(stamp, startedAt, startedAt)
}

async function bundle(outDir) {
  // Compiled code that comes from the cache cannot import: what is loaded later is required.
  const output = await write(
    { library: 'entry:library', program: 'entry:program' },
    {
      dir: outDir,
      format: 'cjs',
      minify: SMALL_SCRIPT,
      comments: false,
      dynamicImportInCjs: false,
      // A module is evaluated when it is needed first, wherever it stands.
      strictExecutionOrder: true,
      codeSplitting: { groups: SCRIPTS.map((group, index) => ({ ...group, priority: SCRIPTS.length - index })) },
      entryFileNames: 'chunks/[name]-entry-[hash].cjs',
      chunkFileNames: 'chunks/[name]-[hash].cjs',
      postBanner: '(function (exports, require, module, __filename, __dirname) {"use strict";',
      postFooter: '})',
    },
  )
  checkLibrary(output)
  const nameOf = (script) => `./${output.find(({ isEntry, name }) => isEntry && name === script).fileName}`
  const loader = (format, input, entryFileNames, banner = '') =>
    write(
      { load: input },
      { dir: outDir, format, codeSplitting: false, minify: SMALL_SCRIPT, entryFileNames, banner },
      {
        define: { __CERITH_PROGRAM__: JSON.stringify(nameOf('program')) },
      },
    )
  await loader('esm', 'src/os/package/script.ts', 'load.js')
  await loader('cjs', 'src/cli/start.ts', 'cli.cjs', '#!/usr/bin/env node')
  // Settings of a host may name this file: an ES module that does the same, a few milliseconds later.
  writeFileSync(join(outDir, 'cli.js'), "#!/usr/bin/env node\nimport './cli.cjs'\n")
  for (const file of filesBelow(join(outDir, 'chunks'))) writeFileSync(file, inLines(ascii(readFileSync(file, 'utf8'))))
  const { load } = await import(pathToFileURL(join(outDir, 'load.js')))
  for (const [name, { script }] of Object.entries(ENTRIES)) {
    if (name === 'cli') continue
    const names = RUNS.includes(name) ? [] : Object.keys(load(nameOf(script), name, null))
    // The engine at another place runs under options of its own, and rarely starts.
    const call = `load('${nameOf(script)}', '${name}'${name === 'far' ? ', null' : ''})`
    const body = names.length > 0 ? `export const { ${names.join(', ')} } = ${call}` : call
    writeFileSync(join(outDir, `${name}.js`), `import { load } from './load.js'\n${body}\n`)
  }
  return modulesIn(output)
}

function modulesIn(output) {
  return output.flatMap(({ moduleIds: ids = [] }) => ids)
}

/** Half as large in memory, and read without decoding. Only strings and patterns hold other letters. */
function ascii(code) {
  if (/\braw`[^`]*[^\0-\x7f]/.test(code)) throw new Error('a raw template holds a letter that is not ASCII.')
  return code.replace(/[^\0-\x7f]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The two entries of the bundle: functions that evaluate what they are asked for. */
function entries() {
  return {
    name: 'entries',
    resolveId: (id) => (id.startsWith('entry:') ? `\0${id}` : null),
    load(id) {
      if (!id.startsWith('\0entry:')) return null
      const mine = Object.entries(ENTRIES).filter(([, { script }]) => `\0entry:${script}` === id)
      return mine
        .map(([name, { file }]) => `exports.${name} = () => require(${JSON.stringify(join(root, file))})`)
        .join('\n')
    },
  }
}

/**
 * `import 'cerith'` loads modules of Node and of this package, and the parser of the guard; a search only when asked.
 */
function checkLibrary(output) {
  const [library] = output.filter(({ name, isEntry }) => name === 'library' && !isEntry)
  const others = new Set(library.moduleIds.flatMap((id) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id)?.[1] ?? []))
  const scripts = [...library.imports, ...library.dynamicImports].filter((each) => each.endsWith('.cjs'))
  const far = scripts.filter((each) => !/^chunks\/(?:library|search|rolldown-runtime)-/.test(each))
  if ([...others].join() !== 'unbash' || far.length > 0)
    throw new Error(`the library would load ${[...others, ...far].join(', ')}.`)
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
  const { output } = await build.write({
    dir: staging,
    format: 'esm',
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  })
  await build.close()
  const withoutComments = (file) => readFileSync(join(root, file), 'utf8').replace(/\/\*[^]*?\*\//g, '')
  // In this order: of two rules that say as much, the later one counts.
  const own = [
    'parts/base.css',
    'app.css',
    'list.css',
    'view.css',
    'activity.css',
    'session/session.css',
    'parts/dialog.css',
    'narrow.css',
  ]
  const styles = [
    ...own.map((name) => `src/web/page/${name}`),
    'node_modules/@xterm/xterm/css/xterm.css',
    'node_modules/uplot/dist/uPlot.min.css',
  ]
  writeFileSync(join(staging, 'app.css'), styles.map(withoutComments).join('\n'))
  cpSync(join(source, 'index.html'), join(staging, 'index.html'))
  // The page is a tenth of the package, and brotli takes a fifth off what gzip makes of it.
  for (const file of filesBelow(staging)) {
    writeFileSync(`${file}.br`, brotliCompressSync(readFileSync(file)))
    rmSync(file)
  }
  rmSync(join(dist, 'web'), { recursive: true, force: true })
  renameSync(staging, join(dist, 'web'))
  chmodSync(join(dist, 'web'), 0o755)
  return modulesIn(output)
}

async function write(input, output, transform = {}) {
  const { rolldown } = await import('rolldown')
  const build = await rolldown({
    cwd: root,
    input,
    platform: 'node',
    tsconfig: false,
    plugins: [entries()],
    external: (id) => id.startsWith('node:') || OPTIONAL.some((name) => id === name || id.startsWith(`${name}/`)),
    transform: { target: 'node20', ...transform },
    // The SDK would bring a JSON Schema compiler of 300 KB that nothing here uses.
    resolve: { alias: { '@modelcontextprotocol/server/_shims': join(root, 'src/mcp/server/sdk-shims.ts') } },
    onLog(level, log, handle) {
      // Dependencies carry annotations and import circles; those of this package are checked by the tests; what is
      // imported later stands in the same script and is evaluated later.
      if (!['CIRCULAR_DEPENDENCY', 'INVALID_ANNOTATION', 'INEFFECTIVE_DYNAMIC_IMPORT'].includes(log.code))
        handle(level, log)
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
  if (!existsSync(join(root, 'src/config/json-schema.ts')) || !existsSync(chunk)) return
  const { rolldown } = await import('rolldown')
  const build = await rolldown({
    cwd: root,
    input: 'src/config/json-schema.ts',
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
    keepReachable(staging)
    rmSync(types, { recursive: true, force: true })
    renameSync(staging, types)
    chmodSync(types, 0o755)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** Of the types, those that an entry of the package can lead to. */
function keepReachable(folder) {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const entries = Object.values(exports).flatMap(({ types }) => (types ? [join(root, types)] : []))
  const kept = new Set(entries.map((file) => join(folder, relative(join(root, 'dist/types'), file))))
  for (const file of kept)
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/(?:from|import\(|import) ?["'](\.[^"']+)\.js["']/g))
      kept.add(join(dirname(file), `${path}.d.ts`))
  for (const file of filesBelow(folder)) if (!kept.has(file)) rmSync(file)
}

/** True when any source is newer than the last complete build. */
export function isStale() {
  const built = statSync(stamp, { throwIfNoEntry: false })
  if (
    !built ||
    !existsSync(join(dist, 'cli.cjs')) ||
    Object.keys(ENTRIES).some((name) => !existsSync(join(dist, `${name}.js`)))
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

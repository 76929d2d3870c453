/** The package as it is published: packed, installed into an empty folder, and used there. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../fixtures/folder.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const base = temporaryFolder('package')
const folder = join(base, 'empty')
const installed = join(folder, 'node_modules', 'cerith')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
let tarball = ''

const env = { ...process.env, CERITH_HOME: join(base, 'state'), npm_config_update_notifier: 'false' }
const run = (command: string, args: readonly string[], cwd = folder) =>
  spawnSync(command, args, { cwd, env, encoding: 'utf8', timeout: 240_000 })

beforeAll(() => {
  // A folder of its own, built from nothing: what other tests are using stays as it is.
  const staged = join(base, 'staged')
  mkdirSync(staged)
  for (const name of [
    'package.json',
    ...manifest.files.filter((each: string) => !each.includes('dist')),
    'README.md',
    'LICENSE',
  ])
    if (existsSync(join(root, name))) cpSync(join(root, name), join(staged, name), { recursive: true })
  const built = run(process.execPath, [join(root, 'scripts/build.mjs'), `--into=${join(staged, 'dist')}`], root)
  expect(built.status, built.stderr).toBe(0)
  const packed = run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', base], staged)
  tarball = join(base, packed.stdout.trim().split('\n').at(-1) as string)
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}')
  // Everything that runs is bundled, so an installation needs no network.
  const offline = Object.keys(manifest.dependencies ?? {}).length === 0 ? '--offline' : '--prefer-offline'
  const install = run('npm', [
    'install',
    '--silent',
    '--no-audit',
    '--no-fund',
    '--omit=optional',
    '--omit=peer',
    offline,
    tarball,
  ])
  expect(install.status, install.stderr).toBe(0)
}, 300_000)

describe('in an empty folder', () => {
  test('npx cerith runs', () => {
    expect(run('npx', ['--no-install', 'cerith', 'run', 'echo hi; exit 3'])).toMatchObject({
      status: 3,
      stdout: 'hi\n',
    })
    expect(run('npx', ['--no-install', 'cerith', '--version']).stdout.trim()).toBe(manifest.version)
  })

  test('every entry can be imported, and the library runs a command', () => {
    writeFileSync(
      join(folder, 'use.mjs'),
      `import { createEngine } from 'cerith'
import { createTools } from 'cerith/tools'
import * as mcp from 'cerith/mcp'
import { withTestEngine } from 'cerith/testing'
import schema from 'cerith/cerith.schema.json' with { type: 'json' }
const engine = await createEngine()
const { stdout } = await engine.run({ command: 'echo "from $BASH_VERSINFO"' })
const tools = [...createTools(engine)].length
await engine.close()
console.log(stdout.slice(0, 4), tools, typeof mcp.serveStdio, await withTestEngine(async (one) => one.stateDir !== undefined), schema.title)
`,
    )
    expect(run(process.execPath, ['--no-warnings', 'use.mjs'])).toMatchObject({
      status: 0,
      stdout: 'from 5 function true cerith.config.json\n',
    })
  })

  test('a mistake that nobody catches shows its message, and not a screen full of code', () => {
    const script = "import { createEngine } from 'cerith'; await createEngine({ cdw: '/' })"
    const { status, stderr } = run(process.execPath, ['--input-type=module', '-e', script])
    expect(status).toBe(1)
    expect(stderr).toContain('ShellError: Bad request: unknown option cdw')
    expect(Math.max(...stderr.split('\n').map((line) => line.length))).toBeLessThan(1_000)
    expect(stderr.length).toBeLessThan(4_000)
  })

  test('holds what it promises: the helper, types, docs, licences; and no sources, tests or build leftovers', () => {
    for (const file of [
      'dist/cli.js',
      'dist/types/index.d.ts',
      'dist/cerith.schema.json',
      'dist/THIRD_PARTY.md',
      'README.md',
      'LICENSE',
      'AGENTS.md',
    ])
      expect(existsSync(join(installed, file)), file).toBe(true)
    expect(statSync(join(installed, 'dist/cli.js')).mode & 0o111).not.toBe(0)
    for (const name of readdirSync(join(installed, 'dist/native')).filter((each) => each.startsWith('cerith-helper')))
      expect(statSync(join(installed, 'dist/native', name)).mode & 0o111).not.toBe(0)
    const all = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    expect(
      all.filter(
        (name) =>
          /^(?:src|test|bench|native|scripts|node_modules)\b/.test(name) ||
          // A plugin of Claude Code keeps its manifest and its servers in such names.
          name.split('/').some((part) => part.startsWith('.') && !/^\.(claude-plugin|mcp\.json)$/.test(part)),
      ),
    ).toEqual([])
    expect(manifest.scripts).not.toHaveProperty('postinstall')
    expect(manifest.scripts).not.toHaveProperty('install')
  })

  test('passes on the licences of what it carries: the scripts, the page, the helper', () => {
    const text = readFileSync(join(installed, 'dist/THIRD_PARTY.md'), 'utf8')
    for (const name of ['@modelcontextprotocol/server', 'unbash', '@xterm/xterm', 'preact', 'uplot', 'musl'])
      expect(text, name).toMatch(new RegExp(`^## ${name} `, 'm'))
    expect(text).not.toContain('See its repository.')
  })

  test('the tarball stays below 1.25 MB with the helpers of four machines in it', () => {
    const native = join(installed, 'dist/native')
    const compiled = readdirSync(native).filter((name) => name.startsWith('cerith-'))
    const weights = compiled.map((name) => gzipSync(readFileSync(join(native, name)), { level: 9 }).length)
    // Here only this machine's may be there, made by another compiler; `scripts/prebuild.mjs` holds the size of each.
    const PREBUILT = 364_000
    expect(statSync(tarball).size - weights.reduce((sum, each) => sum + each, 0) + PREBUILT).toBeLessThan(1_250_000)
  })
})

describe('the entry `cerith`', () => {
  test('costs little to import', () => {
    // Processor time: the clock on the wall says more about the neighbours.
    const script = `const before = process.cpuUsage(); await import(${JSON.stringify(join(installed, 'dist/index.js'))}); const { user, system } = process.cpuUsage(before); console.log((user + system) / 1000)`
    const times = Array.from({ length: 5 }, () =>
      Number(run(process.execPath, ['--input-type=module', '-e', script], root).stdout),
    ).sort((a, b) => a - b)
    console.info(`import 'cerith': ${times[0]?.toFixed(1)} ms of processor time (best of 5)`)
    expect(times[0]).toBeLessThan(500)
  })
})

describe('the linters of packages', () => {
  test('publint has nothing to say', async () => {
    const { publint } = await import('publint')
    const { messages } = await publint({ pkgDir: installed, strict: true, pack: false })
    expect(messages).toEqual([])
  })

  test('the types of every entry resolve', () => {
    const { status, stdout, stderr } = run(
      process.execPath,
      [
        join(root, 'node_modules/@arethetypeswrong/cli/dist/index.js'),
        tarball,
        '--profile',
        'esm-only',
        '--no-color',
        '--no-emoji',
      ],
      root,
    )
    expect(status, stdout + stderr).toBe(0)
  }, 240_000)
})

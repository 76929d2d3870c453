/** The rooms of the house: who may import whom, and that no two files import each other in a circle. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const src = join(root, 'src')

/** Arrows go one way: doors, tools, engine, skills, words. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  guard: ['contract'],
  secrets: ['contract'],
  env: ['contract'],
  output: ['contract'],
  os: ['contract'],
  engine: ['guard', 'secrets', 'env', 'output', 'os', 'contract'],
  tools: ['engine', 'output', 'contract'],
  mcp: ['tools', 'engine', 'output', 'os', 'contract'],
  // The program starts the other door.
  cli: ['mcp', 'tools', 'engine', 'guard', 'os', 'contract'],
  // The entries of the package.
  '.': ['engine', 'contract', 'secrets', 'tools', 'mcp', 'output'],
}

const PURE = ['contract', 'guard', 'secrets', 'env', 'output']

/** Third-party packages, by the rooms that may use them. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  guard: ['unbash'],
  secrets: ['unbash'],
  output: ['re2js'],
  engine: ['@xterm/headless'],
  os: ['@napi-rs/keyring', '@opentelemetry/api'],
  mcp: ['@modelcontextprotocol/server', '@modelcontextprotocol/core'],
  cli: ['commander'],
}

interface Import {
  readonly file: string
  readonly target: string
  readonly typeOnly: boolean
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.d.ts'),
)

const imports: readonly Import[] = files.flatMap((file) => {
  const text = readFileSync(join(src, file), 'utf8').replace(/\/\*[^]*?\*\//g, '')
  const found = [...text.matchAll(/(?:^|\n)\s*(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'/g)].map(
    ([, type, target]) => ({ file, target: target as string, typeOnly: Boolean(type) }),
  )
  return [
    ...found,
    ...[...text.matchAll(/\bimport\('([^']+)'\)/g)].map(([, target]) => ({
      file,
      target: target as string,
      typeOnly: false,
    })),
  ]
})

const roomOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] as string) : '.')
const inside = ({ file, target }: Import): string =>
  relative(src, resolve(src, dirname(file), target)).replace(/\.js$/, '.ts')

describe('rooms', () => {
  test('there are imports to look at, and every one of ours exists', () => {
    expect(imports.length).toBeGreaterThan(300)
    for (const each of imports.filter(({ target }) => target.startsWith('.')))
      expect(existsSync(join(src, inside(each))), `${each.file} imports ${each.target}`).toBe(true)
  })

  test('each imports only the rooms below it', () => {
    const wrong = imports
      .filter(({ target }) => target.startsWith('.'))
      .filter(
        (each) =>
          roomOf(each.file) !== roomOf(inside(each)) && !MAY_IMPORT[roomOf(each.file)]?.includes(roomOf(inside(each))),
      )
    expect(wrong.map((each) => `${each.file} -> ${inside(each)}`)).toEqual([])
  })

  test('the pure ones know nothing of Node', () => {
    expect(imports.filter(({ file, target }) => PURE.includes(roomOf(file)) && target.startsWith('node:'))).toEqual([])
  })

  test('only some use packages of others', () => {
    const packages = imports.filter(
      ({ target, typeOnly }) => !target.startsWith('.') && !target.startsWith('node:') && !typeOnly,
    )
    const wrong = packages.filter(
      ({ file, target }) => !PACKAGES[roomOf(file)]?.some((name) => target === name || target.startsWith(`${name}/`)),
    )
    expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([])
  })

  test('only os/ starts processes and sends signals', () => {
    // The command line measures plain spawn and starts itself for the self-test; nothing there runs a user's command.
    const exempt = ['cli/bench.ts', 'cli/doctor-mcp.ts']
    const spawning = imports.filter(
      ({ file, target, typeOnly }) =>
        target === 'node:child_process' && roomOf(file) !== 'os' && !typeOnly && !exempt.includes(file),
    )
    expect(spawning.map(({ file }) => file)).toEqual([])
  })
})

test('no file imports itself through others', () => {
  const next = new Map<string, string[]>()
  for (const each of imports)
    if (each.target.startsWith('.') && !each.typeOnly)
      next.set(each.file, [...(next.get(each.file) ?? []), inside(each)])
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '))
    else if (!done.has(file)) {
      for (const other of next.get(file) ?? []) visit(other, [...path, file])
      done.add(file)
    }
  }
  for (const file of files) visit(file, [])
  // The list of verbs is what completion is made from, and completion is one of them; it is loaded when it is asked for.
  expect(circles.filter((circle) => !circle.includes('cli/verbs/completion.ts'))).toEqual([])
})

test('the pure rooms compile without the types of Node', () => {
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.pure.json', '--noEmit'],
    { cwd: root, encoding: 'utf8' },
  )
  expect(stdout).toBe('')
  expect(status).toBe(0)
})

test.skipIf(!existsSync(join(root, 'ARCHITECTURE.md')))('every path that ARCHITECTURE.md names exists', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const paths = [...text.matchAll(/`((?:src|native|test|docs|scripts|bench|examples)\/[\w./*-]*)`/g)].map(
    ([, path]) => path as string,
  )
  expect(paths.length).toBeGreaterThan(10)
  for (const path of paths) expect(existsSync(join(root, path.replace(/\/?\*.*$/, ''))), path).toBe(true)
})

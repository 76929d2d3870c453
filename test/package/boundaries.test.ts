/** The rooms of the house: who may import whom, and that no two files import each other in a circle. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const src = join(root, 'src')

/**
 * The rooms from the bottom of the house to its top, each with the rooms that it may import. A name stands for its
 * sub-rooms too. Only rooms that stand above can be named, so that arrows go one way.
 */
const WORDS = ['contract']
const SKILLS = [...WORDS, 'output', 'env', 'secrets', 'guard', 'confine']
const SYSTEM = [...SKILLS, 'os', 'audit', 'vault', 'config']
const ENGINE = (...rooms: readonly string[]): readonly string[] => [...SYSTEM, ...rooms.map((room) => `engine/${room}`)]
const PROGRAMS = (...rooms: readonly string[]): readonly string[] => [
  ...WORDS,
  'guard/words',
  ...rooms.map((room) => `guard/programs/${room}`),
]
const DOOR = [...WORDS, 'output', 'os', 'audit', 'vault', 'config', 'engine', 'setup', 'tools']
const MCP = (...rooms: readonly string[]): readonly string[] => [...DOOR, ...rooms.map((room) => `mcp/${room}`)]
const CLI = (...rooms: readonly string[]): readonly string[] => [
  ...DOOR,
  'guard',
  'reach',
  'hooks',
  'mcp',
  'web',
  ...rooms.map((room) => `cli/${room}`),
]
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  'output/terminal': WORDS,
  output: [...WORDS, 'output'],
  env: WORDS,
  'secrets/mask': WORDS,
  'secrets/deliver': WORDS,
  secrets: [...WORDS, 'secrets'],
  'guard/words': WORDS,
  'guard/programs/row': [...WORDS, 'guard/words'],
  'guard/programs/shell': PROGRAMS('row'),
  'guard/programs/files': PROGRAMS('row'),
  'guard/programs/machine': PROGRAMS('row'),
  'guard/programs/code': PROGRAMS('row', 'files'),
  'guard/programs/start': PROGRAMS('row', 'shell', 'code'),
  'guard/programs': [...WORDS, 'guard/words', 'guard/programs'],
  'guard/rules': [...WORDS, 'guard/words', 'guard/programs'],
  'guard/walk': [...WORDS, 'guard/words', 'guard/programs', 'guard/rules'],
  'guard/policy': [...WORDS, 'guard/words', 'guard/programs', 'guard/rules', 'guard/walk'],
  guard: [...WORDS, 'guard'],
  confine: WORDS,
  'os/process': WORDS,
  'os/files': [...WORDS, 'os/process'],
  'os/user': [...WORDS, 'os/process', 'os/files'],
  'os/package': [...WORDS, 'os/process', 'os/files'],
  'os/helper': [...WORDS, 'confine', 'os/process', 'os/files', 'os/package'],
  'os/peer': [...WORDS, 'os/process', 'os/files', 'os/package', 'os/helper'],
  'os/confine': [...WORDS, 'output', 'confine', 'os/process', 'os/files', 'os/package', 'os/helper'],
  'os/job': [...WORDS, 'os/process', 'os/files', 'os/helper'],
  audit: [...WORDS, 'os'],
  vault: [...WORDS, 'os'],
  config: [...WORDS, 'os'],
  'engine/services/judge': SYSTEM,
  'engine/services/sandbox': SYSTEM,
  'engine/services': ENGINE('services'),
  'engine/plan': ENGINE('services'),
  'engine/call': ENGINE('services', 'plan'),
  'engine/terminal': ENGINE('services', 'plan', 'call'),
  'engine/job/look': ENGINE('services', 'plan', 'call', 'terminal'),
  'engine/job/input': ENGINE('services', 'plan', 'call', 'terminal', 'job/look'),
  'engine/job': ENGINE('services', 'plan', 'call', 'terminal', 'job'),
  'engine/run': ENGINE('services', 'plan', 'call', 'terminal', 'job'),
  'engine/session/lines': SKILLS,
  'engine/session/shell': ENGINE('services', 'plan', 'call', 'terminal', 'job', 'run', 'session/lines'),
  'engine/session/call': ENGINE('services', 'plan', 'call', 'terminal', 'job', 'run', 'session/lines', 'session/shell'),
  'engine/session': ENGINE('services', 'plan', 'call', 'terminal', 'job', 'run', 'session'),
  'engine/live': ENGINE('services'),
  engine: [...SYSTEM, 'engine'],
  reach: [...SYSTEM, 'engine', 'reach'],
  setup: [...SYSTEM, 'engine', 'reach'],
  hooks: [...SYSTEM, 'engine/services', 'setup'],
  'tools/schema': WORDS,
  'tools/reading': [...WORDS, 'output'],
  tools: [...WORDS, 'output', 'engine', 'tools'],
  'mcp/setup': MCP(),
  'mcp/call': MCP('setup'),
  'mcp/server': MCP('setup', 'call'),
  'mcp/stdio': MCP('setup', 'call', 'server'),
  'mcp/http': MCP('setup', 'call', 'server'),
  mcp: [...DOOR, 'mcp'],
  web: [...WORDS, 'output', 'os', 'audit', 'engine', 'web'],
  // The program starts the other doors.
  'cli/io': CLI(),
  'cli/verb': CLI('io'),
  'cli/live': CLI('io', 'verb'),
  'cli/doctor': CLI('io', 'verb'),
  'cli/verbs': CLI('io', 'verb', 'live', 'doctor', 'verbs'),
  cli: CLI('io', 'verb', 'verbs'),
  // The entries of the package.
  '.': [...WORDS, 'reach', 'output', 'secrets', 'engine', 'setup', 'tools', 'mcp'],
}

/** Arrows against the order, each with its reason. */
const EXCEPTIONS: readonly string[] = [
  // A program's row is handed the walker, to follow the commands that the program starts.
  'guard/programs/row/call.ts -> guard/walk/walk.ts',
  // Completion is made from the list of verbs, and is one of them.
  'cli/verbs/setup/completion.ts -> cli/verbs.ts',
]

const PURE = ['contract', 'guard', 'secrets', 'env', 'output', 'confine']

/** Third-party packages, by the rooms that may use them. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  guard: ['unbash'],
  secrets: ['unbash'],
  output: ['re2js'],
  engine: ['@xterm/headless'],
  audit: ['@opentelemetry/api'],
  mcp: ['@modelcontextprotocol/server', '@modelcontextprotocol/core'],
  cli: ['commander'],
  web: ['ws'],
}

/**
 * A helper for a secret is started by the vault; the command line measures spawn and starts itself for its self-test.
 */
const STARTS_PROCESSES = ['os/', 'vault/secret-command.ts', 'cli/verbs/setup/measure.ts', 'cli/doctor/']
const SENDS_SIGNALS = ['os/', 'vault/secret-command.ts']
/** Rooms that own files of their own on disk, and the files of doors that read what a person names. */
const TOUCHES_FILES = [
  'os/',
  'audit/',
  'vault/',
  'config/',
  'setup/',
  'engine/services/',
  'engine/plan/ask.ts',
  'engine/plan/outside.ts',
  'engine/call/advice.ts',
  'engine/terminal/recorder.ts',
  'engine/job/',
  'engine/run/foreground.ts',
  'engine/session/shell/',
  'engine/session/call/',
  'engine/live/watch.ts',
  'engine/create-services.ts',
  'hooks/settings.ts',
  'hooks/judge.ts',
  'reach/records.ts',
  'reach/far/run-directory.ts',
  'reach/far/serve.ts',
  'web/assets.ts',
  'web/recordings.ts',
  'web/records.ts',
  'web/tail.ts',
  'web/ui.ts',
  'cli/doctor/',
  'cli/io/process',
  'cli/verb/directory.ts',
  'cli/verb/own-program.ts',
  'cli/verbs/person/check.ts',
  'cli/verbs/person/secret.ts',
  'cli/verbs/record/replay.ts',
  'cli/verbs/setup/measure.ts',
  'testing.ts',
]

interface Import {
  readonly file: string
  readonly target: string
  readonly typeOnly: boolean
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
  // The page is the browser's: it has a tsconfig of its own.
  (name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && !name.startsWith('web/page/'),
)

/** A planted file stands for one that somebody adds tomorrow. */
interface Source {
  readonly file: string
  readonly text: string
}
const sources: readonly Source[] = files.map((file) => ({ file, text: readFileSync(join(src, file), 'utf8') }))

function importsOf({ file, text: whole }: Source): Import[] {
  const text = whole.replace(/\/\*[^]*?\*\//g, '')
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
}
const imports: readonly Import[] = sources.flatMap(importsOf)

/** The deepest room that has a row of its own. */
const roomOf = (file: string): string => {
  for (let folder = dirname(file); folder !== '.'; folder = dirname(folder)) if (MAY_IMPORT[folder]) return folder
  return '.'
}
const houseOf = (file: string): string => (file.includes('/') ? (file.split('/')[0] as string) : '.')
const isBelow = (room: string, name: string): boolean => room === name || room.startsWith(`${name}/`)
const inside = ({ file, target }: Import): string =>
  relative(src, resolve(src, dirname(file), target)).replace(/\.js$/, '.ts')

/** Imports of rooms that the room of the file does not name. */
const strayArrows = (all: readonly Import[]): string[] =>
  all
    .filter(({ target }) => target.startsWith('.'))
    .map((each) => ({ from: each.file, to: inside(each) }))
    .filter(({ from, to }) => roomOf(from) !== roomOf(to))
    .filter(({ from, to }) => !MAY_IMPORT[roomOf(from)]?.some((name) => isBelow(roomOf(to), name)))
    .map(({ from, to }) => `${from} -> ${to}`)
    .filter((arrow) => !EXCEPTIONS.includes(arrow))

/** What a file does to the system without being one of those that may. */
function strayUses(source: Source): string[] {
  const { file, text } = source
  const modules = importsOf(source).flatMap(({ target, typeOnly }) => (typeOnly ? [] : target.replace(/^node:/, '')))
  const owns = (owners: readonly string[]): boolean => owners.some((owner) => file.startsWith(owner))
  const uses: [string, readonly string[], boolean][] = [
    ['starts processes', STARTS_PROCESSES, modules.includes('child_process')],
    ['touches files', TOUCHES_FILES, modules.some((name) => name === 'fs' || name === 'fs/promises')],
    [
      'sends signals',
      SENDS_SIGNALS,
      /\bprocess\s*(?:\?\.|\.|\[['"])\s*kill\b|\bkill\b[^{};]*\}\s*=\s*process\b/.test(text),
    ],
    ['loads by require', ['os/'], /\brequire\(|\bcreateRequire\b|\bgetBuiltinModule\b/.test(text)],
  ]
  return uses.flatMap(([what, owners, does]) => (does && !owns(owners) ? [`${file} ${what}`] : []))
}

describe('rooms', () => {
  test('there are imports to look at, and every one of ours exists', () => {
    expect(imports.length).toBeGreaterThan(300)
    for (const each of imports.filter(({ target }) => target.startsWith('.')))
      expect(existsSync(join(src, inside(each))), `${each.file} imports ${each.target}`).toBe(true)
  })

  test('each is listed, and names only rooms that stand above it in the list', () => {
    const listed = Object.keys(MAY_IMPORT)
    expect(files.filter((file) => file.includes('/') && roomOf(file) === '.')).toEqual([])
    for (const [at, room] of listed.entries())
      for (const name of MAY_IMPORT[room] ?? [])
        expect(
          listed.slice(0, at + 1).some((other) => isBelow(other, name)),
          `${room} -> ${name}`,
        ).toBe(true)
  })

  test('each imports only the rooms it names, also for types', () => {
    expect(strayArrows(imports)).toEqual([])
  })

  test('the pure ones know nothing of Node', () => {
    expect(imports.filter(({ file, target }) => PURE.includes(houseOf(file)) && target.startsWith('node:'))).toEqual([])
  })

  test('only some use packages of others', () => {
    const packages = imports.filter(
      ({ target, typeOnly }) => !target.startsWith('.') && !target.startsWith('node:') && !typeOnly,
    )
    const wrong = packages.filter(
      ({ file, target }) => !PACKAGES[houseOf(file)]?.some((name) => target === name || target.startsWith(`${name}/`)),
    )
    expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([])
  })

  test('only os/ and the named owners start processes, send signals and touch files', () => {
    expect(sources.flatMap(strayUses)).toEqual([])
  })

  test('every owner that is named owns something', () => {
    const idle = [...STARTS_PROCESSES, ...SENDS_SIGNALS, ...TOUCHES_FILES].filter(
      (owner) => !files.some((file) => file.startsWith(owner)),
    )
    expect(idle).toEqual([])
  })

  test.each([
    ['guard/planted.ts', "import { isAlive } from '../os/process/proc.js'", 'guard/planted.ts -> os/process/proc.ts'],
    ['guard/planted.ts', "import type { Launcher } from '../os/helper/launcher.js'", '-> os/helper/launcher.ts'],
    ['engine/session/lines/planted.ts', "import { Call } from '../../call/call.js'", '-> engine/call/call.ts'],
    ['engine/job/look/planted.ts', "export { Jobs } from '../jobs.js'", '-> engine/job/jobs.ts'],
    ['tools/planted.ts', "const late = await import('../cli/program.js')", '-> cli/program.ts'],
  ])('a planted arrow is found: %s %s', (file, text, arrow) => {
    expect(strayArrows(importsOf({ file, text })).join()).toContain(arrow)
  })

  test.each([
    ['engine/planted.ts', "import { spawn } from 'node:child_process'", 'starts processes'],
    ['engine/planted.ts', "import {\n  spawn,\n} from 'child_process'", 'starts processes'],
    ['tools/planted.ts', "import { readFileSync } from 'node:fs'", 'touches files'],
    ['engine/plan/planted.ts', "const { rm } = await import('node:fs/promises')", 'touches files'],
    ['mcp/planted.ts', "process.kill(pid, 'SIGTERM')", 'sends signals'],
    ['mcp/planted.ts', 'const { kill } = process', 'sends signals'],
    ['cli/planted.ts', "const fs = require('node:fs')", 'loads by require'],
  ])('a planted use of the system is found: %s %s', (file, text, what) => {
    expect(strayUses({ file, text })).toEqual([`${file} ${what}`])
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
  // The list of verbs is what completion is made from, and completion is one of them; it is loaded when it is asked
  // for.
  expect(circles.filter((circle) => !circle.includes('cli/verbs/setup/completion.ts'))).toEqual([])
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

/** Folders below a room of their own kind: one per dialect or host, or verbs by task. */
const ROWS = /^(tools\/dialects|hooks\/hosts|cli\/verbs\/)/
const folders = [...new Set(files.map((file) => dirname(file)))].filter(
  (folder) => folder !== '.' && !ROWS.test(folder),
)

test('no room has more files than can be taken in at a look', () => {
  const crowded = [...new Set(files.map((file) => dirname(file)))]
    .map((folder) => ({ folder, count: files.filter((file) => dirname(file) === folder).length }))
    .filter(({ count }) => count > 15)
  expect(crowded).toEqual([])
})

test.each(folders)('%s opens with what it is for, in a few lines that name files that exist', (folder) => {
  const text = readFileSync(join(src, folder, 'README.md'), 'utf8')
  expect(text.startsWith(`# ${folder}\n\n`)).toBe(true)
  expect(text.split('\n').length).toBeLessThan(16)
  for (const [, name] of text.matchAll(/`((?:\.\.\/)?[\w/-]+\.tsx?)`/g))
    expect(
      [join(src, folder, name as string), join(src, name as string)].some((path) => existsSync(path)),
      name,
    ).toBe(true)
})

test('the table of rooms in ARCHITECTURE.md has every room, from the bottom up', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const shown = [...text.matchAll(/^\| `src\/([\w/]*)` \|/gm)].map(([, room]) => (room as string).replace(/\/$/, ''))
  expect(shown).toEqual(Object.keys(MAY_IMPORT).filter((room) => room !== '.'))
})

test.skipIf(!existsSync(join(root, 'ARCHITECTURE.md')))('every path that ARCHITECTURE.md names exists', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const paths = [...text.matchAll(/`((?:src|native|test|docs|scripts|bench|examples)\/[\w./*-]*)`/g)].map(
    ([, path]) => path as string,
  )
  expect(paths.length).toBeGreaterThan(10)
  for (const path of paths) expect(existsSync(join(root, path.replace(/\/?\*.*$/, ''))), path).toBe(true)
})

test('the way of a command in ARCHITECTURE.md goes through rooms that know the next one', () => {
  const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
  const [picture = ''] = /```\n a door [^`]*```/.exec(text) ?? []
  const rooms = [...picture.matchAll(/\b(?:engine|os)\/\w+/g)].map(([room]) => room)
  expect(rooms).toEqual(['engine/plan', 'engine/run', 'engine/session', 'engine/job', 'os/helper', 'engine/call'])
  const knows = (room: string, other: string): boolean =>
    (MAY_IMPORT as Record<string, readonly string[]>)[room]!.some(
      (each) => other === each || other.startsWith(`${each}/`),
    )
  for (const room of ['engine/run', 'engine/session', 'engine/job'])
    for (const other of ['engine/plan', 'engine/call', 'os/helper']) expect(knows(room, other), room).toBe(true)
  for (const door of ['cli', 'mcp', 'tools', 'hooks']) expect(picture).toContain(door)
})

/** Tests of the whole: the package, the documents, requirements, and what several rooms do together. */
const OF_THE_WHOLE = ['docs', 'engine/sandbox', 'native', 'package', 'pty', 'requirements']

test('tests stand where the code stands that they test', () => {
  const below = (folder: string): string[] =>
    readdirSync(join(root, 'test', folder), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? below(join(folder, entry.name)) : entry.name.endsWith('.test.ts') ? [folder] : [],
    )
  const strangers = [...new Set(below('.'))].filter((folder) => !existsSync(join(src, folder)))
  expect(strangers.sort()).toEqual(OF_THE_WHOLE)
})

/** The program starts with the code that V8 compiled before; whatever happens to that file, the program is the same. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, expect, test } from 'vitest'
import { temporaryFolder } from '../fixtures/folder.js'

const program = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))
const library = fileURLToPath(new URL('../../dist/index.js', import.meta.url))
let home: string
beforeEach(() => void (home = temporaryFolder('start')))

const folder = (): string => join(home, 'code')
const kept = (): string[] => (existsSync(folder()) ? readdirSync(folder()) : [])

function run(env: Record<string, string> = {}): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'run', 'echo hi; exit 3'], {
    env: { ...process.env, CERITH_HOME: home, ...env },
    encoding: 'utf8',
  })
  expect({ status, stdout, stderr }).toEqual({ status: 3, stdout: 'hi\n', stderr: '' })
}

test('the first call keeps its code for this user alone, the second takes it', () => {
  run()
  const looks = (): { mode: number; ino: number }[] =>
    kept().map((name) => {
      const { mode, ino } = statSync(join(folder(), name))
      return { mode: mode & 0o777, ino }
    })
  // The engine's script and the doors'.
  expect(kept().map((name) => name.split('-').slice(0, 2))).toEqual([
    ['run', 'library'],
    ['run', 'program'],
  ])
  const first = looks()
  expect(first.map(({ mode }) => mode)).toEqual([0o600, 0o600])
  run()
  expect(looks()).toEqual(first)
})

function change(file: string, how: (bytes: Buffer) => void): void {
  const bytes = readFileSync(file)
  how(bytes)
  writeFileSync(file, bytes)
}

test('a damaged cache is made anew', () => {
  run()
  const file = join(folder(), kept()[0] as string)
  const { size } = statSync(file)
  for (const damage of [
    () => truncateSync(file, size / 2),
    () => writeFileSync(file, 'no code'),
    () => truncateSync(file),
    // A power cut may leave blocks of zeros in a file of the right size, and a worn disk single bits.
    () => change(file, (bytes) => bytes.fill(0, size / 2, size / 2 + 4096)),
    () => change(file, (bytes) => bytes.fill(0, size / 2)),
    () => change(file, (bytes) => void (bytes[Math.floor(size / 3)]! ^= 1)),
    () => change(file, (bytes) => bytes.set(bytes.subarray(4096, 8192), 16_384)),
  ]) {
    damage()
    run()
    expect(statSync(file).size).toBeGreaterThan(size / 2)
  }
})

test('code that others may write is not taken', () => {
  run()
  const file = join(folder(), kept()[0] as string)
  const { ino } = statSync(file)
  chmodSync(file, 0o666)
  run()
  expect(statSync(file).ino).not.toBe(ino)
  expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('CERITH_CODE_CACHE=0 keeps and takes nothing', () => {
  run({ CERITH_CODE_CACHE: '0' })
  expect(kept()).toEqual([])
})

test('the library keeps and takes its code in the same way, also where tools come after it', () => {
  const use = `import { createEngine, ShellError } from ${JSON.stringify(library)}
    const { createTools } = await import(${JSON.stringify(library.replace('index.js', 'tools.js'))})
    const engine = await createEngine()
    const { stdout } = await engine.run({ command: 'echo hi' })
    const refused = await engine.run({ command: '' }).catch((error) => error instanceof ShellError && error instanceof Error)
    console.log(stdout.trim(), refused, createTools(engine).list().length > 0)
    await engine.close()`
  const times = Array.from({ length: 2 }, () => {
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', use], {
      env: { ...process.env, CERITH_HOME: home },
      encoding: 'utf8',
    })
    expect({ stdout, stderr }).toEqual({ stdout: 'hi true true\n', stderr: '' })
    return kept().map((name) => statSync(join(folder(), name)).ino)
  })
  expect(times[0]).toHaveLength(2)
  expect(times[1]).toEqual(times[0])
})

test('a process that lived long and used more of the code keeps it for the next one; one that used the same does not', () => {
  const use = (commands: readonly string[], lived: number): number => {
    const text = `process.uptime = () => ${lived}
      const { createEngine } = await import(${JSON.stringify(library)})
      const engine = await createEngine()
      const session = await engine.session()
      for (const command of ${JSON.stringify(commands)}) await session.run({ command })
      await engine.close()`
    const env = { ...process.env, CERITH_HOME: home }
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', text], {
      env,
      cwd: home,
      encoding: 'utf8',
    })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    return statSync(join(folder(), kept().find((name) => name.startsWith('index-library')) as string)).size
  }
  const many = [
    'for f in *; do [[ -f $f ]] && wc -l < "$f"; done | sort | tail -1',
    'i=0; while [ $i -lt 3 ]; do i=$((i + 1)); done; sleep 0.1 & wait',
    "tar cf a.tar . --exclude a.tar && git --version; find . -name '*.x' -exec rm {} +; python3 -c 'print(1)'",
  ]
  const first = use([':'], 1)
  expect(use(many, 1)).toBe(first)
  expect(use([':'], 60)).toBe(first)
  const grown = use(many, 60)
  expect(grown).toBeGreaterThan(first * 1.1)
  expect(use(many, 60)).toBe(grown)
})

test('code of versions that are gone is forgotten', () => {
  run()
  const old = join(folder(), 'run-program-of-old')
  writeFileSync(old, '')
  utimesSync(old, 0, 0)
  rmSync(join(folder(), kept()[0] as string))
  run()
  expect(existsSync(old)).toBe(false)
})

test('what is loaded later is found also by code that comes from the cache, and no warning is printed', () => {
  const cerith = (...words: string[]): { stdout: string; stderr: string } =>
    spawnSync(process.execPath, [program, ...words], {
      env: { ...process.env, CERITH_HOME: home },
      cwd: home,
      encoding: 'utf8',
    })
  const id = cerith('run', '--pty', '--background', 'printf on-the-screen; sleep 60').stdout.trim()
  try {
    cerith('wait', id, '--idle', '300ms')
    for (let n = 0; n < 3; n++) {
      const { stdout, stderr } = cerith('read', id, '--screen')
      expect({ stdout: stdout.trim(), stderr }).toEqual({ stdout: 'on-the-screen', stderr: '' })
    }
  } finally {
    cerith('kill', id)
  }
})

/**
 * What engine tests share: an engine with a state directory of its own, and the truth about processes from the kernel.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { createEngine, type Engine, type EngineOptions } from '../../src/index.js'
import { allProcesses, isAlive } from '../../src/os/process/proc.js'

const engines: Engine[] = []
const folders: string[] = []

afterEach(async () => {
  await Promise.all(engines.splice(0).map((engine) => engine.close()))
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** A folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cerith-test-')))
  folders.push(folder)
  return folder
}

/** An engine that is closed after the test. */
export async function testEngine(options: EngineOptions = {}): Promise<Engine> {
  const engine = await createEngine({ stateDir: join(temporaryFolder(), 'state'), cwd: temporaryFolder(), ...options })
  engines.push(engine)
  return engine
}

/** Live processes whose command line holds this word; the word is unique to a test. */
export function processesNamed(word: string): number[] {
  return allProcesses()
    .filter(({ pid, state }) => state !== 'Z' && pid !== process.pid && lineOf(pid).includes(word))
    .map(({ pid }) => pid)
}

function lineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** Waits until the condition holds; fails after twenty seconds, which is for ever. */
export async function until(condition: () => boolean | Promise<boolean>, what = 'the condition'): Promise<void> {
  const began = performance.now()
  while (!(await condition())) {
    if (performance.now() - began > 20_000) throw new Error(`${what} did not come true within 20 s`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** A number of seconds that no other test sleeps: its processes can be told apart. */
let unique = 0
export function uniqueSeconds(): string {
  unique += 1
  return `${3_000 + (process.pid % 997)}.${String(unique).padStart(3, '0')}${process.pid}`
}

export { isAlive }

/**
 * A differential fuzzer with shrinking: whatever is typed, and whatever happens in between, a session is one plain
 * bash.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fc } from '../../fixtures/fast-check.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEngine, type Engine, type Session } from '../../../src/index.js'
import { isAlive, processFacts } from '../../../src/os/process/proc.js'
import { until } from '../harness.js'
import { endedScenes, endedStory, sceneStory, stoppedStory, type Disturbance, type Step } from './fuzz-grammar.js'
import { programStory } from './fuzz-programs.js'
import {
  askPlainBash,
  askSession as askEach,
  emptyDirectory,
  ORACLE_ENV,
  plainErrors,
  plainOutput,
  readState,
  type Story,
} from './oracle.js'
import { temporaryFolder } from '../../fixtures/folder.js'

/** CERITH_FUZZ_RUNS=2000 CERITH_SEED=random looks longer, and elsewhere. */
const RUNS = Number(process.env['CERITH_FUZZ_RUNS'] ?? 12)
/** After a disturbance `$?` and `$_` are those of this command, here and in the plain bash. */
const SAME = 'command : same'

let engine: Engine
let home: string
let scratch: string
let count = 0

beforeAll(async () => {
  home = temporaryFolder('fuzz')
  scratch = temporaryFolder('fuzz')
  engine = await createEngine({ stateDir: join(scratch, 'state'), cwd: home, env: ORACLE_ENV, envDefaults: false })
})

afterAll(async () => {
  await engine.close()
  for (const dir of [home, scratch]) rmSync(dir, { recursive: true, force: true })
})

async function disturb(session: Session, what: Disturbance): Promise<void> {
  if (what.kind === 'stop') {
    const handle = session.stream({
      command: what.command,
      graceMs: 50,
      timeoutMs: what.how === 'timeout' ? what.afterMs : 20_000,
    })
    if (what.how !== 'timeout') {
      await new Promise((resolve) => setTimeout(resolve, what.afterMs))
      handle[what.how]()
    }
    await handle.outcome
  } else if (what.kind === 'end') {
    if (what.how === 'exit') await session.run({ command: 'command exit 0' })
    else if (what.how === 'kill') await session.run({ command: 'command kill -9 $$' })
    else {
      const { pid } = await session.info()
      if (pid === null) return
      const start = processFacts(pid)?.start
      process.kill(pid, 'SIGKILL')
      await until(() => !isAlive(pid, start))
    }
  }
}

async function askSession(steps: readonly Step[], dir: string): Promise<Story> {
  emptyDirectory(dir)
  const session = await engine.session(`f${++count}`)
  const run = async (command: string): Promise<{ code: number | null; stdout: string; stderr: string }> => {
    const outcome = await session.run({ command, timeoutMs: 30_000, clip: { kind: 'none' } })
    if (outcome.end?.kind !== 'exit')
      throw new Error(`${JSON.stringify(command)} ended with ${JSON.stringify(outcome.end ?? outcome.refused)}`)
    return {
      code: outcome.exitCode,
      stdout: plainOutput(outcome.stdout),
      stderr: plainErrors(outcome.stderr),
    }
  }
  try {
    await session.run({ command: ':', cwd: dir })
    const answers = []
    for (const { before, command } of steps) {
      await disturb(session, before)
      await run(SAME)
      answers.push(await run(command))
    }
    return { steps: answers, state: await readState(run) }
  } finally {
    await session.close()
  }
}

async function compare(steps: readonly Step[]): Promise<void> {
  const dir = join(home, 'place', 'work')
  const commands = steps.flatMap(({ command }) => [SAME, command])
  const expected = await askPlainBash(engine.shell.path, commands, dir, scratch)
  // A story that ends the plain bash (a trap that an alias kept from being set, a signal twice) has nothing to compare.
  fc.pre(expected.steps.every(({ code }) => code !== null))
  const actual = await askSession(steps, dir)
  const told = expected.steps.filter((_, at) => at % 2 === 1)
  expect(actual.steps.map((step, at) => ({ ...steps[at], ...step }))).toEqual(
    told.map(({ code, stdout, stderr }, at) => ({ ...steps[at], code, stdout, stderr })),
  )
  expect(actual.state).toEqual(expected.state)
}

test('SESS-01 functions, aliases, traps, descriptors and stops in the way', async () => {
  await fc.assert(fc.asyncProperty(stoppedStory, compare), { numRuns: RUNS })
}, 3_600_000)

test('SESS-01 shells that end in between', async () => {
  await fc.assert(fc.asyncProperty(endedStory, compare), { numRuns: RUNS })
}, 3_600_000)

test('SESS-01 scenes of everything that bash keeps from one command to the next', async () => {
  await fc.assert(fc.asyncProperty(sceneStory, compare), { numRuns: RUNS })
}, 3_600_000)

test('SESS-01 scenes in shells that end in between', async () => {
  await fc.assert(fc.asyncProperty(endedScenes, compare), { numRuns: RUNS })
}, 3_600_000)

test('SESS-01 pipelines and lists of programs, by the builtin and by bash in the session', async () => {
  const compareWays = async (commands: readonly string[]): Promise<void> => {
    const dir = join(home, 'place', 'work')
    const expected = await askPlainBash(engine.shell.path, commands, dir, scratch)
    for (const more of [{}, { input: '' }]) {
      const actual = await askEach(engine, `f${++count}`, commands, dir, more)
      // A session gives them where a pipeline comes last.
      const shown = ({ steps }: Story): object[] =>
        steps.map(({ stderr = '', stages, code, stdout }, at) => ({
          command: commands[at],
          code,
          stdout,
          stages: actual.steps[at]?.stages && stages,
          // Stages of a pipeline speak in any order.
          stderr: stderr.split('\n').toSorted(),
        }))
      expect([more, shown(actual)]).toEqual([more, shown(expected)])
      expect(actual.state).toEqual(expected.state)
    }
  }
  await fc.assert(fc.asyncProperty(programStory, compareWays), { numRuns: RUNS, endOnFailure: true })
}, 3_600_000)

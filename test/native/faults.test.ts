/**
 * No system call of the helper may fail unnoticed: a command that could not be given what it needs is told as an error,
 * never as a success.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { createEngine, ShellError, type Engine } from '../../src/index.js'
import { findHelper } from '../../src/os/helper/file.js'
import { temporaryFolder, testEngine, until } from '../engine/harness.js'

const helper = findHelper()
const hasStrace = spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0
const before = process.env['CERITH_HELPER']
afterEach(() => {
  if (before === undefined) delete process.env['CERITH_HELPER']
  else process.env['CERITH_HELPER'] = before
})

/** An engine whose helper finds the n-th call of this name failing, in each of its processes. */
async function faulty(call: string, n: number, error: string): Promise<Engine> {
  const folder = temporaryFolder()
  const file = join(folder, 'helper')
  const inject = `-e trace=${call} -e inject=${call}:error=${error}:when=${n}`
  writeFileSync(file, `#!/bin/sh\nexec strace -f -o /dev/null ${inject} ${helper} "$@"\n`)
  chmodSync(file, 0o755)
  process.env['CERITH_HELPER'] = file
  return createEngine({ stateDir: join(folder, 'state'), cwd: folder })
}

/** What came of it, in one word; the command itself ends with 3 and prints hi. */
async function result(work: Promise<{ status: string; exitCode: number | null; text: string }>): Promise<string> {
  try {
    const { status, exitCode, text } = await work
    return status === 'failed' && exitCode === 3 && text.startsWith('hi') ? 'ran' : `${status} ${exitCode} ${text}`
  } catch (error) {
    if (!ShellError.is(error)) throw error
    return 'error'
  }
}

describe.skipIf(!helper || !hasStrace)('when a system call of the helper fails', () => {
  // Together where the C library that the helper is linked with decides which one is called.
  const rows = ['fcntl', 'dup2', 'dup3', 'pipe2', 'prctl', 'open,openat', 'mknodat', 'fork,clone', 'vfork']
  test.each(rows)('%s: a command runs as it should, or is an error of ours', async (call) => {
    const found: string[] = []
    for (let n = 1; n <= 4; n++) {
      const engine = await faulty(call, n, 'EMFILE')
      const run = engine.run({ command: 'echo hi; exit 3' })
      found.push(await result(run.then((o) => ({ status: o.status, exitCode: o.exitCode, text: o.stdout }))))
      const job = engine.start({ command: 'echo hi; exit 3' }).then(async (one) => {
        const { info } = await one.wait({ exit: true })
        return { status: info.status, exitCode: info.exitCode, text: (await one.read()).text }
      })
      found.push(await result(job))
      await engine.close()
    }
    expect(found.filter((one) => one !== 'ran' && one !== 'error')).toEqual([])
    expect(found).toContain('error') // The call is made, so its failure was met.
  })

  test('a kernel without child subreapers gives the lower tier, which says what it cannot promise', async () => {
    const engine = await faulty('prctl', 2, 'EINVAL') // The first one gives the process its name.
    const outcome = await engine.run({ command: 'sleep 60', timeoutMs: 300 })
    expect(outcome.notes.map(({ text }) => text).join(' ')).toContain('without its native helper')
    await engine.close()
  })
})

describe.skipIf(!helper)('when the helper is out of descriptors', () => {
  test('every way to run a command says so, and works again afterwards', async () => {
    const engine = await testEngine()
    const launcher = await launcherOf(engine)
    const limit = (n: number | string): void => {
      expect(spawnSync('prlimit', [`--nofile=${n}:`, '--pid', String(launcher)]).status).toBe(0)
    }
    const commands = {
      run: () => engine.run({ command: 'echo hi; exit 3' }),
      merged: () => engine.run({ command: 'echo hi; exit 3', streams: 'merged', input: 'x' }),
      session: async () => (await engine.session('low')).run({ command: 'echo hi; (exit 3)' }),
      job: () => engine.start({ command: 'echo hi; exit 3' }),
    }
    for (const [name, start] of Object.entries(commands)) {
      limit(9)
      // Pipes that were made before are used up first.
      for (let n = 0; n < 8; n++) {
        const error = await start().then(
          (value) => value,
          (failure: unknown) => failure,
        )
        if (ShellError.is(error))
          expect({ name, code: error.code, text: error.message }).toMatchObject({
            code: 'SPAWN_FAILED',
            text: expect.stringContaining('EMFILE'),
          })
        else expect(JSON.stringify(error)).not.toContain('"completed"')
      }
      limit(1_024)
      await until(async () => (await engine.run({ command: 'echo hi; exit 3' })).exitCode === 3, `${name} recovers`)
    }
  })
})

async function launcherOf(engine: Engine): Promise<number> {
  const { stdout } = await engine.run({ command: `ps -o ppid= -p $PPID` })
  return Number(stdout)
}

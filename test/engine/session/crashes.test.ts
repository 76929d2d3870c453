/** A program of a session that a signal ends is told of as a script tells of it, also in the middle of a list. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import type { Outcome, Session } from '../../../src/index.js'
import { temporaryFolder, testEngine } from '../harness.js'
import { engineWithoutBuiltin } from './without-builtin.js'

const dies = (signal: string): string => `sh -c 'kill -${signal} $$'`
let session: Session
beforeEach(async () => void (session = await (await testEngine({ cwd: temporaryFolder() })).session()))

/** Without the number of the process. */
const told = ({ stderr }: Outcome): string => stderr.replaceAll(/\d+/g, 'PID')

test.each<readonly [command: string, stderr: string]>([
  [dies('SEGV'), 'bash: PID Segmentation fault\n'],
  [`${dies('SEGV')}; true`, 'bash: PID Segmentation fault\n'],
  [`${dies('KILL')} > log; echo on`, 'bash: PID Killed\n'],
  [`for i in 1 2; do ${dies('ABRT')}; done; true`, 'bash: PID Aborted\nbash: PID Aborted\n'],
  [`f() { ${dies('TERM')}; true; }; f`, 'bash: PID Terminated\n'],
  [`if ${dies('BUS')}; then :; fi`, 'bash: PID Bus error\n'],
  [`trap : CHLD; ${dies('KILL')}; trap - CHLD`, 'bash: PID Killed\n'],
  [`{ ${dies('SEGV')}; true; } 2>/dev/null`, ''],
  // As little is said of these by a script, or by a terminal.
  [`${dies('INT')}; true`, ''],
  [`${dies('PIPE')}; true`, ''],
  ["sh -c 'exit 137'; true", ''],
  [`${dies('SEGV')} | cat; true`, ''],
  [`${dies('KILL')} | wc -c; uname`, ''],
  [`seq 3; ${dies('ABRT')} || uname`, 'bash: PID Aborted\n'],
  // What the agent itself ends in the background.
  ['sleep 60 & kill -9 $!; wait $!; true', ''],
])('%s', async (command, stderr) => {
  // With the words around it that the other way needs, and without.
  for (const more of [{}, { input: 'x' }]) expect(told(await session.run({ command, ...more }))).toBe(stderr)
})

test('the stage that has the status of a pipeline of programs is told of', async () => {
  const cwd = temporaryFolder()
  writeFileSync(join(cwd, 'dies'), '#!/bin/sh\nkill -KILL $$\n', { mode: 0o755 })
  const programs = await (await testEngine({ cwd })).session()
  await programs.run({ command: ':' })
  for (const [command, stderr] of [
    ['seq 3 | ./dies; uname', 'bash: PID Killed\n'],
    ['./dies | wc -c; uname', ''],
    ['seq 3; ./dies || uname', 'bash: PID Killed\n'],
    ['set -o pipefail', ''],
    ['./dies | wc -c; uname', 'bash: PID Killed\n'],
    ['yes | head -1', ''],
  ] as const)
    expect(told(await programs.run({ command }))).toBe(stderr)
})

test('nothing is said of a program that the session itself stops', async () => {
  for (const command of ['sleep 60; echo on', `sh -c 'trap "" TERM; while :; do sleep 0.1; done'; echo on`]) {
    const { status, stdout, stderr } = await session.run({ command, timeoutMs: 300, graceMs: 300 })
    expect({ status, stdout, stderr }).toEqual({ status: 'timeout', stdout: '', stderr: '' })
  }
})

test('what ends between two commands is not told to the next one', async () => {
  const { stdout } = await session.run({ command: 'sleep 60 & echo $!' })
  process.kill(Number(stdout), 'SIGKILL')
  expect((await session.run({ command: 'wait; echo on; true' })).stderr).toBe('')
})

test('a shell without the builtin goes on without these words', async () => {
  const alone = await (await engineWithoutBuiltin()).session()
  expect(await alone.run({ command: `${dies('SEGV')}; echo on` })).toMatchObject({ stdout: 'on\n', exitCode: 0 })
})

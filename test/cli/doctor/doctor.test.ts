/** The doctor finds what is wrong with a machine, and its fix; never throws. */
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { examine } from '../../../src/cli/doctor/doctor.js'
import type { Finding } from '../../../src/cli/doctor/finding.js'
import { mcpFindings } from '../../../src/cli/doctor/mcp.js'
import type { Io } from '../../../src/cli/io/io.js'
import { findStateDirectory } from '../../../src/os/files/state-dir.js'
import { findHelper, findShellBuiltin } from '../../../src/os/helper/file.js'
import { takeLockFile } from '../../../src/os/files/lock.js'
import { temporaryFolder } from '../../fixtures/folder.js'

const base = temporaryFolder('doctor-test')

const look = async (stateDir: string, name: string): Promise<Finding | undefined> =>
  (await examine({ env: process.env, stateDir })).find((finding) => finding.name === name)

test('every finding that is not ok says how to fix it', async () => {
  for (const { state, fix, detail } of await examine({ env: process.env, stateDir: join(base, 'fresh') })) {
    expect(detail).not.toBe('')
    if (state !== 'ok') expect(fix).toBeTruthy()
  }
})

test('Landlock is tried, so that it is told where the list of the kernel’s modules is not there', async () => {
  const found = await look(join(base, 'wall'), 'Landlock')
  // Elsewhere than on Linux the line of the sandbox says it all.
  if (process.platform === 'linux')
    expect(found?.detail).toMatch(/held by it and seccomp alone$|^cannot be used \(.+\)/)
  else expect(found).toBeUndefined()
})

test.skipIf(findShellBuiltin('5') === null)(
  'who starts the programs of sessions is told: the builtin, or bash where it cannot be loaded',
  async () => {
    const programs = async (env: Record<string, string>): Promise<string | undefined> =>
      (await examine({ env, stateDir: join(base, 'programs') })).find(({ name }) => name === 'programs in sessions')
        ?.detail
    expect(await programs({})).toBe(`started by ${findShellBuiltin('5')}`)
    const alone = join(base, 'alone')
    mkdirSync(alone)
    copyFileSync(findHelper() as string, join(alone, 'helper'))
    chmodSync(join(alone, 'helper'), 0o755)
    const env = { CERITH_HELPER: join(alone, 'helper') }
    expect(await programs(env)).toContain('bash itself, which takes longer: the builtin is not there')
    writeFileSync(join(alone, `cerith-bash-${process.platform}-${process.arch}.so`), 'no library')
    expect(await programs(env)).toMatch(/bash itself, which takes longer: .*file too short|invalid ELF/)
  },
)

test('a state directory that is a link or a file is broken', async () => {
  symlinkSync('/tmp', join(base, 'link'))
  writeFileSync(join(base, 'file'), '')
  expect(await look(join(base, 'link'), 'state directory')).toMatchObject({
    state: 'broken',
    detail: expect.stringContaining('symbolic link'),
  })
  expect(await look(join(base, 'file'), 'state directory')).toMatchObject({ state: 'broken' })
})

test('a state directory that is only a substitute for the usual one is told, with the way out', async () => {
  // Not even root may write there.
  const { problem: elsewhere } = findStateDirectory({ XDG_STATE_HOME: '/proc/sys/none' })
  const found = await examine({ env: process.env, stateDir: join(base, 'substitute'), elsewhere })
  expect(found.find(({ name }) => name === 'state directory')).toMatchObject({
    state: 'degraded',
    detail: expect.stringContaining('does not outlive the machine'),
    fix: expect.stringContaining('CERITH_HOME'),
  })
})

test('from a directory that was removed the MCP self-test fails with words, and does not end the doctor', async () => {
  const io = { env: process.env, cwd: join(base, 'removed') } as unknown as Io
  for (const finding of await mcpFindings(io))
    expect(finding).toMatchObject({ state: 'broken', detail: expect.stringContaining(`ENOENT in ${io.cwd}`) })
})

test('processes of a dead engine are leftovers, with their numbers', async () => {
  const stateDir = join(base, 'left')
  // Of this test alone: the mark is looked for on the whole machine.
  const mark = `dead${String(process.pid).padStart(7, '0')}`
  mkdirSync(join(stateDir, 'run', mark), { recursive: true, mode: 0o700 })
  writeFileSync(
    join(stateDir, 'run', mark, 'engine.json'),
    JSON.stringify({ pid: 2 ** 22 - 1, start: '1', boot: 'another' }),
  )
  mkdirSync(join(stateDir, 'run', 'torn'))
  utimesSync(join(stateDir, 'run', 'torn'), 1, 1)
  const child = spawn('sleep', ['60'], { env: { ...process.env, CERITH_ENGINE: mark } })
  try {
    await new Promise((resolve) => child.once('spawn', resolve))
    expect(await look(stateDir, 'leftovers')).toMatchObject({
      state: 'degraded',
      detail: expect.stringMatching(new RegExp(`2 dead, 1 of their processes left: ${child.pid}`)),
    })
  } finally {
    child.kill('SIGKILL')
  }
})

test('an engine of another machine that shares the state directory is not taken for dead', async () => {
  const stateDir = join(base, 'shared')
  mkdirSync(join(stateDir, 'run', 'there'), { recursive: true, mode: 0o700 })
  writeFileSync(
    join(stateDir, 'run', 'there', 'engine.json'),
    JSON.stringify({ pid: 2 ** 22 - 1, start: '1', boot: 'another', host: 'another-machine' }),
  )
  expect(await look(stateDir, 'leftovers')).toMatchObject({ detail: expect.stringContaining('1 engine alive, 0 dead') })
})

test('a changed audit log is told', async () => {
  const stateDir = join(base, 'audit')
  mkdirSync(stateDir, { mode: 0o700 })
  writeFileSync(join(stateDir, 'audit.jsonl'), `{"at":1,"prev":"${'0'.repeat(64)}","hash":"${'a'.repeat(64)}"}\n`)
  expect(await look(stateDir, 'audit log')).toMatchObject({
    state: 'degraded',
    fix: expect.stringContaining('--verify'),
  })
})

test('a lock is waited for, given up on request, and taken over from the dead by one process only', async () => {
  const path = join(base, 'a.lock')
  const first = await takeLockFile(path)
  const told: number[] = []
  const given = new AbortController()
  const onWait = (owner: number): void => {
    told.push(owner)
    given.abort()
  }
  const waiting = takeLockFile(path, { signal: given.signal, onWait })
  expect((await waiting).held).toBe(false)
  expect(told).toEqual([process.pid])
  first.release()

  writeFileSync(path, `${2 ** 22 - 1} 1`)
  let inside = 0
  let most = 0
  await Promise.all(
    Array.from({ length: 12 }, async () => {
      const lock = await takeLockFile(path)
      most = Math.max(most, ++inside)
      await new Promise((resolve) => setTimeout(resolve, 5))
      inside--
      lock.release()
    }),
  )
  expect(most).toBe(1)
})

test('a taker-over that died does not block the next for ever', async () => {
  const path = join(base, 'b.lock')
  writeFileSync(path, `${2 ** 22 - 1} 1`)
  mkdirSync(`${path}.removing`)
  utimesSync(`${path}.removing`, 1, 1)
  const lock = await takeLockFile(path, { waitMs: 5_000 })
  expect(lock.held).toBe(true)
  lock.release()
})

describe('why the helper cannot be used is told', () => {
  const helper = async (path: string) =>
    (await examine({ env: { CERITH_HELPER: path }, stateDir: join(base, 'why') })).find(
      ({ name }) => name === 'native helper',
    )
  // What decides is the environment of this process; the doctor only explains.
  beforeAll(() => void (process.env['CERITH_HELPER'] = 'none'))
  afterAll(() => void delete process.env['CERITH_HELPER'])

  test('it was switched off, is not there, or lost its x bit', async () => {
    expect((await helper('none'))?.detail).toMatch(/^switched off/)
    expect((await helper(join(base, 'nowhere')))?.detail).toMatch(/^not there/)
    const plain = join(base, 'plain')
    writeFileSync(plain, '', { mode: 0o600 })
    expect(await helper(plain)).toMatchObject({ state: 'degraded', fix: `Run \`chmod +x ${plain}\`.` })
  })

  test('it gave up at its start, with its own words', async () => {
    const emulated = join(base, 'emulated')
    writeFileSync(emulated, '#!/bin/sh\necho "knows no subreapers" >&2\nexit 1\n', { mode: 0o755 })
    expect((await helper(emulated))?.detail).toBe(
      `${emulated} cannot be used: knows no subreapers; the plain tier is used`,
    )
  })

  test.skipIf(process.getuid?.() !== 0)('its file system is mounted noexec', async () => {
    const mount = join(base, 'noexec')
    mkdirSync(mount)
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'noexec', 'tmpfs', mount]).status !== 0) return
    try {
      writeFileSync(join(mount, 'helper'), '', { mode: 0o755 })
      expect((await helper(join(mount, 'helper')))?.detail).toContain('mounted noexec')
    } finally {
      spawnSync('umount', [mount])
    }
  })
})

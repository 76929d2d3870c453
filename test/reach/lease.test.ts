/** An engine that closes while the next client arrives: a new one is started, and no client hears of it. */
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { EngineOptions } from '../../src/index.js'
import { createReachEngine } from '../../src/reach/reach.js'
import type { OpenLink } from '../../src/reach/near/link.js'
import { linked, runDirectory, temporaryFolder, until } from './harness.js'

const LEASE_MS = 300

test('a client that comes when the lease of the engine there ends gets that one or a new one', async () => {
  const folder = temporaryFolder()
  const options = { cwd: folder, stateDir: join(folder, 'state'), reach: { keep: 'kept', leaseMs: LEASE_MS } }
  const first = await linked(options)
  await first.engine.close()
  for (let round = 0; round < 12; round++) {
    // The lease ends somewhere on the way of the arrival, each time somewhere else; any moment must do.
    await new Promise((resolve) => setTimeout(resolve, LEASE_MS - round * 20))
    const next = await linked(options, first)
    expect(await next.engine.run({ command: 'echo here' }), `round ${round}`).toMatchObject({
      stdout: 'here\n',
      notes: [],
    })
    await next.engine.close()
  }
})

test('a client whose code is not there yet joins the engine of another build, and starts none', async () => {
  const folder = temporaryFolder()
  const options = { cwd: folder, stateDir: join(folder, 'state') }
  const first = await linked({ ...options, reach: { uploadDir: join(folder, 'one') } })
  const pidFile = join(runDirectory(first.name), 'pid')
  const pid = Number(readFileSync(pidFile, 'utf8'))
  expect(first.engine.place?.pid).toBe(pid)
  const second = await linked({ ...options, reach: { uploadDir: join(folder, 'two') } }, first)
  expect(second.engine.place?.pid).toBe(pid)
  // The name of another process would keep the directory when the engine closes.
  expect(Number(readFileSync(pidFile, 'utf8'))).toBe(pid)
  await second.engine.close()
  await until(() => !existsSync(runDirectory(first.name)), 'its directory is removed')
})

test('an engine of another build says so, once; one of this build does not', async () => {
  const options = { cwd: temporaryFolder(), stateDir: join(temporaryFolder(), 'state') }
  const first = await linked(options)
  expect(first.engine.place?.isSameBuild).toBe(true)
  expect((await first.engine.run({ command: 'true' })).notes).toEqual([])
  const newer = (link: OpenLink): OpenLink => ({ ...link, build: 'newer' })
  const second = await linked(options, first, newer)
  expect(second.engine.place).toMatchObject({ pid: first.engine.place?.pid, isSameBuild: false })
  const { notes } = await second.engine.run({ command: 'true' })
  expect(notes).toMatchObject([{ code: 'place', text: expect.stringContaining('another build of cerith') as string }])
  await second.cut()
  expect((await second.engine.run({ command: 'true' })).notes).toEqual([])
})

test('what a session has after its engine ended is what it is told to have', async () => {
  for (const persistSessions of [true, false]) {
    const { engine, events } = await linked({ persistSessions })
    const session = await engine.session('s')
    await session.run({ command: 'X=before' })
    process.kill(engine.place?.pid as number, 'SIGTERM')
    await until(() => events.some(({ kind }) => kind === 'gone'), 'the engine there has ended')
    const { stdout, notes } = await session.run({ command: 'echo "X=$X"' })
    expect(stdout).toBe(persistSessions ? 'X=before\n' : 'X=\n')
    expect(notes).toMatchObject([{ code: 'shell-restarted' }])
    expect(notes[0]?.text).toContain(
      persistSessions ? 'kept when an engine there last ended in order' : 'variables are lost',
    )
  }
})

test('a session that was last used there under other settings is another one, which is said once', async () => {
  const folder = temporaryFolder()
  const pids = new Set<number>()
  onTestFinished(() => pids.forEach((pid) => void process.kill(pid, 'SIGTERM')))
  const run = async (command: string, limits: EngineOptions['limits']) => {
    const reach = { keep: 'kept', leaseMs: 60_000, uploadDir: join(tmpdir(), 'reach-code') }
    const engine = await createReachEngine({ at: 'loop:', cwd: folder, stateDir: join(folder, 'state'), limits, reach })
    pids.add(engine.place?.pid as number)
    const { stdout, notes } = await (await engine.session('s')).run({ command })
    await engine.close()
    return { stdout, notes: notes.map(({ text }) => text) }
  }
  const said = expect.stringContaining('with other settings') as string
  expect(await run('X=1; echo "X=$X"', {})).toEqual({ stdout: 'X=1\n', notes: [] })
  expect(await run('echo "X=$X"', { maxSessions: 7 })).toEqual({ stdout: 'X=\n', notes: [said] })
  expect(await run('echo "X=$X"', { maxSessions: 7 })).toEqual({ stdout: 'X=\n', notes: [] })
})

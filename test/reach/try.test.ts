/** A try at another place: it lies there, and who accepts it is asked here. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { canConfine } from '../engine/sandbox/harness.js'
import { isAlive } from '../../src/os/process/proc.js'
import { temporaryFolder, until } from '../engine/harness.js'
import { createEngine } from './create-engine-at.js'

test.skipIf(!canConfine)('what was tried elsewhere counts when somebody here agrees', async () => {
  const cwd = temporaryFolder()
  const stateDir = join(temporaryFolder(), 'state')
  const engine = await createEngine({ cwd, stateDir, sandbox: { profile: 'workspace', try: true } })
  try {
    await engine.run({ command: 'echo made >file' })
    const { changes, id } = await engine.changes({ text: true })
    expect(changes).toMatchObject([{ kind: 'added', path: join(cwd, 'file'), diff: expect.stringContaining('+made') }])
    expect((await engine.tries()).map((one) => one.id)).toEqual([id])
    const asked: string[] = []
    const ask =
      (answer: 'once' | 'deny') =>
      async ({ command, verdict }: { command: string; verdict: { reason: string | null } }) => {
        asked.push(`${command}: ${verdict.reason}`)
        return answer
      }
    expect(await engine.accept({ id, ask: ask('deny') })).toMatchObject({ accepted: [], refused: { rule: 'accept' } })
    expect(existsSync(join(cwd, 'file'))).toBe(false)
    expect(await engine.accept({ id, paths: ['file'], ask: ask('once') })).toMatchObject({ kept: [], left: 0 })
    expect(existsSync(join(cwd, 'file'))).toBe(true)
    // Which try and which paths is our own copy; what they hold is what the place says.
    expect(asked[1]).toMatch(new RegExp(`^cerith accept ${id} file: loop: says: .*add ${cwd}/file`))
    await engine.run({ command: 'echo more >more' })
    expect((await engine.discard()).discarded).toEqual([join(cwd, 'more')])
  } finally {
    await engine.close()
  }
})

test.skipIf(!canConfine)('what an engine tried that is kept there is settled by one of other settings', async () => {
  const cwd = temporaryFolder()
  const stateDir = join(temporaryFolder(), 'state')
  const reach = { keep: 'a person' }
  const tried = { cwd, stateDir, reach, sandbox: { profile: 'workspace', try: true } } as const
  const settling = { cwd, stateDir, reach }
  for (const how of ['accept', 'discard'] as const) {
    const first = await createEngine(tried)
    await first.run({ command: `echo made >${how}` })
    const session = await first.session('w')
    await session.run({ command: 'X=5' })
    const { id } = await first.changes()
    await first.close()
    const second = await createEngine(settling)
    const done = how === 'accept' ? await second.accept({ id, ask: async () => 'once' }) : await second.discard({ id })
    expect(done).toMatchObject({ id })
    await second.close()
    expect(existsSync(join(cwd, how))).toBe(how === 'accept')
    // It was kept, and its session with it.
    const third = await createEngine(tried)
    expect((await (await third.session('w')).run({ command: 'echo $X' })).stdout).toBe('5\n')
    const pid = third.place?.pid as number
    process.kill(pid, 'SIGTERM')
    await third.close()
    // The next round begins without a place that is about to end.
    await until(() => !isAlive(pid))
  }
})

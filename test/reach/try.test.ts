/** A try at another place: it lies there, and who accepts it is asked here. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { canConfine } from '../engine/sandbox/harness.js'
import { temporaryFolder } from '../engine/harness.js'
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

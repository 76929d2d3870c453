/** A named session that is kept between processes: what commands in a sandbox put into it runs in no wider place. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { SandboxOptions } from '../../../src/contract/sandbox.js'
import { temporaryFolder, testEngine } from '../harness.js'
import { canConfine } from './harness.js'

const WORKSPACE: SandboxOptions = { profile: 'workspace' }

describe.skipIf(!canConfine)('the saved state of a session', () => {
  /** What a function that was defined in one sandbox does in another: its output, or the error. */
  async function carriedOn(made: SandboxOptions, later: SandboxOptions, elsewhere = false): Promise<string> {
    const cwd = temporaryFolder()
    const then = elsewhere ? temporaryFolder() : cwd
    const stateDir = join(temporaryFolder(), 'state')
    const first = await testEngine({ cwd, stateDir, persistSessions: true, sandbox: made })
    await (await first.session('kept')).run({ command: 'ls() { echo planted; }' })
    await first.close()
    const second = await testEngine({ cwd: then, stateDir, persistSessions: true, sandbox: later })
    const ran = second.session('kept').then((session) => session.run({ command: 'ls' }))
    return ran.then(
      ({ stdout }) => stdout,
      (error: Error) => error.message,
    )
  }

  test.each<[string, SandboxOptions, SandboxOptions]>([
    ['the same sandbox', WORKSPACE, WORKSPACE],
    ['a stricter sandbox', WORKSPACE, { profile: 'strict' }],
    ['a sandbox, made without one', { profile: 'off' }, WORKSPACE],
  ])('goes on in %s', async (_, made, later) => {
    expect(await carriedOn(made, later)).toBe('planted\n')
  })

  test.each<[string, SandboxOptions, SandboxOptions, string]>([
    ['without a sandbox', WORKSPACE, { profile: 'off' }, 'profile'],
    ['in a looser profile', { profile: 'strict' }, WORKSPACE, 'profile'],
    ['with more network', WORKSPACE, { profile: 'workspace', network: 'all' }, 'network'],
    ['with further writable directories', WORKSPACE, { profile: 'workspace', write: ['/var/lib'] }, 'write'],
  ])('is not used %s, and nothing runs', async (_, made, later, wider) => {
    const said = await carriedOn(made, later)
    expect(said).toContain('Session kept was made in a sandbox that is stricter')
    expect(said).toContain(`(${wider})`)
  })

  test('is not used in the room of another project', async () => {
    expect(await carriedOn(WORKSPACE, WORKSPACE, true)).toContain('(write)')
  })
})

/**
 * What a session has to say is said by the next call, whatever becomes of that call; so is the status of one that bash
 * could not read.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { RunRequest, Session } from '../../../src/index.js'
import { temporaryFolder, testEngine } from '../harness.js'

/** A session whose directory is gone. */
async function homeless(): Promise<{ readonly session: Session; readonly home: string }> {
  const home = temporaryFolder()
  const session = await (await testEngine({ cwd: home })).session()
  await session.run({ command: 'mkdir gone; cd gone' })
  rmSync(join(home, 'gone'), { recursive: true })
  return { session, home }
}

const words = (notes: readonly { readonly text: string }[]): string => notes.map(({ text }) => text).join('\n')

test.each<readonly [string, RunRequest]>([
  ['runs', { command: 'true' }],
  ['bash cannot read', { command: '(' }],
  ['is refused', { command: 'rm -rf /' }],
  ['is a dry run', { command: 'true', dryRun: true }],
  ['names a secret that is not there', { command: 'echo {{secret:NOWHERE}}' }],
  ['runs on a terminal', { command: 'true', pty: true }],
  ['was aborted before it began', { command: 'true', signal: AbortSignal.abort() }],
])('with a call that %s', async (_, request) => {
  const { session } = await homeless()
  const first = await session.run(request).catch(() => null)
  const second = await session.run({ command: 'pwd' })
  const told = [...(first?.notes ?? []), ...second.notes].filter(({ code }) => code === 'directory')
  expect(words(told)).toMatch(/no longer exists/)
  expect(told).toHaveLength(1)
})

test('a request that is wrong does not take it along', async () => {
  const { session } = await homeless()
  await expect(session.run({ command: 'true', cwd: 'no/such/place' })).rejects.toThrow()
  expect(words((await session.run({ command: 'true' })).notes)).toMatch(/no longer exists/)
  expect((await session.run({ command: 'true' })).notes).toEqual([])
})

describe('a command that bash cannot read', () => {
  test('leaves the status that it was given', async () => {
    const session = await (await testEngine()).session()
    expect(await session.run({ command: 'echo "open' })).toMatchObject({ exitCode: 2 })
    expect(await session.run({ command: 'echo $?' })).toMatchObject({ stdout: '2\n' })
    expect(await session.run({ command: 'echo $?' })).toMatchObject({ stdout: '0\n' })
  })

  test.each<readonly [string, Partial<RunRequest>]>([
    ['one stream', { streams: 'merged' }],
    ['a terminal', { pty: true }],
  ])('is told where a caller of %s looks', async (_, how) => {
    const engine = await testEngine()
    for (const place of [engine, await engine.session()])
      expect(await place.run({ command: 'fi', ...how })).toMatchObject({
        output: expect.stringContaining('syntax error'),
        stdout: '',
        stderr: '',
      })
  })
})

test('a copy of the shell that goes on is not called by the words that the shell was started with', async () => {
  const engine = await testEngine({ cwd: temporaryFolder() })
  for (const place of [engine, await engine.session()]) {
    const { notes } = await place.run({ command: 'rm -f a; mkfifo a; (read -r < a) &' })
    expect(words(notes)).toMatch(/^Still running in the background: \d+ \(a subshell\)\. /)
  }
})

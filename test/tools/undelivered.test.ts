/** An answer that the model does not get, or gets in part, takes nothing with it and hides nothing. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTools, type CallOptions } from '../../src/tools/index.js'
import { shellOutputs } from '../../src/tools/dialects/openai-shell.js'
import { liveEngine } from './live-engine.js'

const { engine, cwd } = await liveEngine()
const house = createTools(engine)
const codex = createTools(engine, { dialect: 'codex' })

/** A job that has printed its line and goes on. */
async function chatty(): Promise<string> {
  const job = await engine.start({ command: 'echo a line; sleep 60', newId: () => String(next++) })
  await job.wait({ until: 'a line', timeoutMs: 60_000 })
  return job.id
}
let next = 10_000

test.each([
  ['BashOutput', (id: string, call?: CallOptions) => house.execute('BashOutput', { shell_id: id, wait_ms: 500 }, call)],
  [
    'write_stdin',
    (id: string, call?: CallOptions) =>
      codex.execute('write_stdin', { session_id: Number(id), yield_time_ms: 500 }, call),
  ],
] as const)('%s: what a call that was cancelled had read is new to the next one', async (_, read) => {
  const id = await chatty()
  await read(id, { signal: AbortSignal.abort() })
  expect((await read(id)).text).toContain('a line')
  expect((await read(id)).text).not.toContain('a line')
  await (await engine.job(id)).kill()
})

test('a job that was asked for beside one that does not exist still has its output to show', async () => {
  const id = await chatty()
  expect(await house.execute('BashOutput', { shell_id: `${id},nosuch` })).toMatchObject({ isError: true })
  expect((await house.execute('BashOutput', { shell_id: id })).text).toContain('a line')
  await (await engine.job(id)).kill()
})

test('a list of commands of which one cannot be started tells what ran before it and what did not', async () => {
  const tools = createTools(engine, { dialect: 'openai-shell' })
  const result = await tools.execute('shell', { commands: ['echo first', ' ', 'touch third'] })
  expect(result.isError).toBe(true)
  expect(result.text).toMatch(
    /^\[exit 0\] echo first\nfirst\n[^]*not run[^]*must not be empty[^]*not run[^]*touch third$/,
  )
  expect(shellOutputs(result)).toEqual([
    { stdout: 'first\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
    {
      stdout: '',
      stderr: expect.stringContaining('must not be empty') as string,
      outcome: { type: 'exit', exit_code: 125 },
    },
    { stdout: '', stderr: expect.stringContaining('[not run]') as string, outcome: { type: 'exit', exit_code: 125 } },
  ])
  expect(existsSync(join(cwd, 'third'))).toBe(false)
})

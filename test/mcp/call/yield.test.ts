/**
 * What a model reads when its command goes on as a job: the id, that it was not killed, and the tools of its own
 * dialect to go on with.
 */
import { describe, expect, test } from 'vitest'
import type { DialectName } from '../../../src/tools/index.js'
import { scratch, stdio, structuredOf, textOf } from '../harness.js'

const { dir } = scratch()

const COMMAND = 'echo begun; sleep 60'

/**
 * How a command is run, and which tools of the dialect read, and stop, what goes on. Dialects with one tool have
 * neither.
 */
const ROWS: Record<
  DialectName,
  { readonly run: string; readonly input: Record<string, unknown>; readonly goOn: readonly string[] }
> = {
  house: { run: 'Bash', input: { command: COMMAND }, goOn: ['BashOutput', 'KillShell'] },
  lango: { run: 'exec', input: { command: COMMAND }, goOn: ['exec_status', 'exec_stop'] },
  forge: { run: 'Bash', input: { command: COMMAND, description: 'wait' }, goOn: ['BashOutput', 'KillShell'] },
  wave: { run: 'Bash', input: { command: COMMAND }, goOn: ['BashOutput', 'KillBash'] },
  // The model knows `session ID` of its own tools.
  codex: { run: 'exec_command', input: { cmd: COMMAND }, goOn: [] },
  phoenix: { run: 'bash', input: { command: COMMAND }, goOn: [] },
  anthropic: { run: 'bash', input: { command: COMMAND }, goOn: [] },
  gemini: { run: 'run_shell_command', input: { command: COMMAND }, goOn: [] },
  'openai-shell': { run: 'shell', input: { commands: [COMMAND] }, goOn: [] },
}

describe('a command that yields', () => {
  test.each(Object.entries(ROWS))(
    'says in the words of %s how to go on, in both halves',
    async (dialect, { run, input, goOn }) => {
      const { client, call } = await stdio({
        era: 'modern',
        dir,
        options: { tools: { dialect: dialect as DialectName }, yieldMs: 1_000 },
      })
      try {
        const names = (await client.listTools()).tools.map(({ name }) => name)
        const result = await call(run, input)
        expect(result.isError ?? false).toBe(false)
        for (const half of [textOf(result), JSON.stringify(structuredOf(result))]) {
          expect(half).toContain('begun')
          expect(half, 'a model cannot type on our command line').not.toMatch(/cerith (?:read|wait|kill|attach|ps)\b/)
          for (const name of goOn) {
            expect(half).toContain(name)
            expect(names).toContain(name)
          }
        }
      } finally {
        await client.close()
      }
    },
  )

  test('its id works with the tools that were named', async () => {
    for (const [dialect, read, stop] of [
      ['house', { bash_id: '' }, { shell_id: '' }],
      ['lango', { id: '' }, { id: '' }],
      ['wave', { bash_id: '' }, { shell_id: '' }],
    ] as const) {
      const { run, input, goOn } = ROWS[dialect]
      const { client, call } = await stdio({ era: 'legacy', dir, options: { tools: { dialect }, yieldMs: 200 } })
      try {
        const { id, bash_id } = structuredOf(await call(run, input))
        const filled = (fields: object): Record<string, unknown> =>
          Object.fromEntries(Object.keys(fields).map((field) => [field, id ?? bash_id]))
        expect(textOf(await call(goOn[0] as string, filled(read))), dialect).toContain('running')
        const stopped = await call(goOn[1] as string, filled(stop))
        expect(stopped.isError ?? false, textOf(stopped)).toBe(false)
        expect(textOf(await call(goOn[0] as string, filled(read))), dialect).not.toContain('running')
      } finally {
        await client.close()
      }
    }
  })
})

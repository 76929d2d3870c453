/** Nothing is decided by the words of a note: with all words changed, every door says the same but for those words. */
import { expect, test } from 'vitest'
import { tell } from '../../src/cli/verbs/job/outcome-lines.js'
import type { Io, Sink } from '../../src/cli/io/io.js'
import type { Note } from '../../src/contract/note.js'
import { outcomeToJson, type Outcome } from '../../src/contract/outcome.js'
import { settingsOf } from '../../src/mcp/setup/options.js'
import { toProtocol } from '../../src/mcp/call/results.js'
import { createTools, DIALECTS, type DialectName } from '../../src/tools/index.js'
import { OUTCOME, scriptedEngine } from './scripted-engine.js'

const FAILED = { status: 'failed', end: { kind: 'exit', code: 1 }, exitCode: 1 } as const
const CASES: Record<string, Partial<Outcome>> = {
  'grep found nothing': { ...FAILED, notes: [{ code: 'answered-no', text: 'Exit code 1 of grep means: no line matched.' }] },
  'the same words without the code': { ...FAILED, notes: [{ code: 'advice', text: 'Exit code 1 of grep means: no line matched.' }] },
  'a yield': { status: 'running', end: null, exitCode: null, id: 'shell_1', notes: [{ code: 'goes-on', text: 'Still running, NOT killed: it goes on.' }] },
  'a yield in other words': { status: 'running', end: null, exitCode: null, id: 'shell_1', notes: [{ code: 'advice', text: 'Still running, NOT killed: it goes on.' }] },
  'a timeout': { status: 'timeout', end: { kind: 'timeout', afterMs: 5, forced: false }, exitCode: null, notes: [{ code: 'still-there', text: 'Could not end every process; still there: 7.' }] },
  'a token that names nothing': { notes: [{ code: 'unknown-secret', text: 'There is no secret X' }] },
  'a new shell': { ...FAILED, notes: [{ code: 'shell-restarted', text: 'The shell ended.' }, { code: 'state', text: 'blocked' }] },
} // prettier-ignore

/** Each note's text stands for itself only: `@0@`, `@1@`, ... */
function withoutWords(notes: readonly Note[]): Note[] {
  return notes.map(({ code }, at) => ({ code, text: `@${at}@` }))
}

function withWords<T>(value: T, notes: readonly Note[]): T {
  return JSON.parse(
    notes.reduce(
      (text, note, at) => text.replaceAll(`@${at}@`, () => JSON.stringify(note.text).slice(1, -1)),
      JSON.stringify(value),
    ),
  ) as T
}

/** Everything that a door makes of an outcome. */
async function doors(outcome: Partial<Outcome>): Promise<unknown> {
  const said: unknown[] = []
  for (const dialect of Object.keys(DIALECTS) as DialectName[]) {
    const tools = createTools(scriptedEngine({ outcome }), { dialect })
    const tool = tools.list()[0]!
    const [field] = Object.keys(tool.inputSchema.properties).filter((name) => /^(?:command|cmd|commands)$/.test(name))
    const result = await tool.execute({ [field!]: field === 'commands' ? ['x'] : 'x' })
    for (const failedIsError of [true, false])
      said.push([dialect, result, toProtocol(result, settingsOf({ failedIsError }))])
  }
  for (const isTTY of [true, false]) {
    let text = ''
    const sink = { write: (data: string) => void (text += data), isTTY } as unknown as Sink
    tell({ ...OUTCOME, ...outcome }, { out: sink, err: sink } as Io, 'cerith')
    said.push(text)
  }
  // One dialect measures by itself how long it waited.
  const timeless = (key: string, value: unknown): unknown =>
    key === 'wall_time_seconds'
      ? 0
      : typeof value === 'string'
        ? value.replace(/Wall time: [\d.]+/, 'Wall time: 0')
        : value
  return JSON.parse(JSON.stringify([...said, outcomeToJson({ ...OUTCOME, ...outcome })], timeless))
}

test.each(Object.entries(CASES))('%s: other words, the same answer', async (_, outcome) => {
  const notes = outcome.notes ?? []
  expect(withWords(await doors({ ...outcome, notes: withoutWords(notes) }), notes)).toEqual(await doors(outcome))
})

test('the code decides: the same words with another code are answered differently', async () => {
  const said = async (name: string): Promise<unknown> => doors(CASES[name]!)
  expect(await said('grep found nothing')).not.toEqual(await said('the same words without the code'))
  expect(await said('a yield')).not.toEqual(await said('a yield in other words'))
})

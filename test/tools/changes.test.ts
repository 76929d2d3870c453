/** The tool `Changes` of a shell whose writes are only tried. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createTools, DIALECTS, toolDefinitions, type DialectName } from '../../src/tools/index.js'
import { canConfine, ground } from '../engine/sandbox/harness.js'

const sandbox = { profile: 'workspace', try: true } as const

test('is there in every dialect where the engine tries, and nowhere else', () => {
  for (const dialect of Object.keys(DIALECTS) as DialectName[]) {
    const names = (given: object): string[] => toolDefinitions(dialect, given).map(({ name }) => name)
    expect(names({ sandbox })).toEqual([...names({}), 'Changes'])
    expect(names({ sandbox: { profile: 'workspace' } })).toEqual(names({}))
  }
  const [bash] = toolDefinitions('house', { sandbox })
  expect(bash?.description).toContain('counts only after Changes accept')
})

describe.skipIf(!canConfine)('Changes', () => {
  test('shows, asks for acceptance, says what was kept, and discards', async () => {
    const { engine, work } = await ground({ try: true })
    writeFileSync(join(work, 'a'), 'one\n')
    const tools = createTools(engine)
    await tools.execute('Bash', { command: 'echo two >>a; mkdir .vscode; echo x >.vscode/x' })
    const diff = await tools.execute('Changes', {})
    expect(diff.text).toContain('[try_')
    expect(diff.text).toContain(`M ${work}/a\n--- ${work}/a\n+++ ${work}/a\n@@ -1 +1,2 @@\n one\n+two`)
    expect(diff.structured).toMatchObject({ status: 'tried', changes: 3, text: diff.text })
    const stat = await tools.execute('Changes', { action: 'stat', paths: ['.vscode'] })
    expect(stat.text).toBe(
      `[${String(diff.structured['id'])}: 2 added; nothing of it counts yet]\nA ${work}/.vscode  (directory)  PROTECTED\nA ${work}/.vscode/x  PROTECTED`,
    )
    const other = await tools.execute('Changes', { paths: ['b'] })
    expect(other.text).toBe(`[${String(diff.structured['id'])}: nothing of this name was changed]`)
    const refused = await tools.execute('Changes', { action: 'accept' })
    expect(refused).toMatchObject({ isError: true, structured: { status: 'refused', approval_id: expect.any(String) } })
    expect(refused.text).toContain('cerith approve ask_')
    const asked: string[] = []
    const ask = async ({ command, verdict }: { command: string; verdict: { reason: string | null } }) => {
      asked.push(`${command}: ${verdict.reason}`)
      return 'once' as const
    }
    const done = await tools.execute('Changes', { action: 'accept' }, { ask })
    expect(done.text).toContain(`accepted ${work}/a`)
    expect(done.text).toContain(`kept ${work}/.vscode: it is protected`)
    expect(asked).toEqual([expect.stringContaining(`cerith accept ${String(diff.structured['id'])}: what was tried`)])
    expect(readFileSync(join(work, 'a'), 'utf8')).toBe('one\ntwo\n')
    expect((await tools.execute('Changes', { action: 'discard' })).structured).toMatchObject({ status: 'discarded' })
    expect(existsSync(join(work, '.vscode'))).toBe(false)
    const wrong = await tools.execute('Changes', { action: 'discard', paths: ['a'] })
    expect(wrong).toMatchObject({ isError: true, structured: { status: 'error', error: { code: 'BAD_REQUEST' } } })
  })
})

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { runCommand } from './run-bash.js'
import { temporaryFolder } from '../../fixtures/folder.js'

interface Case {
  id: string
  context: string
  cmd: string
  secrets: Record<string, string | { repeat: string; times: number }>
  expect: 'exact' | 'exact-or-reject' | 'no-exec' | 'no-exec-or-reject'
  stdout?: string
  why: string
}

const cases = readFileSync(new URL('../../corpus/injection.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)
let dir: string
beforeAll(() => {
  dir = temporaryFolder('injection')
})

describe('REF-01..03: the program receives the value as data, or the run is refused', () => {
  test.each(cases)('$id $context: $why', async ({ id, cmd, secrets, expect: expected, stdout }) => {
    const canary = join(dir, `canary-${id}`)
    const fill = (text: string) => text.replaceAll('@CANARY@', canary)
    const values = Object.fromEntries(
      Object.entries(secrets).map(([name, value]) => [
        name,
        typeof value === 'string' ? fill(value) : value.repeat.repeat(value.times),
      ]),
    )
    const ran = await runCommand(cmd, values, { cwd: dir })
    expect(existsSync(canary)).toBe(false)
    if ('kind' in ran) {
      expect(expected).not.toBe('exact')
      expect(ran.hint).not.toBe('')
    } else if (expected.startsWith('exact')) expect(ran.stdout.toString()).toBe(fill(stdout as string))
  })
})

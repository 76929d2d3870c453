import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { inspect } from '../../src/guard/inspect.js'
import type { GuardContext } from '../../src/guard/policy/context.js'

interface Row {
  readonly id: string
  readonly cmd: string
  readonly expect: 'deny' | 'allow' | 'ask-ok'
  readonly tier?: number
  readonly class: string
}

const rows: Row[] = lines('dangerous.jsonl')
const context: GuardContext = { cwd: '/home/u/proj', home: '/home/u', tmp: '/tmp' }

function lines<T>(file: string): T[] {
  return readFileSync(new URL(`../corpus/${file}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)
}

function wrong(filter: (row: Row) => boolean, want: 'deny' | 'allow'): string[] {
  return rows.filter(filter).flatMap((row) => {
    const verdict = inspect(row.cmd, context)
    return verdict.decision === want
      ? []
      : [`${row.id} ${row.class}: ${JSON.stringify(row.cmd)} -> ${verdict.decision} ${verdict.rule ?? ''}`]
  })
}

describe('SEC-01 SEC-02: the labelled corpus', () => {
  test('every catastrophic command of tier 1 is denied', () => {
    expect(wrong((row) => row.expect === 'deny' && row.tier === 1, 'deny')).toEqual([])
  })

  test('every catastrophic command of tier 2 is denied', () => {
    expect(wrong((row) => row.expect === 'deny' && row.tier === 2, 'deny')).toEqual([])
  })

  test('every catastrophic command of tier 3 is denied', () => {
    expect(wrong((row) => row.expect === 'deny' && row.tier === 3, 'deny')).toEqual([])
  })

  test('no harmless command is blocked or questioned', () => {
    expect(wrong((row) => row.expect === 'allow', 'allow')).toEqual([])
  })

  test('the unscored commands get some verdict', () => {
    for (const row of rows.filter((one) => one.expect === 'ask-ok'))
      expect(['allow', 'ask', 'deny']).toContain(inspect(row.cmd, context).decision)
  })
})

describe('what one call leaves in a session is known to the next', () => {
  for (const sequence of lines<{ id: string; calls: string[]; expect: string[]; why: string }>('sequences.jsonl')) {
    test(`${sequence.id}: ${sequence.why}`, () => {
      let variables: Record<string, string> = {}
      let aliases: Record<string, string> = {}
      let functions: Record<string, string> = {}
      const got = sequence.calls.map((call, i) => {
        const verdict = inspect(call, { ...context, variables, aliases, functions })
        variables = merge(variables, verdict.mutations.variables)
        aliases = merge(aliases, verdict.mutations.aliases)
        functions = merge(functions, verdict.mutations.functions)
        return sequence.expect[i] === 'ask-ok' ? 'ask-ok' : verdict.decision
      })
      expect(got).toEqual(sequence.expect)
    })
  }
})

function merge(
  before: Record<string, string>,
  changes: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const after = { ...before }
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete after[name]
    else after[name] = value
  }
  return after
}

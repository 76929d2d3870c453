import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { CATASTROPHES } from '../../src/guard/rules/catastrophe.js'
import { inspect } from '../../src/guard/inspect.js'
import type { GuardContext } from '../../src/guard/policy/context.js'

const context: GuardContext = { cwd: '/home/u/proj', home: '/home/u', tmp: '/tmp' }

/** One command per line; a line break inside a command is written as the sign for it. */
function commands(file: string): string[] {
  return readFileSync(new URL(`./variants/${file}`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replaceAll('␤', '\n').replaceAll('␍', '\r'))
}

function judgedOtherThan(want: string, list: readonly string[]): string[] {
  return list.flatMap((command) => {
    const verdict = inspect(command, context)
    return verdict.decision === want ? [] : [`${JSON.stringify(command)} -> ${verdict.decision} ${verdict.rule ?? ''}`]
  })
}

describe('spellings beyond the corpus', () => {
  test('SEC-01: every dangerous variant is denied', () => {
    expect(judgedOtherThan('deny', commands('deny.txt'))).toEqual([])
  })

  test('SEC-02: everyday commands run without a question', () => {
    expect(judgedOtherThan('allow', commands('allow.txt'))).toEqual([])
  })
})

describe('every rule carries examples that hold', () => {
  for (const rule of CATASTROPHES) {
    test(`${rule.name} decides its own examples and leaves the others alone`, () => {
      const matched = rule.match.map((command) => [command, inspect(command, context).rule])
      expect(matched).toEqual(rule.match.map((command) => [command, rule.name]))
      for (const command of rule.notMatch)
        expect([command, inspect(command, context).decision]).toEqual([command, 'allow'])
      const [first] = rule.match
      const verdict = inspect(first ?? '', context)
      expect(verdict.dangerous).toBe(true)
      expect(verdict.guidance).toBe(rule.guidance)
    })
  }
})

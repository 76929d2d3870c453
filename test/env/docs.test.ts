import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { buildEnvironment } from '../../src/env/filter.js'

test('docs/environment.md lists exactly the variables that are added, with their values', () => {
  const page = readFileSync(new URL('../../docs/environment.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| (?:`(.*?)`|\(empty\)) \|/gm)].map(([, name, value]) => [
    name,
    value ?? '',
  ])
  expect(Object.fromEntries(rows)).toEqual(buildEnvironment({ base: {} }).env)
})

import { expect, test } from 'vitest'
import { looserThan, tightened } from '../../src/confine/stricter.js'

test('a call may tighten, and what would loosen is named', () => {
  const base = { profile: 'workspace', network: 'allow-list', domains: ['a.example', 'b.example'] } as const
  expect(looserThan(base, { profile: 'read-only', network: 'none' })).toEqual([])
  expect(looserThan(base, { domains: ['a.example'] })).toEqual([])
  expect(
    looserThan(base, { profile: 'off', network: 'all', domains: ['c.example'], write: ['/x'], nested: true }),
  ).toEqual(['profile', 'network', 'domains', 'write', 'nested'])
  expect(looserThan({ profile: 'read-only' }, { profile: 'strict' })).toEqual(['profile'])
  expect(looserThan({ ...base, limits: { processes: 10 } }, { limits: { processes: 20 } })).toEqual([
    'limits.processes',
  ])
})

test('limits become the smaller of both, hidden paths those of both', () => {
  const joined = tightened(
    { profile: 'workspace', hide: ['/a'], limits: { processes: 10, memoryBytes: 5 } },
    { hide: ['/b'], limits: { processes: 3 } },
  )
  expect(joined).toMatchObject({ profile: 'workspace', hide: ['/a', '/b'], limits: { processes: 3, memoryBytes: 5 } })
})

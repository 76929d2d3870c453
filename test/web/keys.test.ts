import { beforeEach, describe, expect, test } from 'vitest'
import { Keys } from '../../src/web/keys.js'

let now = 0
let keys: Keys
beforeEach(() => {
  now = 1_000_000
  keys = new Keys(() => now)
})
const later = (ms: number): void => void (now += ms)
const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('a link', () => {
  test('is good once: the page gets a key of its own for it', () => {
    const { key } = keys.link('person')
    const entry = keys.enter(key)
    expect(entry).toMatchObject({ kind: 'in', session: { role: 'person', only: null, until: null } })
    expect(entry.kind === 'in' && entry.key).not.toBe(key)
    expect(keys.enter(entry.kind === 'in' && entry.key)).toMatchObject({ kind: 'in' })
  })

  test('that is used a second time ends every key', () => {
    const { key } = keys.link('person')
    const first = keys.enter(key)
    const ended: string[] = []
    if (first.kind === 'in') first.session.pages.add(() => ended.push('first'))
    expect(keys.enter(key)).toEqual({ kind: 'used' })
    expect(ended).toEqual(['first'])
    expect(keys.enter(first.kind === 'in' && first.key)).toEqual({ kind: 'no' })
  })

  test('that was not opened within ten minutes is not good any more', () => {
    const { key } = keys.link('person')
    later(10 * MINUTE)
    expect(keys.enter(key)).toEqual({ kind: 'no' })
  })

  test('to look lives as long as it says, opened or not, and ends its pages', () => {
    const { key } = keys.link('look', { label: 'Ann', livesMs: HOUR, only: 'shell_1' })
    later(30 * MINUTE)
    const entry = keys.enter(key)
    expect(entry).toMatchObject({ kind: 'in', session: { role: 'look', label: 'Ann', only: 'shell_1' } })
    const ended: string[] = []
    if (entry.kind === 'in') entry.session.pages.add(() => ended.push('Ann'))
    keys.sweep()
    expect(ended).toEqual([])
    later(30 * MINUTE + 1)
    keys.sweep()
    expect(ended).toEqual(['Ann'])
    expect(keys.enter(entry.kind === 'in' && entry.key)).toEqual({ kind: 'no' })
  })

  test('to look is listed with what it shows and its end, and can be revoked before and after it was opened', () => {
    const first = keys.link('look', { label: 'Ann', livesMs: HOUR })
    const second = keys.link('look', { label: 'Bob', livesMs: HOUR, only: 'shell_2' })
    const entry = keys.enter(second.key)
    expect(keys.lookers()).toEqual([
      { id: first.id, label: 'Ann', until: now + HOUR, pages: 0, only: null },
      { id: second.id, label: 'Bob', until: now + HOUR, pages: 0, only: 'shell_2' },
    ])
    keys.revoke(first.id)
    keys.revoke(second.id)
    expect(keys.lookers()).toEqual([])
    expect(keys.enter(first.key)).toEqual({ kind: 'no' })
    expect(keys.enter(entry.kind === 'in' && entry.key)).toEqual({ kind: 'no' })
  })
})

test('a key that no page holds ends after twelve hours; one that a page holds does not', () => {
  const idle = keys.enter(keys.link('person').key)
  const open = keys.enter(keys.link('person').key)
  if (open.kind === 'in') open.session.pages.add(() => {})
  later(12 * HOUR + 1)
  keys.sweep()
  expect(keys.enter(idle.kind === 'in' && idle.key)).toEqual({ kind: 'no' })
  expect(keys.enter(open.kind === 'in' && open.key)).toMatchObject({ kind: 'in' })
})

test('after ten wrong keys in a minute none is looked at, not even a right one, until the minute is over', () => {
  const { key } = keys.link('person')
  for (let n = 0; n < 10; n++) expect(keys.enter(n % 2 ? `wrong-${n}` : { not: 'a text' })).toEqual({ kind: 'no' })
  expect(keys.enter(key)).toEqual({ kind: 'slow down' })
  later(MINUTE)
  expect(keys.enter(key)).toMatchObject({ kind: 'in' })
})

import { expect, it } from 'vitest'
import { Numbered } from '../../src/reach/numbered.js'

it('finds what is there by its number, counts it once and tells it in order', () => {
  const all = new Numbered<string>()
  for (const [number, value] of [
    [7, 'g'],
    [3, 'c'],
    [7, 'G'],
    [5, 'e'],
  ] as const)
    all.set(number, value)
  all.delete(3)
  all.delete(3)
  expect([all.size, all.has(3), all.get(7), all.values()]).toEqual([2, false, 'G', ['e', 'G']])
})

it('may lose entries while it is walked through', () => {
  const all = new Numbered<number>()
  for (let number = 1; number <= 4; number++) all.set(number, number)
  const seen: number[] = []
  for (const each of all.values()) {
    seen.push(each)
    all.delete(each)
  }
  expect([seen, all.size]).toEqual([[1, 2, 3, 4], 0])
})

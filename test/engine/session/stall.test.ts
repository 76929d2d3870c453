/** Who watches a silent shell looks at it now and then, also when the call that it watches is handed on. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { StallWatch, SOON_MS } from '../../../src/engine/session/shell/stall.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

test('a call that is handed on when it turns out to be slow is looked at as often as any other', () => {
  let looks = 0
  const looksOf = (begin: (watch: StallWatch) => void): number => {
    looks = 0
    const watch = new StallWatch({
      isIdle: () => {
        looks += 1
        return false
      },
    })
    begin(watch)
    vi.advanceTimersByTime(2 * SOON_MS + 4_000)
    watch.stop()
    expect(vi.getTimerCount()).toBe(0)
    return looks
  }
  const nobody = { slow: () => {}, unanswered: () => {} }
  const usual = looksOf((watch) => watch.begin(nobody, performance.now()))
  const handedOn = looksOf((watch) => {
    const first = {
      ...nobody,
      slow: () => {
        watch.end(first)
        watch.begin(nobody, performance.now())
      },
    }
    watch.begin(first, performance.now())
  })
  expect(usual).toBeGreaterThan(5)
  expect(Math.abs(handedOn - usual)).toBeLessThanOrEqual(1)
})

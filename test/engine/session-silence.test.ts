/** Who watches a silent shell looks at it now and then, also when the call that it watches is handed on. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SilenceWatch, SOON_MS, type SilentCall } from '../../src/engine/session-silence.js'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

test('a call that is handed on when it turns out to be slow is looked at as often as any other', () => {
  let looks = 0
  const looksOf = (begin: (watch: SilenceWatch) => void): number => {
    looks = 0
    const watch = new SilenceWatch({
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
  const usual = looksOf((watch) => watch.begin(() => {}, () => {})) // prettier-ignore
  const handedOn = looksOf((watch) => {
    const first: SilentCall = watch.begin(
      () => {},
      () => {
        first.end()
        watch.begin(
          () => {},
          () => {},
        )
      },
    )
  })
  expect(usual).toBeGreaterThan(5)
  expect(Math.abs(handedOn - usual)).toBeLessThanOrEqual(1)
})

/** The same policy for the lower tier, which has no mounts: only what may be read and what may be written. */
import type { Item, RoomPolicy } from './policy.js'

/** `extra`: writable besides the roots, such as the directory that stands in for a private /tmp. */
export function wallItems({ profile, items, writable, hidden, shown }: RoomPolicy, extra: readonly string[]): Item[] {
  return [
    // Devices are named one by one by the helper.
    { kind: 'hide', path: '/dev' },
    ...hidden.map((path): Item => ({ kind: 'hide', path })),
    ...(profile === 'strict'
      ? items.filter(({ kind }) => kind === 'show')
      : shown.map((path): Item => ({ kind: 'show', path }))),
    ...[...new Set([...writable, ...extra])].map((path): Item => ({ kind: 'write', path })),
  ]
}

/** The size of a terminal, checked. */
import { badRequest } from '../../contract/errors.js'
import type { PtySize } from '../../contract/request.js'
import { shown } from '../plan/wrong-value.js'

const LARGEST = 10_000

export function checkSize(size: unknown): PtySize {
  const { cols, rows } = (typeof size === 'object' && size !== null ? size : {}) as Partial<PtySize>
  for (const value of [cols, rows]) {
    if (!Number.isInteger(value) || (value as number) < 1 || (value as number) > LARGEST)
      throw badRequest(
        `Bad request: not a terminal size: ${shown(size)}`,
        `Pass { cols, rows }, whole numbers from 1 to ${LARGEST}.`,
      )
  }
  return { cols: cols as number, rows: rows as number }
}

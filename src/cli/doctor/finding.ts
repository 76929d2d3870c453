/** One line of the doctor's report: how well a thing works here, what was seen of it, and what to do about it. */
import { messageOf, ShellError } from '../../contract/errors.js'

export interface Finding {
  readonly name: string
  readonly state: 'ok' | 'degraded' | 'broken'
  readonly detail: string
  /** What to do about it; null when there is nothing to do. */
  readonly fix: string | null
}

export const ok = (name: string, detail: string): Finding => ({ name, state: 'ok', detail, fix: null })

const trouble =
  (state: 'degraded' | 'broken') =>
  (name: string, detail: string, fix: string | null): Finding => ({ name, state, detail, fix })

export const degraded = trouble('degraded')
export const broken = trouble('broken')

/** What an error says, and the way out that it names; `otherwise` where it names none. */
export function ofError(
  error: unknown,
  otherwise: string | null = null,
): readonly [detail: string, fix: string | null] {
  if (ShellError.is(error)) return [error.message, error.hint]
  return [messageOf(error), otherwise]
}

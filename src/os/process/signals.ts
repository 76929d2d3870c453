/** Signal names and numbers. */
import { constants } from 'node:os'

/** Some have two names: that of old manuals (SIGIOT, SIGPOLL) is not the one that is shown. */
const OLD_NAMES = new Set(['SIGIOT', 'SIGPOLL', 'SIGUNUSED'])
const NAMES = new Map(
  Object.entries(constants.signals)
    .filter(([name]) => !OLD_NAMES.has(name))
    .map(([name, number]) => [number, name]),
)

/** `SIGSEGV` for 11; real-time signals by number. */
export function signalName(number: number): string {
  return NAMES.get(number) ?? `SIG${number}`
}

/** The number of `TERM`, `SIGTERM`, `15`; null when there is no such signal. */
export function signalNumber(name: string): number | null {
  if (/^\d{1,2}$/.test(name)) return Number(name) > 0 && Number(name) < 65 ? Number(name) : null
  const upper = name.toUpperCase()
  return (constants.signals as Record<string, number>)[upper.startsWith('SIG') ? upper : `SIG${upper}`] ?? null
}

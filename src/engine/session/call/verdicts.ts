/** The same command in an unchanged shell gets the same verdict: those of the last commands are kept. */
import type { Verdict } from '../../../contract/verdict.js'
import { stillHolds } from '../../services/judge/disk-looks.js'
import type { Services } from '../../services/services.js'
import type { SessionMemory } from './memory.js'

const KEPT_VERDICTS = 64

export function keepVerdicts(judge: Services['judge'], memory: Pick<SessionMemory, 'version'>): Services['judge'] {
  const verdicts = new Map<string, Verdict>()
  let version = -1
  return async (command, context, automation) => {
    if (automation !== undefined) return judge(command, context, automation)
    if (version !== memory.version || verdicts.size >= KEPT_VERDICTS) verdicts.clear()
    version = memory.version
    const key = `${context.cwd}\0${command}`
    const known = verdicts.get(key)
    if (known && stillHolds(known)) return known
    const verdict = await judge(command, context)
    verdicts.set(key, verdict)
    return verdict
  }
}

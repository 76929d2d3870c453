/**
 * The services of one command in a sandbox: its launcher starts in a room, its files lie where the room can see them.
 */
import type { Outcome } from '../../contract/outcome.js'
import type { RunRequest } from '../../contract/request.js'
import { NOT_BEGUN, type Ward } from '../../os/helper/launcher.js'
import type { Services } from './services.js'

/** What a foreground call lends: its end, and the last word on its outcome. */
interface Settles {
  readonly outcome: Promise<Outcome>
  adorn: ((outcome: Outcome) => Outcome) | null
}

/** The same services where there is no sandbox. */
export async function insideFor(services: Services, request: RunRequest, call: Settles | null): Promise<Services> {
  if (!services.sandbox && (request.sandbox?.profile ?? 'off') === 'off') return services
  const stay = await services.sandboxFor().enter(request.sandbox, false)
  const settled = call ? call.outcome.then(nothing, nothing) : Promise.resolve()
  const start = async (...order: Parameters<typeof stay.launcher.start>): Promise<Ward> => {
    try {
      const [spec] = order
      // The engine's own policy is in the environment already.
      const ward = await stay.launcher.start(
        request.sandbox ? { ...spec, env: { ...spec.env, ...stay.environment } } : spec,
      )
      void Promise.all([ward.gone, settled]).then(() => stay.leave())
      return ward
    } catch (error) {
      // What did not begin is started again.
      if ((error as Error).cause !== NOT_BEGUN) stay.leave()
      throw error
    }
  }
  if (call) call.adorn = stay.adorn
  return Object.create(services, {
    launcher: { value: { ...stay.launcher, start } },
    runFile: { value: stay.runFile },
    stay: { value: stay },
  }) as Services
}

function nothing(): void {}

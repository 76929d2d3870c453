/**
 * The services of one command in a sandbox: its launcher starts in a room, its files lie where the room can see them.
 */
import type { Outcome } from '../../contract/outcome.js'
import type { RunRequest } from '../../contract/request.js'
import type { Launcher } from '../../os/helper/launcher.js'
import type { Services } from './services.js'

/** What a call lends: its end, of a job that of its start, and the last word on its outcome. */
interface Settles {
  readonly outcome: Promise<unknown>
  adorn: ((outcome: Outcome) => Outcome) | null
}

/** The same services where there is no sandbox. */
export async function insideFor(services: Services, request: RunRequest, call: Settles): Promise<Services> {
  if (!services.sandbox && (request.sandbox?.profile ?? 'off') === 'off') return services
  const stay = await services.sandboxFor().enter(request.sandbox, false)
  let gone: Promise<void> = Promise.resolve()
  const start: Launcher['start'] = (spec) => {
    // The engine's own policy is in the environment already.
    const starting = stay.launcher.start(
      request.sandbox ? { ...spec, env: { ...spec.env, ...stay.environment } } : spec,
    )
    gone = starting.then((ward) => ward.gone, nothing)
    return starting
  }
  // Also where the command never started: as long as a call is in the room, what the person makes counts as the work
  // of a command.
  void call.outcome.then(nothing, nothing).then(async () => {
    await gone
    stay.leave()
  })
  call.adorn = stay.adorn
  return Object.create(services, {
    launcher: { value: { ...stay.launcher, start } },
    runFile: { value: stay.runFile },
    stay: { value: stay },
  }) as Services
}

function nothing(): void {}

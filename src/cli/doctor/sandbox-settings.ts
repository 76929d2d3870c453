/**
 * The doctor's look at sandbox settings: which limits this machine can keep, and what the
 * configured sandbox gives away.
 */
import { loadConfig } from '../../config/load.js'
import { sandboxOf } from '../../config/sandbox-rows.js'
import { limitRoom } from '../../os/confine/limits.js'
import { exposedHere } from '../../os/confine/machine.js'
import type { Io } from '../io/io.js'
import { degraded, ok, type Finding } from './finding.js'

const LIMITS = { memoryBytes: 1 << 30, processes: 1_000, cpus: 1 } as const

/** Makes a control group with each limit, and takes it away again. */
export function limitFindings(): Finding[] {
  if (process.platform !== 'linux') return []
  const name = 'sandbox limits'
  const probe = limitRoom(`cerith-doctor-${process.pid}`, LIMITS, null)
  probe.close()
  const kept = Object.keys(LIMITS).filter((limit) => !probe.missing.includes(limit))
  const detail = `${[...kept, 'tmpBytes'].join(', ')} can be kept`
  if (probe.missing.length === 0) return [ok(name, detail)]
  return [
    degraded(
      name,
      `${detail}; not ${probe.missing.join(', ')}: no control group may be made here`,
      'Start cerith in a delegated group: systemd-run --user --scope -p Delegate=yes cerith ... . Only needed ' +
        'for sandbox.limits.',
    ),
  ]
}

/** Nothing where no sandbox is configured, or the configuration cannot be read: another finding says so. */
export function exposureFindings(io: Io): Finding[] {
  try {
    const { values } = loadConfig({ cwd: io.cwd, env: io.env })
    const sandbox = sandboxOf(values)
    if (!sandbox) return []
    const roots = values['roots'] as readonly string[]
    const found = exposedHere(sandbox, roots.length > 0 ? roots : [io.cwd])
    const name = 'sandbox settings'
    if (found.length === 0) return [ok(name, `${sandbox.profile}, network ${sandbox.network}`)]
    return [
      degraded(
        name,
        found.join('; '),
        'Take it out of sandbox.* unless commands may have it; `cerith check` shows the whole policy.',
      ),
    ]
  } catch {
    return []
  }
}

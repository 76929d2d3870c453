/**
 * Where a pid that was written down means something. A state directory may be shared: by machines that mount one home,
 * by containers of one machine. What runs elsewhere can be neither seen nor signalled from here, and lives all the
 * same.
 */
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { attempt } from '../../contract/attempt.js'

export interface World {
  /** Differs after every boot, and in every namespace of pids but the machine's own. */
  readonly boot: string
  /** Older versions wrote none. */
  readonly host?: string
}

export function thisWorld(): Required<World> {
  return { boot: bootId(), host: hostname() }
}

/** `gone`: the machine was restarted since, or the container. */
export function whereIs({ boot, host }: World): 'here' | 'elsewhere' | 'gone' {
  if (boot === bootId()) return 'here'
  return host === undefined || host === hostname() ? 'gone' : 'elsewhere'
}

export function bootId(): string {
  // No process sees two of them.
  return (boot ??= attempt(() => {
    const pids = readlinkSync('/proc/self/ns/pid')
    const id = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
    return pids === OF_THE_MACHINE ? id : `${id} ${pids}`
  }, 'unknown'))
}

let boot: string | undefined

/** The kernel gives the first namespace of pids the same number on every machine. */
const OF_THE_MACHINE = 'pid:[4026531836]'

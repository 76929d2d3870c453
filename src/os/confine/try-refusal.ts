/** Why a try cannot be laid over these directories, in words that name what is in the way. */
import { readFileSync } from 'node:fs'
import { isBelow } from '../../contract/names/inside.js'
import { attempt } from '../../contract/attempt.js'
import { ShellError } from '../../contract/errors.js'
import { roomFailureOf } from '../helper/room-error.js'
import { tryBusy } from './try-helper.js'
import type { TryFolder } from './try-store.js'

interface Mount {
  readonly place: string
  readonly type: string
}

/** `error`: what the helper said. */
export function tryRefusal(error: ShellError, { dir, record }: TryFolder): ShellError {
  const failure = roomFailureOf(error)
  if (!failure?.step.startsWith('try ')) return error
  if (failure.step === 'try lock') return tryBusy(record.id, 'Wait for them, or begin another with `--try new`.')
  const mounts = mountsNow()
  for (const { path } of record.roots) {
    const below = mounts.find(({ place }) => isBelow(place, path))
    if (below)
      return unavailable(
        `${path} cannot be tried: another file system (${below.type}) is mounted in it at ${below.place}`,
        'Unmount it, or work in a directory without it.',
      )
  }
  const held = holderOf(dir, mounts)
  const lower = record.roots.map(({ path }) => `${path} (${holderOf(path, mounts)?.type ?? 'unknown'})`).join(', ')
  return unavailable(
    `No try could be laid over ${lower} ${failure.step}: ${failure.errno}: its layer is on ${held?.type ?? 'an unknown file system'} (${held?.place ?? dir})`,
    `${dir} needs a file system with extended attributes that can be the upper layer of an overlay (ext4, xfs, btrfs, tmpfs; not NFS, FUSE or another overlay): set CERITH_HOME to one. Nothing was started.`,
  )
}

/** The weaker walls have no mounts, so nothing can be laid over anything. */
export function noTryHere(): ShellError {
  return unavailable(
    'The weaker sandbox (Landlock and seccomp alone) cannot try anything: it has no layers',
    'Leave sandbox.tier out; `cerith doctor` says what rooms need on this machine.',
  )
}

function unavailable(message: string, hint: string): ShellError {
  return new ShellError('SANDBOX_UNAVAILABLE', message, hint)
}

function holderOf(path: string, mounts: readonly Mount[]): Mount | undefined {
  return mounts
    .filter(({ place }) => place === path || isBelow(path, place))
    .sort((a, b) => a.place.length - b.place.length)
    .at(-1)
}

function mountsNow(): Mount[] {
  const text = attempt(() => readFileSync('/proc/self/mountinfo', 'utf8'), '')
  return text.split('\n').flatMap((line) => {
    const words = line.split(' ')
    const type = words[words.indexOf('-') + 1]
    const place = words[4]?.replace(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)))
    return place && type ? [{ place, type }] : []
  })
}

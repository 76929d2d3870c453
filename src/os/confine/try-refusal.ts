/** Why a try cannot be laid over these directories, in words that name what is in the way. */
import { isBelow } from '../../contract/names/inside.js'
import { ShellError } from '../../contract/errors.js'
import { roomFailureOf } from '../helper/room-error.js'
import { holderOf, mountsNow } from './mounts.js'
import { tryBusy } from './try-helper.js'
import type { TryFolder } from './try-store.js'

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
    `No try could be laid over ${lower} ${failure.step}: ${failure.errno}: its layer is on ` +
      `${held?.type ?? 'an unknown file system'} (${held?.place ?? dir})`,
    `${dir} needs a file system with extended attributes that can be the upper layer of an overlay (ext4, xfs, ` +
      'btrfs, tmpfs; not NFS, FUSE or another overlay): set CERITH_HOME to one. Nothing was started.',
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

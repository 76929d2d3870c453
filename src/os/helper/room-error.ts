/** Why a room could not be built, with what to change on this machine. */
import { existsSync, readFileSync } from 'node:fs'
import { ShellError } from '../../contract/errors.js'
import { attempt } from '../../contract/attempt.js'

/** The cause of the error: at which step of building the room, and whether a path changed since it was looked at. */
export interface RoomFailure {
  readonly step: string
  readonly errno: string
  readonly diskChanged: boolean
}

export function roomFailureOf(error: unknown): RoomFailure | null {
  const cause = ShellError.is(error) ? (error.cause as Partial<RoomFailure> | undefined) : undefined
  return cause?.step === undefined ? null : (cause as RoomFailure)
}

const CHANGED_PATHS = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EROFS', 'EINVAL', 'EEXIST', 'ESTALE']
const STEPS_WITH_PATHS = ['mount point', 'view', 'blank', 'show', 'write', 'hide', 'protect']

export function roomError(errno: string, what: string): ShellError {
  const isPath = what.startsWith('/') || STEPS_WITH_PATHS.includes(what)
  const cause: RoomFailure = { step: what, errno, diskChanged: isPath && CHANGED_PATHS.includes(errno) }
  return new ShellError(
    'SANDBOX_UNAVAILABLE',
    `No sandbox could be built, so nothing was started (${what}: ${errno})`,
    `${roomHint(what)} Nothing runs without its sandbox; to accept the weaker one (Landlock and seccomp ` +
      'alone), set sandbox.unavailable to "weaker".',
    { cause },
  )
}

function roomHint(what: string): string {
  if (['user namespace', 'identity', 'private', 'pivot'].includes(what)) return namespaceHint()
  if (what === 'try lock')
    return 'Commands live in the room of this try, or it is being accepted: wait, or begin another (`--try new`).'
  if (what.startsWith('try')) return TRY_HINT
  if (what === 'landlock') return 'The kernel needs Landlock (5.19 or later, `lsm=` with `landlock`).'
  if (what === 'root' || what === 'init')
    return (
      'In a container /proc is often covered in part: start it without that (docker: --security-opt ' +
      'systempaths=unconfined), or use the weaker sandbox.'
    )
  if (what.startsWith('/')) return `Check that ${what} exists and is no link.`
  return 'See `cerith doctor`.'
}

const TRY_HINT =
  'A try needs a state directory ($CERITH_HOME) on a file system with extended attributes that can be the ' +
  'upper layer of an overlay: ext4, xfs, btrfs, tmpfs; not NFS, FUSE or another overlay.'

/** Which switch of this machine forbids user namespaces. */
export function namespaceHint(): string {
  const value = (path: string): string | null => attempt(() => readFileSync(path, 'utf8').trim(), null)
  if (value('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1')
    return (
      'AppArmor forbids user namespaces here: install the profile from docs/sandbox.md (sudo apparmor_parser ' +
      '-r), or `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`.'
    )
  if (value('/proc/sys/kernel/unprivileged_userns_clone') === '0')
    return 'Allow user namespaces: `sudo sysctl kernel.unprivileged_userns_clone=1`.'
  if (value('/proc/sys/user/max_user_namespaces') === '0')
    return 'Allow user namespaces: `sudo sysctl user.max_user_namespaces=15000`.'
  if (existsSync('/.dockerenv') || existsSync('/run/.containerenv'))
    return (
      'A container forbids namespaces by default: start it with a seccomp profile that allows `unshare`, `mount` ' +
      'and `pivot_root` and with all of /proc (docker: --security-opt seccomp=unconfined --security-opt ' +
      'systempaths=unconfined), or use the weaker sandbox.'
    )
  return 'The kernel forbids user namespaces here.'
}

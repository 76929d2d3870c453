/** What the kernel offers: the features that make ending processes sure, and those that can confine them. */
import { constants, readFileSync } from 'node:fs'
import { release } from 'node:os'
import { NO_PROC } from '../../os/process/proc.js'
import { broken, degraded, ok, type Finding } from './finding.js'
import { attempt } from '../../contract/attempt.js'
import { mayAccess } from '../../os/files/quietly.js'

export function kernelFindings(): Finding[] {
  if (process.platform !== 'linux')
    return [
      degraded(
        'kernel',
        `${process.platform} ${release()}`,
        'Linux gives the strongest guarantees; elsewhere processes are found by group and mark.',
      ),
    ]
  return [subreaper(), proc(), userNamespaces(), cgroups()]
}

function subreaper(): Finding {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  // PR_SET_CHILD_SUBREAPER came with Linux 3.4; sandboxes such as gVisor report a version and have it too.
  const there = major > 3 || (major === 3 && minor >= 4)
  const detail = `Linux ${release()}`
  if (there) return ok('child subreaper', detail)
  return degraded('child subreaper', detail, 'A newer kernel finds processes that hide by forking twice.')
}

function proc(): Finding {
  const there = read('/proc/self/stat') !== null
  const hidden = (read('/proc/self/mountinfo') ?? '')
    .split('\n')
    .some((line) => / \/proc /.test(line) && /hidepid=(?!0)/.test(line))
  if (!there) return broken('/proc', NO_PROC.what, NO_PROC.fix)
  return ok('/proc', hidden ? 'mounted, other users hidden' : 'mounted')
}

function userNamespaces(): Finding {
  const max = read('/proc/sys/user/max_user_namespaces')
  const restricted =
    read('/proc/sys/kernel/unprivileged_userns_clone') === '0' ||
    read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1'
  const isRoot = process.getuid?.() === 0
  if (Number(max) > 0 && (!restricted || isRoot)) return ok('user namespaces', 'available')
  return degraded(
    'user namespaces',
    max === null ? 'cannot tell' : max === '0' ? 'switched off' : 'not for ordinary users',
    'Only needed for confining commands; cerith itself does without.',
  )
}

function cgroups(): Finding {
  const controllers = read('/sys/fs/cgroup/cgroup.controllers')
  if (controllers === null)
    return ok(
      'cgroups',
      'no unified hierarchy; limits of a command are kept by its watcher, those of a sandbox by control groups ' +
        'of version 1 where there are any',
    )
  const writable = mayAccess('/sys/fs/cgroup', constants.W_OK)
  return ok('cgroups', `v2: ${controllers || 'no controllers'}${writable ? '' : ', read-only'}`)
}

function read(path: string): string | null {
  return attempt(() => readFileSync(path, 'utf8').trim(), null)
}

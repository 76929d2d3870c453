/** What the kernel offers: the features that make ending processes sure, and those that can confine them. */
import { accessSync, constants, readFileSync } from 'node:fs'
import { release } from 'node:os'
import { NO_PROC } from '../../os/process/proc.js'
import type { Finding } from './doctor.js'
import { attempt } from '../../contract/attempt.js'

export function kernelFindings(): Finding[] {
  if (process.platform !== 'linux')
    return [
      {
        name: 'kernel',
        state: 'degraded',
        detail: `${process.platform} ${release()}`,
        fix: 'Linux gives the strongest guarantees; elsewhere processes are found by group and mark.',
      },
    ]
  return [subreaper(), proc(), userNamespaces(), landlock(), cgroups()]
}

function subreaper(): Finding {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  // PR_SET_CHILD_SUBREAPER came with Linux 3.4; sandboxes such as gVisor report a version and have it too.
  const there = major > 3 || (major === 3 && minor >= 4)
  return {
    name: 'child subreaper',
    state: there ? 'ok' : 'degraded',
    detail: `Linux ${release()}`,
    fix: there ? null : 'A newer kernel finds processes that hide by forking twice.',
  }
}

function proc(): Finding {
  const there = read('/proc/self/stat') !== null
  const hidden = (read('/proc/self/mountinfo') ?? '')
    .split('\n')
    .some((line) => / \/proc /.test(line) && /hidepid=(?!0)/.test(line))
  if (!there)
    return {
      name: '/proc',
      state: 'broken',
      detail: NO_PROC.what,
      fix: NO_PROC.fix,
    }
  return { name: '/proc', state: 'ok', detail: hidden ? 'mounted, other users hidden' : 'mounted', fix: null }
}

function userNamespaces(): Finding {
  const max = read('/proc/sys/user/max_user_namespaces')
  const restricted =
    read('/proc/sys/kernel/unprivileged_userns_clone') === '0' ||
    read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1'
  const isRoot = process.getuid?.() === 0
  if (Number(max) > 0 && (!restricted || isRoot))
    return { name: 'user namespaces', state: 'ok', detail: 'available', fix: null }
  return {
    name: 'user namespaces',
    state: 'degraded',
    detail: max === null ? 'cannot tell' : max === '0' ? 'switched off' : 'not for ordinary users',
    fix: 'Only needed for confining commands; cerith itself does without.',
  }
}

function landlock(): Finding {
  const modules = read('/sys/kernel/security/lsm')
  if (modules?.split(',').includes('landlock')) return { name: 'Landlock', state: 'ok', detail: 'available', fix: null }
  return {
    name: 'Landlock',
    state: 'ok',
    detail: `${modules === null ? 'cannot tell (securityfs is not mounted)' : 'not enabled'}; only a sandbox would use it`,
    fix: null,
  }
}

function cgroups(): Finding {
  const controllers = read('/sys/fs/cgroup/cgroup.controllers')
  if (controllers === null)
    return {
      name: 'cgroups',
      state: 'ok',
      detail:
        'no unified hierarchy; limits of a command are kept by its watcher, those of a sandbox by control groups of version 1 where there are any',
      fix: null,
    }
  let writable = true
  try {
    accessSync('/sys/fs/cgroup', constants.W_OK)
  } catch {
    writable = false
  }
  return {
    name: 'cgroups',
    state: 'ok',
    detail: `v2: ${controllers || 'no controllers'}${writable ? '' : ', read-only'}`,
    fix: null,
  }
}

function read(path: string): string | null {
  return attempt(() => readFileSync(path, 'utf8').trim(), null)
}

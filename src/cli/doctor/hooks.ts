/**
 * The doctor's look at the hooks in hosts' settings: which hosts are hooked, and whether the hook denies what it must.
 */
import { spawnSync } from 'node:child_process'
import { HOOK_HOSTS, type HookHostName } from '../../hooks/hosts/index.js'
import { ownCommand, settingsFile } from '../../hooks/settings.js'
import { homeDirectory } from '../../os/files/home.js'
import type { Io } from '../io/io.js'
import { broken, ok, type Finding } from './finding.js'

/** Judged, never run: the hook is asked what it would say to its host. */
const PROBE = 'mkfs.ext4 /dev/sdzz9'

/** One line per settings file that has the hook; nothing where no host is hooked. */
export function hookFindings(io: Io): Finding[] {
  const where = { home: homeDirectory(io.env), cwd: io.cwd, env: io.env }
  return (Object.keys(HOOK_HOSTS) as HookHostName[]).flatMap((name) => {
    const host = HOOK_HOSTS[name]
    const files = new Set((['user', 'project'] as const).flatMap((scope) => settingsFile(host, scope, where) ?? []))
    return [...files].flatMap((file) => finding(name, file, io) ?? [])
  })
}

function finding(name: HookHostName, file: string, io: Io): Finding | null {
  const host = HOOK_HOSTS[name]
  const label = `hook of ${host.title}`
  try {
    const command = ownCommand({ host, name, file })
    if (command === null) return null
    const { status, stdout, error } = spawnSync('/bin/sh', ['-c', command], {
      input: JSON.stringify(host.example(PROBE, io.cwd)),
      env: io.env as NodeJS.ProcessEnv,
      encoding: 'utf8',
      timeout: 30_000,
    })
    if (!error && /"deny"/.test(stdout)) return ok(label, `answers, in ${file}`)
    const detail = `in ${file}, but does not deny what it must (${error?.message ?? `exit ${status}`})`
    return broken(label, detail, `cerith hook install ${name}`)
  } catch (error) {
    return broken(label, (error as Error).message, `Correct ${file}.`)
  }
}

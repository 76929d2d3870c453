/** A user with a known password who exists only inside a mount namespace: nothing on the machine changes. */
import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export const AGENT = { name: 'cerith-agent', uid: 61_999, password: 'correct horse 7 battery' } as const

/** Writes a script that runs its arguments in the namespace; null where that is not allowed or sudo is missing. */
export function namespaceScript(dir: string): string | null {
  if (process.getuid?.() !== 0 || spawnSync('unshare', ['-m', 'true']).status !== 0) return null
  const hash = spawnSync('openssl', ['passwd', '-6', AGENT.password], { encoding: 'utf8' }).stdout?.trim()
  if (!hash) return null
  writeFileSync(
    join(dir, 'passwd'),
    `${readFileSync('/etc/passwd', 'utf8')}${AGENT.name}:x:${AGENT.uid}:${AGENT.uid}::/tmp:/bin/bash\n`,
  )
  writeFileSync(
    join(dir, 'shadow'),
    `${readFileSync('/etc/shadow', 'utf8')}${AGENT.name}:${hash}:19000:0:99999:7:::\n`,
    { mode: 0o600 },
  )
  writeFileSync(
    join(dir, 'sudoers'),
    `Defaults !lecture, timestamp_timeout=0\nroot ALL=(ALL) NOPASSWD: ALL\n${AGENT.name} ALL=(ALL) ALL\n`,
    { mode: 0o440 },
  )
  const script = join(dir, 'in-namespace.sh')
  const binds = ['passwd', 'shadow', 'sudoers'].map(
    (name) => `[ -e /etc/${name} ] && mount --bind ${dir}/${name} /etc/${name}`,
  )
  writeFileSync(script, `#!/bin/bash\nmount --make-rprivate /\n${binds.join('\n')}\nexec "$@"\n`)
  chmodSync(script, 0o755)
  return script
}

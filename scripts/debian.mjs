// Real programs that some tests talk to. Installed where that is possible (root, apt);
// elsewhere those tests say why they skip.
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Program looked for, package that brings it. */
const PROGRAMS = [
  ['cc', 'gcc'],
  ['musl-gcc', 'musl-tools'],
  ['git', 'git'],
  ['less', 'less'],
  ['vim', 'vim'],
  ['python3', 'python3'],
  ['sudo', 'sudo'],
  ['ssh', 'openssh-client'],
  ['sshd', 'openssh-server'],
  ['ps', 'procps'],
  ['curl', 'curl'],
  ['nano', 'nano'],
  ['dialog', 'dialog'],
  ['bc', 'bc'],
  ['dc', 'dc'],
  ['ed', 'ed'],
  ['sqlite3', 'sqlite3'],
  ['man', 'man-db'],
  ['gpg', 'gnupg'],
  ['direnv', 'direnv'],
  ['zsh', 'zsh'],
]

/** Never fails: a machine without network or apt still runs everything that does not need these. */
export function installDebianPackages(programs = PROGRAMS) {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !has('apt-get') || process.env['CERITH_NO_APT'])
    return
  const missing = programs.filter(([program]) => !has(program)).map(([, name]) => name)
  if (missing.length === 0) return
  console.error(`cerith: installing Debian packages for the tests: ${missing.join(' ')} ...`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const install = () =>
    spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
      timeout: 240_000,
    })
  let result = install()
  if (result.status !== 0) {
    spawnSync('apt-get', ['update', '-qq'], { env, stdio: 'ignore', timeout: 120_000 })
    result = install()
  }
  if (result.status !== 0)
    console.error(
      `cerith: they could not be installed; tests that need them are skipped. ${String(result.stderr).trim().split('\n').at(-1) ?? ''}`,
    )
}

function has(program) {
  return [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'].some((dir) => {
    try {
      accessSync(join(dir, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

// Starts real servers below one directory and ends exactly those again: nothing in /etc changes, every port is random.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Runs a program to its end; throws with its last words when it fails. */
export function must(program, words, options = {}) {
  const end = spawnSync(program, words, { encoding: 'utf8', timeout: 300_000, ...options })
  if (end.status === 0) return end.stdout
  throw new Error(
    `${program} ${words.join(' ').slice(0, 120)}: ${(end.stderr || end.error?.message || '').trim().slice(-400)}`,
  )
}

export function has(program) {
  return spawnSync('sh', ['-c', `command -v ${program} || test -x /usr/sbin/${program}`]).status === 0
}

/** Installs what is missing where that is possible; false says that it is not. */
export function ensurePackages(programs, packages) {
  if (programs.every(has)) return true
  if (process.getuid() !== 0 || !has('apt-get')) return false
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  spawnSync('apt-get', ['-q', 'update'], { env, timeout: 300_000 })
  spawnSync('apt-get', ['-q', 'install', '-y', '--no-install-recommends', ...packages], { env, timeout: 600_000 })
  return programs.every(has)
}

export async function until(what, look, ms = 60_000, everyMs = 50) {
  const end = Date.now() + ms
  for (;;) {
    if (await look()) return
    if (Date.now() > end) throw new Error(`${what} did not come true within ${ms / 1000} s`)
    await new Promise((next) => setTimeout(next, everyMs))
  }
}

export const succeeds = (program, words, env) =>
  spawnSync(program, words, { env: { ...process.env, ...env }, timeout: 30_000 }).status === 0

/** Daemons of one test server, ended in reverse order. */
export function daemons(dir) {
  const running = []
  return {
    start(name, program, words, env = {}) {
      const log = join(dir, `${name}.log`)
      const child = spawn('sh', ['-c', 'exec "$0" "$@" >"$LOG" 2>&1', program, ...words], {
        stdio: 'ignore', detached: true, env: { ...process.env, ...env, LOG: log },
      }) // prettier-ignore
      const ended = new Promise((resolve) => child.once('exit', resolve))
      running.push({ child, ended, name })
      return { child, log: () => (existsSync(log) ? readFileSync(log, 'utf8').slice(-600) : '') }
    },
    async stop() {
      for (const { child, ended } of running.reverse()) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        child.kill('SIGTERM')
        const timer = setTimeout(() => child.kill('SIGKILL'), 8_000)
        await ended
        clearTimeout(timer)
      }
    },
  }
}

/** A root file system with busybox and this machine's bash; `bare`: static ones, and no libc at all. */
export function makeRoot(dir, { bare = false } = {}) {
  const root = join(dir, bare ? 'bare' : 'root')
  for (const folder of ['bin', 'etc', 'tmp', 'proc', 'sys', 'dev', 'root', 'run', 'var/tmp', 'home/agent', 'usr/bin'])
    mkdirSync(join(root, folder), { recursive: true })
  for (const folder of ['tmp', 'var/tmp']) chmodSync(join(root, folder), 0o1777)
  must('chown', ['1000:1000', join(root, 'home/agent')])
  must('cp', [must('sh', ['-c', 'command -v busybox']).trim(), join(root, 'bin/busybox')])
  for (const applet of must('busybox', ['--list']).split('\n').filter(Boolean))
    spawnSync('ln', ['-s', 'busybox', join(root, 'bin', applet)])
  spawnSync('rm', ['-f', join(root, 'bin/bash')])
  if (bare) must('cp', ['/bin/bash-static', join(root, 'bin/bash')])
  else {
    must('cp', ['/bin/bash', join(root, 'bin/bash')])
    for (const library of must('ldd', ['/bin/bash']).match(/\/\S+\.so\S*/g) ?? [])
      must('sh', ['-c', `mkdir -p "$(dirname '${root}${library}')" && cp -L '${library}' '${root}${library}'`])
  }
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/bash\nagent:x:1000:1000::/home/agent:/bin/bash\n')
  const tar = join(dir, bare ? 'bare.tar' : 'root.tar')
  must('tar', ['-C', root, '-cf', tar, '.'])
  return tar
}

export function randomPort() {
  return 20_000 + Math.floor(Math.random() * 20_000)
}

/** An ssh server on the loopback interface for one test file, with a key that opens it. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

export interface LocalSshd {
  readonly port: number
  close(): void
}

/**
 * Null where it cannot be started: not root, or not installed. `within` is a script that runs its arguments in another
 * namespace.
 */
export async function startSshd(dir: string, within: string | null = null): Promise<LocalSshd | null> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/sbin/sshd')) return null
  const port = await freePort()
  for (const name of ['host', 'key'])
    if (spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(dir, name)]).status !== 0) return null
  spawnSync('cp', [join(dir, 'key.pub'), join(dir, 'authorized')])
  mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const config = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${join(dir, 'host')}`,
    `AuthorizedKeysFile ${join(dir, 'authorized')}`,
    'StrictModes no',
    'UsePAM no',
    'PermitRootLogin yes',
    'PasswordAuthentication yes',
    'PidFile none',
  ]
  writeFileSync(join(dir, 'sshd_config'), `${config.join('\n')}\n`)
  const server: ChildProcess = spawn(
    within ? 'unshare' : '/usr/sbin/sshd',
    [...(within ? ['-m', within, '/usr/sbin/sshd'] : []), '-D', '-e', '-f', join(dir, 'sshd_config')],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const ready = await new Promise<boolean>((resolve) => {
    server.stderr?.on('data', (text: Buffer) => String(text).includes('Server listening') && resolve(true))
    server.once('exit', () => resolve(false))
    server.once('error', () => resolve(false))
  })
  return ready ? { port, close: () => void server.kill() } : null
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

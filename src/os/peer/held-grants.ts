/**
 * An approval for an engine that has ended meanwhile (`cerith run` without a terminal): held in
 * the memory of a small process that the person's own command starts, until the same is asked
 * for again. The engine that takes it judges that process as it judges every other peer.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { ensurePrivateDirectory } from '../files/state-dir.js'
import { judgePeer, uptime } from './judge.js'
import { namesIn } from '../files/quietly.js'
import { pause } from '../process/clock.js'

const ANSWER_LIMIT_MS = 2_000
const START_LIMIT_MS = 5_000
const LOOK_EVERY_MS = 10

/** Knows one digest and one directory, says yes to them once, and ends. Nothing of it is on the disk but its socket. */
const KEEPER = `
const [path, wanted, livesMs] = process.argv.slice(1)
const server = require('node:net').createServer((socket) => {
  let text = ''
  socket.on('error', () => {})
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
    if (text.length > 512) return socket.destroy()
    if (!text.includes('\\n')) return
    if (text !== wanted + '\\n') return socket.end('no\\n')
    leave()
    socket.end('yes\\n', () => process.exit(0))
  })
})
const leave = () => { server.close(); require('node:fs').rmSync(path, { force: true }) }
process.umask(0o177)
server.listen(path)
setTimeout(() => { leave(); process.exit(0) }, Number(livesMs))
for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(name, () => { leave(); process.exit(0) })
`

/** Resolves when the approval can be taken; false when it cannot be held. */
export async function holdGrant(
  stateDir: string,
  { digest, place, livesMs }: Grant & { livesMs: number },
): Promise<boolean> {
  const path = join(ensurePrivateDirectory(join(stateDir, 'grants')), `${randomBytes(4).toString('hex')}.sock`)
  const words = ['-e', KEEPER, '--', path, `${digest} ${place}`, String(livesMs)]
  const keeper = spawn(process.execPath, words, { detached: true, stdio: 'ignore', env: {}, cwd: '/' })
  let failed = false
  keeper.once('error', () => (failed = true))
  keeper.once('exit', () => (failed = true))
  keeper.unref()
  const startedAt = performance.now()
  while (!existsSync(path)) {
    if (failed || performance.now() - startedAt > START_LIMIT_MS) return false
    await pause(LOOK_EVERY_MS)
  }
  return true
}

export interface Grant {
  readonly digest: string
  /** The directory by device and inode. */
  readonly place: string
}

/** True once for what a person approved. */
export async function takeHeldGrant(stateDir: string, grant: Grant): Promise<boolean> {
  const dir = join(stateDir, 'grants')
  for (const name of namesIn(dir)) if (name.endsWith('.sock') && (await takeFrom(join(dir, name), grant))) return true
  return false
}

function takeFrom(path: string, { digest, place }: Grant): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.setTimeout(ANSWER_LIMIT_MS, () => socket.destroy())
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      // Its process was ended without a chance to remove it.
      if (code === 'ECONNREFUSED') rmSync(path, { force: true })
    })
    socket.once('close', () => resolve(false))
    socket.once('connect', () => {
      void judgePeer(socket, uptime()).then(({ refused }) => {
        if (refused !== null) return void socket.destroy()
        socket.setEncoding('utf8').on('data', (text: string) => {
          resolve(text.startsWith('yes'))
          socket.destroy()
        })
        // A connection that was given to another process is stopped by Node.
        socket.resume()
        socket.write(`${digest} ${place}\n`)
      })
    })
  })
}

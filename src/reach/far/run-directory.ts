/** The private directory of a far engine: its socket, of which one engine gets the name, and what engines left. */
import { linkSync, lstatSync, readFileSync, rmdirSync, rmSync, statSync, unlinkSync } from 'node:fs'
import { createConnection, type Server } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { attempt } from '../../contract/attempt.js'
import { namesIn } from '../../os/files/quietly.js'
import { findDeadEngines } from '../../os/helper/sweep.js'
import { commandLine } from '../../os/process/proc.js'

const START_HOURS = 1

/** Listens under a name of its own, then links the name that clients know: of two engines one gets it. */
export async function listenAlone(server: Server, path: string): Promise<boolean> {
  const own = `${path}.${process.pid}`
  rmSync(own, { force: true })
  // Only for the socket: commands get the umask of the login.
  const umask = process.umask(0o077)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(own, () => resolve())
  }).finally(() => process.umask(umask))
  for (let tries = 0; tries < 3; tries++) {
    try {
      linkSync(own, path)
      unlinkSync(own)
      return true
    } catch {
      if (await answers(path)) break
      rmSync(path, { force: true })
    }
  }
  server.close()
  return false
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** What engines left that were killed, started for other near ones: they have a socket at which nothing answers. */
export async function sweepOthers(runDir: string): Promise<void> {
  const own = basename(runDir)
  const kin = own.slice(0, own.lastIndexOf('-') + 1)
  const { uid } = statSync(runDir)
  for (const name of namesIn(dirname(runDir)).filter((each) => each.startsWith(kin) && each !== own)) {
    const dir = join(dirname(runDir), name)
    // Another user can make one of this name, and change it while it is removed.
    const made = attempt(() => lstatSync(dir), null)
    if (!made?.isDirectory() || made.uid !== uid || (made.mode & 0o077) !== 0) continue
    // Written first when an engine is started: one that does not listen yet has a new one.
    const startedAt = attempt(() => statSync(join(dir, 'pid')).mtimeMs, Infinity)
    if (Date.now() - startedAt < START_HOURS * 3_600_000 || (await answers(join(dir, 'sock')))) continue
    // The clock may have jumped since: an engine whose process is there is no leftover.
    const pid = pidIn(dir)
    if (pid > 0 && commandLine(pid).includes(dir)) continue
    findDeadEngines(dir, [join(dir, 'run')]).sweep()
    attempt(() => rmSync(dir, { recursive: true, force: true }))
  }
}

/** Files keep it: those of jobs that outlive the engine, and of a new engine that was started here meanwhile. */
export function removeRunDirectory(runDir: string): void {
  attempt(() => {
    for (const dir of [join(runDir, 'run'), runDir]) rmdirSync(dir)
  })
}

export function pidIn(runDir: string): number {
  return Number(attempt(() => readFileSync(join(runDir, 'pid'), 'utf8'), '0'))
}

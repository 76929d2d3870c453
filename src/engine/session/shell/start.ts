/** Starts the bash of a session, with the pipes and files that it talks through. */
import { randomBytes } from 'node:crypto'
import { closeQuietly } from '../../../os/files/quietly.js'
import type { Pipe } from '../../../os/helper/launcher.js'
import { takePipe } from '../../services/pipes.js'
import type { Services } from '../../services/services.js'
import { setUpLines } from '../lines/lines.js'
import type { Marks } from '../lines/marks.js'
import { SessionFiles, writeFirstFiles } from './files.js'
import { Orders } from './orders.js'
import { SessionShell } from './shell.js'

export async function startShell(
  services: Services,
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<SessionShell> {
  const undo: (() => void)[] = []
  const take = async (): Promise<Pipe> => {
    const pipe = await takePipe(services)
    undo.push(() => pipe.release())
    return pipe
  }
  try {
    const report = await take()
    const state = await take()
    const pipe = await takePipe(services)
    // The launcher takes it back when it could not start the shell.
    let isOrdered = false
    undo.push(() => isOrdered || pipe.release())
    const marks: Marks = {
      nonce: randomBytes(12).toString('hex'),
      seal: randomBytes(12).toString('hex'),
      farewell: randomBytes(12).toString('hex'),
      report: report.writePath,
      state: state.writePath,
      files: services.runFile('s'),
    }
    writeFirstFiles(marks)
    // Whatever needs a descriptor comes before the shell: one that has started can be followed.
    for (const end of [() => report.readEnd(), () => state.readEnd(), () => pipe.writeEnd(), () => pipe.readEnd()]) {
      const fd = end()
      undo.push(() => closeQuietly(fd))
    }
    const files = new SessionFiles(services, marks)
    undo.push(() => {
      files.close()
      files.remove()
    })
    isOrdered = true
    const ward = await services.launcher.start({
      path: services.bash.path,
      argv: ['bash', '--norc', '--noprofile', '--noediting', '-i'],
      // An interactive bash reads the history of the person when it starts, and cuts the file to HISTFILESIZE (500).
      env: { ...env, HISTFILE: '/dev/null', CERITH_ENGINE: services.id },
      cwd,
      stdin: pipe,
      oomScore: 300,
    })
    const orders = new Orders(pipe)
    const shell = new SessionShell(services, ward, { marks, orders, files, report, state })
    shell.type(setUpLines(marks, services.shellBuiltin, orders.unreadPath))
    return shell
  } catch (error) {
    for (const step of undo) step()
    throw error
  }
}

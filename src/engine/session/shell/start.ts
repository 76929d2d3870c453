/** Starts the bash of a session, with the pipes and files that it talks through. */
import { randomBytes } from 'node:crypto'
import type { Ward } from '../../../os/helper/launcher.js'
import { takePipe } from '../../services/pipes.js'
import type { Services } from '../../services/services.js'
import { setUpLines } from '../lines/lines.js'
import type { Marks } from '../lines/marks.js'
import { writeFirstFiles } from './files.js'
import { Orders } from './orders.js'
import { SessionShell } from './shell.js'

export async function startShell(
  services: Services,
  env: Readonly<Record<string, string>>,
  cwd: string,
): Promise<SessionShell> {
  const pipe = await takePipe(services)
  const report = await takePipe(services)
  const state = await takePipe(services)
  const marks: Marks = {
    nonce: randomBytes(12).toString('hex'),
    seal: randomBytes(12).toString('hex'),
    farewell: randomBytes(12).toString('hex'),
    report: report.writePath,
    state: state.writePath,
    files: services.runFile('s'),
  }
  writeFirstFiles(marks)
  const orders = new Orders(pipe)
  let ward: Ward
  try {
    ward = await services.launcher.start({
      path: services.bash.path,
      argv: ['bash', '--norc', '--noprofile', '--noediting', '-i'],
      env: { ...env, CERITH_ENGINE: services.id },
      cwd,
      stdin: pipe,
      oomScore: 300,
    })
  } catch (error) {
    orders.close()
    report.release()
    state.release()
    throw error
  }
  const shell = new SessionShell(services, ward, marks, orders, report, state)
  shell.type(setUpLines(marks, services.shellBuiltin, orders.unreadPath))
  return shell
}

/** Pipes from the launcher, with the engine's ends opened. */
import { ShellError } from '../../contract/errors.js'
import type { Pipe } from '../../os/helper/launcher.js'
import { closeQuietly } from '../../os/files/quietly.js'
import type { Services } from './services.js'

type Ends = 'read' | 'write' | null

/** Pipes with our ends open, all of them or none: out of descriptors, nothing is left half done. */
export async function takePipes<T extends Record<string, Ends>>(
  services: Services,
  wanted: T,
): Promise<{ [K in keyof T]: null extends T[K] ? Pipe | null : Pipe }> {
  const taken: Record<string, Pipe | null> = {}
  const opened: number[] = []
  try {
    for (const [name, end] of Object.entries(wanted)) {
      const pipe = end ? await takePipe(services) : null
      taken[name] = pipe
      if (pipe) opened.push(end === 'read' ? pipe.readEnd() : pipe.writeEnd())
    }
  } catch (error) {
    for (const fd of opened) closeQuietly(fd)
    for (const pipe of Object.values(taken)) pipe?.release()
    // The launcher goes away while the engine closes, and its pipes with it.
    throw services.state.closed ? new ShellError('CLOSED', 'The engine is closed', 'Create a new engine.') : error
  }
  return taken as { [K in keyof T]: null extends T[K] ? Pipe | null : Pipe }
}

export async function takePipe(services: Services): Promise<Pipe> {
  return services.launcher.pipeNow() ?? services.launcher.pipe()
}

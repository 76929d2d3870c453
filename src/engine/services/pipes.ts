/** Pipes from the launcher, with the engine's ends opened. */
import { ShellError } from '../../contract/errors.js'
import { LOST_AT_START, NOT_BEGUN, type Pipe } from '../../os/helper/launcher.js'
import { closeQuietly } from '../../os/files/quietly.js'
import type { Services } from './services.js'

type Ends = 'read' | 'write' | null

/**
 * What a launcher prepares for a command that has not begun is prepared again by its successor,
 * where something kills the launcher meanwhile, or by another watcher where that was killed.
 */
export async function prepared<T>({ state }: Services, prepare: () => Promise<T>): Promise<T> {
  try {
    return await prepare()
  } catch (error) {
    const { cause } = error as Error
    if ((cause !== LOST_AT_START && cause !== NOT_BEGUN) || state.closed) throw error
    return prepare()
  }
}

type Taken<T> = { [K in keyof T]: null extends T[K] ? Pipe | null : Pipe }

/** Pipes with our ends open, all of them or none: out of descriptors, nothing is left half done. */
export function takePipes<T extends Record<string, Ends>>(services: Services, wanted: T): Promise<Taken<T>> {
  return prepared(services, async () => {
    const taken: Record<string, Pipe | null> = {}
    const opened: number[] = []
    try {
      for (const [name, end] of Object.entries(wanted)) {
        const pipe = end ? await takePipe(services) : null
        taken[name] = pipe
        if (pipe) opened.push(end === 'read' ? pipe.readEnd() : pipe.writeEnd())
      }
      // Closing does not wait for what is not known to it yet: a command that begins now would lose its watcher.
      if (services.state.closed) throw new Error('closed')
    } catch (error) {
      for (const fd of opened) closeQuietly(fd)
      for (const pipe of Object.values(taken)) pipe?.release()
      // The launcher goes away while the engine closes, and its pipes with it.
      throw services.state.closed ? new ShellError('CLOSED', 'The engine is closed', 'Create a new engine.') : error
    }
    return taken as Taken<T>
  })
}

export async function takePipe(services: Services): Promise<Pipe> {
  return services.launcher.pipeNow() ?? services.launcher.pipe()
}

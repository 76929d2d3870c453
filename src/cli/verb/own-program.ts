/** Node and the file that it runs now, both absolute: a host starts programs with a PATH of its own. */
import { realpathSync } from 'node:fs'

export function ownProgram(): readonly [string, ...string[]] {
  return [process.execPath, realpathSync(process.argv[1] as string)]
}

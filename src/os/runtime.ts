/** How this program starts itself again. `process.execPath` is not enough where Node was started by its own loader. */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

/** The words before a script: `[node]`, or the loader, its library path and the program that it loads. */
export function runtimeArgv(): readonly [string, ...string[]] {
  if (!/^ld-|^ld\./.test(basename(process.execPath))) return [process.execPath]
  const words = readFileSync('/proc/self/cmdline', 'utf8').split('\0')
  const option = words.indexOf('--library-path')
  return option < 0 ? [process.execPath] : (words.slice(0, option + 3) as [string, ...string[]])
}

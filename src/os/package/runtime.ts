/** How this program starts itself again. `process.execPath` is not enough where Node was started by its own loader. */
import { ShellError } from '../../contract/errors.js'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

/** The words before a script: `[node]`, or the loader, its library path and the program that it loads. */
export function runtimeArgv(): readonly [string, ...string[]] {
  if (!/^ld-|^ld\./.test(basename(process.execPath))) return [process.execPath]
  const words = readFileSync('/proc/self/cmdline', 'utf8').split('\0')
  const option = words.indexOf('--library-path')
  return option < 0 ? [process.execPath] : (words.slice(0, option + 3) as [string, ...string[]])
}

/**
 * Runtimes that pretend to be Node and were tried: an output stops after its first 64 KiB
 * (Bun), a pipe cannot be read (Deno).
 */
const OTHERS = { bun: 'Bun', deno: 'Deno' } as const

/** Refuses a runtime in which commands would seem to hang or to say less than they did. */
export function checkRuntime(versions: Readonly<Record<string, string | undefined>> = process.versions): void {
  for (const [key, name] of Object.entries(OTHERS)) {
    if (versions[key] === undefined) continue
    throw new ShellError(
      'SPAWN_FAILED',
      `cerith needs Node 20.19 or newer; this is ${name} ${versions[key]}`,
      `Start the program with node, or run commands through \`cerith run\` or \`cerith mcp\`, which are ` +
        'started by Node.',
    )
  }
}

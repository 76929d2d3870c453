/** Runs the command line in this process with a world of its own: its state directory, streams, person and signals. */
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { runCli } from '../../src/cli/program.js'
import type { Io, Sink } from '../../src/cli/io/io.js'
import { temporaryFolder } from '../fixtures/folder.js'

export interface Answer {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface World {
  readonly home: string
  readonly dir: string
  /** Runs one command line and gives what it printed. */
  cli(...argv: readonly string[]): Promise<Answer>
  with(changes: Changes): World['cli']
}

export interface Changes {
  readonly env?: Record<string, string>
  readonly cwd?: string
  readonly stdin?: string | Uint8Array
  readonly tty?: boolean
  readonly columns?: number
  /** What the person types, in order; null is the end of input. */
  readonly types?: readonly (string | null)[]
  /** Gets the function that delivers a signal. */
  readonly signals?: (send: (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') => void) => void
  readonly insideEngine?: boolean
  readonly onOut?: (text: string) => void
}

/** One per test file; everything it made is gone afterwards. */
export function makeWorld(): World {
  const base = temporaryFolder('cli')
  const home = join(base, 'state')
  const dir = mkdtempSync(join(base, 'work-'))
  const run = async (argv: readonly string[], changes: Changes): Promise<Answer> => {
    const { io, seen } = makeIo(home, base, changes.cwd ?? dir, changes)
    const code = await runCli(argv, io)
    return { code, out: seen.out, err: seen.err }
  }
  return {
    home,
    dir,
    cli: (...argv) => run(argv, {}),
    with:
      (changes) =>
      (...argv) =>
        run(argv, changes),
  }
}

function makeIo(
  home: string,
  base: string,
  cwd: string,
  changes: Changes,
): { io: Io; seen: { out: string; err: string } } {
  const seen = { out: '', err: '' }
  const sink = (name: 'out' | 'err'): Sink => ({
    write(data) {
      const text = typeof data === 'string' ? data : Buffer.from(data).toString()
      seen[name] += text
      if (name === 'out') changes.onOut?.(text)
    },
    taken: () => {},
    isTTY: changes.tty ?? false,
    columns: changes.columns ?? 80,
    pipePath: null,
  })
  const typed = [...(changes.types ?? [])]
  return {
    seen,
    io: {
      out: sink('out'),
      err: sink('err'),
      env: { PATH: process.env['PATH'], HOME: base, CERITH_HOME: home, LANG: 'C.UTF-8', ...changes.env },
      cwd,
      person: changes.types
        ? {
            ask: async (prompt) => {
              seen.err += prompt
              return typed.shift() ?? null
            },
          }
        : null,
      insideEngine: changes.insideEngine ?? false,
      readStdin: async () =>
        typeof changes.stdin === 'string'
          ? new TextEncoder().encode(changes.stdin)
          : (changes.stdin ?? new Uint8Array()),
      async *stdinLines() {
        const { stdin = '' } = changes
        yield* (typeof stdin === 'string' ? stdin : new TextDecoder().decode(stdin)).split('\n')
      },
      onSignal(listener) {
        changes.signals?.(listener)
        return () => {}
      },
      orElse: () => {},
      onOutputClosed: () => () => {},
    },
  }
}

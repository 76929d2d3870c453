/** The real terminal, environment and signals of this process. */
import { readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { attempt } from '../../contract/attempt.js'
import { isInsideEngine } from '../../os/process/inside-engine.js'
import type { Io, Person } from './io.js'
import { processSink, type ProcessSink } from './process-sink.js'

export interface ProcessIo extends Io {
  /** The first signal that a verb was told of. */
  readonly signalled: NodeJS.Signals | null
  /** What `orElse` was given. */
  readonly otherwise: { readonly text: string; readonly exitCode: number | null }
  readonly out: ProcessSink
  readonly err: ProcessSink
}

export function processIo(): ProcessIo {
  const out = processSink(process.stdout, 1)
  const err = processSink(process.stderr, 2)
  let signalled: NodeJS.Signals | null = null
  let otherwise: ProcessIo['otherwise'] = { text: '', exitCode: null }
  return {
    get signalled() {
      return signalled
    },
    get otherwise() {
      return otherwise
    },
    orElse: (text, exitCode) => void (otherwise = { text, exitCode: exitCode ?? null }),
    out,
    err,
    env: process.env,
    cwd: currentDirectory(),
    person: process.stdin.isTTY && process.stderr.isTTY ? atTerminal() : null,
    get insideEngine() {
      return isInsideEngine()
    },
    async readStdin() {
      const chunks: Buffer[] = []
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks)
    },
    stdinLines: () => createInterface({ input: process.stdin, crlfDelay: Infinity }),
    onSignal(listener) {
      const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
      const told = (name: (typeof names)[number]): void => {
        signalled ??= name
        listener(name)
      }
      for (const name of names) process.on(name, told)
      return () => {
        for (const name of names) process.off(name, told)
      }
    },
    onOutputClosed: (listener) => out.onClosed(listener),
  }
}

/**
 * A directory that was removed under us still has a name, which the message should say; Node itself cannot go on in it.
 * The kernel remembers the name. Never a directory that exists: nothing may run in a directory that the person did
 * not choose.
 */
function currentDirectory(): string {
  try {
    return process.cwd()
  } catch {
    const name = attempt(() => readlinkSync('/proc/self/cwd').replace(/ \(deleted\)$/, ''))
    process.chdir('/')
    return name ?? process.env['PWD'] ?? '/(deleted)'
  }
}

/** Questions go to stderr, so that stdout stays clean for pipes. */
function atTerminal(): Person {
  return {
    ask: (prompt, { hidden = false, signal } = {}) =>
      new Promise((resolve) => {
        const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true })
        let answered = false
        process.stderr.write(prompt)
        // readline echoes through this method; silencing it hides what is typed but keeps line editing.
        if (hidden) (lines as unknown as { _writeToOutput(text: string): void })._writeToOutput = () => {}
        lines.once('line', (line) => {
          answered = true
          if (hidden) process.stderr.write('\n')
          lines.close()
          resolve(line)
        })
        lines.once('SIGINT', () => lines.close())
        const takeBack = (): void => lines.close()
        signal?.addEventListener('abort', takeBack, { once: true })
        lines.once('close', () => {
          signal?.removeEventListener('abort', takeBack)
          process.stdin.pause()
          if (!answered) resolve(null)
        })
      }),
  }
}

/** The real terminal, environment and signals of this process. */
import { readlinkSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { isInsideEngine } from '../os/inside-engine.js'
import type { Io, Person, Sink } from './io.js'

/** Why output of this process was lost, if it was; this file is the process's own terminal, so there is one. */
export const lostOutput: { why: string | null } = { why: null }

export function processIo(): Io {
  return {
    out: sink(process.stdout),
    err: sink(process.stderr),
    env: process.env,
    cwd: currentDirectory(),
    person: process.stdin.isTTY && process.stderr.isTTY ? atTerminal() : null,
    get insideEngine() {
      return isInsideEngine(process.env)
    },
    async readStdin() {
      const chunks: Buffer[] = []
      for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks)
    },
    onSignal(listener) {
      const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
      for (const name of names) process.on(name, listener)
      return () => {
        for (const name of names) process.off(name, listener)
      }
    },
    onOutputClosed(listener) {
      const onError = (error: NodeJS.ErrnoException): void => {
        if (error.code === 'EPIPE') listener()
      }
      process.stdout.on('error', onError)
      return () => process.stdout.off('error', onError)
    },
  }
}

/** A directory that was removed under us still has a name, which the message should say; Node itself cannot go on in it. */
function currentDirectory(): string {
  try {
    return process.cwd()
  } catch {
    const name = nameOfDeleted()
    process.chdir('/')
    return name
  }
}

/** The kernel remembers it. Never a directory that exists: nothing may run in a place that nobody chose. */
function nameOfDeleted(): string {
  try {
    return readlinkSync('/proc/self/cwd').replace(/ \(deleted\)$/, '')
  } catch {
    return process.env['PWD'] ?? '/(deleted)'
  }
}

function sink(stream: NodeJS.WriteStream): Sink {
  // Whoever reads us may leave early (`| head`); that must not become a stack trace. A full disk must not become a success.
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (stream === process.stdout && error.code !== 'EPIPE') lostOutput.why ??= error.code ?? error.message
  })
  return {
    write: (text) => void stream.write(text),
    get isTTY() {
      return stream.isTTY === true
    },
    get columns() {
      return stream.columns || 80 // A terminal that does not know its size says 0.
    },
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

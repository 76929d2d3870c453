/**
 * Starts a client program (ssh, docker, kubectl, srun) whose stdin and stdout are a link, and
 * runs short ones to their end.
 */
import type { Readable, Writable } from 'node:stream'
import { startChild } from './child.js'

/** How a client ended. Its exit code says something about the client, never about a command. */
export interface ClientEnd {
  readonly code: number | null
  readonly signal: string | null
  /** The last text that the client wrote to stderr. */
  readonly stderr: string
}

export interface Client {
  readonly pid: number | null
  readonly input: Writable
  readonly output: Readable
  /** The last text on its stderr until now. */
  readonly said: string
  readonly closed: Promise<ClientEnd>
  destroy(): void
  /** Whether a running client keeps this process alive. */
  hold(isNeeded: boolean): void
}

const KEPT_STDERR = 4_096

export function startClient(argv: readonly string[]): Client {
  const [program = '', ...words] = argv
  // In a session of its own: Ctrl-C on our terminal is for the command, not for the link to it.
  const child = startChild(program, words, { stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString('utf8')).slice(-KEPT_STDERR)))
  child.stdin.on('error', () => {})
  const closed = new Promise<ClientEnd>((resolve) => {
    child.on('error', (error) => {
      stderr += error.message
      if (child.pid === undefined) resolve({ code: null, signal: null, stderr })
    })
    child.once('close', (code, signal) => resolve({ code, signal, stderr }))
  })
  const handles = [child, child.stdin, child.stdout, child.stderr] as unknown as { ref(): void; unref(): void }[]
  return {
    pid: child.pid ?? null,
    input: child.stdin,
    output: child.stdout,
    get said() {
      return stderr
    },
    closed,
    destroy() {
      child.kill('SIGKILL')
      // Something else may hold the pipes of a client that is gone.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
    },
    hold: (isNeeded) => handles.forEach((handle) => (isNeeded ? handle.ref?.() : handle.unref?.())),
  }
}

export interface Finished extends ClientEnd {
  readonly stdout: string
}

/** Runs a client to its end, which says how it went. */
export async function runClient(
  argv: readonly string[],
  { input, timeoutMs = 60_000 }: { readonly input?: string; readonly timeoutMs?: number } = {},
): Promise<Finished> {
  const client = startClient(argv)
  const chunks: Buffer[] = []
  client.output.on('data', (chunk: Buffer) => chunks.push(chunk))
  client.input.end(input ?? '')
  const timer = setTimeout(() => client.destroy(), timeoutMs)
  const end = await client.closed
  clearTimeout(timer)
  return { ...end, stdout: Buffer.concat(chunks).toString('utf8') }
}

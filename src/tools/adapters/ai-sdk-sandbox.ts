/**
 * An engine as the AI SDK's sandbox session: run, spawn, and files, all through the shell, so
 * that it works wherever the shell is.
 */
import type { Engine } from '../../contract/engine.js'
import type { Job } from '../../contract/job.js'
import type { Outcome } from '../../contract/outcome.js'
import { exitNumber, outcomeNumber } from '../reading/exit-number.js'

export interface SandboxCommand {
  readonly command: string
  readonly workingDirectory?: string
  readonly env?: Record<string, string>
  readonly abortSignal?: AbortSignal
}

export interface SandboxFile {
  readonly path: string
  readonly abortSignal?: AbortSignal
}

export interface SandboxProcess {
  readonly pid: number | undefined
  readonly stdout: ReadableStream<Uint8Array>
  readonly stderr: ReadableStream<Uint8Array>
  wait(): Promise<{ exitCode: number }>
  kill(): Promise<void>
}

export interface SandboxSession {
  readonly description: string
  run(options: SandboxCommand): Promise<{ exitCode: number; stdout: string; stderr: string }>
  spawn(options: SandboxCommand): Promise<SandboxProcess>
  readFile(options: SandboxFile): Promise<ReadableStream<Uint8Array> | null>
  readBinaryFile(options: SandboxFile): Promise<Uint8Array | null>
  readTextFile(
    options: SandboxFile & { encoding?: string; startLine?: number; endLine?: number },
  ): Promise<string | null>
  writeFile(options: SandboxFile & { content: ReadableStream<Uint8Array> }): Promise<void>
  writeBinaryFile(options: SandboxFile & { content: Uint8Array }): Promise<void>
  writeTextFile(options: SandboxFile & { content: string; encoding?: string }): Promise<void>
}

/**
 * Each `run` is a fresh shell, as the interface expects; refusals and timeouts come back as
 * exit codes with the reason in stderr.
 */
export function aiSdkSandbox(engine: Engine, options: { readonly timeoutMs?: number } = {}): SandboxSession {
  const request = ({ command, workingDirectory, env, abortSignal }: SandboxCommand) => ({
    command,
    door: 'tools' as const,
    cwd: workingDirectory,
    env,
    signal: abortSignal,
  })

  const readBinaryFile = async ({ path, abortSignal }: SandboxFile): Promise<Uint8Array | null> => {
    // base64, because a command's output is text to everything between here and the file.
    const read = await engine.run({
      command: ['base64', '-w0', '--', path],
      door: 'tools',
      clip: { kind: 'none' },
      signal: abortSignal,
    })
    if (read.status !== 'completed') {
      if (/No such file/i.test(read.stderr)) return null
      throw new Error(`Could not read ${path}: ${reasonOf(read)}`)
    }
    if (read.truncated) throw new Error(`${path} is too large to read through the shell`)
    return Uint8Array.from(Buffer.from(read.stdout, 'base64'))
  }

  const writeBinaryFile = async ({
    path,
    content,
    abortSignal,
  }: SandboxFile & { content: Uint8Array }): Promise<void> => {
    const written = await engine.run({
      command: ['bash', '-c', 'mkdir -p -- "$(dirname -- "$1")" && cat > "$1"', 'write', path],
      input: content,
      door: 'tools',
      signal: abortSignal,
    })
    if (written.status !== 'completed') throw new Error(`Could not write ${path}: ${reasonOf(written)}`)
  }

  return {
    description:
      `bash ${engine.shell.version} on ${process.platform}, working directory ${engine.cwd}. Commands run in a ` +
      'fresh shell without stdin.',
    run: async (command) => {
      const outcome = await engine.run({ ...request(command), ansi: 'strip', timeoutMs: options.timeoutMs })
      const remark = outcome.status === 'completed' || outcome.status === 'failed' ? '' : `${reasonOf(outcome)}\n`
      return { exitCode: outcomeNumber(outcome), stdout: outcome.stdout, stderr: outcome.stderr + remark }
    },
    spawn: async (command) => processOf(await engine.start({ ...request(command), streams: 'separate' })),
    readBinaryFile,
    readFile: async (file) => {
      const content = await readBinaryFile(file)
      return content === null ? null : new Blob([content as Uint8Array<ArrayBuffer>]).stream()
    },
    readTextFile: async ({ encoding, startLine, endLine, ...file }) => {
      const content = await readBinaryFile(file)
      if (content === null) return null
      const text = new TextDecoder(encoding ?? 'utf-8').decode(content)
      return startLine === undefined && endLine === undefined
        ? text
        : text
            .split('\n')
            .slice((startLine ?? 1) - 1, endLine)
            .join('\n')
    },
    writeBinaryFile,
    writeTextFile: ({ content, encoding, ...file }) =>
      writeBinaryFile({ ...file, content: Buffer.from(content, (encoding ?? 'utf-8') as BufferEncoding) }),
    writeFile: async ({ content, ...file }) =>
      writeBinaryFile({ ...file, content: new Uint8Array(await new Response(content).arrayBuffer()) }),
  }
}

async function processOf(job: Job): Promise<SandboxProcess> {
  const { pid } = await job.info()
  return {
    pid: pid ?? undefined,
    stdout: streamOf(job, 'stdout'),
    stderr: streamOf(job, 'stderr'),
    wait: async () => {
      const { info } = await job.wait({ exit: true })
      return { exitCode: exitNumber(info) }
    },
    kill: async () => {
      await job.kill()
    },
  }
}

/** Follows one stream of a job from its first byte to its end. */
function streamOf(job: Job, stream: 'stdout' | 'stderr'): ReadableStream<Uint8Array> {
  let since = 0
  return new ReadableStream({
    pull: async (controller) => {
      for (;;) {
        const { isRunning } = await job.info()
        const piece = await job.read({ stream, since, maxBytes: 65_536 })
        since = piece.cursor
        if (piece.text !== '') return controller.enqueue(new TextEncoder().encode(piece.text))
        if (!isRunning) return controller.close()
        await job.wait({ exit: true, timeoutMs: 50 })
      }
    },
  })
}

function reasonOf(outcome: Outcome): string {
  if (outcome.refused) return `blocked (${outcome.refused.rule}): ${outcome.refused.reason} ${outcome.refused.guidance}`
  if (outcome.status === 'failed') return outcome.stderr.trim() || `exit ${outcome.exitCode ?? outcome.signal}`
  return outcome.status
}

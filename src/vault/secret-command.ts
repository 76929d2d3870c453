/**
 * Values from a password manager: a command of the host's own configuration (`pass show x`,
 * `op read ...`), run outside the agent's reach and never by a shell.
 */
import { ShellError } from '../contract/errors.js'
import type { SecretSource, TokenKind } from '../contract/secret.js'
import { startChild } from '../os/process/child.js'

/** One command per secret. The argument list is taken as it is; nothing in it is ever expanded. */
export interface SecretCommandOptions {
  readonly commands: Readonly<Record<string, readonly [string, ...string[]]>>
  readonly timeoutMs?: number
  readonly maxBytes?: number
  /** The environment of the command; the agent's session variables are not part of it. */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

/**
 * A source that runs the configured command for each lookup and takes its output, without one
 * final newline, as the value.
 */
export function secretCommandSource(options: SecretCommandOptions): SecretSource {
  const commands = new Map(Object.entries(options.commands))
  return {
    async lookup(kind: TokenKind, name: string) {
      const command = kind === 'secret' ? commands.get(name) : undefined
      return command ? readSecret(name, command, options) : undefined
    },
    async names() {
      return [...commands.keys()]
    },
  }
}

function readSecret(
  name: string,
  [program, ...args]: readonly [string, ...string[]],
  options: SecretCommandOptions,
): Promise<Uint8Array> {
  const { timeoutMs = 15_000, maxBytes = 1_048_576, environment = process.env } = options
  return new Promise((resolve, reject) => {
    // Its own group, so that a helper of the password manager cannot outlive the time limit. No
    // terminal and no standard input:
    // a manager that wants to ask its user must fail here instead of waiting for ever. What it
    // writes to stderr stays unseen, it may hold the value.
    const child = startChild(program, args, {
      cwd: '/',
      // No program gets the vault's passphrase, not even another password manager.
      env: { ...environment, CERITH_PASSPHRASE: undefined, LANGO_PASSPHRASE: undefined },
      stdio: ['ignore', 'pipe', 'ignore'],
      detached: true,
    })
    const chunks: Buffer[] = []
    let size = 0
    let problem: string | undefined
    const stop = (why: string) => {
      problem ??= why
      if (child.pid !== undefined) {
        try {
          process.kill(-child.pid, 'SIGKILL')
        } catch {
          child.kill('SIGKILL')
        }
      }
      child.stdout.destroy() // a grandchild that left the group may still hold the pipe
    }
    const timer = setTimeout(() => stop(`did not answer within ${timeoutMs} ms`), timeoutMs)
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) stop(`printed more than ${maxBytes} bytes`)
      else chunks.push(chunk)
    })
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      reject(failed(name, program, `could not be started (${error.code})`))
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      const whole = Buffer.concat(chunks)
      for (const chunk of chunks) chunk.fill(0)
      if (problem) reject(failed(name, program, problem))
      else if (code !== 0)
        reject(failed(name, program, signal ? `was ended by ${signal}` : `failed with exit code ${code}`))
      else resolve(new Uint8Array(whole.at(-1) === 0x0a ? whole.subarray(0, whole.at(-2) === 0x0d ? -2 : -1) : whole))
    })
  })
}

function failed(name: string, program: string, what: string): ShellError {
  return new ShellError(
    'SECRET_REFUSED',
    `The command for {{secret:${name}}} (${program}) ${what}.`,
    'The person who runs cerith has to look at the configured command; the value was not used.',
  )
}

/**
 * Answers the password prompts of sudo -A, ssh and git from an explicit mapping, so that the
 * model neither sees nor types a password.
 */
import { randomBytes } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { chmod, lstat, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { ShellError } from '../contract/errors.js'
import { LONGEST_SOCKET_PATH } from '../os/peer/live-socket.js'
import { isSameSecret } from '../os/peer/same-secret.js'
import { runtimeArgv } from '../os/package/runtime.js'
import { quoteWord } from '../contract/quote.js'

/**
 * Which prompt gets which value. `program` and `prompt` both have to fit; a rule without
 * `prompt` fits every prompt of the program.
 */
export interface AskpassAnswer {
  readonly program: 'sudo' | 'ssh' | 'git'
  readonly prompt?: RegExp
  /** Called for each prompt, so that the value is fetched only when it is needed. */
  readonly value: () => Promise<Uint8Array | undefined>
  /** The name to report; never the value. */
  readonly name: string
}

export interface AskpassOptions {
  /** A private directory (0700); the helper makes its own inside. */
  readonly dir: string
  readonly answers: readonly AskpassAnswer[]
  /** Told of every prompt, answered or not, for the audit. */
  readonly onPrompt?: (event: { program: string; prompt: string; answeredWith: string | undefined }) => void
}

export interface Askpass {
  /**
   * Variables for the command's environment: SUDO_ASKPASS, SSH_ASKPASS, SSH_ASKPASS_REQUIRE,
   * GIT_ASKPASS. Only programs with an answer get theirs.
   */
  readonly environment: Readonly<Record<string, string>>
  /** What a command has to see for it: its programs, its socket, and what runs them. */
  readonly paths: readonly string[]
  close(): Promise<void>
}

const VARIABLE = { sudo: 'SUDO_ASKPASS', ssh: 'SSH_ASKPASS', git: 'GIT_ASKPASS' } as const
const LONGEST_PROMPT = 4096

/** Starts listening. Each program has a script of its own, so that a mapping for git is never used for sudo. */
export async function startAskpass({ dir, answers, onPrompt }: AskpassOptions): Promise<Askpass> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const info = await lstat(dir)
  if (!info.isDirectory() || (info.mode & 0o077) !== 0 || (process.getuid && info.uid !== process.getuid())) {
    throw new ShellError(
      'STATE_UNWRITABLE',
      `Not a private directory: ${dir}`,
      `Use a directory of your own with mode 700.`,
    )
  }
  const home = await mkdtemp(join(dir, 'ask-'))
  const socketPath = join(home, 's')
  if (Buffer.byteLength(socketPath) > LONGEST_SOCKET_PATH) {
    await rm(home, { recursive: true, force: true })
    throw new ShellError(
      'STATE_UNWRITABLE',
      `The path of the askpass socket is too long: ${socketPath}`,
      'Use a directory with a shorter path.',
    )
  }
  // The ticket is in the scripts, which only we can read: a process that merely finds the socket gets nothing.
  const tickets = new Map(answers.map(({ program }) => [program, randomBytes(24).toString('hex')] as const))
  const environment: Record<string, string> = {}
  const client = join(home, 'ask.mjs')
  await writeFile(client, CLIENT, { mode: 0o600, flag: 'wx' })
  for (const [program, ticket] of tickets) {
    const script = join(home, program)
    await writeFile(script, scriptFor(client, socketPath, ticket), { mode: 0o700, flag: 'wx' })
    await chmod(script, 0o700)
    environment[VARIABLE[program]] = script
    if (program === 'ssh') environment.SSH_ASKPASS_REQUIRE = 'force'
  }
  const programOf = (ticket: string) => [...tickets].find(([, known]) => isSameSecret(ticket, known))?.[0]

  async function reply(socket: Socket, request: string): Promise<void> {
    const newline = request.indexOf('\n')
    const program = programOf(request.slice(0, newline))
    const prompt = request.slice(newline + 1)
    const rule = answers.find(
      (answer) => answer.program === program && (answer.prompt === undefined || fits(answer.prompt, prompt)),
    )
    const value = await rule?.value().catch(() => undefined)
    if (program) onPrompt?.({ program, prompt, answeredWith: value ? rule?.name : undefined })
    if (value) {
      socket.write('+')
      socket.write(value)
    }
    socket.end()
  }

  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    let request = ''
    socket.setEncoding('utf8')
    socket.setTimeout(5_000, () => socket.destroy())
    socket.on('data', (chunk: string) => {
      request += chunk
      if (request.length > LONGEST_PROMPT) socket.destroy()
    })
    socket.on('end', () => void reply(socket, request).catch(() => socket.destroy()))
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await listen(server, socketPath)
  await chmod(socketPath, 0o600)
  server.unref()
  return {
    environment,
    paths: [home, socketPath, dirname(realpathSync(process.execPath))],
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await rm(home, { recursive: true, force: true })
    },
  }
}

function fits(pattern: RegExp, prompt: string): boolean {
  return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(prompt)
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve())
  })
}

/** The environment is emptied first: a NODE_OPTIONS of the command must not load code into the helper. */
function scriptFor(client: string, socketPath: string, ticket: string): string {
  return `#!/bin/sh\nexec env -i ${[...runtimeArgv(), client, socketPath].map(quoteWord).join(' ')} ${ticket} "$@"\n`
}

/**
 * Sends the ticket and the prompt, prints the answer and a newline; without an answer it prints
 * nothing and fails, which every asker takes as a refusal.
 */
const CLIENT = `import { connect } from 'node:net'
const [socketPath, ticket, ...prompt] = process.argv.slice(2)
const socket = connect(socketPath, () => socket.end(ticket + '\\n' + prompt.join(' ').slice(0, 4000)))
const chunks = []
socket.on('data', (chunk) => chunks.push(chunk))
socket.on('error', () => process.exit(1))
socket.on('close', () => {
  const answer = Buffer.concat(chunks)
  if (answer[0] !== 0x2b) process.exit(1)
  process.stdout.write(Buffer.concat([answer.subarray(1), Buffer.from('\\n')]))
})
`

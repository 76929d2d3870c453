/**
 * The doctor's MCP self-test: starts `cerith mcp` as a client would, in both eras of the protocol, and calls a tool.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startChild, type PipedChild } from '../../os/process/child.js'
import { distFile } from '../../os/package/file.js'
import { broken, degraded, ok, type Finding } from './finding.js'
import type { Io } from '../io/io.js'

/** Generous: an emulated processor on a busy machine needs more than a minute. */
const LIMIT_MS = 180_000
const WORD = 'cerith-self-test'
const CALL = { name: 'Bash', arguments: { command: `echo ${WORD}` } }
const WHO = { name: 'cerith doctor', version: '1' }

type Message = {
  readonly id?: number
  readonly method?: string
  readonly params?: Record<string, unknown>
  readonly result?: unknown
  readonly error?: { readonly message?: string }
}

/** What a client of each era says; the answer to the last one must hold the word. */
const ERAS: Readonly<Record<string, readonly Message[]>> = {
  'MCP 2025': [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: WHO } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: CALL },
  ],
  'MCP 2026': [
    {
      id: 2,
      method: 'tools/call',
      params: {
        ...CALL,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': WHO,
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    },
  ],
}

export async function mcpFindings(io: Io): Promise<Finding[]> {
  const cli = distFile('cli.cjs')
  if (!existsSync(cli)) return [degraded('MCP', 'the built program was not found', 'Run `npm run build`.')]
  return Promise.all(Object.entries(ERAS).map(([name, messages]) => tryEra(name, messages, cli, io)))
}

async function tryEra(name: string, messages: readonly Message[], cli: string, io: Io): Promise<Finding> {
  // A state directory of its own: a self-test must not meet the jobs of the person who runs it.
  const home = mkdtempSync(join(tmpdir(), 'cerith-doctor-'))
  const startedAt = Date.now()
  const child = startChild(process.execPath, [cli, 'mcp'], {
    env: { ...io.env, CERITH_HOME: home } as NodeJS.ProcessEnv,
    cwd: io.cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let complaint = ''
  child.once('error', ({ message }) => (complaint = `${message} in ${io.cwd}`))
  child.stderr.on('data', (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-300)))
  child.stdin.on('error', () => {})
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
  try {
    const answer = await converse(messages, child)
    if (answer.error) return failed(name, `answered with an error: ${answer.error.message ?? 'unknown'}`)
    if (!JSON.stringify(answer.result ?? null).includes(WORD))
      return failed(name, 'the tool did not answer with the output of its command')
    return ok(name, `answers on stdio (${Date.now() - startedAt} ms from start to result)`)
  } catch (error) {
    return failed(name, `${(error as Error).message}${complaint ? `: ${complaint.trim().split('\n').at(-1)}` : ''}`)
  } finally {
    child.stdin.end()
    await gone
    clearTimeout(timer)
    rmSync(home, { recursive: true, force: true })
  }
}

async function converse(messages: readonly Message[], child: PipedChild): Promise<Message> {
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let last: Message = {}
  for (const message of messages) {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    while (message.id !== undefined && last.id !== message.id) {
      const { value, done } = await lines.next()
      if (done)
        throw new Error(child.killed ? `no answer within ${LIMIT_MS / 1_000} s` : 'the server ended before it answered')
      last = JSON.parse(value) as Message
    }
  }
  return last
}

function failed(name: string, detail: string): Finding {
  return broken(name, detail, 'Run `cerith mcp` by hand and see what it says on stderr.')
}

/** From nothing: how long until the first answer, against a Node that does nothing and against a first spawn. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compare } from './lib/ratio.js'

const home = mkdtempSync(join(tmpdir(), 'cerith-bench-'))
const env = { ...process.env, CERITH_HOME: home }
const cli = join(process.cwd(), 'dist', 'cli.cjs')
const library = JSON.stringify(join(process.cwd(), 'dist', 'index.js'))
const rounds = 20

const node =
  (...argv: readonly string[]) =>
  async (): Promise<void> => {
    const { status, stderr } = spawnSync(process.execPath, argv, { env, stdio: ['ignore', 'ignore', 'pipe'] })
    if (status !== 0) throw new Error(String(stderr))
  }
const message = JSON.stringify({
  hook_event_name: 'PreToolUse',
  tool_name: 'Bash',
  tool_input: { command: 'git status && npm test' },
  cwd: process.cwd(),
})
const hook = async (): Promise<void> => {
  const { status, stderr } = spawnSync(process.execPath, [cli, 'hook', 'claude-code'], { env, input: message })
  if (status !== 0) throw new Error(String(stderr))
}
const module = (text: string) => node('--input-type=module', '-e', text)

// A server that ends in order leaves the code that it was compiled to; measured ones are killed at their answer.
spawnSync(process.execPath, [cli, 'mcp'], { env, input: '' })
await compare(
  'the command line, against a Node that does nothing',
  [
    ['node -e 0', node('-e', '0')],
    ["cerith run ':'", node(cli, 'run', ':')],
    ["cerith check 'ls'", node(cli, 'check', 'ls')],
    ['cerith hook claude-code', hook],
    ['MCP: initialize + tools/list', () => askTools()],
  ],
  rounds,
)
await compare(
  'the library, first command, against a first spawn',
  [
    [
      'spawn',
      module(`import { spawn } from 'node:child_process'
      const child = spawn('bash', ['-c', ':']); child.stdout.on('data', () => {}); child.on('close', () => process.exit())`),
    ],
    [
      'createEngine + run',
      module(`import { createEngine } from ${library}
      const engine = await createEngine(); await engine.run({ command: ':' }); process.exit()`),
    ],
  ],
  rounds,
)
rmSync(home, { recursive: true, force: true })

/** What a host does before it shows the model its tools. */
function askTools(): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = spawn(process.execPath, [cli, 'mcp'], { env, stdio: ['pipe', 'pipe', 'ignore'] })
    const say = (message: object): unknown => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const clientInfo = { name: 'bench', version: '1' }
    say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } })
    let text = ''
    server.stdout.on('data', (chunk: Buffer) => {
      text += chunk
      if (/"id":2[,}]/.test(text)) return server.kill('SIGKILL')
      if (!/"id":1[,}]/.test(text) || text.includes('asked')) return
      text += 'asked'
      say({ method: 'notifications/initialized' })
      say({ id: 2, method: 'tools/list' })
    })
    server.on('error', reject)
    server.on('exit', () => resolve())
  })
}

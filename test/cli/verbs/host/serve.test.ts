/**
 * `cerith serve` and `cerith mcp` as a newcomer starts them: what they say, what answers, and that Ctrl-C ends
 * everything.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { welcome } from '../../../../src/cli/verbs/host/welcome.js'
import { temporaryFolder } from '../../../fixtures/folder.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const base = temporaryFolder('serve')
const home = join(base, 'state')

async function until(child: ChildProcess, text: string): Promise<string> {
  let seen = ''
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      seen += chunk.toString()
      if (seen.includes(text)) resolve()
    })
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${seen}`)))
  })
  return seen
}

test('serve says in 25 lines what it is, where, and what to paste; a client can call it; Ctrl-C ends everything', async () => {
  const child = spawn(process.execPath, [join(root, 'dist/cli.js'), 'serve', '--port', '0'], {
    env: { ...process.env, CERITH_HOME: home, HOME: base },
    cwd: base,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const text = await until(child, 'Ctrl-C')
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(25)
  for (const name of ['Claude Code', 'Codex', 'Gemini CLI', 'VS Code', 'http-tokens']) expect(text).toContain(name)
  // By absolute paths: through npx a host may wait too long.
  expect(text).toContain(`"command":"${process.execPath}","args":["${realpathSync(join(root, 'dist/cli.js'))}","mcp"]`)
  const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(text)?.[0] as string
  const file = join(home, 'http-tokens')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const token = /^default\s+(\S+)/m.exec(readFileSync(file, 'utf8'))?.[1] as string
  expect(text).not.toContain(token)

  const call = (authorization: string) =>
    fetch(url, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'initialize',
        params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
      }),
    })
  expect((await call('Bearer wrong')).status).toBe(401)
  const answer = await call(`Bearer ${token}`)
  expect(answer.status).toBe(200)
  expect(await answer.text()).toContain('cerith')

  const session = answer.headers.get('mcp-session-id') as string
  const told = until(child, 'exit 3')
  const run = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-session-id': session,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'Bash', arguments: { command: 'echo told; exit 3' } },
    }),
  })
  expect(await run.text()).toContain('told')
  expect(await told).toMatch(/^\d\d:\d\d:\d\d {2}test \S+ {2}exit 3 {2}\d+ ms {2}echo told; exit 3$/m)

  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGINT')
  expect(await ended).toBe(0)
})

test('the start script of a clone is the command line, with its exit code', async () => {
  const child = spawn(process.execPath, [join(root, 'scripts/start.mjs'), 'run', 'echo hi; exit 4'], {
    env: { ...process.env, CERITH_HOME: home },
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(4)
  expect(out).toBe('hi\n')
})

test('the welcome quotes a path with spaces and names every client', () => {
  const text = welcome({
    url: 'http://127.0.0.1:1/mcp',
    tokenFile: "/a b/it's",
    clients: ['ann', 'bob'],
    program: ['/bin/node', '/a/cli.cjs'],
  })
  expect(text).toContain(String.raw`'/a b/it'\''s'`)
  expect(text).toContain('clients ann, bob')
  expect(text).toContain('{"mcpServers":{"cerith":{"command":"/bin/node","args":["/a/cli.cjs","mcp"]}}}')
})

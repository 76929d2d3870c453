/** `--at`: the verbs of the command line and the MCP server at another place. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../engine/harness.js'

const program = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url))

function cli(folder: string, words: readonly string[], input = '') {
  const env = { ...process.env, CERITH_HOME: join(folder, 'home'), XDG_CONFIG_HOME: join(folder, 'config') }
  const settings = ['--set', `reach.uploadDir=${join(folder, 'code')}`, '--set', 'reach.leaseMs=5000']
  const all = words.includes('run') ? words.flatMap((word) => (word === 'run' ? ['run', ...settings] : [word])) : words
  return spawnSync(process.execPath, [program, ...all], { cwd: folder, env, input, encoding: 'utf8', timeout: 60_000 })
}

test('run: output, exit code and a session that the next process goes on with', () => {
  const folder = temporaryFolder()
  expect(cli(folder, ['--at', 'loop:', 'run', 'echo out; echo err >&2; exit 7'])).toMatchObject({
    status: 7,
    stdout: 'out\n',
    stderr: 'err\n',
  })
  expect(cli(folder, ['--at=loop:', 'run', '--session', 's', 'x=5; cd /usr'])).toMatchObject({ status: 0 })
  expect(cli(folder, ['--at', 'loop:', 'run', '--session', 's', 'echo $x $PWD'])).toMatchObject({ stdout: '5 /usr\n' })
  expect(cli(folder, ['--at', 'loop:', 'run', '--cwd', '/usr/bin', 'pwd'])).toMatchObject({ stdout: '/usr/bin\n' })
})

test('a place that is none, and one that is not there, are errors with a hint', () => {
  const folder = temporaryFolder()
  expect(cli(folder, ['--at', 'ftp://x', 'run', 'true'])).toMatchObject({
    status: 125,
    stderr: expect.stringContaining('ssh://host'),
  })
  expect(cli(folder, ['--at'])).toMatchObject({ status: 125, stderr: expect.stringContaining('--at needs') })
})

test('a project may not set the place, the arguments of its client or the runtime', () => {
  const folder = temporaryFolder()
  for (const settings of [
    { at: 'ssh://x' },
    { reach: { clientArgs: ['-oProxyCommand=id'] } },
    { reach: { runtime: '/tmp/x' } },
  ]) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'cerith.config.json'), JSON.stringify(settings))
    expect(cli(folder, ['run', 'true'])).toMatchObject({
      status: 125,
      stderr: expect.stringContaining('cannot be set by a project'),
    })
  }
})

test('mcp: the instructions name the place, and a call runs there', () => {
  const folder = temporaryFolder()
  const messages = [
    {
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'Bash', arguments: { command: 'echo $((6*7))' } } },
  ]
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('')
  const script = `(printf '%s' "$INPUT"; sleep 8) | '${process.execPath}' '${program}' mcp --at loop: --set reach.uploadDir=${folder}/code`
  const env = { ...process.env, CERITH_HOME: join(folder, 'home'), INPUT: input }
  const { stdout } = spawnSync('bash', ['-c', script], { cwd: folder, env, encoding: 'utf8', timeout: 60_000 })
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id?: number; result?: unknown })
  expect(JSON.stringify(answers.find(({ id }) => id === 1))).toContain('Shell at loop:')
  expect(JSON.stringify(answers.find(({ id }) => id === 2))).toContain('42')
})

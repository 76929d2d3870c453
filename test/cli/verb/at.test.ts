/** `--at`: the verbs of the command line and the MCP server at another place. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { expect, test } from 'vitest'
import { temporaryFolder, until } from '../../engine/harness.js'
import { canConfine } from '../../engine/sandbox/harness.js'
import { processesOf } from '../../reach/harness.js'
import { clientFor, ERAS, textOf } from '../../mcp/harness.js'

const program = fileURLToPath(new URL('../../../dist/cli.cjs', import.meta.url))

const SETTABLE = ['run', 'accept', 'discard']

function cli(folder: string, words: readonly string[], input = '', cwd = folder) {
  const env = { ...process.env, CERITH_HOME: join(folder, 'home'), XDG_CONFIG_HOME: join(folder, 'config') }
  const settings = ['--set', `reach.uploadDir=${join(folder, 'code')}`, '--set', 'reach.leaseMs=5000']
  const all = words.flatMap((word) => (SETTABLE.includes(word) ? [word, ...settings] : [word]))
  return spawnSync(process.execPath, [program, ...all], { cwd, env, input, encoding: 'utf8', timeout: 110_000 })
}

test('run: output, exit code and a session that the next process goes on with', () => {
  const folder = temporaryFolder()
  expect(cli(folder, ['--at', 'loop:', 'run', 'echo out; echo err >&2; exit 7'])).toMatchObject({
    status: 7,
    stdout: 'out\n',
    stderr: 'err\n',
  })
  const going = cli(folder, ['--at', 'loop:', 'run', '--yield', '50', 'sleep 1'])
  expect(going.stderr).toMatch(
    /^cerith: still running as (\w+); cerith --at loop: read \1 --follow, cerith --at loop: wait/,
  )
  expect(cli(folder, ['--at=loop:', 'run', '--session', 's', 'x=5; cd /usr'])).toMatchObject({ status: 0, stderr: '' })
  expect(cli(folder, ['--at', 'loop:', 'run', '--session', 's', 'echo $x $PWD'])).toMatchObject({ stdout: '5 /usr\n' })
  expect(cli(folder, ['--at', 'loop:', 'run', '--cwd', '/usr/bin', 'pwd'])).toMatchObject({ stdout: '/usr/bin\n' })
})

test.skipIf(!canConfine)(
  'run --try: what was tried there is told with the place, and settled by the next process',
  () => {
    const folder = temporaryFolder()
    const work = temporaryFolder()
    const there = (...words: string[]) => cli(folder, ['--at', 'loop:', ...words], '', work)
    const tried = there('run', '--try', '--session', 's', 'echo 1 >one; echo 2 >two')
    expect(tried.stderr).toMatch(/^cerith: try_\w+: 2 added, .* cerith --at loop: diff, cerith --at loop: accept,/)
    expect(there('diff', 'one').stderr).toMatch(/: 1 added; cerith --at loop: accept, or cerith --at loop: discard\n$/)
    expect(there('accept', 'one')).toMatchObject({ status: 0, stdout: `${join(work, 'one')}\n` })
    expect(there('discard')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Discarded 1 changes/) })
    expect([existsSync(join(work, 'one')), existsSync(join(work, 'two'))]).toEqual([true, false])
  },
)

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

test('mcp: the instructions name the place, and a call runs there', async () => {
  const folder = temporaryFolder()
  const env = { ...process.env, CERITH_HOME: join(folder, 'home') }
  const words = ['mcp', '--at', 'loop:', '--set', `reach.uploadDir=${folder}/code`]
  const server = spawn(process.execPath, [program, ...words], { cwd: folder, env, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => server.once('exit', resolve))
  const answers = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
  const ask = async (id: number, method: string, params: object): Promise<string> => {
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    for (;;) {
      const { value } = await answers.next()
      if ((JSON.parse(value as string) as { id?: number }).id === id) return value as string
    }
  }
  const clientInfo = { name: 't', version: '1' }
  const hello = await ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  expect(hello).toContain('Shell at loop:')
  server.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  expect(await ask(2, 'tools/call', { name: 'Bash', arguments: { command: 'echo $((6*7))' } })).toContain('42')
  server.stdin.end()
  await ended
})

/** Nothing listens there: curl's own exit code shows that it was run. */
const ASKS = 'curl -s http://127.0.0.1:9/'

test('run: a question that no terminal can answer is found by `cerith approve`, and its yes counts there once', () => {
  const folder = temporaryFolder()
  const run = (): ReturnType<typeof cli> =>
    cli(folder, ['--at', 'loop:', 'run', '--set', 'policy.preset=careful', '--json', ASKS])
  const refused = JSON.parse(run().stdout) as { status: string; approval_id: string }
  expect(refused).toMatchObject({ status: 'refused', approval_id: expect.stringMatching(/^ask_/) })
  expect(cli(folder, ['approve']).stdout).toMatch(/directory loop: \//)
  expect(cli(folder, ['approve', '--yes', refused.approval_id])).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('Approved once'),
  })
  expect(JSON.parse(run().stdout)).toMatchObject({ status: 'failed', exit_code: 7 })
  expect(JSON.parse(run().stdout)).toMatchObject({ status: 'refused' })
})

test.each(ERAS)('mcp: the form of a client of the %s era asks about a command there', async (era) => {
  const folder = temporaryFolder()
  const forms: string[] = []
  const client = clientFor(era, { capabilities: { elicitation: { form: {} } } })
  const answers = ['allow once', 'deny']
  client.setRequestHandler('elicitation/create', ({ params }) => {
    forms.push(params.message)
    return { action: 'accept', content: { decision: answers[forms.length - 1] ?? 'deny' } }
  })
  const words = ['mcp', '--at', 'loop:', '--set', `reach.uploadDir=${folder}/code`, '--set', 'policy.preset=careful']
  const env = { ...(process.env as Record<string, string>), CERITH_HOME: join(folder, 'home') }
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, ...words],
      cwd: folder,
      env,
      stderr: 'inherit',
    }),
  )
  try {
    const call = async (): Promise<string> =>
      textOf((await client.callTool({ name: 'Bash', arguments: { command: ASKS } })) as never)
    expect(await call()).toContain('exit 7')
    expect(await call()).toContain('declined')
    // Our own copy of the command, and where it would run.
    expect(forms).toHaveLength(2)
    for (const form of forms) expect(form).toMatch(/curl -s http:\/\/127\.0\.0\.1:9\/[^]*Directory: loop: \//)
  } finally {
    await client.close()
  }
})

test('ps and sessions tell of the place that the settings name, and of nothing here', () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'config/cerith'), { recursive: true })
  const reach = { uploadDir: join(folder, 'code'), leaseMs: 20_000 }
  writeFileSync(join(folder, 'config/cerith/cerith.config.json'), JSON.stringify({ at: 'loop:', reach }))
  const told = (...words: string[]): string => {
    const { status, stdout, stderr } = cli(folder, words)
    expect({ status, stderr }, words.join(' ')).toEqual({ status: 0, stderr: '' })
    return stdout
  }
  told('run', '--session', 's', 'x=5; cd /usr')
  const id = told('run', '--background', 'exec sleep 600').trim()
  // The numbers of its processes mean others here.
  const { jobs, sessions } = JSON.parse(told('ps', '--json')) as Record<string, readonly object[]>
  expect(jobs).toMatchObject([{ id, status: 'running', cpu_ms: null, memory_bytes: null, ports: [] }])
  expect(sessions).toMatchObject([{ name: 's', cwd: '/usr', busy: false, saved_at: null }])
  expect(told('ps')).toMatch(/^s +idle .* \/usr$/m)
  expect(told('sessions')).toMatch(/^s +idle +1 +\/usr$/m)
  told('sessions', 'fork', 's', 't')
  expect(told('run', '--session', 't', 'echo $x')).toBe('5\n')
  told('sessions', 'close', 's')
  expect(JSON.parse(told('sessions', '--json'))).toMatchObject({ sessions: [{ name: 't', cwd: '/usr' }] })
  expect(cli(folder, ['sessions', 'close', 's']).stderr).toContain('There is no session s')
  expect(cli(folder, ['sessions', 'rename', 't', 'u']).stderr).toContain('fork NAME NEW')
  told('kill', id)
})

test('a session whose engine there was killed between two processes is a new shell, and says so once', async () => {
  const folder = temporaryFolder()
  const run = (command: string) => cli(folder, ['--at', 'loop:', 'run', '--session', 'constructor', command])
  expect(run('x=5')).toMatchObject({ status: 0, stderr: '' })
  expect(run('echo [$x]')).toMatchObject({ stdout: '[5]\n', stderr: '' })
  const engines = (): number[] => processesOf((words) => words.some((word) => word.startsWith(`${folder}/code`)))
  expect(engines()).not.toEqual([])
  for (const pid of engines()) process.kill(pid, 'SIGKILL')
  await until(() => engines().length === 0, 'it has ended')
  expect(run('echo [$x]')).toMatchObject({
    stdout: '[]\n',
    stderr: expect.stringContaining('constructor on loop: is gone'),
  })
  expect(run('echo [$x]')).toMatchObject({ stdout: '[]\n', stderr: '' })
})

// `npm run test:hosts [NAME...]`: our MCP server with the hosts, inspectors and suites of others, offline once they are
// installed. They are kept in a cache outside the repository. What cannot run here is skipped and says why; what fails
// makes the exit code 1.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const root = dirname(dirname(here))
const cache = process.env.CERITH_HOSTS_CACHE ?? join(tmpdir(), `cerith-hosts-${process.getuid?.() ?? 0}`)
// What hosts and servers leave in the temporary directory goes with the run; the cache stays.
const temporary = mkdtempSync(join(tmpdir(), 'ch-'))
process.env.TMPDIR = temporary
process.on('exit', () => {
  try {
    rmSync(temporary, { recursive: true, force: true, maxRetries: 5 })
  } catch (error) {
    // A process of a host that ends later than the host still writes there.
    console.error(`left behind: ${error.message}`)
  }
})
const budgetMs = Number(process.env.CERITH_HOSTS_MS ?? 10 * 60_000)
const until = Date.now() + budgetMs
const cli = join(root, 'dist', 'cli.js')
const hookCli = join(root, 'dist', 'cli.cjs')

/** Versions that these checks were written against. */
const PACKAGES = {
  node22: ['node@22.23.3'],
  inspector: ['@modelcontextprotocol/inspector@2.12.0'],
  conformance: ['@modelcontextprotocol/conformance@0.2.0-alpha.12'],
  langchain: ['@langchain/mcp-adapters@1.1.4', '@langchain/core@1.2.13', '@langchain/langgraph@1.4.10'],
  claude: ['@anthropic-ai/claude-code@2.1.197'],
  codex: ['@openai/codex@0.166.0'],
  gemini: ['@google/gemini-cli@0.61.0'],
}

const CHECKS = {
  inspector,
  conformance,
  langchain,
  claude: () => play('claude'),
  codex: () => play('codex'),
  gemini: () => play('gemini'),
  'hook-claude': () => hook('claude'),
  'hook-codex': () => hook('codex'),
  'hook-gemini': () => hook('gemini'),
  'ask-claude': ask,
  'long-claude': () => long('claude'),
  'long-codex': () => long('codex'),
  'long-gemini': () => long('gemini'),
}

class Skip extends Error {}

const wanted = process.argv.slice(2)
// What takes minutes is played when it is named.
const names = wanted.length > 0 ? wanted : Object.keys(CHECKS).filter((name) => !name.startsWith('long-'))
for (const name of names)
  if (!(name in CHECKS)) fail(`There is no check ${name}. There are ${Object.keys(CHECKS).join(', ')}.`)
const built = spawnSync(process.execPath, [join(root, 'scripts/build.mjs'), '--if-stale', '--no-types'], {
  encoding: 'utf8',
})
if (built.status !== 0) fail(`The build failed:\n${built.stdout}${built.stderr}`)

let failed = 0
/** Characters of each outcome that reached the model, by host. */
const reached = {}
for (const name of names) {
  const startedAt = Date.now()
  try {
    if (Date.now() > until) throw new Skip(`the time for all checks together (${budgetMs / 1_000} s) is over`)
    const said = await CHECKS[name]()
    console.log(`ok    ${name}: ${said} (${seconds(startedAt)})`)
  } catch (error) {
    if (!(error instanceof Skip)) failed += 1
    console.log(`${error instanceof Skip ? 'skip ' : 'FAIL '} ${name}: ${error.message} (${seconds(startedAt)})`)
  }
}
if (Object.keys(reached).length > 0) console.log(`\n${writeTable()}`)
process.exit(failed > 0 ? 1 : 0)

/** The table of docs/mcp.md: what was played now anew, the rest as it was seen last. */
function writeTable() {
  const page = join(root, 'docs/mcp.md')
  const [before, rest] = readFileSync(page, 'utf8').split('<!-- hosts -->\n')
  const [old, after] = rest.split('<!-- /hosts -->')
  const cells = (line) => line.split('|').map((cell) => cell.trim())
  const rows = new Map(
    old
      .split('\n')
      .slice(2, -1)
      .map((line) => [cells(line)[1], cells(line).slice(2, -1)]),
  )
  for (const [at, host] of ['claude', 'codex', 'gemini'].entries())
    for (const [what, count] of Object.entries(reached[host] ?? {}))
      rows.set(what, (rows.get(what) ?? ['', '', '']).with(at, String(count)))
  const lines = [...rows].map(([what, counts]) => `| ${what} | ${counts.join(' | ')} |`)
  const table = ['| characters | Claude Code | Codex | Gemini CLI |', '|---|---|---|---|', ...lines].join('\n')
  writeFileSync(page, `${before}<!-- hosts -->\n${table}\n<!-- /hosts -->${after}`)
  return table
}

async function inspector() {
  const node = modernNode()
  const bin = join(installed('inspector'), 'node_modules/@modelcontextprotocol/inspector')
  const [entry] = Object.values(JSON.parse(readFileSync(join(bin, 'package.json'), 'utf8')).bin)
  const state = scratch()
  // It hands few variables on to the server, but HOME is one of them.
  const inspect = (...args) =>
    run([node, join(bin, entry), '--cli', ...args], {
      timeoutMs: 60_000,
      env: { CERITH_HOME: state, HOME: state, XDG_STATE_HOME: undefined },
    })
  const strict = await inspect(node, cli, 'mcp', '--method', 'tools/list', '--strict')
  expect(
    strict.code === 0 && !/\b[1-9]\d* errors?\b/.test(strict.output),
    `--strict found mistakes in the schemas: ${strict.output.slice(-600)}`,
  )
  for (const era of ['legacy', 'modern']) {
    const call = await inspect(
      node,
      cli,
      'mcp',
      '--protocol-era',
      era,
      '--method',
      'tools/call',
      '--tool-name',
      'Bash',
      '--tool-args-json',
      '{"command":"exit 3"}',
      '--format',
      'json',
    )
    expect(
      call.code === 5 && /"exit_code":3/.test(call.output) && /\[exit 3/.test(call.output),
      `${era}: exit 3 came out as ${call.code}: ${call.output.slice(-400)}`,
    )
  }
  const load = await inspect(
    node,
    cli,
    'mcp',
    '--method',
    'tools/call',
    '--tool-name',
    'Bash',
    '--tool-args-json',
    '{"command":"true"}',
    '--load',
    '--load-concurrency',
    '4',
    '--load-requests',
    '100',
    '--format',
    'json',
  )
  expect(load.code === 0, `under load: ${load.output.slice(-400)}`)
  const http = await startHttp(state)
  try {
    for (const era of ['legacy', 'modern']) {
      const list = await inspect(
        http.url,
        '--transport',
        'http',
        '--header',
        `Authorization: Bearer ${http.token}`,
        '--protocol-era',
        era,
        '--method',
        'tools/list',
        '--format',
        'json',
      )
      expect(list.code === 0 && /"BashOutput"/.test(list.output), `over HTTP, ${era}: ${list.output.slice(-400)}`)
    }
  } finally {
    await http.stop()
  }
  rmSync(state, { recursive: true, force: true })
  return 'strict list, both eras on stdio and over HTTP, 100 calls at a time of 4'
}

/** `cerith serve` on a free port. */
async function startHttp(state) {
  const server = spawn(process.execPath, [cli, 'serve', '--port', '0'], {
    env: { ...process.env, CERITH_HOME: state },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise((resolve, reject) => {
    let said = ''
    server.stdout.setEncoding('utf8').on('data', (text) => {
      said += text
      const found = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(said)
      if (found) resolve(found[0])
    })
    server.once('exit', () => reject(new Error(`cerith serve ended: ${said}`)))
  })
  const [, token] = readFileSync(join(state, 'http-tokens'), 'utf8').trim().split(' ')
  return {
    url,
    token,
    stop: async () => {
      server.kill('SIGTERM')
      await new Promise((resolve) => server.once('exit', resolve))
    },
  }
}

async function conformance() {
  const node = modernNode()
  const suite = join(installed('conformance'), 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
  const out = scratch()
  await bundle(join(here, 'conformance-server.ts'), out)
  const server = spawn(process.execPath, [join(out, 'conformance-server.js'), join(out, 'state')], {
    env: {
      ...process.env,
      CERITH_HELPER: join(root, 'dist/native', `cerith-helper-${process.platform}-${process.arch}`),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const url = await new Promise((resolve, reject) => {
      server.stdout.once('data', (line) => resolve(String(line).trim()))
      server.once('exit', () => reject(new Error('the fixture server ended')))
    })
    const said = []
    for (const revision of ['2025-11-25', '2026-07-28']) {
      const { code, output } = await run([node, suite, 'server', '--url', url, '--requirements', revision], {
        timeoutMs: 180_000,
        cwd: out,
      })
      const [scored = '', rest = ''] = output.split('=== SUMMARY ===').at(-1).split('Not scored')
      const unscored = [...rest.matchAll(/[✓✗] (\S+) \((\S+)\)/g)].map(([mark, name, reason]) => ({
        name,
        reason,
        ok: mark.startsWith('✓'),
      }))
      const lines = [...scored.matchAll(/([✓✗]) (\S+): (\d+) passed, (\d+) failed/g)].filter(
        ([, , name]) => !unscored.some((one) => one.name === name),
      )
      const broken = lines.filter(([, mark]) => mark === '✗').map(([, , name]) => name)
      expect(
        code === 0 && lines.length > 20 && broken.length === 0,
        `${revision}: ${broken.join(', ') || output.slice(-600)}`,
      )
      const left = unscored.filter(({ ok }) => !ok).map(({ name, reason }) => `${name} [${reason}]`)
      said.push(
        `${revision} ${lines.length} of ${lines.length} scenarios${left.length > 0 ? `, not applicable: ${left.join(', ')}` : ''}`,
      )
    }
    return said.join('; ')
  } finally {
    server.kill('SIGTERM')
    await new Promise((resolve) => server.once('exit', resolve))
    rmSync(out, { recursive: true, force: true })
  }
}

async function langchain() {
  const state = scratch()
  installed('langchain')
  const result = lastJson(
    await run([modernNode(), join(here, 'langchain.mjs'), cache, cli], {
      timeoutMs: 60_000,
      env: { CERITH_HOME: state },
    }),
  )
  rmSync(state, { recursive: true, force: true })
  expect(result.ok, result.problems.join('\n'))
  return 'five scenes'
}

/** A real host, alone with a scripted model on a network of its own. */
async function play(host) {
  const node = modernNode()
  installed(host)
  const alone = networkless()
  const once = () => run([...alone, node, join(here, 'play.mjs'), host, cache, cli], { timeoutMs: 120_000 })
  let result = lastJson(await once())
  for (let tries = 0; result.noTools && tries < 3; tries++) result = lastJson(await once())
  expect(result.ok, `${result.problems.join('\n')}\n${result.output ?? ''}`)
  reached[host] = result.reached
  const kill = () =>
    run([...alone, node, join(here, 'play.mjs'), host, cache, cli], {
      timeoutMs: 60_000,
      env: { PLAY_KILL: `979.${process.pid}${Date.now() % 1e6}` },
    })
  let killed = lastJson(await kill())
  for (let tries = 0; killed.noTools && tries < 3; tries++) killed = lastJson(await kill())
  expect(killed.ok, `killed with -9: ${killed.problems.join('\n')}`)
  return `success, failure, refusal, timeout and yield reached the model; killed with -9 its command was gone after ${killed.afterMs} ms`
}

/**
 * A command of 50 s with the server as it is by default, a server that is killed under a call, and the call after that.
 */
async function long(host) {
  const node = modernNode()
  installed(host)
  const once = () =>
    run([...networkless(), node, join(here, 'play.mjs'), host, cache, cli], {
      timeoutMs: 200_000,
      env: { PLAY_LONG: '1' },
    })
  let result = lastJson(await once())
  for (let tries = 0; result.noTools && tries < 3; tries++) result = lastJson(await once())
  expect(result.ok, `${result.problems.join('\n')}\n${result.output ?? ''}`)
  reached[host] = { ...reached[host], ...result.reached }
  return `after a killed server the model reads ${JSON.stringify(result.seen[1])} and then ${JSON.stringify(result.seen[2])}`
}

/** Our hook in front of a real host's own shell tool. The denied command would fail harmlessly if it were run. */
/** A person in front of Claude Code answers the form of a question: once yes, once no. */
async function ask() {
  const node = modernNode()
  installed('claude')
  if (spawnSync('tmux', ['-V']).status !== 0) throw new Skip('there is no tmux to show the host in')
  const answer = async (...keys) =>
    lastJson(
      await run([...networkless(), node, join(here, 'ask-play.mjs'), cache, cli, ...keys], { timeoutMs: 150_000 }),
    )
  const yes = await answer('Right', 'Enter', 'Enter')
  expect(/curl[^]*talks to the network/.test(yes.form), `the form did not come: ${yes.screen}`)
  expect(/it ran: 7/.test(yes.seen), `allowed, the model reads ${yes.seen || yes.screen}`)
  const no = await answer('Down', 'Right', 'Enter')
  expect(/cerith approve ask_/.test(no.seen), `declined, the model reads ${no.seen || no.screen}`)
  return 'the form is shown; accepted the command ran, declined the model was told who can allow it'
}

async function hook(host) {
  const node = modernNode()
  installed(host)
  const alone = networkless()
  const show = async (flags, commands, env = {}) =>
    lastJson(
      await run([...alone, node, join(here, 'hook-play.mjs'), host, cache, hookCli, ...flags, '--', ...commands], {
        timeoutMs: 100_000,
        env,
      }),
    )
  const { seen, audit, ...rest } = await show(
    ['--auto-allow', 'readonly'],
    ['mkfs.ext4 /dev/sdzz9', 'ls /etc/hostname', "grep -c 'rm -rf /' /etc/hostname"],
  )
  const said = `${JSON.stringify(seen)} ${JSON.stringify(rest)}`.slice(0, 1_500)
  expect(/destroy-device.*Use an image file/.test(seen?.[0]), `the denial did not reach the model: ${said}`)
  expect(/etc.hostname/.test(seen[1]), `a read-only command did not pass: ${said}`)
  expect(/0|exit/i.test(seen[2]) && !/cerith/.test(seen[2]), `text about rm was blocked: ${said}`)
  expect(
    audit.map(({ status }) => status).join() === 'deny,allow,allow' &&
      audit.every(({ client }) => client === (host === 'claude' ? 'claude-code' : host)),
    `the audit log has ${JSON.stringify(audit)}`,
  )
  const asked = await show(['--set', 'policy.preset=careful'], ['curl -s http://127.0.0.1:9/'])
  expect(/network/.test(asked.seen?.[0]), `a question did not become the host's refusal: ${JSON.stringify(asked)}`)
  const wrapped = await show(['--wrap'], ['cd /usr; X=five', 'echo $PWD-$X; (exit 3)'], { PLAY_ALLOW: '1' })
  expect(
    /\/usr-five/.test(wrapped.seen?.[1]) && /\b3\b/.test(wrapped.seen[1]),
    `state or exit code lost with --wrap: ${JSON.stringify(wrapped).slice(0, 1_500)}`,
  )
  if (host !== 'codex') {
    const plugin = await show([], ['mkfs.ext4 /dev/sdzz9'], { PLAY_PACKAGED: '1' })
    expect(/destroy-device/.test(plugin.seen?.[0]), `the packaged hook did not speak: ${JSON.stringify(plugin)}`)
  }
  return 'denied with guidance, read-only without a question, ask as the host refuses headless, --wrap keeps cd and variables'
}

function networkless() {
  const alone = [
    ['unshare', '-n'],
    ['unshare', '-r', '-n'],
  ].find(([command, ...args]) => spawnSync(command, [...args, 'true']).status === 0)
  if (!alone) throw new Skip('unshare -n is not allowed here, and hosts must not reach the network')
  return alone
}

/** Some need a newer Node than we do. */
function modernNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 19)
    ? process.execPath
    : join(installed('node22'), 'node_modules/node/bin/node')
}

/** The folder where the packages are; installs them once. */
function installed(name) {
  const dir = join(cache, name)
  const stamp = join(dir, '.installed')
  const versions = PACKAGES[name].join(' ')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === versions) return dir
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'package.json'), '{"private":true}')
  const path = name === 'node22' ? process.env.PATH : `${dirname(modernNode())}:${process.env.PATH}`
  const result = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...PACKAGES[name]], {
    cwd: dir,
    encoding: 'utf8',
    timeout: Math.max(1_000, Math.min(240_000, until - Date.now())),
    env: { ...process.env, PATH: path },
  })
  if (result.status !== 0)
    throw new Skip(
      `${versions} could not be installed: ${(result.stderr || String(result.error ?? result.signal)).trim().split('\n').at(-1)}`,
    )
  writeFileSync(stamp, versions)
  return dir
}

async function bundle(file, dir) {
  const { rolldown } = await import('rolldown')
  const build = await rolldown({
    cwd: root,
    input: file,
    platform: 'node',
    tsconfig: false,
    external: (id) => id.startsWith('node:') || /^@(?:xterm|napi-rs|opentelemetry)\//.test(id),
    onLog: () => {},
  })
  await build.write({ dir, format: 'esm', entryFileNames: '[name].js' })
  await build.close()
}

/** Runs to the end or to the time limit; the whole group is ended then. */
function run([command, ...args], { timeoutMs, env = {}, cwd = tmpdir() }) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    const timer = setTimeout(
      () => {
        output += '\n(ended: it took too long)'
        process.kill(-Number(child.pid), 'SIGKILL')
      },
      Math.max(1_000, Math.min(timeoutMs, until - Date.now())),
    )
    child.once('error', (error) => (output += String(error)))
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve({ code, output })
    })
  })
}

function lastJson({ output }) {
  const line = output
    .trim()
    .split('\n')
    .findLast((one) => one.startsWith('{'))
  try {
    return JSON.parse(line)
  } catch {
    return { ok: false, problems: [output.slice(-800)] }
  }
}

function scratch() {
  return mkdtempSync(join(tmpdir(), 'cerith-hosts-run-'))
}

function expect(ok, otherwise) {
  if (!ok) throw new Error(otherwise)
}

function seconds(since) {
  return `${((Date.now() - since) / 1_000).toFixed(1)} s`
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

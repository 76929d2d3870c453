// Runs inside a private network namespace: starts the scripted model, lets a real host play the scenes against our
// server, and checks what reached the model. Prints one JSON line.
//   node play.mjs HOST CACHE SERVER...
// With PLAY_KILL the host is killed (-9) during the first command instead, and nothing may be left of it.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { MARK, SCENES, YIELD_MS } from './scenes.mjs'
import { startModel } from './scripted-model.mjs'

const [host, cache, ...server] = process.argv.slice(2)
spawnSync('ip', ['link', 'set', 'lo', 'up'])
const home = mkdtempSync(join(tmpdir(), `cerith-play-${host}-`))
const work = join(home, 'work')
mkdirSync(work)
const command = process.env.PLAY_NODE ?? process.execPath
// A command longer than hosts wait is played with the server as it is by default.
const { PLAY_LONG: long } = process.env
const flags = long ? [] : ['--yield', String(YIELD_MS), '--set', 'policy.preset=careful']
/** What a person would paste into the settings of the host. */
const entry = spawnSync(
  command,
  [...server, 'mcp', '--print-config', host === 'claude' ? 'claude-code' : host, ...flags],
  { encoding: 'utf8' },
).stdout
// Hosts written in JavaScript find the same node that runs this.
const env = {
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: home,
  CERITH_HOME: join(home, 'state'),
  TERM: 'dumb',
  CI: '1',
}
const bin = join(cache, host, 'node_modules', '.bin')

const HOSTS = {
  claude: {
    vendor: 'anthropic',
    prepare() {
      const { mcpServers } = JSON.parse(entry)
      mcpServers.cerith.env = { CERITH_HOME: env.CERITH_HOME }
      writeFileSync(join(home, 'mcp.json'), JSON.stringify({ mcpServers }))
    },
    run: (url) => ({
      argv: [
        join(bin, 'claude'),
        '-p',
        'run it',
        '--mcp-config',
        join(home, 'mcp.json'),
        '--strict-mcp-config',
        '--allowedTools',
        'mcp__cerith__Bash',
        '--output-format',
        'json',
      ],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: 'x',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        IS_SANDBOX: '1',
        ENABLE_TOOL_SEARCH: 'false',
      },
    }),
  },
  codex: {
    vendor: 'openai',
    prepare(url) {
      mkdirSync(join(home, '.codex'))
      writeFileSync(
        join(home, '.codex', 'config.toml'),
        `model = "fake"\nmodel_provider = "fake"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n[model_providers.fake]\nname = "fake"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n${entry}env = { CERITH_HOME = ${JSON.stringify(env.CERITH_HOME)} }\n`,
      )
    },
    run: () => ({ argv: [join(bin, 'codex'), 'exec', '--skip-git-repo-check', 'run it'], env: { FAKE_KEY: 'x' } }),
  },
  gemini: {
    vendor: 'gemini',
    prepare() {
      mkdirSync(join(home, '.gemini'))
      writeFileSync(
        join(home, '.gemini', 'settings.json'),
        JSON.stringify({
          security: { auth: { selectedType: 'gemini-api-key' } },
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
          general: { disableAutoUpdate: true },
          mcpServers: {
            cerith: { ...JSON.parse(entry).mcpServers.cerith, trust: true, env: { CERITH_HOME: env.CERITH_HOME } },
          },
        }),
      )
    },
    // Otherwise it starts itself again as a child, and that one would survive the kill.
    run: (url) => ({
      argv: [join(bin, 'gemini'), '-y', '-m', 'gemini-2.5-flash', '-p', 'run it'],
      env: {
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_API_KEY: 'x',
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
        GEMINI_CLI_NO_RELAUNCH: 'true',
      },
    }),
  },
}

/** Processes that sleep for the marked time. */
function sleepers() {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1') === `sleep\0${process.env.PLAY_KILL}\0`
    } catch {
      return false
    }
  })
}

/** Claude and Gemini prefix the names of a server's tools; Codex groups them in a namespace, or lists them flat. */
function findOurs(tools) {
  const args = (scene) => scene.args
  for (const tool of tools) {
    if (tool.type === 'namespace' && /cerith/.test(tool.name))
      return { name: tool.tools.find(({ name }) => /Bash$/.test(name))?.name, namespace: tool.name, args }
    if (/cerith.*Bash$/.test(tool.name)) return { name: tool.name, args }
  }
  return null
}

/** The tools that a request offers, however the vendor lists them. */
function toolsIn({ tools = [] } = {}) {
  return tools.flatMap((tool) => tool.functionDeclarations ?? [tool])
}

const { vendor, prepare, run } = HOSTS[host]
const model = await startModel(vendor, { scenes: SCENES, findTool: findOurs })
prepare(model.url)
const { argv, env: extra } = run(model.url)
const child = spawn(argv[0], argv.slice(1), {
  cwd: work,
  env: { ...env, ...extra },
  stdio: ['ignore', 'pipe', 'pipe'],
  detached: true,
})
let output = ''
for (const stream of [child.stdout, child.stderr])
  stream.on('data', (chunk) => (output = (output + chunk).slice(-4_000)))
const { PLAY_KILL: sleeping } = process.env
if (sleeping) {
  while (sleepers().length < 2 && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 50))
  const found = sleepers().length
  if (child.exitCode === null) process.kill(child.pid, 'SIGKILL')
  const since = Date.now()
  while (sleepers().length > 0 && Date.now() - since < 20_000) await new Promise((resolve) => setTimeout(resolve, 20))
  const left = sleepers().length
  const ok = found >= 2 && left === 0
  console.log(
    JSON.stringify({
      ok,
      problems: ok ? [] : [`${found} processes ran, ${left} were left`],
      noTools: found === 0,
      afterMs: Date.now() - since,
    }),
  )
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  process.exit(0)
}
/** Ends the server as the kernel would when memory runs out, once its command runs. */
async function killServer() {
  while (child.exitCode === null && !existsSync(MARK)) await new Promise((resolve) => setTimeout(resolve, 50))
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const [line, own] = ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'latin1'))
      if (/^cerith\0*$/.test(line) && own.includes(`CERITH_HOME=${env.CERITH_HOME}\0`))
        process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It ended while we looked.
    }
  }
}
if (long) void killServer().then(() => rmSync(MARK, { force: true }))
const timer = setTimeout(
  () => {
    try {
      process.kill(-Number(child.pid), 'SIGKILL')
    } catch {
      // It ended by itself.
    }
  },
  Number(process.env.PLAY_MS ?? (long ? 150_000 : 90_000)),
)
await new Promise((resolve) => child.once('close', resolve))
clearTimeout(timer)
model.close()

const problems = []
for (const [at, { what, facts }] of SCENES.entries()) {
  const reached = model.seen[at]
  if (reached === undefined) problems.push(`${what}: nothing reached the model`)
  else
    for (const fact of facts)
      if (!fact.test(reached)) problems.push(`${what}: ${fact} did not reach the model, but ${reached.slice(0, 300)}`)
}
if (process.env.PLAY_KEEP)
  writeFileSync(process.env.PLAY_KEEP, JSON.stringify({ seen: model.seen, requests: model.requests, output }, null, 1))
// A host that was too busy to wait for its servers asks its model without any tool of cerith: that says nothing about
// cerith.
const hadTools = model.requests.some(({ body }) => findOurs(toolsIn(body)))
console.log(
  JSON.stringify({
    ok: problems.length === 0,
    problems,
    noTools: model.seen.length === 0 && !hadTools,
    reached: Object.fromEntries(SCENES.map(({ what }, at) => [what, model.seen[at]?.length ?? 0])),
    ...(long ? { seen: SCENES.map((_, at) => model.seen[at]?.slice(0, 600) ?? null) } : {}),
    ...(problems.length > 0 && model.seen.length === 0 ? { output: output.slice(-600) } : {}),
  }),
)
rmSync(home, { recursive: true, force: true, maxRetries: 5 })

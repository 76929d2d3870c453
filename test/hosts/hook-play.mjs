// Runs inside a private network namespace: a real host with its own shell tool, our hook in front of it, and a scripted
// model that asks for commands. Prints one JSON line: what reached the model, what happened on disk, what was audited.
//   node hook-play.mjs HOST CACHE CLI FLAGS... -- COMMAND...
// With PLAY_PACKAGED the plugin or extension of the package brings the hook instead of `hook install`.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { startModel } from './scripted-model.mjs'

const [host, cache, cli, ...rest] = process.argv.slice(2)
const flags = rest.slice(0, rest.indexOf('--'))
const commands = rest.slice(rest.indexOf('--') + 1)
spawnSync('ip', ['link', 'set', 'lo', 'up'])
const home = mkdtempSync(join(tmpdir(), `cerith-hook-${host}-`))
const work = join(home, 'work')
mkdirSync(work)
const env = {
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: home,
  CERITH_HOME: join(home, 'state'),
  SHELL: '/bin/bash',
  TERM: 'dumb',
  CI: '1',
}
const bin = join(cache, host, 'node_modules', '.bin')
const { PLAY_PACKAGED: packaged, PLAY_ALLOW: allow } = process.env
const folder = (name) => join(dirname(dirname(cli)), 'hosts', name)

const HOSTS = {
  claude: {
    vendor: 'anthropic',
    tool: (tools) => named(tools, /^Bash$/, (command) => ({ command, description: 'a scene' })),
    run: (url) => ({
      argv: [
        join(bin, 'claude'),
        '-p',
        'run it',
        '--output-format',
        'json',
        ...(allow ? ['--allowedTools', 'Bash'] : []),
        ...(packaged ? ['--plugin-dir', folder('claude-plugin')] : []),
      ],
      env: {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: 'x',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
        IS_SANDBOX: '1',
      },
    }),
  },
  codex: {
    vendor: 'openai',
    tool: (tools) =>
      named(tools, /^exec_command$/, (cmd) => ({ cmd })) ??
      named(tools, /^shell_command$/, (command) => ({ command })) ??
      named(tools, /^shell$/, (command) => ({ command: ['bash', '-lc', command] })),
    prepare(url) {
      mkdirSync(join(home, '.codex'), { recursive: true })
      writeFileSync(
        join(home, '.codex', 'config.toml'),
        `model = "fake"\nmodel_provider = "fake"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n[model_providers.fake]\nname = "fake"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n`,
      )
    },
    run: () => ({
      argv: [join(bin, 'codex'), 'exec', '--skip-git-repo-check', '--dangerously-bypass-hook-trust', 'run it'],
      env: { FAKE_KEY: 'x' },
    }),
  },
  gemini: {
    vendor: 'gemini',
    tool: (tools) => named(tools, /^run_shell_command$/, (command) => ({ command, description: 'a scene' })),
    prepare() {
      mkdirSync(join(home, '.gemini'), { recursive: true })
      writeFileSync(
        join(home, '.gemini', 'settings.json'),
        JSON.stringify({
          security: { auth: { selectedType: 'gemini-api-key' } },
          privacy: { usageStatisticsEnabled: false },
          telemetry: { enabled: false },
          general: { disableAutoUpdate: true },
        }),
      )
    },
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

function named(tools, pattern, args) {
  const tool = tools.find(({ name }) => pattern.test(name ?? ''))
  return tool ? { name: tool.name, args: ({ command }) => args(command) } : null
}

const { vendor, tool, prepare, run } = HOSTS[host]
const model = await startModel(vendor, { scenes: commands.map((command) => ({ command })), findTool: tool })
prepare?.(model.url)
const installed = packaged
  ? host === 'gemini'
    ? spawnSync(join(bin, 'gemini'), ['extensions', 'link', folder('gemini-extension'), '--consent'], {
        env: { ...env, ...run(model.url).env },
        cwd: work,
        encoding: 'utf8',
        timeout: 60_000,
      })
    : { stdout: '', stderr: '' }
  : spawnSync(process.execPath, [cli, 'hook', 'install', host, ...flags], { env, cwd: work, encoding: 'utf8' })
const { argv, env: extra } = run(model.url)
const child = spawn(argv[0], argv.slice(1), { cwd: work, env: { ...env, ...extra }, stdio: ['ignore', 'pipe', 'pipe'] })
let output = ''
for (const stream of [child.stdout, child.stderr])
  stream.on('data', (chunk) => (output = (output + chunk).slice(-4_000)))
const timer = setTimeout(() => child.kill('SIGKILL'), Number(process.env.PLAY_MS ?? 80_000))
await new Promise((resolve) => child.once('close', resolve))
clearTimeout(timer)
model.close()
const log = join(home, 'state', 'audit.jsonl')
const audit = existsSync(log)
  ? readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  : []
console.log(
  JSON.stringify({
    installed: installed.stdout + installed.stderr,
    seen: model.seen,
    files: existsSync(join(work, 'touched')),
    audit: audit
      .filter(({ kind }) => kind === 'hook')
      .map(({ command, decision, status, client }) => ({ command, decision, status, client })),
    ...(model.seen.length < commands.length ? { output: output.slice(-1_500), tools: toolNames() } : {}),
  }),
)
rmSync(home, { recursive: true, force: true, maxRetries: 5 })

function toolNames() {
  const { body } = model.requests.findLast(({ body: { tools } }) => tools) ?? { body: {} }
  return (body.tools ?? []).flatMap(({ name, functionDeclarations = [{ name }] }) =>
    functionDeclarations.map((each) => each.name),
  )
}

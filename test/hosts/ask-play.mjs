// Runs inside a private network namespace: Claude Code in a terminal (tmux), a scripted model whose command needs a
// person's word, and the keys that a person would press in the form that the host shows. Prints one JSON line with what
// the model read.
//   node ask-play.mjs CACHE SERVER KEY...
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startModel } from './scripted-model.mjs'

const [cache, server, ...keys] = process.argv.slice(2)
spawnSync('ip', ['link', 'set', 'lo', 'up'])
const home = mkdtempSync(join(tmpdir(), 'ask-'))
const work = join(home, 'work')
mkdirSync(work)
const words = [server, 'mcp', '--print-config', 'claude-code', '--set', 'policy.preset=careful']
const { mcpServers } = JSON.parse(spawnSync(process.execPath, words, { encoding: 'utf8' }).stdout)
mcpServers.cerith.env = { CERITH_HOME: join(home, 'state') }
writeFileSync(join(home, 'mcp.json'), JSON.stringify({ mcpServers }))
// What a person has answered at the first start.
const settings = {
  hasCompletedOnboarding: true,
  theme: 'dark',
  customApiKeyResponses: { approved: ['x'], rejected: [] },
  projects: { [work]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
}
writeFileSync(join(home, '.claude.json'), JSON.stringify(settings))
const scenes = [{ args: { command: 'curl -s http://127.0.0.1:9/; echo "it ran: $?"' } }]
const findTool = (tools) => {
  const name = tools.map((tool) => tool.name).find((one) => /cerith.*Bash$/.test(one))
  return name ? { name, args: (scene) => scene.args } : null
}
const model = await startModel('anthropic', { scenes, findTool })
const env = {
  PATH: process.env.PATH,
  HOME: home,
  TMUX_TMPDIR: home,
  TERM: 'xterm-256color',
  LANG: 'C.UTF-8',
  ANTHROPIC_BASE_URL: model.url,
  ANTHROPIC_API_KEY: 'x',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  IS_SANDBOX: '1',
  ENABLE_TOOL_SEARCH: 'false',
}
const tmux = (...args) => spawnSync('tmux', ['-L', 'ask', '-f', '/dev/null', ...args], { env, encoding: 'utf8' }).stdout
const claude = join(cache, 'claude', 'node_modules', '.bin', 'claude')
const flags = `--mcp-config ${join(home, 'mcp.json')} --strict-mcp-config --allowedTools mcp__cerith__Bash`
tmux('new-session', '-d', '-x', '130', '-y', '45', '-c', work, `${claude} ${flags} -- 'run it'`)

let screen = ''
async function until(isThere) {
  const limit = Date.now() + 40_000
  while (!isThere() && Date.now() < limit) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    screen = tmux('capture-pane', '-p') ?? ''
  }
}
await until(() => /Run this command\?[^]*Decision: .*not set/.test(screen))
const form = screen
for (const key of keys) {
  const before = screen
  tmux('send-keys', key)
  await until(() => screen !== before || model.seen.length > 0)
}
await until(() => model.seen.length > 0)
console.log(JSON.stringify({ form, seen: model.seen[0] ?? '', screen }))
tmux('kill-server')
model.close()
process.exit(0) // Its files go with the temporary directory of the whole run.

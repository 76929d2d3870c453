import { describe, expect, test } from 'vitest'
import type { AutomationRule } from '../../../src/contract/request.js'
import { inspect } from '../../../src/guard/inspect.js'
import type { GuardContext } from '../../../src/guard/policy/context.js'

const lango = (enabled: boolean): AutomationRule[] => [
  { program: 'lango', subcommands: ['cron'], tools: 'cron_add, cron_list, cron_remove', feature: 'Cron', enabled },
  {
    program: 'lango',
    subcommands: ['bg', 'background'],
    tools: 'bg_submit, bg_status',
    feature: 'Background',
    enabled,
  },
  { program: 'lango', subcommands: ['workflow'], tools: 'workflow_run, workflow_list', feature: 'Workflow', enabled },
]
const base: GuardContext = { cwd: '/home/u/proj', home: '/home/u', automation: lango(true) }

describe('SEC-04: own automation goes through built-in tools', () => {
  test.each([
    'lango cron add x',
    'lango bg list',
    'lango background list',
    'lango workflow run f.yaml',
    'LANGO CRON list',
    'l"an"go cr\\on list',
    '/usr/local/bin/lango cron list',
    'cd /tmp && lango cron list',
    'echo $(lango cron list)',
    'sudo env X=1 lango cron list',
    "bash -c 'lango cron list'",
    'x=cron; lango $x list',
    'lango --verbose cron list',
    'echo list | xargs lango cron',
    'nohup lango bg list &',
    'true\nlango cron list',
    'timeout 5 lango workflow list',
    'eval lango cron list',
    'f(){ lango cron list; }; f',
  ])('%s is refused and names the tools', (command) => {
    const verdict = inspect(command, base)
    expect(verdict).toMatchObject({ decision: 'deny', rule: 'own-automation', dangerous: false })
    expect(verdict.reason).toContain('built-in')
    expect(verdict.reason).toMatch(/cron_add|bg_submit|workflow_run/)
  })

  test('with the feature off the message says to enable it in Settings', () => {
    const verdict = inspect('lango cron list', { ...base, automation: lango(false) })
    expect(verdict.decision).toBe('deny')
    expect(verdict.reason).toMatch(/Enable the Cron feature in Settings/)
    expect(verdict.reason).toContain('cron_add')
    expect(verdict.reason).toContain('built-in')
  })

  test.each([
    'lango version',
    'lango serve',
    'echo lango cron',
    "grep 'lango cron' notes",
    'langoo cron',
    './run lango cron',
    'ls lango',
    'git commit -m "lango cron list"',
  ])('%s runs', (command) => {
    expect(inspect(command, base).decision).toBe('allow')
  })

  test('the same mechanism guards any program, as a whole when no sub-commands are given', () => {
    const automation: AutomationRule[] = [
      { program: 'cerith', subcommands: [], tools: 'bash, bash_output', feature: 'Shell', enabled: true },
    ]
    expect(inspect('cerith run ls', { ...base, automation }).rule).toBe('own-automation')
    expect(inspect('npx cerith kill x', { ...base, automation }).rule).toBe('own-automation')
    expect(inspect('echo cerith', { ...base, automation }).decision).toBe('allow')
    for (const command of [
      'node /usr/lib/node_modules/cerith/dist/cli.cjs approve x',
      'systemd-run --user node --no-warnings ~/.npm/lib/node_modules/cerith/dist/cli.js approve x',
      'node_modules/cerith/dist/cli.cjs approve x',
    ])
      expect(inspect(command, { ...base, automation }).rule, command).toBe('own-automation')
    for (const command of [
      'node dist/cli.js run',
      'node node_modules/other/dist/cli.js kill',
      'cat cerith/dist/cli.js',
    ])
      expect(inspect(command, { ...base, automation }).decision, command).toBe('allow')
  })
})

describe('our own processes are not to be killed', () => {
  const own = { pids: [4242, 100], names: ['node', 'cerith'] }

  test.each([
    'kill 4242',
    'kill -9 4242',
    'kill -- -4242',
    'kill -TERM -4242',
    'p=4242; kill $p',
    'echo 4242 | xargs kill',
    'pkill node',
    'pkill -9 nod',
    'killall node',
    'killall -9 node',
    'pkill -x node',
    'pkill -f cerith',
    'sudo pkill node',
    "pkill 'no.e'",
  ])('%s is refused', (command) => {
    expect(inspect(command, { ...base, own })).toMatchObject({ decision: 'deny', rule: 'kill-host' })
  })

  test.each([
    'kill 4243',
    'kill -0 4242',
    'pkill vite',
    'killall nodemon',
    'pkill -f "node server.js"',
    'pkill -x nod',
    'kill %1',
    'pgrep node',
    'kill -l',
  ])('%s runs', (command) => {
    expect(inspect(command, { ...base, own }).decision).toBe('allow')
  })
})

/**
 * Each host's messages, as the hosts of test:hosts send them (Cursor's and VS Code's as their documentation shows
 * them).
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { answerHook, type HookOptions } from '../../src/hooks/hook.js'
import { hasTerminal } from '../../src/os/user/terminal.js'
import { HOOK_HOSTS, type HookHostName } from '../../src/hooks/hosts/index.js'
import { temporaryFolder } from '../fixtures/folder.js'

let home: string
beforeAll(() => void (home = temporaryFolder('hook')))

const NAMES = Object.keys(HOOK_HOSTS) as HookHostName[]

const MESSAGES: Record<HookHostName, (command: string) => object> = {
  'claude-code': (command) => ({
    session_id: 's1',
    transcript_path: '/t',
    cwd: home,
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command, description: 'x' },
    tool_use_id: 'toolu_1',
  }),
  codex: (command) => ({
    session_id: 's1',
    turn_id: 't1',
    transcript_path: null,
    cwd: home,
    hook_event_name: 'PreToolUse',
    model: 'm',
    permission_mode: 'default',
    tool_name: 'Bash',
    tool_input: { command },
    tool_use_id: 'c1',
  }),
  gemini: (command) => ({
    session_id: 's1',
    transcript_path: '/t',
    cwd: home,
    hook_event_name: 'BeforeTool',
    timestamp: '2026-01-01T00:00:00Z',
    tool_name: 'run_shell_command',
    tool_input: { command, description: 'x' },
  }),
  cursor: (command) => ({
    conversation_id: 's1',
    generation_id: 'g1',
    hook_event_name: 'beforeShellExecution',
    workspace_roots: [home],
    command,
    cwd: '',
  }),
  vscode: (command) => ({
    timestamp: '2026-01-01T00:00:00Z',
    cwd: home,
    sessionId: 's1',
    hook_event_name: 'PreToolUse',
    tool_name: 'run_in_terminal',
    tool_input: { command, explanation: 'x', isBackground: false },
    tool_use_id: 'u1',
  }),
}

const DENIED = 'mkfs.ext4 /dev/sdzz9'
const READS = 'git log --oneline | head -3'
const WRITES = 'npm test'
const ASKED = 'curl -s http://127.0.0.1:9/'
const CAREFUL = { flags: ['policy.preset=careful'] }

async function reply(host: HookHostName, command: string | object, options: Partial<HookOptions> = {}) {
  const message = typeof command === 'string' ? MESSAGES[host](command) : command
  const { stdout, stderr, exitCode } = await answerHook(host, JSON.stringify(message), {
    autoAllow: 'nothing',
    fail: 'closed',
    wrap: null,
    cwd: home,
    env: { HOME: home, CERITH_HOME: join(home, 'state'), PATH: process.env['PATH'] },
    ...options,
  })
  return { said: stdout === '' ? null : (JSON.parse(stdout) as Record<string, unknown>), stderr, exitCode }
}

const pre = (output: object) => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...output } })
const why = expect.stringMatching(/^cerith \(destroy-device\): .*disk.*\. Use .+/) as string
const question = expect.stringContaining('network') as string

describe('deny', () => {
  test.each<[HookHostName, object]>([
    ['claude-code', pre({ permissionDecision: 'deny', permissionDecisionReason: why })],
    ['codex', pre({ permissionDecision: 'deny', permissionDecisionReason: why })],
    ['vscode', pre({ permissionDecision: 'deny', permissionDecisionReason: why })],
    ['gemini', { decision: 'deny', reason: why }],
    ['cursor', { permission: 'deny', user_message: why, agent_message: why }],
  ])('%s hears it with the reason and what to do instead', async (host, said) => {
    expect(await reply(host, DENIED)).toEqual({ said, stderr: '', exitCode: 0 })
  })
})

describe('ask', () => {
  test.each<[HookHostName, object]>([
    ['claude-code', pre({ permissionDecision: 'ask', permissionDecisionReason: question })],
    ['vscode', pre({ permissionDecision: 'ask', permissionDecisionReason: question })],
    ['cursor', { permission: 'ask', user_message: question, agent_message: question }],
    // Codex has no question for hooks.
    [
      'codex',
      pre({ permissionDecision: 'deny', permissionDecisionReason: expect.stringContaining('person') as string }),
    ],
  ])('%s puts its own question', async (host, said) => {
    expect((await reply(host, ASKED, CAREFUL)).said).toEqual(said)
  })

  test('gemini asks on a terminal, and denies where its question would hang', async () => {
    const decision = hasTerminal() ? 'ask' : 'deny'
    expect((await reply('gemini', ASKED, CAREFUL)).said).toEqual({ decision, reason: question })
  })
})

describe('allow', () => {
  test.each(NAMES)('%s decides by itself', async (host) => {
    expect((await reply(host, WRITES)).said).toEqual(host === 'cursor' ? {} : null)
    expect((await reply(host, READS)).said).toEqual(host === 'cursor' ? {} : null)
  })

  const auto = { autoAllow: 'readonly' } as const
  const isAllowed = async (command: string): Promise<boolean> =>
    JSON.stringify((await reply('claude-code', command, auto)).said).includes('"allow"')

  test.each([
    READS,
    'ls -la',
    "grep -rn 'rm -rf /' src",
    'cat package.json',
    'find . -name x',
    'pwd',
    'git diff | wc -l',
  ])('with --auto-allow readonly `%s` passes without a question', async (command) =>
    expect(await isAllowed(command)).toBe(true),
  )

  test.each([
    WRITES,
    'rm x',
    'echo x > f',
    'ls; touch f',
    'cat ~/.ssh/id_ed25519',
    'cat .env',
    'head -3 /proc/self/environ',
    'find . -name x -delete',
    'git push',
    'sed -i s/a/b/ f',
    'LD_PRELOAD=./x.so ls',
    'GIT_EXTERNAL_DIFF=./x git diff',
    'git -c core.pager=./x log',
    '$(cat cmd)',
    './ls',
    'PATH=.:$PATH ls',
  ])('with --auto-allow readonly `%s` is left to the host', async (command) =>
    expect(await isAllowed(command)).toBe(false),
  )

  test('cursor is told at once, codex at its own question', async () => {
    expect((await reply('cursor', READS, auto)).said).toEqual({ permission: 'allow' })
    expect((await reply('codex', READS, auto)).said).toBeNull()
    const atQuestion = (command: string) => ({ ...MESSAGES.codex(command), hook_event_name: 'PermissionRequest' })
    expect((await reply('codex', atQuestion(READS), auto)).said).toEqual({
      hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'allow' } },
    })
    expect((await reply('codex', atQuestion(WRITES), auto)).said).toBeNull()
  })
})

describe('--wrap', () => {
  const wrap = ['/node', '/cli.cjs', 'run']
  const command = expect.stringMatching(
    /^\/node \/cli\.cjs run --session [a-z-]+-[0-9a-f]{16} -- 'echo '\\''a b'\\'''$/,
  ) as string
  test.each<[HookHostName, object]>([
    ['claude-code', pre({ updatedInput: { command, description: 'x' } })],
    ['vscode', pre({ updatedInput: { command, explanation: 'x', isBackground: false } })],
    ['codex', pre({ permissionDecision: 'allow', updatedInput: { command } })],
    ['gemini', { hookSpecificOutput: { tool_input: { command, description: 'x' } } }],
    ['cursor', { permission: 'ask', updated_input: { command } }],
  ])('%s runs the command through cerith, in a session of the conversation', async (host, said) => {
    expect((await reply(host, "echo 'a b'", { wrap })).said).toEqual(said)
    expect(JSON.stringify((await reply(host, DENIED, { wrap })).said)).not.toContain('cli.cjs')
  })
})

describe('what is none of its business, or broken', () => {
  test.each(['claude-code', 'codex', 'gemini', 'vscode'] as const)(
    '%s: other tools and events pass in silence',
    async (host) => {
      const silent = { said: null, stderr: '', exitCode: 0 }
      expect(await reply(host, { ...MESSAGES[host]('x'), tool_name: 'Read' })).toEqual(silent)
      expect(await reply(host, { ...MESSAGES[host]('x'), hook_event_name: 'PostToolUse' })).toEqual(silent)
    },
  )

  test.each(NAMES)('%s: a broken message blocks, or passes with --fail open', async (host) => {
    const words = expect.stringContaining('could not judge') as string
    for (const text of ['', '{', '[]', 'null', '{"hook_event_name": 3}', '{"tool_name": "Bash"}', '\u0000']) {
      const options = { autoAllow: 'nothing', wrap: null, cwd: home, env: { HOME: home } } as const
      const closed = await answerHook(host, text, { ...options, fail: 'closed' })
      expect(closed.stdout + closed.stderr).not.toMatch(/\n\s+at /)
      if (host === 'cursor')
        expect(JSON.parse(closed.stdout)).toMatchObject({ permission: 'deny', agent_message: words })
      else expect(closed).toEqual({ stdout: '', stderr: words, exitCode: 2 })
      const open = await answerHook(host, text, { ...options, fail: 'open' })
      expect(open).toEqual({ stdout: '', stderr: words, exitCode: 0 })
    }
  })

  test('a broken configuration blocks with its words', async () => {
    const broken = await reply('claude-code', 'ls', { flags: ['policy.preset=nonsense'] })
    expect(broken).toEqual({ said: null, exitCode: 2, stderr: expect.stringContaining('policy.preset') as string })
  })

  test.each([
    "echo '{}' > ~/.claude/settings.json",
    'rm .claude/settings.json',
    'rm -rf ~/.claude',
    'cerith hook uninstall claude-code',
    'npx cerith hook uninstall claude-code',
  ])('`%s` cannot take the hook away', async (command) => {
    mkdirSync(join(home, '.claude'), { recursive: true })
    writeFileSync(join(home, '.claude', 'settings.json'), '{}')
    expect((await reply('claude-code', command)).said).toMatchObject({
      hookSpecificOutput: { permissionDecision: 'deny' },
    })
  })
})

test('every decision is in the audit log, with the host', async () => {
  await reply('gemini', 'echo audited')
  const lines = readFileSync(join(home, 'state', 'audit.jsonl'), 'utf8')
    .trim()
    .split('\n')
  expect(JSON.parse(lines.at(-1) as string)).toMatchObject({
    door: 'hook',
    kind: 'hook',
    client: 'gemini',
    command: 'echo audited',
    decision: 'allow',
    status: 'none',
  })
})

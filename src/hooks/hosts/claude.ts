/** Claude Code: `PreToolUse` on `Bash`. VS Code speaks the same protocol with another tool name. */
import {
  exit2,
  json,
  optionalText,
  recordOf,
  SILENT,
  textOf,
  type HookCall,
  type HookDecision,
  type HookHost,
  type HookReply,
} from '../protocol.js'

export const claude: HookHost = {
  title: 'Claude Code',
  read: (message, cwd) => readToolUse(message, cwd, ['Bash']),
  example: (command, cwd) => exampleOf('Bash', command, cwd),
  write: writeToolUse,
  block: exit2,
  settings: {
    user: '.claude/settings.json',
    project: '.claude/settings.json',
    homeVariable: 'CLAUDE_CONFIG_DIR',
    entries: (command) => [
      { event: 'PreToolUse', entry: { matcher: 'Bash', hooks: [{ type: 'command', command, timeout: 20 }] } },
    ],
  },
}

export const vscode: HookHost = {
  title: 'VS Code',
  read: (message, cwd) => readToolUse(message, cwd, ['run_in_terminal', 'runTerminalCommand', 'runInTerminal']),
  example: (command, cwd) => exampleOf('run_in_terminal', command, cwd),
  write: writeToolUse,
  block: exit2,
  settings: {
    user: null,
    project: '.github/hooks/cerith.json',
    entries: (command) => [{ event: 'PreToolUse', entry: { type: 'command', command, timeout: 20 } }],
    afterwards: 'Hooks are a preview in VS Code; the setting chat.useHooks must be on.',
  },
}

export function exampleOf(tool: string, command: string, cwd: string): Record<string, unknown> {
  return { hook_event_name: 'PreToolUse', tool_name: tool, tool_input: { command }, cwd }
}

export function readToolUse(
  message: Readonly<Record<string, unknown>>,
  cwd: string,
  tools: readonly string[],
): HookCall | null {
  const event = textOf(message, 'hook_event_name')
  if (event !== 'PreToolUse' && event !== 'PermissionRequest') return null
  if (!tools.includes(textOf(message, 'tool_name'))) return null
  const input = recordOf(message, 'tool_input')
  return {
    command: textOf(input, 'command'),
    cwd: optionalText(message, 'cwd') ?? cwd,
    session: optionalText(message, 'session_id'),
    input,
    moment: event === 'PreToolUse' ? 'before' : 'permission',
  }
}

function writeToolUse(decision: HookDecision, { input }: HookCall): HookReply {
  switch (decision.kind) {
    case 'none':
      return SILENT
    case 'run':
      return beforeUse({
        ...(decision.allowed ? { permissionDecision: 'allow' } : {}),
        updatedInput: { ...input, command: decision.command },
      })
    default:
      return beforeUse({ permissionDecision: decision.kind, permissionDecisionReason: decision.reason })
  }
}

export function beforeUse(output: object): HookReply {
  return json({ hookSpecificOutput: { hookEventName: 'PreToolUse', ...output } })
}

/**
 * Gemini CLI: `BeforeTool` on `run_shell_command`. It has no way to say yes for a hook: `allow` leaves its own rules in
 * force. Without a terminal its question is never answered and the run hangs, so what wants a person is denied there.
 */
import { hasTerminal } from '../../os/user/terminal.js'
import { exit2, json, optionalText, recordOf, SILENT, textOf, type HookHost } from '../protocol.js'

export const gemini: HookHost = {
  title: 'Gemini CLI',
  read(message, cwd) {
    if (textOf(message, 'hook_event_name') !== 'BeforeTool') return null
    if (textOf(message, 'tool_name') !== 'run_shell_command') return null
    const input = recordOf(message, 'tool_input')
    return {
      command: textOf(input, 'command'),
      cwd: optionalText(input, 'dir_path') ?? optionalText(message, 'cwd') ?? cwd,
      session: optionalText(message, 'session_id'),
      input,
      moment: 'before',
    }
  },
  example: (command, cwd) => ({
    hook_event_name: 'BeforeTool',
    tool_name: 'run_shell_command',
    tool_input: { command },
    cwd,
  }),
  write(decision, { input }) {
    switch (decision.kind) {
      case 'deny':
        return json({ decision: 'deny', reason: decision.reason })
      case 'ask':
        return json({ decision: hasTerminal() ? 'ask' : 'deny', reason: decision.reason })
      case 'run':
        return json({ hookSpecificOutput: { tool_input: { ...input, command: decision.command } } })
      default:
        return SILENT
    }
  },
  block: exit2,
  settings: {
    user: '.gemini/settings.json',
    project: '.gemini/settings.json',
    entries: (command) => [
      {
        event: 'BeforeTool',
        entry: { matcher: 'run_shell_command', hooks: [{ name: 'cerith', type: 'command', command, timeout: 20_000 }] },
      },
    ],
  },
}

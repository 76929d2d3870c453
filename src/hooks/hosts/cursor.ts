/** Cursor: `beforeShellExecution`. It wants an answer on stdout each time, and takes broken JSON for a refusal. */
import { json, optionalText, textOf, type HookDecision, type HookHost, type HookReply } from '../protocol.js'

const permission = (kind: 'allow' | 'ask' | 'deny', reason?: string): HookReply =>
  json({ permission: kind, ...(reason === undefined ? {} : { user_message: reason, agent_message: reason }) })

export const cursor: HookHost = {
  title: 'Cursor',
  read(message, cwd) {
    const event = optionalText(message, 'hook_event_name')
    if (event !== null && event !== 'beforeShellExecution') return null
    return {
      command: textOf(message, 'command'),
      cwd: optionalText(message, 'cwd') ?? firstRoot(message) ?? cwd,
      session: optionalText(message, 'conversation_id'),
      input: { command: message['command'] },
      moment: 'before',
    }
  },
  example: (command, cwd) => ({ hook_event_name: 'beforeShellExecution', command, cwd }),
  write: (decision: HookDecision) => {
    switch (decision.kind) {
      case 'deny':
      case 'ask':
        return permission(decision.kind, decision.reason)
      case 'allow':
        return permission('allow')
      case 'run':
        return json({ permission: decision.allowed ? 'allow' : 'ask', updated_input: { command: decision.command } })
      case 'none':
        // Nothing decided: Cursor's own settings say whether the command needs a click.
        return json({})
    }
  },
  block: (reason) => permission('deny', reason),
  settings: {
    user: '.cursor/hooks.json',
    project: '.cursor/hooks.json',
    fresh: { version: 1 },
    entries: (command) => [{ event: 'beforeShellExecution', entry: { command } }],
  },
}

function firstRoot(message: Readonly<Record<string, unknown>>): string | null {
  const roots = message['workspace_roots']
  return Array.isArray(roots) && typeof roots[0] === 'string' ? roots[0] : null
}

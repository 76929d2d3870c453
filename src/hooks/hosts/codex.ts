/**
 * Codex: `PreToolUse` and `PermissionRequest` on `Bash`. Its `PreToolUse` knows neither `ask` nor a bare `allow`: what
 * wants a person is denied with the words how the person can run it, and a read-only command is let through at the
 * moment when Codex would ask.
 */
import { exit2, json, SILENT, type HookDecision, type HookHost, type HookReply } from '../protocol.js'
import { beforeUse, exampleOf, readToolUse } from './claude.js'

const permission = (decision: object): HookReply =>
  json({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })

export const codex: HookHost = {
  title: 'Codex',
  read: (message, cwd) => readToolUse(message, cwd, ['Bash']),
  example: (command, cwd) => exampleOf('Bash', command, cwd),
  write: (decision, { moment, input }) =>
    moment === 'permission' ? atPermission(decision) : beforeTool(decision, input),
  block: exit2,
  settings: {
    user: '.codex/hooks.json',
    project: '.codex/hooks.json',
    homeVariable: 'CODEX_HOME',
    entries: (command) =>
      ['PreToolUse', 'PermissionRequest'].map((event) => ({
        event,
        entry: { matcher: 'Bash', hooks: [{ type: 'command', command, timeout: 20 }] },
      })),
    afterwards: 'Codex asks you once to trust the hook when it starts (or open /hooks there).',
  },
}

function beforeTool(decision: HookDecision, input: Readonly<Record<string, unknown>>): HookReply {
  switch (decision.kind) {
    case 'deny':
      return beforeUse({ permissionDecision: 'deny', permissionDecisionReason: decision.reason })
    case 'ask': {
      const reason = `${decision.reason} Codex cannot ask for a hook: let the person run this command, or change it.`
      return beforeUse({ permissionDecision: 'deny', permissionDecisionReason: reason })
    }
    case 'run':
      return beforeUse({ permissionDecision: 'allow', updatedInput: { ...input, command: decision.command } })
    default:
      return SILENT
  }
}

function atPermission(decision: HookDecision): HookReply {
  if (decision.kind === 'allow') return permission({ behavior: 'allow' })
  return decision.kind === 'deny' ? permission({ behavior: 'deny', message: decision.reason }) : SILENT
}

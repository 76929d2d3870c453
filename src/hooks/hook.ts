/** One message of a host's hook in, one decision out. Nothing here throws: what goes wrong is a reply too. */
import { createHash } from 'node:crypto'
import type { Verdict } from '../contract/verdict.js'
import { createHookJudge, type HookJudge } from './judge.js'
import type { HookHostName } from './hosts/index.js'
import { HOOK_HOSTS } from './hosts/index.js'
import { HookMessageError, SILENT, type HookCall, type HookDecision, type HookReply } from './protocol.js'
import { quoteWord } from '../contract/quote.js'
import { isRecord } from '../contract/attempt.js'

export interface HookOptions {
  /** Lets what only reads pass without the host's question. */
  readonly autoAllow: 'nothing' | 'readonly'
  /** What happens to a command that could not be judged. */
  readonly fail: 'closed' | 'open'
  /** Runs the command through `cerith run`: the words before the options, or null. */
  readonly wrap: readonly string[] | null
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly flags?: readonly string[] | undefined
}

export async function answerHook(name: HookHostName, text: string, options: HookOptions): Promise<HookReply> {
  const host = HOOK_HOSTS[name]
  try {
    const call = host.read(parse(text), options.cwd)
    if (!call) return SILENT
    const { cwd } = call
    const judge = await createHookJudge({ cwd, env: options.env, flags: options.flags, host })
    const verdict = judge.verdict(call.command)
    const decision = decide(verdict, call, judge, options, name)
    await note(judge, name, call, verdict, decision)
    return host.write(decision, call)
  } catch (error) {
    const why =
      error instanceof HookMessageError || error instanceof SyntaxError ? 'not a message of this hook' : 'error'
    const reason = `cerith could not judge this command (${why}: ${error instanceof Error ? error.message : String(error)})`
    if (options.fail === 'open') return { ...SILENT, stderr: `${reason}\n` }
    return host.block(`${reason}. It was not run; \`cerith doctor\` may know why.`)
  }
}

function parse(text: string): Record<string, unknown> {
  const message: unknown = JSON.parse(text)
  if (!isRecord(message)) throw new HookMessageError('a message is an object')
  return message
}

function decide(
  verdict: Verdict,
  call: HookCall,
  judge: HookJudge,
  { autoAllow, wrap }: HookOptions,
  host: HookHostName,
): HookDecision {
  if (verdict.decision === 'deny') return { kind: 'deny', reason: words(verdict) }
  if (verdict.decision === 'ask') return { kind: 'ask', reason: words(verdict) }
  const allowed = autoAllow === 'readonly' && judge.readsOnly(call.command)
  if (wrap && call.moment === 'before' && call.command.trim() !== '')
    return { kind: 'run', command: wrapped(wrap, host, call), allowed }
  return allowed ? { kind: 'allow', reason: 'It only reads (cerith).' } : { kind: 'none' }
}

function words({ rule, reason, guidance }: Verdict): string {
  const why = (reason ?? 'a rule says so').replace(/[.]?$/, '.')
  return [`cerith${rule ? ` (${rule})` : ''}: ${why}`, guidance].filter(Boolean).join(' ')
}

/** One session per conversation of the host; its name holds nothing that a shell or a file name could trip over. */
function wrapped(wrap: readonly string[], host: HookHostName, { session, command, cwd }: HookCall): string {
  const id = createHash('sha256')
    .update(session ?? cwd)
    .digest('hex')
    .slice(0, 16)
  return [...wrap, '--session', `${host}-${id}`, '--', command].map(quoteWord).join(' ')
}

async function note(
  { audit }: HookJudge,
  host: HookHostName,
  { command, cwd, session }: HookCall,
  verdict: Verdict,
  decision: HookDecision,
): Promise<void> {
  if (!audit) return
  audit.write({
    at: Date.now(),
    engine: '',
    client: host,
    door: 'hook',
    kind: 'hook',
    command,
    cwd,
    session,
    job: null,
    decision: verdict.decision,
    rule: verdict.rule,
    status: decision.kind,
    exitCode: null,
    signal: null,
    bytes: 0,
    durationMs: 0,
  })
  await audit.close?.()
}

/** The request that a call of a tool makes of an engine: policies of the dialect and options of the host filled in. */
import type { Clip } from '../contract/output.js'
import type { AutomationRule, RunRequest } from '../contract/request.js'
import { quote } from './quote.js'
import type { CallOptions } from './tool.js'
import type { Toolbox } from './toolbox.js'

/** What one call wants; everything else comes from the dialect's policy and the host's options. */
export interface ToolRequest extends Pick<RunRequest, 'command' | 'cwd' | 'env' | 'timeoutMs' | 'description' | 'pty'> {
  readonly session?: string
}

/** In one piece: adding to it what the kind of run needs, by another copy, costs more than all the rest. */
export function runRequest(
  asked: ToolRequest,
  call: CallOptions,
  box: Pick<Toolbox, 'options' | 'policy' | 'shape' | 'graceMs'>,
  kind: Pick<RunRequest, 'streams' | 'timeoutMs' | 'clip' | 'onOutput' | 'yieldMs' | 'newId' | 'outside'>,
): RunRequest {
  const { options, policy, shape } = box
  const env = asked.env || options.env ? { ...options.env, ...asked.env } : undefined
  const cwd = policy.state === 'session' ? asked.cwd : (asked.cwd ?? options.cwd)
  return {
    command: commandText(asked.command),
    graceMs: box.graceMs,
    ansi: shape.ansi,
    progress: shape.progress,
    binary: shape.binary,
    door: call.door ?? options.door ?? 'tools',
    client: call.client,
    cwd,
    env,
    envMode: options.envMode,
    dryRun: options.dryRun,
    description: asked.description,
    labels: call.labels,
    signal: call.signal,
    ask: call.ask ?? options.ask,
    approvalWaitMs: call.approvalWaitMs ?? options.approvalWaitMs,
    limits: options.limits,
    automation: automationOf(box),
    pty: asked.pty || undefined,
    reportInput: asked.pty ? true : undefined,
    // A terminal is one stream by nature.
    streams: asked.pty ? undefined : kind.streams,
    timeoutMs: kind.timeoutMs,
    clip: kind.clip,
    onOutput: kind.onOutput,
    yieldMs: kind.yieldMs,
    newId: kind.newId,
    outside: kind.outside,
  }
}

function automationOf({ options, policy }: Pick<Toolbox, 'options' | 'policy'>): readonly AutomationRule[] | undefined {
  const rules = policy.automation(options.features ?? {})
  const { automation } = options
  if (automation && automation.length > 0) return [...rules, ...automation]
  return rules.length > 0 ? rules : undefined
}

/**
 * A host that shows less than the dialect's clip gets a smaller clip: it would cut out the middle without a look at it.
 */
export function clipFor(clip: Clip, maxChars: number | null | undefined): Clip {
  return clip.kind === 'ends' && maxChars ? { ...clip, maxChars: Math.min(clip.maxChars, maxChars) } : clip
}

export function commandText(command: string | readonly string[]): string {
  return typeof command === 'string' ? command : quote(command)
}

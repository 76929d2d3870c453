/**
 * Everything that a session's call needs before its first word: its text, what it needs,
 * and the files and pipes that they name.
 */
import { writeFileSync } from 'node:fs'
import { feedPipe } from '../../../os/files/feed.js'
import type { Pipe } from '../../../os/helper/launcher.js'
import type { DeliveredCommand } from '../../plan/delivery.js'
import { takePipe } from '../../services/pipes.js'
import type { Plan } from '../../plan/plan.js'
import type { CallSite } from './call.js'
import type { CallNeeds, CallText, Redirect } from '../lines/call-text.js'
import type { Verdict } from '../../../contract/verdict.js'
import type { SessionMemory } from './memory.js'
import type { SessionShell } from '../shell/shell.js'

/** An alias for a reserved word that the command file is made of, about to be defined. */
const DEFINES_RESERVED = /\balias\b[^]*(?:[{}!]|\[\[)['"]?=/

export async function prepareCall(
  shell: SessionShell,
  plan: Plan,
  delivered: DeliveredCommand,
  redirects: readonly Redirect[],
  { services, memory }: Pick<CallSite, 'services' | 'memory'>,
): Promise<{ text: CallText; needs: CallNeeds; inputFile: string | null; secretPipe: Pipe | null }> {
  const { request } = plan
  await shell.builtinKnown
  const needs = memory.prepare(plan.verdict)
  const env: Record<string, string> = {}
  for (const name of Object.keys(request.env ?? {}))
    if (plan.env[name] !== undefined && /^[A-Za-z_]\w*$/.test(name)) env[name] = plan.env[name]
  let inputFile: string | null = null
  if (request.input !== undefined) {
    inputFile = services.runFile('i')
    writeFileSync(inputFile, request.input, { mode: 0o600, flag: 'wx' })
  }
  const secretPipe = delivered.payload ? await takePipe(services) : null
  if (secretPipe && delivered.payload) void feedPipe(secretPipe.writeEnd(), delivered.payload)
  const text = callText(shell, memory, plan.verdict, needs, delivered.script, {
    stdin: inputFile,
    merged: request.streams === 'merged',
    redirects,
    cwd: plan.cwd === memory.cwd ? null : plan.cwd,
    env,
    secrets: secretPipe ? { prelude: delivered.prelude(secretPipe.readPath), epilogue: delivered.epilogue } : null,
  })
  return { inputFile, secretPipe, needs, text }
}

/**
 * `special`: what the call asks for beyond its command. Its `stdin` is the file with the input. (Written out: to copy
 * one object into another of this size costs more than everything else that is done for a short command.)
 */
export function callText(
  shell: SessionShell,
  memory: SessionMemory,
  verdict: Verdict,
  needs: CallNeeds,
  script: string,
  special: Partial<CallText> = NOTHING_SPECIAL,
): CallText {
  const hasInput = typeof special.stdin === 'string'
  return {
    traps: needs.traps,
    watchTraps: needs.watchTraps,
    lastArgument: needs.lastArgument,
    stages: needs.stages,
    inert: needs.inert,
    prompts: needs.prompts,
    xtrace: needs.xtrace,
    verbose: needs.verbose,
    merged: special.merged ?? false,
    redirects: special.redirects ?? NONE,
    cwd: special.cwd ?? null,
    env: special.env ?? NO_VARIABLES,
    secrets: special.secrets ?? null,
    script,
    whole: verdict.facts.parsedOk && needs.verbose === 'no' && !script.endsWith('\\') && verdict.shell.whole,
    bare: memory.aliasesReserved || DEFINES_RESERVED.test(script),
    stdin: special.stdin ?? (memory.ownStdin ? null : '/dev/null'),
    keepStdin: needs.keepStdin && !hasInput,
    // A comment has not failed, whatever failed before it.
    status: needs.looksAtStatus && !verdict.shell.empty ? memory.last.status : 0,
    errTrap: memory.errTrap,
    // What starts no process ends at once and cannot take the shell with it.
    dumpFirst: memory.dirty && !needs.childless ? shell.nextNumber() : null,
    repairBuiltins: memory.repair,
    traceFd: /\bBASH_XTRACEFD=(\d+)/.exec(script)?.[1] ?? memory.traceFd,
    programs: needs.programs,
    native: needs.native,
    hasBuiltin: shell.hasBuiltin,
  }
}

const NOTHING_SPECIAL: Partial<CallText> = {}
const NONE: readonly never[] = []
const NO_VARIABLES: Readonly<Record<string, string>> = {}

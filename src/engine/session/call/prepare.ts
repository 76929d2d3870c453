/**
 * Everything that a session's call needs before its first word: its text, the care it needs,
 * and the files and pipes that they name.
 */
import { writeFileSync } from 'node:fs'
import { feedPipe } from '../../../os/files/feed.js'
import type { Pipe } from '../../../os/helper/launcher.js'
import type { DeliveredCommand } from '../../plan/delivery.js'
import { takePipe } from '../../services/pipes.js'
import type { Plan } from '../../plan/plan.js'
import type { CallSite } from './call.js'
import type { CallText } from '../shell/call-text.js'
import type { Care } from './memory.js'
import type { SessionShell } from '../shell/shell.js'
import type { Redirect } from '../shell/streams.js'

/** An alias for a reserved word that the command file is made of, about to be defined. */
const DEFINES_RESERVED = /\balias\b[^]*(?:[{}!]|\[\[)['"]?=/

interface PreparedCall {
  readonly text: CallText
  readonly care: Care
  readonly inputFile: string | null
  readonly secretPipe: Pipe | null
}

export async function prepareCall(
  shell: SessionShell,
  plan: Plan,
  delivered: DeliveredCommand,
  redirects: readonly Redirect[],
  { services, memory }: Pick<CallSite, 'services' | 'memory'>,
): Promise<PreparedCall> {
  const { request } = plan
  await shell.builtinKnown
  const care = memory.prepare(plan.verdict)
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
  return {
    inputFile,
    secretPipe,
    care,
    text: {
      script: delivered.script,
      whole:
        plan.verdict.facts.parsedOk &&
        care.verbose === 'no' &&
        !delivered.script.endsWith('\\') &&
        plan.verdict.shell.whole,
      bare: memory.aliasesReserved || DEFINES_RESERVED.test(delivered.script),
      stdin: inputFile ?? (memory.ownStdin ? null : '/dev/null'),
      keepStdin: care.keepStdin && inputFile === null,
      merged: request.streams === 'merged',
      redirects,
      cwd: plan.cwd === memory.cwd ? null : plan.cwd,
      env,
      secrets: secretPipe ? { prelude: delivered.prelude(secretPipe.readPath), epilogue: delivered.epilogue } : null,
      // A comment has not failed, whatever failed before it.
      status: care.looksAtStatus && !plan.verdict.shell.empty ? memory.last.status : 0,
      lastArgument: care.lastArgument,
      stages: care.stages,
      traps: care.traps,
      watchTraps: care.watchTraps,
      errTrap: memory.errTrap,
      prompts: care.prompts,
      xtrace: care.xtrace,
      verbose: care.verbose,
      // What starts no process ends at once and cannot take the shell with it.
      dumpFirst: memory.dirty && !care.childless ? shell.nextNumber() : null,
      repairBuiltins: memory.repair,
      inert: care.inert,
      program: care.program && delivered.payload === null,
      loaded: shell.hasBuiltin && care.native && delivered.payload === null,
      hasBuiltin: shell.hasBuiltin,
    },
  }
}

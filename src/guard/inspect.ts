/** The guard's one question: may this command run? Parses it, follows it, and answers with a verdict that says why. */
import type { ParsedScript } from 'unbash'
import type { ShellMutations, Verdict } from '../contract/verdict.js'
import { watchAutomation } from './policy/automation.js'
import { type Finding, strictest } from './rules/findings.js'
import { OutOfPatience } from './walk/budget.js'
import { GuardLimit } from './words/limits.js'
import { OPEN_POLICY } from './policy/policy.js'
import { inSandbox, isHeld } from './policy/held.js'
import { watchPolicy } from './policy/watch.js'
import { functionFromText } from './programs/shell/functions.js'
import { holdingsOf, takeOver } from './holdings.js'
import { ShellState } from './words/state.js'
import { parseScript } from './words/syntax.js'
import { ANYTHING, isConstant, withoutMarks } from './words/text.js'
import type { GuardContext } from './policy/context.js'
import { watchSecrets } from './policy/secrets.js'
import { watchProtected } from './policy/protect.js'
import { firstLook } from './first-look.js'
import { shellFacts, UNKNOWN_SHELL_FACTS } from './walk/shell-facts.js'
import type { Observer } from './walk/effects.js'
import { Walker } from './walk/walk.js'

/** Judges a command without running any of it. Never throws; what it cannot read it refuses. */
export function inspect(command: string, context: GuardContext): Verdict {
  return judge(command, context)
}

/** The same, or null when it takes longer than that: for a caller that can ask elsewhere. */
export function inspectWithin(ms: number, command: string, context: GuardContext): Verdict | null {
  try {
    return judge(command, context, Date.now() + ms)
  } catch (error) {
    if (error instanceof OutOfPatience) return null
    throw error
  }
}

/** The same without a first look: every word is followed. */
export function inspectFully(command: string, context: GuardContext): Verdict {
  const text = withoutMarks(command)
  return walk({ command, text, ...read(text) }, context)
}

interface Read {
  readonly script?: ParsedScript
  /** Why it could not be read. */
  readonly refused?: Finding
}

function read(text: string): Read {
  try {
    return { script: parseScript(text) }
  } catch (error) {
    return { refused: refusal(error) }
  }
}

function judge(command: string, context: GuardContext, deadline?: number): Verdict {
  const text = withoutMarks(command)
  const found = read(text)
  const passed = found.script ? passAtOnce(command, text, found.script, context) : null
  return passed ?? walk({ command, text, ...found }, context, deadline)
}

/** The verdict on what a first look lets pass; what only an explanation needs is found out when it is asked for. */
function passAtOnce(command: string, text: string, script: ParsedScript, context: GuardContext): Verdict | null {
  if (text.includes('{{') || (context.secrets?.length ?? 0) > 0) return null
  const seen = firstLook(script.commands, text, context)
  if (!seen) return null
  let walked: Verdict | undefined
  const explain = (): Verdict => (walked ??= walk({ command, text, script }, context))
  return {
    decision: 'allow',
    rule: null,
    reason: null,
    guidance: null,
    words: NONE,
    get commands() {
      return explain().commands
    },
    dangerous: false,
    get tree() {
      return explain().tree
    },
    looked: seen.looked,
    secretsAsCode: NONE,
    mutations: { variables: seen.variables, aliases: {}, functions: {} },
    shell: shellFacts(script, text),
    facts: factsOf(script, true),
  }
}

const NONE: readonly never[] = []

function walk(
  { command, text, script, refused: unread }: Read & { readonly command: string; readonly text: string },
  context: GuardContext,
  deadline?: number,
): Verdict {
  let refused = unread
  const policy = context.policy ?? OPEN_POLICY
  const secrets = watchSecrets(text, context.secrets)
  const walker = new Walker({
    resolveSymlink: context.resolveSymlink,
    deadline,
    own: context.own ?? { pids: [], names: [] },
    observer: observers([
      watchAutomation(context.automation ?? []),
      watchProtected(context, text),
      watchPolicy(policy, context),
      ...(secrets ? [secrets] : []),
    ]),
  })
  const { effort } = walker.budget
  const around = { home: context.home, tmp: context.tmp ?? '/tmp', variables: context.variables ?? {}, effort }
  const shell = new ShellState(around, [context.cwd])
  for (const [name, body] of Object.entries(context.aliases ?? {})) shell.aliases.set(name, body)
  takeOver(context.held ?? {}, shell)
  if (text.startsWith('#!')) shell.unknownWords = ANYTHING
  try {
    for (const [name, body] of Object.entries(context.functions ?? {})) {
      const definition = functionFromText(name, withoutMarks(body))
      if (definition) shell.functions.set(name, definition)
    }
    if (script) walker.script(text, shell, null, script)
  } catch (error) {
    if (error instanceof OutOfPatience) throw error
    refused = refusal(error)
  }
  if (refused) walker.add(refused)
  const { sandbox } = context
  const findings = sandbox
    ? walker.findings.filter((finding) => !isHeld(finding, sandbox)).map(inSandbox)
    : walker.findings
  const decisive = strictest(findings)
  const mutations = mutationsOf(shell, context)
  let tree: Verdict['tree'] | undefined
  return {
    decision: decisive?.decision ?? 'allow',
    rule: decisive?.rule ?? null,
    reason: decisive?.reason ?? null,
    guidance: decisive?.guidance ?? null,
    words: decisive?.words ?? [],
    commands: walker.commands,
    ...(findings.length < walker.findings.length ? { heldBy: 'sandbox' as const } : {}),
    dangerous: decisive?.dangerous ?? false,
    // The tree is put into words when a caller reads it.
    get tree() {
      return (tree ??= walker.tree.build(command, decisive))
    },
    looked: walker.disk.looks,
    secretsAsCode: [...(secrets?.found ?? [])],
    mutations,
    shell: refused ? UNKNOWN_SHELL_FACTS : shellFacts(script, text),
    facts: factsOf(script, refused === undefined),
  }
}

function observers(all: readonly Partial<Observer>[]): Observer {
  return {
    command: (argv, shell, walker) => all.forEach((one) => one.command?.(argv, shell, walker)),
    effect: (effect, walker, argv) => all.forEach((one) => one.effect?.(effect, walker, argv)),
    code: (made, certain) => all.forEach((one) => one.code?.(made, certain)),
    reads: (path, walker, argv) => all.forEach((one) => one.reads?.(path, walker, argv)),
    opaque: (what, walker, words) => all.forEach((one) => one.opaque?.(what, walker, words)),
  }
}

function refusal(error: unknown): Finding {
  const limit = error instanceof GuardLimit ? error.limit : 'depth'
  const detail = error instanceof GuardLimit ? error.message : 'the command is nested too deeply'
  const syntax = limit === 'syntax'
  return {
    decision: 'deny',
    rule: syntax ? 'unreadable' : `too-${limit === 'size' ? 'large' : limit === 'depth' ? 'deep' : 'complex'}`,
    reason: syntax ? `bash cannot read this command: ${detail}` : `The guard cannot check this command: ${detail}`,
    guidance: syntax
      ? 'Check quotes, brackets and here-document ends, then send it again.'
      : 'Write it as a script file and run that, or split it into several commands.',
    words: [],
    dangerous: false,
  }
}

/** What the command leaves in its shell, for the guard of the next one. */
function mutationsOf(shell: ShellState, context: GuardContext): ShellMutations {
  const variables: Record<string, string | null> = {}
  for (const [name, { values, items, supposed }] of shell.variables) {
    if (supposed) continue
    const constant = values.find((value) => isConstant(value) && value !== '')
    // The last word changes with every command; only a secret in it matters to the next one.
    if (name === '_') {
      if (constant?.includes('{{')) variables['_'] = constant
      else if (context.variables?.['_'] !== undefined) variables['_'] = null
      continue
    }
    if (Object.hasOwn(context.held?.arrays ?? {}, name) && items === context.held?.arrays?.[name]) continue
    variables[name] = items ? (items.every(isConstant) ? items.join(' ') : null) : (constant ?? null)
  }
  const [previous] = shell.previousCwd
  if (previous !== undefined && isConstant(previous) && previous !== context.variables?.['OLDPWD'])
    variables['OLDPWD'] = previous
  const aliases: Record<string, string | null> = Object.fromEntries(
    Object.keys(context.aliases ?? {})
      .filter((name) => !shell.aliases.has(name))
      .map((name) => [name, null]),
  )
  for (const [name, text] of shell.aliases) if (context.aliases?.[name] !== text) aliases[name] = text
  const functions: Record<string, string | null> = {}
  for (const [name, { source }] of shell.functions)
    if (context.functions?.[name] === undefined || !source.includes(context.functions[name] ?? '\0'))
      functions[name] = source
  // One that could not be read was not taken over either.
  for (const [name, body] of Object.entries(context.functions ?? {}))
    if (!shell.functions.has(name) && functionFromText(name, withoutMarks(body))) functions[name] = null
  const held = holdingsOf(shell, context.held ?? {})
  return { variables, aliases, functions, ...(held === undefined ? {} : { held }) }
}

function factsOf(script: ParsedScript | undefined, parsedOk: boolean): Verdict['facts'] {
  const last = script?.commands.at(-1)
  const list = last?.command
  const pipeline = list?.type === 'AndOr' ? list.commands.at(-1) : list
  const command = pipeline?.type === 'Pipeline' ? pipeline.commands.at(-1) : pipeline
  return {
    lastPipelineStages: pipeline?.type === 'Pipeline' ? pipeline.commands.length : 1,
    finalCommand: command?.type === 'Command' && command.name && !command.name.parts ? command.name.value : null,
    endsInBackground: last?.background ?? false,
    parsedOk,
  }
}

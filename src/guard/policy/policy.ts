/**
 * The policy a person writes: allow, ask and deny rules on argv, a preset, protected paths.
 * Compiled once, its examples checked.
 */
import { nearest } from '../../contract/names/nearest.js'
import { nameList } from '../../contract/quote.js'
import type { Decision } from '../../contract/verdict.js'
import { compilePattern, matchesPattern, type Pattern } from './pattern.js'
import { interpreterName } from '../programs/code/interpreters.js'
import { SHELLS } from '../programs/shell/inner.js'
import { WRAPPING } from '../programs/start/wrappers.js'
import { type Node, parseScript } from '../words/syntax.js'
import { hasWildcard, plain } from '../words/text.js'

export type Preset = 'open' | 'careful' | 'readonly'

/** One rule of the `policy` key of cerith.config.json. */
export interface PolicyRule {
  readonly name?: string
  readonly decision: Decision
  /** Argv prefixes: `git push`, `npm run *`, `curl *`. A `*` alone at the end stands for anything after. */
  readonly commands: readonly string[]
  /** Only in these directories and below them (`.` is the project, `~` the home directory). */
  readonly directories?: readonly string[]
  readonly reason?: string
  readonly guidance?: string
  /** Commands this rule must decide; checked when the policy is loaded. */
  readonly match?: readonly string[]
  /** Commands this rule must leave alone; checked when the policy is loaded. */
  readonly notMatch?: readonly string[]
}

/** The `policy` key of cerith.config.json: plain JSON. */
export interface PolicyConfig {
  readonly preset?: Preset
  readonly rules?: readonly PolicyRule[]
  /** Paths whose change is asked about or denied. */
  readonly protected?: { readonly paths: readonly string[]; readonly decision?: 'ask' | 'deny' }
  /** Directories in which `careful` lets commands write; the working directory when absent. */
  readonly roots?: readonly string[]
}

export interface CompiledRule {
  readonly name: string
  readonly decision: Decision
  readonly patterns: readonly Pattern[]
  readonly directories: readonly string[] | null
  readonly reason: string | null
  readonly guidance: string | null
}

export interface Policy {
  readonly preset: Preset
  readonly rules: readonly CompiledRule[]
  readonly protectedPaths: readonly string[]
  readonly protectedDecision: 'ask' | 'deny'
  readonly roots: readonly string[] | null
}

/** Names the key or rule that is wrong, and why. */
export class PolicyError extends Error {
  constructor(
    readonly key: string,
    message: string,
  ) {
    super(`policy.${key}: ${message}`)
    this.name = 'PolicyError'
  }
}

/** Where credentials, start-up files and hooks live; asked about in `careful`, unreachable in `readonly`. */
export const SENSITIVE_PATHS: readonly string[] = nameList(`
  ~/.ssh ~/.gnupg ~/.aws ~/.kube ~/.netrc ~/.npmrc ~/.pypirc ~/.gitconfig ~/.config/git ~/.bashrc ~/.bash_profile
  ~/.bash_login ~/.bash_logout ~/.profile ~/.zshrc ~/.zshenv ~/.zprofile ~/.zlogin ~/.config/fish ~/.config/autostart
  .git/hooks .git/config .vscode .idea .mcp.json
`)

export const OPEN_POLICY: Policy = {
  preset: 'open',
  rules: [],
  protectedPaths: [],
  protectedDecision: 'ask',
  roots: null,
}

const PRESETS: readonly string[] = ['open', 'careful', 'readonly']
const DECISIONS: readonly string[] = ['allow', 'ask', 'deny']

/** Checks and compiles a policy; throws PolicyError on the first thing that is wrong. */
export function compilePolicy(config: PolicyConfig): Policy {
  keysOf(config, ['preset', 'rules', 'protected', 'roots'], '')
  const preset = config.preset ?? 'open'
  if (!PRESETS.includes(preset))
    throw new PolicyError('preset', `must be one of ${PRESETS.join(', ')}, not ${JSON.stringify(preset)}`)
  const rules = list(config.rules ?? [], 'rules').map((rule, i) => compileRule(rule as PolicyRule, `rules[${i}]`))
  const guarded = config.protected
  if (guarded !== undefined) keysOf(guarded, ['paths', 'decision'], 'protected.')
  if (guarded?.decision !== undefined && guarded.decision !== 'ask' && guarded.decision !== 'deny')
    throw new PolicyError('protected.decision', 'must be ask or deny')
  return {
    preset,
    rules,
    protectedPaths: guarded ? strings(guarded.paths, 'protected.paths') : preset === 'open' ? [] : SENSITIVE_PATHS,
    protectedDecision: guarded?.decision ?? 'ask',
    roots: config.roots === undefined ? null : strings(config.roots, 'roots'),
  }
}

function compileRule(rule: PolicyRule, key: string): CompiledRule {
  keysOf(rule, ['name', 'decision', 'commands', 'directories', 'reason', 'guidance', 'match', 'notMatch'], `${key}.`)
  if (!DECISIONS.includes(rule.decision))
    throw new PolicyError(
      `${key}.decision`,
      `must be one of ${DECISIONS.join(', ')}, not ${JSON.stringify(rule.decision)}`,
    )
  const commands = strings(rule.commands, `${key}.commands`)
  if (commands.length === 0) throw new PolicyError(`${key}.commands`, 'names no command')
  const patterns = commands.map((source, i) => {
    const pattern = compilePattern(source)
    if (!pattern) throw new PolicyError(`${key}.commands[${i}]`, 'is empty')
    if (rule.decision === 'allow') refuseBlanket(pattern, `${key}.commands[${i}]`)
    return pattern
  })
  const hits = (argv: readonly string[]): boolean =>
    patterns.some((pattern) => matchesPattern(pattern, argv, rule.decision === 'allow'))
  for (const [i, example] of strings(rule.match ?? [], `${key}.match`).entries())
    if (!wordsOf(example, `${key}.match[${i}]`).some(hits))
      throw new PolicyError(`${key}.match[${i}]`, `${JSON.stringify(example)} is not decided by this rule`)
  for (const [i, example] of strings(rule.notMatch ?? [], `${key}.notMatch`).entries()) {
    const all = wordsOf(example, `${key}.notMatch[${i}]`)
    // A compound command is allowed only when every part is; it is denied when any part is.
    if (rule.decision === 'allow' ? all.every(hits) : all.some(hits))
      throw new PolicyError(`${key}.notMatch[${i}]`, `${JSON.stringify(example)} is decided by this rule`)
  }
  return {
    name: rule.name ?? commands[0] ?? key,
    decision: rule.decision,
    patterns,
    directories: rule.directories === undefined ? null : strings(rule.directories, `${key}.directories`),
    reason: rule.reason ?? null,
    guidance: rule.guidance ?? null,
  }
}

/** Letting a shell, an interpreter or a wrapper run anything is letting everything run. */
function refuseBlanket(pattern: Pattern, key: string): void {
  const [first = '', second] = pattern.words
  const name = plain(first).split('/').pop() ?? ''
  const runsAnything =
    SHELLS.includes(name) ||
    interpreterName(name) !== undefined ||
    Object.hasOwn(WRAPPING, name) ||
    /^(eval|source|\.|find|awk|gawk|sed|docker|podman|kubectl|vim?|nvim|emacs|ssh|make)$/.test(name)
  const narrow =
    second !== undefined && !hasWildcard(second) && !/^-\w*[ceprxsi]$|^--?(eval|exec|command|print)$/.test(second)
  if (hasWildcard(first))
    throw new PolicyError(key, `${JSON.stringify(pattern.source)} would allow any program; name the program`)
  // Of these an exact command may be allowed with anything behind it, but not the name alone.
  const manyVerbs = /^(npm|yarn|pnpm|bun|cargo|make|find|docker|podman|kubectl|sed|awk)$/.test(name)
  const nameAlone = second === undefined && pattern.open
  if (
    (runsAnything && !narrow && !manyVerbs) ||
    (nameAlone && /^(find|awk|gawk|sed|docker|podman|kubectl|make|npm|yarn|pnpm|bun)$/.test(name))
  )
    throw new PolicyError(
      key,
      `${JSON.stringify(pattern.source)} would allow everything that ${name} can run; name the exact command`,
    )
}

/** The plain argvs of an example, enough to check a rule against it. */
function wordsOf(example: string, key: string): string[][] {
  try {
    const all: string[][] = []
    const visit = (node: unknown): void => {
      if (typeof node !== 'object' || node === null) return
      if (Array.isArray(node)) return node.forEach(visit)
      const one = node as Node
      if (one.type === 'Command' && one.name)
        all.push([one.name.value, ...one.args.map((word) => (word.type === 'Word' ? word.value : word.text))])
      if (one.type === 'Command' && one.redirects.length > 0) all.push(['>'])
      for (const [name, value] of Object.entries(node)) if (name !== 'name' && name !== 'args') visit(value)
    }
    visit(parseScript(example).commands)
    return all
  } catch {
    throw new PolicyError(key, `${JSON.stringify(example)} is not a command bash can read`)
  }
}

function keysOf(value: unknown, known: readonly string[], prefix: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new PolicyError(prefix.replace(/\.$/, '') || 'policy', 'must be an object')
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue
    const near = nearest(key, known)
    throw new PolicyError(
      `${prefix}${key}`,
      `is not a key of a policy${near === null ? `; known are ${known.join(', ')}` : `; did you mean ${near}?`}`,
    )
  }
}

function list(value: unknown, key: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new PolicyError(key, 'must be a list')
  return value
}

function strings(value: unknown, key: string): readonly string[] {
  const all = list(value, key)
  for (const [i, one] of all.entries())
    if (typeof one !== 'string') throw new PolicyError(`${key}[${i}]`, 'must be a string')
  return all as readonly string[]
}

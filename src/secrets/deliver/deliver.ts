/**
 * Puts secrets into a command as data: the script names variables, the values travel beside it,
 * and where data cannot be kept apart from code the run is refused.
 */
import { bindingVariable, type Binding } from './binding.js'
import { findCodePlaces, isCodeVariable, isFetcher, type CodePlaces } from './code-places.js'
import { REFUSALS } from './refusals.js'
import { scanCommand } from './scan.js'
import type { Command, Heredoc, Obstacle, Quoting, Scan, Site, Word } from './sites.js'
import { Unreadable } from './text-reader.js'
import { findTokens, type Token } from './tokens.js'

/**
 * What to run. `plain` is the command byte for byte; `bound` needs its variables set (see
 * `bindingPrelude`); `refused` must not run.
 */
export type Delivery =
  | { readonly kind: 'plain'; readonly script: string }
  | { readonly kind: 'bound'; readonly script: string; readonly bindings: readonly Binding[] }
  | { readonly kind: 'refused'; readonly token: string; readonly reason: string; readonly hint: string }

/**
 * Decides how every known token of the command is delivered. Unknown tokens stay as they are. `asCode`: those that
 * would become code somewhere down the line, as the guard's walk saw it.
 */
export function planDelivery(
  command: string,
  lookup: (token: Token) => Uint8Array | undefined,
  asCode: readonly string[] = [],
): Delivery {
  const values = new Map<string, Uint8Array>()
  const known = findTokens(command).filter((token) => {
    const value = values.get(token.text) ?? lookup(token)
    if (value) values.set(token.text, value)
    return value !== undefined
  })
  if (known.length === 0) return { kind: 'plain', script: command }
  for (const token of known) if (values.get(token.text)?.includes(0)) return refuse(token, 'nul')
  // A number is an expression, and no more than that.
  const made = known.find(({ text }) => asCode.includes(text) && !isPlainNumber(values.get(text)))
  if (made) return refuse(made, 'flow')

  const scan = scanOrGiveUp(command, known)
  if (!scan) return refuse(known[0] as Token, 'unreadable')
  const judgement = judge(scan, values)
  if (judgement.refused) return refuse(judgement.refused.token, judgement.refused.obstacle)

  const nonce = randomNonce()
  const bindings = new Map<string, Binding>()
  const variableOf = (token: Token) => {
    const binding = bindings.get(token.text) ?? {
      variable: bindingVariable(token.name, bindings.size, nonce),
      value: values.get(token.text) as Uint8Array,
    }
    bindings.set(token.text, binding)
    return binding.variable
  }
  const script = rewrite(command, scan, variableOf, nonce)
  if (bindings.size === 0) return { kind: 'plain', script: command } // every token stands in a comment
  return {
    kind: 'bound',
    script: integerGuard(judgement.assigned, variableOf) + script,
    bindings: [...bindings.values()],
  }
}

type Values = ReadonlyMap<string, Uint8Array>
interface Judgement {
  refused?: { token: Token; obstacle: Obstacle | 'number' }
  /** Tokens that are assigned to plain variables, by the variable's name. */
  assigned: Map<string, Token[]>
}

/** Undefined: the command cannot be read to its end, or is nested deeper than the stack. */
function scanOrGiveUp(command: string, known: readonly Token[]): Scan | undefined {
  try {
    return scanCommand(command, known)
  } catch (error) {
    if (error instanceof RangeError || error instanceof Unreadable) return undefined
    throw error
  }
}

function judge(scan: Scan, values: Values): Judgement {
  const places = new Map(scan.commands.map((command) => [command, findCodePlaces(textsOf(command))] as const))
  const assigned = findAssignments(scan)
  const isTainted = (word: Word) =>
    scan.expansions.filter(({ name, at }) => assigned.has(name) && word.start <= at && at < word.end)
  const feeding = findFeeding(scan, assigned)
  let refused: Judgement['refused']
  const refuseName = (name: string, obstacle: Obstacle | 'number') => {
    const token = assigned.get(name)?.find(({ text }) => obstacle !== 'number' || !isPlainNumber(values.get(text)))
    if (token) refused ??= { token, obstacle }
  }
  for (const [command, place] of places) {
    judgeWords(command, place, values)
    command.words.forEach((word, index) => {
      for (const { name } of isTainted(word)) {
        if (place.code.has(index)) refuseName(name, 'code')
        if (place.names.has(index) && !/^[A-Za-z_]\w*\+?=/.test(word.text)) refuseName(name, 'name')
        if (place.numbers.has(index)) refuseName(name, 'number')
      }
      if (place.numbers.has(index)) scan.arithmetic.push(word.text)
    })
    if (place.stdin) judgeStdin(command, feeding, (name) => refuseName(name, 'stdin-code'))
  }
  // A bare name in arithmetic is replaced by its value, and the value is an expression again; a length is a number.
  for (const text of scan.arithmetic)
    for (const name of text.replaceAll(/\$\{#\w+\}/g, '').match(/[A-Za-z_]\w*/g) ?? []) refuseName(name, 'number')
  for (const site of scan.sites) {
    if (site.obstacle) return { refused: { token: site.token, obstacle: site.obstacle }, assigned }
    if (site.quoting === 'number' && !isPlainNumber(values.get(site.token.text)))
      return { refused: { token: site.token, obstacle: 'number' }, assigned }
  }
  for (const { words } of scan.commands) {
    if (!DECLARATION.test(words[0]?.text ?? '') || !words.some(({ text }) => /^-[A-Za-z]*[in]/.test(text))) continue
    const texts = words.slice(1).map(({ text }) => text)
    // What other variables bring to an integer, the guard follows; a reference may be one of any name.
    const isKnown = texts.every(
      (text) => /^-[A-Za-z]*i[A-Za-z]*$|^[A-Za-z_]\w*(?:=|$)/.test(text) && !/^-.*n/.test(text),
    )
    for (const name of assigned.keys())
      if (!isKnown || texts.some((text) => text.replace(/\+?=.*/s, '') === name)) refuseName(name, 'number')
  }
  return { refused, assigned }
}

const DECLARATION = /^(?:declare|typeset|local|readonly|export)$/

/** Which variables get a value from a token, directly or as a part of a longer text. */
function findAssignments(scan: Scan): Judgement['assigned'] {
  const assigned: Judgement['assigned'] = new Map()
  const assign = (name: string, { sites }: Word): void =>
    void assigned.set(name, [...(assigned.get(name) ?? []), ...sites.map(({ token }) => token)])
  for (const { words } of scan.commands) {
    const isDeclaration = DECLARATION.test(words[0]?.text ?? '')
    for (const [index, word] of words.entries()) {
      const name = /^([A-Za-z_]\w*)(?:\[\])?\+?=/.exec(word.text)?.[1]
      if (!name && !isDeclaration) {
        if (words[0]?.raw !== 'for') break
        if (index > 2 && word.sites.length > 0) assign(words[1]?.text ?? '', word)
        continue
      }
      if (!name || word.sites.length === 0) continue
      if (isCodeVariable(name)) for (const site of word.sites) site.obstacle ??= 'code'
      assign(name, word)
    }
  }
  return assigned
}

function judgeWords(command: Command, places: CodePlaces, values: Values): void {
  command.words.forEach((word, index) => {
    for (const site of word.sites) {
      if (places.code.has(index)) site.obstacle ??= 'code'
      else if (places.names.has(index)) site.obstacle ??= 'name'
      else if (places.numbers.has(index))
        site.quoting = site.quoting === 'bare' ? 'number' : ((site.obstacle ??= 'odd-quoting'), site.quoting)
      else if (places.make.has(index) && values.get(site.token.text)?.includes(0x24)) site.obstacle ??= 'make'
    }
    if ((command.words[0]?.raw === 'for' || command.words[0]?.raw === 'select') && index === 1)
      for (const site of word.sites) site.obstacle ??= 'name'
  })
}

interface Feeding {
  readonly start: number
  readonly end: number
  readonly stdin: readonly Site[]
  readonly sites: readonly Site[]
  readonly names: readonly string[]
}

/**
 * The pipelines that carry a token, or a variable that holds one; most have none and need not
 * be asked again for every reader.
 */
function findFeeding(scan: Scan, assigned: Judgement['assigned']): Feeding[][] {
  const fetched = new Set(
    scan.commands
      .filter((command) => isFetcher(textsOf(command)))
      .flatMap(({ words }) => words.flatMap(({ sites }) => sites)),
  )
  const expansions = scan.expansions.filter(({ name }) => assigned.has(name))
  return scan.pipelines
    .map(({ elements }) =>
      elements.map(({ start, end, stdin }) => ({
        start,
        end,
        stdin,
        sites: scan.sites.filter((site) => start <= site.start && site.start < end && !fetched.has(site)),
        names: expansions.filter(({ at }) => start <= at && at < end).map(({ name }) => name),
      })),
    )
    .filter((elements) => elements.some(({ stdin, sites, names }) => stdin.length + sites.length + names.length > 0))
}

/**
 * The command reads code from its standard input: no token, and no variable that holds one, may
 * be in what is piped or fed to it.
 */
function judgeStdin(reader: Command, feeding: readonly Feeding[][], refuseName: (name: string) => void): void {
  for (const elements of feeding) {
    const place = elements.findIndex(({ start, end }) => start <= reader.start && reader.start < end)
    elements.slice(0, place + 1).forEach(({ stdin, sites, names }, index) => {
      for (const site of stdin) site.obstacle ??= 'stdin-code'
      if (index === place) return
      for (const site of sites) site.obstacle ??= 'stdin-code'
      for (const name of names) refuseName(name)
    })
  }
}

/**
 * How the variable is written so that its value arrives unsplit, unexpanded and unescaped. `?` turns
 * a late use, say in a function kept from an earlier command, into an error instead of an empty word.
 */
function reference(variable: string, quoting: Quoting): string {
  const value = `\${${variable}?}`
  switch (quoting) {
    case 'bare':
      return `"${value}"`
    case 'single':
      return `'"${value}"'`
    case 'ansi':
      return `'"${value}"$'`
    case 'after-backslash':
      return `\\\\${value}`
    case 'double':
    case 'number':
    case 'quoted-heredoc':
      return value
    default:
      return quoting satisfies never
  }
}

function rewrite(command: string, scan: Scan, variableOf: (token: Token) => string, nonce: string): string {
  const edits: { start: number; end: number; text: string }[] = []
  const heredocs = new Map<Heredoc, Site[]>()
  for (const site of scan.sites) {
    if (site.heredoc) heredocs.set(site.heredoc, [...(heredocs.get(site.heredoc) ?? []), site])
    else edits.push({ start: site.start, end: site.end, text: reference(variableOf(site.token), site.quoting) })
  }
  for (const [{ word, body, closing }, sites] of heredocs) {
    // The quoted delimiter forbids expansion; the same text with an unquoted one and every
    // special character escaped says the same.
    const delimiter = `CERITH_${nonce.replace(/[^A-Za-z0-9]/g, '')}`
    let text = ''
    let at = body[0]
    for (const site of sites) {
      text += escapeHeredoc(command.slice(at, site.start)) + reference(variableOf(site.token), site.quoting)
      at = site.end
    }
    text += escapeHeredoc(command.slice(at, body[1]))
    edits.push(
      { start: word[0], end: word[1], text: delimiter },
      { start: body[0], end: body[1], text },
      { start: closing[0], end: closing[1], text: delimiter },
    )
  }
  edits.sort((a, b) => a.start - b.start || a.end - b.end)
  let script = ''
  let at = 0
  for (const { start, end, text } of edits) {
    script += command.slice(at, start) + text
    at = end
  }
  return script + command.slice(at)
}

function escapeHeredoc(text: string): string {
  return text.replace(/[\\$`]/g, '\\$&')
}

/**
 * An earlier command may have declared the variable as an integer, and an assignment would evaluate the
 * value as an expression; or as a reference without a target, and the value would become a name that is
 * evaluated later. Such a variable takes our own variable away, and its use then fails by name.
 */
function integerGuard(assigned: Judgement['assigned'], variableOf: (token: Token) => string): string {
  const checks = [...assigned].map(([name, tokens]) => {
    const variables = [...new Set(tokens.map(variableOf))].join(' ')
    // Only `declare -p` knows a reference without a target; it costs a fork, so a variable that
    // has a value is spared it.
    const isReference = `[[ -z \${${name}+set} && $(\\builtin declare -p ${name}) == declare\\ -*([!\\ ])n* ]]`
    return `if [[ \${${name}@a} == *i* ]] || ${isReference}; then \\builtin unset -v ${variables}; fi`
  })
  if (checks.length === 0) return ''
  // nounset would make the questions themselves an error.
  const flags = '__cerith_flags'
  return (
    `{ ${flags}=$-; \\builtin set +u; ${checks.join('; ')}; if [[ $${flags} == *u* ]]; then \\builtin set -u; ` +
    `fi; \\builtin unset -v ${flags}; } 2>/dev/null; `
  )
}

function isPlainNumber(value: Uint8Array | undefined): boolean {
  return value !== undefined && /^(?:0|[1-9][0-9]{0,17})$/.test(new TextDecoder().decode(value))
}

function textsOf(command: Command): string[] {
  return command.words.map(({ text }) => text)
}

function refuse(token: Token, obstacle: keyof typeof REFUSALS): Delivery {
  const { reason, hint } = REFUSALS[obstacle]
  return { kind: 'refused', token: token.text, reason: `${token.text} ${reason}`, hint }
}

/** Makes the names of the variables unguessable. */
function randomNonce(): string {
  const { crypto } = globalThis as unknown as { crypto: { getRandomValues(array: Uint32Array): Uint32Array } }
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('')
}

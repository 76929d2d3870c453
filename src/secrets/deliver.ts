/** Puts secrets into a command as data: the script names variables, the values travel beside it, and where data cannot be kept apart from code the run is refused. */
import { bindingVariable, type Binding } from './binding.js'
import { findCodePlaces, isCodeVariable, isFetcher } from './code-places.js'
import { REFUSALS } from './refusals.js'
import { scanCommand, type Command, type Heredoc, type Obstacle, type Pipeline, type Quoting, type Scan, type Site } from './scan.js'
import { findTokens, type Token } from './tokens.js'

/** What to run. `plain` is the command byte for byte; `bound` needs its variables set (see `bindingPrelude`); `refused` must not run. */
export type Delivery =
  | { readonly kind: 'plain'; readonly script: string }
  | { readonly kind: 'bound'; readonly script: string; readonly bindings: readonly Binding[] }
  | { readonly kind: 'refused'; readonly token: string; readonly reason: string; readonly hint: string }

/** Decides how every known token of the command is delivered. Unknown tokens stay as they are. `nonce` makes the names of the variables unguessable. */
export function planDelivery(command: string, lookup: (token: Token) => Uint8Array | undefined, nonce: string = randomNonce()): Delivery {
  const values = new Map<string, Uint8Array>()
  const known = findTokens(command).filter((token) => {
    const value = values.get(token.text) ?? lookup(token)
    if (value) values.set(token.text, value)
    return value !== undefined
  })
  if (known.length === 0) return { kind: 'plain', script: command }
  for (const token of known) if (values.get(token.text)?.includes(0)) return refuse(token, 'nul')

  const scan = scanCommand(command, known)
  const judgement = judge(scan, values)
  if (judgement.refused) return refuse(judgement.refused.token, judgement.refused.obstacle)

  const bindings = new Map<string, Binding>()
  const variableOf = (token: Token) => {
    const binding = bindings.get(token.text) ?? { variable: bindingVariable(token.name, bindings.size, nonce), value: values.get(token.text) as Uint8Array }
    bindings.set(token.text, binding)
    return binding.variable
  }
  const script = rewrite(command, scan, variableOf, nonce)
  if (bindings.size === 0) return { kind: 'plain', script: command } // every token stands in a comment
  return { kind: 'bound', script: integerGuard(judgement.assigned, variableOf) + script, bindings: [...bindings.values()] }
}

type Values = ReadonlyMap<string, Uint8Array>
interface Judgement {
  refused?: { token: Token; obstacle: Obstacle | 'number' }
  /** Tokens that are assigned to plain variables, by the variable's name. */
  assigned: Map<string, Token[]>
}

function judge(scan: Scan, values: Values): Judgement {
  for (const command of scan.commands) judgeWords(command, values)
  for (const command of scan.commands) if (findCodePlaces(textsOf(command)).stdin) judgeStdin(command, scan)
  const assigned = new Map<string, Token[]>()
  for (const { words } of scan.commands) {
    for (const word of words) {
      const name = /^([A-Za-z_]\w*)(?:\[\])?\+?=/.exec(word.text)?.[1]
      if (!name || word.sites.length === 0) break
      if (isCodeVariable(name)) for (const site of word.sites) site.obstacle ??= 'code'
      assigned.set(name, [...(assigned.get(name) ?? []), ...word.sites.map((site) => site.token)])
    }
  }
  const declaresIntegers = scan.commands.some(({ words }) => /^(?:declare|typeset|local|readonly|export)$/.test(words[0]?.text ?? '') && words.some(({ text }) => /^-[A-Za-z]*[in]/.test(text)))
  for (const site of scan.sites) {
    if (site.obstacle) return { refused: { token: site.token, obstacle: site.obstacle }, assigned }
    const isNumber = site.quoting === 'number'
    if (isNumber && !isPlainNumber(values.get(site.token.text))) return { refused: { token: site.token, obstacle: 'number' }, assigned }
  }
  const [suspect] = declaresIntegers ? [...assigned.values()].flat().filter((token) => !isPlainNumber(values.get(token.text))) : []
  return suspect ? { refused: { token: suspect, obstacle: 'number' }, assigned } : { assigned }
}

function judgeWords(command: Command, values: Values): void {
  const places = findCodePlaces(textsOf(command))
  command.words.forEach((word, index) => {
    for (const site of word.sites) {
      if (places.code.has(index)) site.obstacle ??= 'code'
      else if (places.names.has(index)) site.obstacle ??= 'name'
      else if (places.numbers.has(index)) site.quoting = site.quoting === 'bare' ? 'number' : (site.obstacle ??= 'odd-quoting', site.quoting)
      else if (places.make.has(index) && values.get(site.token.text)?.includes(0x24)) site.obstacle ??= 'make'
    }
    if ((command.words[0]?.raw === 'for' || command.words[0]?.raw === 'select') && index === 1) for (const site of word.sites) site.obstacle ??= 'name'
  })
}

/** The command reads code from its standard input: no token may be in what is piped or fed to it. */
function judgeStdin(reader: Command, scan: Scan): void {
  const holds = ({ elements }: Pipeline) => elements.findIndex(({ start, end }) => start <= reader.start && reader.start < end)
  for (const pipeline of scan.pipelines) {
    const place = holds(pipeline)
    if (place < 0) continue
    pipeline.elements.forEach(({ start, end, stdin }, index) => {
      if (index > place) return
      for (const site of stdin) site.obstacle ??= 'stdin-code'
      if (index === place) return
      const fetched = new Set(scan.commands.filter((command) => isFetcher(textsOf(command))).flatMap(({ words }) => words.flatMap(({ sites }) => sites)))
      for (const site of scan.sites) if (start <= site.start && site.start < end && !fetched.has(site)) site.obstacle ??= 'stdin-code'
    })
  }
}

/** How the variable is written so that its value arrives unsplit, unexpanded and unescaped. `?` turns a late use, say in a function kept from an earlier command, into an error instead of an empty word. */
function reference(variable: string, quoting: Quoting): string {
  const value = `\${${variable}?}`
  switch (quoting) {
    case 'bare': return `"${value}"`
    case 'single': return `'"${value}"'`
    case 'ansi': return `'"${value}"$'`
    case 'after-backslash': return `\\\\${value}`
    case 'double':
    case 'number':
    case 'quoted-heredoc': return value
    default: return quoting satisfies never
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
    // The quoted delimiter forbids expansion; the same text with an unquoted one and every special character escaped says the same.
    const delimiter = `CERITH_${nonce.replace(/[^A-Za-z0-9]/g, '')}`
    let text = ''
    let at = body[0]
    for (const site of sites) {
      text += escapeHeredoc(command.slice(at, site.start)) + reference(variableOf(site.token), site.quoting)
      at = site.end
    }
    text += escapeHeredoc(command.slice(at, body[1]))
    edits.push({ start: word[0], end: word[1], text: delimiter }, { start: body[0], end: body[1], text }, { start: closing[0], end: closing[1], text: delimiter })
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
 * Assigning to a variable that an earlier command declared as an integer or a reference would evaluate the value as an expression.
 * Such a variable takes our own variable away, and its use then fails by name.
 */
function integerGuard(assigned: Judgement['assigned'], variableOf: (token: Token) => string): string {
  const checks = [...assigned].map(([name, tokens]) => {
    const variables = [...new Set(tokens.map(variableOf))].join(' ')
    return `if [[ \${${name}@a} == *[in]* ]]; then \\builtin unset -v ${variables}; fi`
  })
  if (checks.length === 0) return ''
  const body = checks.join('; ')
  return `{ if [[ $- == *u* ]]; then \\builtin set +u; ${body}; \\builtin set -u; else ${body}; fi; } 2>/dev/null; `
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

function randomNonce(): string {
  const { crypto } = globalThis as unknown as { crypto: { getRandomValues(array: Uint32Array): Uint32Array } }
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('')
}

/** Parameter expansion: `$x`, `"$@"`, `${x:-y}`, `${x%p}`, `${x:1}`, `${x,,}`, `${!x}`, `${x@P}` and their family. */
import type { ParameterExpansionPart, ParameterOperation, SimpleExpansionPart } from 'unbash'
import { SECRET_TOKEN } from '../../contract/secret.js'
import { unescape } from './escapes.js'
import { type Folding, mayHoldCode, type Runner, unsplit } from './folding.js'
import { trimMatch } from './glob.js'
import type { ShellState, Variable } from './state.js'
import {
  type Alternatives,
  ANYTHING,
  BREAK,
  hasUnknown,
  isConstant,
  MAYBE_UNSET,
  map,
  plain,
  QUOTES,
  UNKNOWN,
  unique,
} from './text.js'

export function expandParameter(
  part: SimpleExpansionPart | ParameterExpansionPart,
  quoted: boolean,
  shell: ShellState,
  runner: Runner,
  folding: Folding,
): Alternatives {
  if (part.type === 'SimpleExpansion')
    return present(orEnd(lookup(part.text.slice(1), undefined, shell), shell), part.text === '$@', quoted, shell)
  const whole = part.index?.text === '@' || part.index?.text === '*'
  const indices = part.index && !whole ? folding.single(part.index, shell, runner) : []
  runner.calculated(indices, shell)
  const index = whole ? part.index?.text : indices[0]
  let found = lookup(part.parameter, index, shell)
  if (part.prefix === '!') {
    if (part.operation?.type === 'Names' || index === '@' || index === '*') return ANYTHING
    const targets = found.values
    runner.calculated(targets.filter(mayHoldCode), shell)
    found =
      targets.length === 1 && /^(?:[A-Za-z_]\w*|\d+)$/.test(targets[0] ?? '')
        ? lookup(targets[0] ?? '', undefined, shell)
        : { values: MAYBE_UNSET }
  }
  if (part.prefix === '#')
    return measure(found, index === '@' || index === '*' || part.parameter === '@' || part.parameter === '*')
  const changed = part.operation
    ? operate(found, part.operation, part.parameter, quoted, shell, runner, folding)
    : orEnd(found, shell)
  if ('fields' in changed) return changed.fields
  return present(changed, index === '@' || part.parameter === '@', quoted, shell)
}

/** After `set -u` a variable that was never set ends the shell, so that it is never empty. */
function orEnd(variable: Variable, shell: ShellState): Variable {
  return shell.isStrict && variable.values === MAYBE_UNSET ? { values: ANYTHING } : variable
}

/** The value(s) of a parameter, positional and special ones included. */
function lookup(name: string, index: string | undefined, shell: ShellState): Variable {
  if (/^[0-9]+$/.test(name)) {
    if (name === '0') return { values: [shell.arg0] }
    const ways = shell.positionalWays
    return { values: ways ? unique(ways.map((way) => way[Number(name) - 1] ?? '')) : shell.unknownWords }
  }
  const given = shell.positionalWays
  switch (name) {
    case '@':
    case '*':
      return given
        ? { values: unique(given.map((way) => way.join(' '))), items: given[0] ?? [], ways: given }
        : { values: shell.unknownWords }
    case '#':
      return given ? { values: unique(given.map((way) => String(way.length))) } : { values: ANYTHING }
    case '?':
    case '$':
    case '!':
    case '-':
      return { values: ANYTHING }
    case '_':
      return { values: [shell.lastWord] }
  }
  const variable = shell.get(name)
  if ((index === '@' || index === '*') && variable.items)
    return { values: [variable.items.join(' ')], items: variable.items, ways: variable.ways }
  if (index === undefined || index === '@' || index === '*') return variable
  if (!variable.items) return /^0$/.test(index) ? variable : { values: MAYBE_UNSET }
  if (!/^-?\d+$/.test(index)) return { values: unique([...variable.items, '']) }
  const item = variable.items.at(Number(index))
  // Of an array with gaps only the items are known, not where they stand.
  return { values: item === undefined ? unique([...variable.items, '']) : [item] }
}

/** Turns a value into what stands in the word: fields stay apart for `"$@"`, unquoted text is split. */
function present(variable: Variable, all: boolean, quoted: boolean, shell: ShellState): Alternatives {
  if (variable.items && all) {
    const ways = variable.ways ?? [variable.items]
    const joined = ways.map((items) => (quoted ? items.map((item) => QUOTES + item) : items).join(BREAK))
    return quoted ? unique(joined) : unsplit(joined, shell)
  }
  const values = variable.items && !all && variable.values.length === 0 ? [''] : variable.values
  return quoted ? values : unsplit(values, shell)
}

function measure(variable: Variable, all: boolean): Alternatives {
  if (all) return variable.items ? [String(variable.items.length)] : ANYTHING
  return map(variable.values, (text) => (isConstant(text) ? String([...text].length) : UNKNOWN))
}

/** Another value, or one that already carries its own field breaks. */
type Changed = Variable | { readonly fields: Alternatives }

function operate(
  variable: Variable,
  operation: ParameterOperation,
  name: string,
  quoted: boolean,
  shell: ShellState,
  runner: Runner,
  folding: Folding,
): Changed {
  const each = (change: (text: string) => string): Variable => ({
    values: map(variable.values, change),
    items: variable.items?.map(change),
    ways: variable.ways?.map((way) => way.map(change)),
  })
  switch (operation.type) {
    case 'Default': {
      const operand = folding.operand(operation.operand, quoted, shell, runner)
      if (operation.operator.endsWith('=') && shell.integers.has(name)) runner.calculated(operand, shell)
      return byDefault(variable, operation.operator, operand, name, quoted, shell)
    }
    case 'Remove': {
      const patterns = folding.single(operation.operand, shell, runner)
      const end = operation.operator.startsWith('#') ? 'start' : 'end'
      const longest = operation.operator.length === 2
      return each((text) => {
        if (text.length > 2_000) return UNKNOWN
        return hasUnknown(text) ? text : trimMatch(text, patterns[0] ?? '', end, longest)
      })
    }
    case 'Replace': {
      const pattern = folding.single(operation.pattern, shell, runner)[0] ?? ''
      const replacement = folding.single(operation.replacement, shell, runner)[0] ?? ''
      return each((text) => replaced(text, pattern, plain(replacement), operation.operator))
    }
    case 'Slice': {
      const [offset, length] = [operation.offset, operation.length].map((word) => {
        const values = word ? folding.single(word, shell, runner) : []
        runner.calculated(values, shell)
        return word && integer(values, shell)
      })
      // A piece of a secret is as good as the whole: pieces can be put together again.
      if (variable.values.some((text) => TOKEN.test(text))) return each((text) => text)
      if (offset === undefined || (operation.length && length === undefined)) return { values: ANYTHING }
      if (variable.items) {
        const ways = (variable.ways ?? [variable.items]).map((list) =>
          slice(name === '@' || name === '*' ? [shell.arg0, ...list] : list, offset, length),
        )
        return { values: unique(ways.map((items) => items.join(' '))), items: ways[0] ?? [], ways }
      }
      return each((text) => (isConstant(text) ? slice([...text], offset, length).join('') : UNKNOWN))
    }
    case 'CaseModification':
      return each((text) => recased(text, operation.operator))
    case 'Transform':
      return transformed(variable, operation.operand.value, shell, runner)
    default:
      return { values: ANYTHING }
  }
}

function byDefault(
  variable: Variable,
  operator: string,
  operand: Alternatives,
  name: string,
  quoted: boolean,
  shell: ShellState,
): Changed {
  const full = variable.values.filter((text) => text !== '')
  const surelySet = !operator.startsWith(':') && shell.variables.has(name) && !variable.unset
  if (surelySet) return operator === '+' ? { fields: operand } : variable
  const mayBeEmpty = full.length < variable.values.length
  const kept = quoted ? full : unsplit(full, shell)
  if (operator.endsWith('+'))
    return { fields: full.length === 0 ? [''] : mayBeEmpty ? unique([...operand, '']) : operand }
  if (operator.endsWith('?')) {
    // The shell ends here where it is empty.
    if (operator === ':?' && /^[A-Za-z_]\w*$/.test(name)) shell.supposeNot(name, '')
    return { fields: kept.length > 0 ? kept : ANYTHING }
  }
  if (operator.endsWith('=') && mayBeEmpty)
    shell.set(name, unique([...full, ...operand.map((text) => plain(text).trim())]))
  if (variable.items && full.length > 0) return variable
  return { fields: mayBeEmpty ? unique([...kept, ...operand]) : kept.length > 0 ? kept : [''] }
}

function replaced(text: string, pattern: string, replacement: string, operator: string): string {
  if (hasUnknown(text) || text.length > 10_000) return UNKNOWN
  if (!isConstant(pattern)) {
    // A wildcard pattern: only the whole-value case matters often enough to fold.
    const rest = trimMatch(text, pattern, 'start', true)
    return rest === '' ? replacement : UNKNOWN
  }
  if (pattern === '') return text
  if (operator === '//') return text.replaceAll(pattern, () => replacement)
  if (operator === '/#') return text.startsWith(pattern) ? replacement + text.slice(pattern.length) : text
  if (operator === '/%')
    return text.endsWith(pattern) ? text.slice(0, text.length - pattern.length) + replacement : text
  return text.replace(pattern, () => replacement)
}

function recased(text: string, operator: string): string {
  const change = operator.startsWith('^') ? (part: string) => part.toUpperCase() : (part: string) => part.toLowerCase()
  return operator.length === 2 ? change(text) : change(text.slice(0, 1)) + text.slice(1)
}

function transformed({ values }: Variable, operator: string, shell: ShellState, runner: Runner): Variable {
  if (operator === 'P') return { values: unique(values.flatMap((text) => [...runner.prompt(text, shell)])) }
  const change = TRANSFORMS[operator]
  return { values: change ? map(values, change) : ANYTHING }
}

const TRANSFORMS: Readonly<Record<string, (text: string) => string>> = {
  U: (text) => text.toUpperCase(),
  L: (text) => text.toLowerCase(),
  u: (text) => recased(text, '^'),
  E: (text) => unescape(text),
  Q: (text) => `'${text.replaceAll("'", `'\\''`)}'`,
}

const TOKEN = new RegExp(SECRET_TOKEN)

function slice<T>(list: readonly T[], offset: number, length: number | undefined): T[] {
  const start = offset < 0 ? list.length + offset : offset
  if (start < 0) return []
  const end = length === undefined ? list.length : length < 0 ? list.length + length : start + length
  return list.slice(start, Math.max(start, end))
}

function integer(values: Alternatives, shell: ShellState): number | undefined {
  const text = (values[0] ?? '')
    .trim()
    .replace(/^\((.*)\)$/, '$1')
    .trim()
  if (text === '') return 0
  if (/^-?\d{1,9}$/.test(text)) return Number(text)
  const named = /^[A-Za-z_]\w*$/.test(text) ? shell.get(text).values : []
  return named.length === 1 && /^-?\d{1,9}$/.test(named[0] ?? '') ? Number(named[0]) : undefined
}

/** What a session's shell holds between two commands: taken over into a state, and told of it afterwards. */
import type { ShellHoldings } from '../contract/verdict.js'
import { GUARD_LIMITS } from './words/limits.js'
import { ALWAYS_INTEGERS, isSame, type ShellState } from './words/state.js'
import { FIFO, isConstant, isWorthKeeping, UNKNOWN } from './words/text.js'

/** What `exec < FILE` has the shell read. */
const STDIN = '/dev/fd/0'

/** The state begins with what the session's shell holds. */
export function takeOver(held: ShellHoldings, shell: ShellState): void {
  const { positional, arrays, references, integers, directories, hashed, files, lastWord } = held
  if (positional) shell.positional = positional
  if (lastWord !== undefined) shell.lastWord = lastWord
  for (const [name, items] of Object.entries(arrays ?? {}))
    shell.variables.set(name, { values: [items[0] ?? ''], items })
  if (references) shell.references = new Map(Object.entries(references))
  if (integers) shell.integers = new Set([...ALWAYS_INTEGERS, ...integers])
  if (directories) shell.directoryStack = directories.map((directory) => [directory])
  for (const [name, path] of Object.entries(hashed ?? {})) shell.aliases.set(name, path)
  for (const [path, text] of Object.entries(files ?? {})) shell.files.set(path, [text])
  const input = files?.[STDIN]
  if (input !== undefined) shell.moved = { from: null, to: [input] }
}

/** What the state holds now and did not hold before. */
export function holdingsOf(shell: ShellState, before: ShellHoldings): ShellHoldings | undefined {
  const { variables, positional, references, integers, directoryStack } = shell
  const now: { -readonly [key in keyof ShellHoldings]: ShellHoldings[key] } = {}
  const arrays = [...variables].flatMap(([name, { items }]) =>
    items && items !== before.arrays?.[name] && items.every(isConstant) ? [[name, items] as const] : [],
  )
  if (arrays.length > 0) now.arrays = Object.fromEntries(arrays)
  if (positional && positional !== before.positional && positional.every(isConstant)) now.positional = positional
  if (references.size > 0 && !isSame([...references].flat(), Object.entries(before.references ?? {}).flat()))
    now.references = Object.fromEntries(references)
  if (!isSame(beyondBash([...integers]), beyondBash(before.integers ?? []))) now.integers = [...integers]
  const directories = directoryStack.map(([directory]) => directory ?? UNKNOWN)
  if (directories.length > 0 && !isSame(directories, before.directories ?? [])) now.directories = directories
  const input = shell.moved?.from === null ? shell.moved.to?.[0] : undefined
  if (input !== undefined) shell.files.set(STDIN, [input])
  const files = filesThatMatter(shell, before.files ?? {})
  if (files.length > 0) now.files = Object.fromEntries(files.slice(-GUARD_LIMITS.keptFiles))
  return Object.keys(now).length > 0 ? now : undefined
}

function beyondBash(integers: readonly string[]): string[] {
  return integers.filter((name) => !ALWAYS_INTEGERS.includes(name))
}

/** What it would be a mistake to run later, and files that held such text and hold another one now. */
function filesThatMatter(shell: ShellState, before: Readonly<Record<string, string>>): (readonly [string, string])[] {
  const texts = [...shell.files].map(([path, [text = '']]) => [path, text] as const)
  return texts.filter(
    ([path, text]) =>
      // What `exec 7<` opened lasts; the descriptors of substitutions do not.
      (!path.startsWith('/dev/fd/') || /\/(?:\d|[1-5]\d)$/.test(path)) &&
      text.length <= GUARD_LIMITS.keptFileChars &&
      text !== before[path] &&
      (text.startsWith(FIFO) || isWorthKeeping(text) || before[path] !== undefined),
  )
}

/** Whether a word of the text may be something else than it looks like, because of what the shell holds. */
export function mayMean(text: string, held: ShellHoldings = {}): boolean {
  if ([held.references, held.hashed, held.directories].some(isFilled)) return true
  for (const name in held.arrays) if (/^(?:(?:CD)?PATH|IFS|HOME|OLDPWD)$|^GIT_/.test(name)) return true
  // A file that the session wrote may be what a word means, or be copied.
  const words = isFilled(held.files) ? text.replace(/["'\\]/g, '').split(/[\s=;|&()<>/{},$]+/) : []
  for (const path in held.files)
    if (path.startsWith('/dev/') || /[*?[]/.test(text) || words.includes(path.slice(path.lastIndexOf('/') + 1)))
      return true
  return false
}

export function isFilled(held: object | undefined): boolean {
  for (const _ in held) return true
  return false
}

/** Functions of a session's shell, which come as text with every command. */
import type { Function } from 'unbash'
import { parseScript } from '../../words/syntax.js'

/** The body of a function given as text, in any of the forms a session may report it. */
type TextFunction = { readonly body: Function['body']; readonly source: string } | undefined

const MOST_KEPT = 200
/** A session's functions come with every command; nothing changes the tree of one. */
const kept = new Map<string, TextFunction>()

export function functionFromText(name: string, text: string): TextFunction {
  const key = `${name}\0${text}`
  if (kept.has(key)) return kept.get(key)
  const found = readFunction(name, text)
  if (kept.size >= MOST_KEPT) kept.clear()
  kept.set(key, found)
  return found
}

function readFunction(name: string, text: string): TextFunction {
  for (const source of [text, `${name}() ${text}`, `${name}() { ${text}\n}`]) {
    try {
      const first = parseScript(source).commands[0]?.command
      if (first?.type === 'Function' && first.name.value === name) return { body: first.body, source }
    } catch {
      // Not in this form.
    }
  }
  return undefined
}

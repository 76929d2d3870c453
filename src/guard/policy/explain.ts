/** Renders a verdict as a readable tree: what was seen, layer by layer, and which word decided. */
import type { Decision, Explained, Verdict } from '../../contract/verdict.js'

const COLORS: Readonly<Record<Decision, string>> = { allow: '\u001B[32m', ask: '\u001B[33m', deny: '\u001B[31m' }
const DIM = '\u001B[2m'
const RESET = '\u001B[0m'

export function explain(verdict: Verdict, options: { readonly color?: boolean } = {}): string {
  const paint = (code: string, text: string): string => (options.color ? `${code}${text}${RESET}` : text)
  const lines = [
    `${paint(COLORS[verdict.decision], verdict.decision)}${verdict.rule === null ? '' : `  ${verdict.rule}`}`,
  ]
  if (verdict.reason !== null) lines.push(`  ${verdict.reason}`)
  if (verdict.guidance !== null) lines.push(`  Instead: ${verdict.guidance}`)
  lines.push('', oneLine(verdict.tree.label))
  const branch = (node: Explained, indent: string): void => {
    const children = node.children ?? []
    for (const [i, child] of children.entries()) {
      const last = i === children.length - 1
      const note =
        child.note === undefined
          ? ''
          : child.decided
            ? `   <-- ${paint(COLORS[verdict.decision], child.note)}`
            : `   ${paint(DIM, `(${child.note})`)}`
      lines.push(`${indent}${last ? '└─ ' : '├─ '}${oneLine(child.label)}${note}`)
      branch(child, `${indent}${last ? '   ' : '│  '}`)
    }
  }
  branch(verdict.tree, '')
  return `${lines.join('\n')}\n`
}

/** Control characters of a command must not reach a terminal. */
function oneLine(text: string): string {
  return text.replace(/\r?\n/g, '\u23CE').replace(/[\u0000-\u001F\u007F-\u009F]/g, '\uFFFD')
}

/** Builds the readable tree of what the guard saw: one node per effective command, the deciding one marked. */
import type { Explained } from '../../contract/verdict.js'
import type { Finding } from '../rules/findings.js'
import { readable } from '../words/text.js'

interface Node {
  /** Put into words only when the tree is read. */
  label: string | readonly string[]
  children: Node[]
}

const MAX_NODES = 500

export class TreeBuilder {
  private readonly root: Node = { label: '', children: [] }
  private readonly path: Node[] = [this.root]
  private readonly marks = new Map<Finding, Node>()
  private count = 0

  within<T>(argv: readonly string[], work: () => T): T {
    const node: Node = { label: argv, children: [] }
    const parent = this.path[this.path.length - 1] as Node
    if (this.count++ < MAX_NODES) parent.children.push(node)
    this.path.push(node)
    try {
      return work()
    } finally {
      this.path.pop()
    }
  }

  mark(finding: Finding): void {
    const node = this.path[this.path.length - 1]
    if (node) this.marks.set(finding, node)
  }

  replace(finding: Finding, by: Finding): void {
    const node = this.marks.get(finding)
    if (node) this.marks.set(by, node)
  }

  build(command: string, decisive: Finding | undefined): Explained {
    this.root.label = shorten(command)
    const decided = decisive && this.marks.get(decisive)
    const explained = (node: Node): Explained => ({
      label: typeof node.label === 'string' ? node.label : shorten(node.label.map(shown).join(' ')),
      ...(decisive && node === decided ? { note: `${decisive.decision}: ${decisive.rule}`, decided: true } : {}),
      ...(node.children.length > 0 ? { children: node.children.map(explained) } : {}),
    })
    return explained(this.root)
  }
}

function shown(word: string): string {
  const text = readable(word)
  return /^[\w@%+=:,./*?[\]~^-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 197)}...` : text
}

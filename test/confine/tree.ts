/**
 * A machine made of a list of paths, for policies: `name/` is a directory, `name -> target` a link, `name = text` a
 * file with text, `name!` a device.
 */
import type { FileKind, Machine } from '../../src/confine/machine.js'
import { join, parentOf } from '../../src/confine/paths.js'

interface Node {
  readonly kind: FileKind
  readonly text: string
}

export function tree(lines: readonly string[]): Machine {
  const nodes = new Map<string, Node>([['/', { kind: 'directory', text: '' }]])
  const add = (path: string, node: Node): void => {
    for (let at = parentOf(path); !nodes.has(at); at = parentOf(at)) nodes.set(at, { kind: 'directory', text: '' })
    nodes.set(path, node)
  }
  for (const line of lines) {
    const [, path = '', how, text = ''] = /^(\S+)(?: (->|=) ([^]*))?$/.exec(line) ?? []
    if (how === '->') add(path, { kind: 'link', text })
    else if (how === '=') add(path, { kind: 'file', text })
    else if (path.endsWith('!')) add(path.slice(0, -1), { kind: 'other', text: '' })
    else if (path.endsWith('/')) add(path.slice(0, -1), { kind: 'directory', text: '' })
    else add(path, { kind: 'file', text: '' })
  }
  const real = (path: string, jumps = 0): string | null => {
    if (jumps > 20) return null
    let at = '/'
    const parts = path.split('/').filter(Boolean)
    for (const [index, part] of parts.entries()) {
      const next = join(at, part)
      const node = nodes.get(next)
      if (!node) return null
      if (node.kind === 'link') {
        const target = node.text.startsWith('/') ? node.text : join(at, node.text)
        return real([target, ...parts.slice(index + 1)].join('/'), jumps + 1)
      }
      at = next
    }
    return at
  }
  const itself = (path: string): Node | undefined => {
    const directory = real(parentOf(path))
    return path === '/'
      ? nodes.get('/')
      : directory === null
        ? undefined
        : nodes.get(join(directory, path.slice(path.lastIndexOf('/') + 1)))
  }
  const names = (directory: string): string[] => {
    const at = real(directory)
    return at === null
      ? []
      : [...nodes.keys()]
          .filter((path) => path !== '/' && parentOf(path) === at)
          .map((path) => path.slice(path.lastIndexOf('/') + 1))
  }
  return {
    kind: (path) => itself(path)?.kind ?? null,
    target: (path) => (itself(path)?.kind === 'link' ? (itself(path)?.text ?? null) : null),
    real: (path) => real(path),
    names,
    directories: (directory) => names(directory).filter((name) => itself(join(directory, name))?.kind === 'directory'),
    text: (path) => (itself(path)?.kind === 'file' ? (itself(path)?.text ?? null) : null),
    elsewhere: () => [],
  }
}

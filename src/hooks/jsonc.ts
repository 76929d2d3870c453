/**
 * Changes one place of a JSON text and leaves every other byte alone: comments, order, indentation. Comments and
 * trailing commas are read, as Gemini CLI and VS Code allow them.
 */
export type JsonNode = {
  readonly start: number
  readonly end: number
  readonly value: unknown
  readonly members?: readonly { readonly name: string; readonly start: number; readonly node: JsonNode }[]
  readonly items?: readonly JsonNode[]
}

/** Throws SyntaxError with the line where the text is broken. */
export function parseJson(text: string): JsonNode {
  const reader = new Reader(text)
  reader.skip()
  const node = reader.value()
  reader.skip()
  if (reader.at < text.length) throw reader.error('more than one value')
  return node
}

/**
 * The text with `entry` as the last element of the list at `path`; objects and the list are
 * made where they are missing.
 */
export function appendAt(text: string, path: readonly string[], entry: unknown): string {
  let node = parseJson(text)
  for (const [depth, name] of path.entries()) {
    if (!node.members) throw new SyntaxError(`${path.slice(0, depth).join('.') || 'the file'} is not an object`)
    const member = node.members.findLast((each) => each.name === name)
    if (!member) {
      const rest = path.slice(depth + 1).reduceRight<unknown>((inner, key) => ({ [key]: inner }), [entry])
      return insert(text, node, node.members.at(-1)?.node.end, `${JSON.stringify(name)}: `, rest)
    }
    node = member.node
  }
  if (!node.items) throw new SyntaxError(`${path.join('.')} is not a list`)
  return insert(text, node, node.items.at(-1)?.end, '', entry)
}

/** The text without the elements that fit; what becomes empty by that, up to the first part of `path`, goes too. */
export function removeAt(text: string, path: readonly string[], fits: (value: unknown) => boolean): string {
  let result = text
  for (;;) {
    const nodes = nodesAlong(result, path)
    const list = nodes.at(-1)
    const at = list?.items?.findIndex((item) => fits(item.value)) ?? -1
    if (!list?.items || at < 0) return result
    if (list.items.length > 1) {
      const item = list.items[at] as JsonNode
      result = cut(result, item.start, item.end)
      continue
    }
    // The last one: the list goes, and every object that held nothing else.
    let depth = path.length
    while (depth > 1 && nodes[depth - 1]?.members?.length === 1) depth -= 1
    const holder = nodes[depth - 1] as JsonNode
    const member = holder.members?.findLast((each) => each.name === path[depth - 1])
    if (!member) return result
    result = cut(result, member.start, member.node.end)
  }
}

function nodesAlong(text: string, path: readonly string[]): JsonNode[] {
  const nodes = [parseJson(text)]
  for (const name of path) {
    const next = nodes.at(-1)?.members?.findLast((each) => each.name === name)?.node
    if (!next) return []
    nodes.push(next)
  }
  return nodes
}

function insert(text: string, into: JsonNode, lastEnd: number | undefined, before: string, value: unknown): string {
  const unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '
  const outer = indentAt(text, into.start)
  const inner = outer + unit
  const body = before + JSON.stringify(value, null, unit).replaceAll('\n', `\n${inner}`)
  if (lastEnd === undefined) {
    const close = text.lastIndexOf(text[into.end - 1] as string, into.end - 1)
    const between = text.slice(into.start + 1, close).trimEnd()
    return `${text.slice(0, into.start + 1)}${between}\n${inner}${body}\n${outer}${text.slice(close)}`
  }
  const comma = commaBehind(text, lastEnd)
  const head = comma === null ? `${text.slice(0, lastEnd)},` : text.slice(0, comma + 1)
  const tail = text.slice(comma === null ? lastEnd : comma + 1)
  // A comment behind the last element stays with it.
  const restOfLine = /^[ \t]*(?:\/\/[^\n]*|\/\*[^\n]*?\*\/[ \t]*)?(?=\n|$)/.exec(tail)?.[0] ?? ''
  return `${head}${restOfLine}\n${inner}${body}${comma === null ? '' : ','}${tail.slice(restOfLine.length)}`
}

/** Without the piece, its comma, and the line that it leaves empty. */
function cut(text: string, start: number, end: number): string {
  let from = start
  let to = end
  const comma = commaBehind(text, end)
  if (comma !== null) to = comma + 1
  else {
    const before = /,\s*$/.exec(text.slice(0, start))
    if (before) from = before.index
  }
  const lineStart = /\n?[ \t]*$/.exec(text.slice(0, from))?.index ?? from
  return text.slice(0, lineStart) + text.slice(to)
}

function commaBehind(text: string, end: number): number | null {
  const reader = new Reader(text)
  reader.at = end
  reader.skip()
  return text[reader.at] === ',' ? reader.at : null
}

function indentAt(text: string, at: number): string {
  const line = text.slice(text.lastIndexOf('\n', at - 1) + 1, at)
  return /^[ \t]*/.exec(line)?.[0] ?? ''
}

class Reader {
  at = 0
  constructor(readonly text: string) {
    if (text.startsWith('\uFEFF')) this.at = 1
  }

  skip(): void {
    const blank = /(?:\s+|\/\/[^\n]*|\/\*[^]*?\*\/)*/y
    blank.lastIndex = this.at
    blank.exec(this.text)
    this.at = blank.lastIndex
  }

  value(): JsonNode {
    const start = this.at
    const opened = this.text[start]
    if (opened === '{') return this.object(start)
    if (opened === '[') return this.list(start)
    const scalar = /"(?:[^"\\]|\\[^])*"|-?\d[\d.eE+-]*|true|false|null/y
    scalar.lastIndex = start
    const [word] = scalar.exec(this.text) ?? []
    if (word === undefined) throw this.error('a value was expected')
    try {
      const value: unknown = JSON.parse(word)
      this.at = scalar.lastIndex
      return { start, end: this.at, value }
    } catch {
      throw this.error('not a value')
    }
  }

  object(start: number): JsonNode {
    const members: { name: string; start: number; node: JsonNode }[] = []
    for (;;) {
      if (this.next('}', members.length > 0)) break
      const from = this.at
      const name = this.value()
      if (typeof name.value !== 'string') throw this.error('a name was expected')
      this.skip()
      if (this.text[this.at] !== ':') throw this.error('a colon was expected')
      this.at += 1
      this.skip()
      members.push({ name: name.value, start: from, node: this.value() })
    }
    return {
      start,
      end: this.at,
      members,
      value: Object.fromEntries(members.map(({ name, node }) => [name, node.value])),
    }
  }

  list(start: number): JsonNode {
    const items: JsonNode[] = []
    while (!this.next(']', items.length > 0)) items.push(this.value())
    return { start, end: this.at, items, value: items.map(({ value }) => value) }
  }

  /** True at the end of the object or list; else the next element begins here. */
  next(close: string, isLater: boolean): boolean {
    if (!isLater) this.at += 1
    this.skip()
    const comma = isLater && this.text[this.at] === ','
    if (comma) {
      this.at += 1
      this.skip()
    }
    if (this.text[this.at] === close) {
      this.at += 1
      return true
    }
    if (isLater && !comma) throw this.error('a comma was expected')
    return false
  }

  error(what: string): SyntaxError {
    const line = this.text.slice(0, this.at).split('\n').length
    return new SyntaxError(`${what} in line ${line}`)
  }
}

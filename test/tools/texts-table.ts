/**
 * The format of texts.table.txt. A block is `## case`, then the dialects that say this text, each with its tokens
 * (`house 11+15`: the text and its structured half), then the text, each line behind `| `.
 */
export interface Entry {
  readonly name: string
  readonly dialect: string
  readonly text: string
  /** Of the text, and of its structured half. */
  readonly tokens: readonly number[]
}

/** By `case dialect`. */
export function readTable(table: string): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  for (const block of table.split(/^## /m).slice(1)) {
    const [name, dialects, ...lines] = block.replace(/\n+$/, '').split('\n') as [string, string, ...string[]]
    const text = lines.map((line) => line.slice('| '.length)).join('\n')
    for (const cell of dialects.split(', ')) {
      const [dialect, tokens] = cell.split(' ') as [string, string]
      entries.set(`${name} ${dialect}`, { name, dialect, text, tokens: tokens.split('+').map(Number) })
    }
  }
  return entries
}

export function makeTable(entries: readonly Entry[]): string {
  const blocks = new Map<string, Entry[]>()
  for (const entry of entries.toSorted((a, b) => compare(a.name, b.name) || compare(a.dialect, b.dialect))) {
    const key = JSON.stringify([entry.name, entry.text])
    blocks.set(key, [...(blocks.get(key) ?? []), entry])
  }
  const blocksInOrder = [...blocks.values()].map(makeBlock)
  return ['Written and compared by texts.test.ts; texts-table.ts says how to read it.\n', ...blocksInOrder].join('\n')
}

function makeBlock(same: readonly Entry[]): string {
  const { name, text } = same[0]!
  const dialects = same.map(({ dialect, tokens }) => `${dialect} ${tokens.join('+')}`)
  const lines = text.split('\n').map((line) => (line === '' ? '|' : `| ${line}`))
  return [`## ${name}`, dialects.join(', '), ...lines, ''].join('\n')
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

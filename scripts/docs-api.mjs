// The API reference, from the declarations that the package ships: every export of every entry with its comment.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ENTRIES = [
  ['cerith', 'index.d.ts', 'The engine: sessions, runs, jobs, secrets.'],
  ['cerith/tools', 'tools/index.d.ts', 'The dialects bound to an engine, their schemas, and adapters to SDKs.'],
  ['cerith/mcp', 'mcp/index.d.ts', 'The MCP server, to start or to embed.'],
  ['cerith/testing', 'testing.d.ts', 'An engine for tests.'],
]

export function apiPage(root) {
  const types = join(root, 'dist/types')
  const parts = ENTRIES.map(([name, file, about]) =>
    [
      `## ${name}\n\n${about}\n`,
      ...exportsOf(join(types, file)).map(({ name: each, from, local }) => section(each, declarationOf(from, local))),
    ].join('\n'),
  )
  return `# API\n\nEvery name the package exports, as its type declarations have it. Made by \`npm run docs\`.\n\n${parts.join('\n')}`
}

function section(name, declaration) {
  return `### ${name}\n\n\`\`\`text\n${declaration}\n\`\`\`\n`
}

/** `export { a, type B as C } from './x.js'` and declarations in the entry itself. */
function exportsOf(file) {
  const text = readFileSync(file, 'utf8')
  const found = []
  for (const [, names, from] of text.matchAll(/export (?:type )?\{([^}]+)\} from '([^']+)'/g)) {
    for (const each of names
      .split(',')
      .map((part) => part.trim().replace(/^type /, ''))
      .filter(Boolean)) {
      const [local, name = local] = each.split(/ as /)
      found.push({ name, local, from: join(dirname(file), from.replace(/\.js$/, '.d.ts')) })
    }
  }
  for (const [, name] of text.matchAll(/^export declare (?:async )?(?:function|class|const) (\w+)/gm))
    found.push({ name, local: name, from: file })
  return found
}

function declarationOf(file, name) {
  const text = readFileSync(file, 'utf8')
  const start = new RegExp(
    `^export (?:declare )?(?:abstract )?(?:function|class|const|interface|type) ${name}\\b`,
    'm',
  ).exec(text)
  if (!start) {
    const again = exportsOf(file).find((each) => each.name === name)
    return again && again.from !== file ? declarationOf(again.from, again.local) : name
  }
  const before = text.slice(0, start.index)
  const comment = /\/\*\*(?:(?!\*\/)[^])*\*\/\s*$/.exec(before)?.[0].trim() ?? ''
  // The first comment of a file speaks for the file when nothing stands between it and the imports.
  const own = comment && before.trim() !== comment ? `${comment}\n` : ''
  return own + body(text.slice(start.index)).replace(/^export (?:declare )?/, '')
}

/** To the end of the declaration: the first line end outside all brackets. */
function body(text) {
  let depth = 0
  let quote = null
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    if (quote) {
      if (c === quote) quote = null
    } else if (text.startsWith('/*', i)) i = text.indexOf('*/', i) + 1
    else if (text.startsWith('//', i)) i = text.indexOf('\n', i) - 1
    else if (c === "'" || c === '"' || c === '`') quote = c
    else if ('{(['.includes(c)) depth++
    else if ('})]'.includes(c)) {
      depth--
      if (
        depth === 0 &&
        c === '}' &&
        /^\s*\n(?:\s*export|\s*\/\*\*|\s*interface|\s*declare|\s*type|\s*$)/.test(text.slice(i + 1, i + 200) || '\n')
      )
        return text.slice(0, i + 1)
    } else if (c === ';' && depth === 0) return text.slice(0, i + 1)
  }
  return text.trimEnd()
}

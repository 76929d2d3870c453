// The API reference, from the declarations that the package ships: every export of every entry with its comment.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Groups by task: title, the files that their declarations are in, and the guides that explain them. What no group
 * names stands in the last one.
 */
const ENTRIES = [
  { entry: 'cerith', file: 'index.d.ts', about: 'The engine: sessions, runs, jobs, secrets.', kinds: [
    ['An engine and its sessions', /create-engine|services\/options|contract\/engine/, 'running sessions configuration secrets'],
    ['What is asked for, and what comes back', /contract\/(?:request|outcome|output|note|errors)/, 'running output errors environment'],
    ['Jobs', /contract\/job|shell-manager/, 'background waiting pty'],
    ['Changes that were tried', /contract\/changes/, 'sandbox'],
    ['Other machines', /contract\/place|fleet/, 'remote'],
    ['Verdicts, words, limits', /./, 'safety limits'],
  ] },
  { entry: 'cerith/tools', file: 'tools/index.d.ts', about: 'The dialects bound to an engine, their schemas, and adapters to SDKs.', kinds: [
    ['Tools', /create-tools|tools\/(?:tool|options|registry)/, 'tools'],
    ['Adapters', /adapters/, 'tools recipes'],
    ['Dialects and schemas', /./, 'dialects'],
  ] },
  { entry: 'cerith/mcp', file: 'mcp/index.d.ts', about: 'The MCP server, to start or to embed.', kinds: [['The server', /./, 'mcp hosts']] },
  { entry: 'cerith/testing', file: 'testing.d.ts', about: 'An engine for tests.', kinds: [['For tests', /./, 'recipes']] },
] // prettier-ignore

export function apiPage(root) {
  const types = join(root, 'dist/types')
  const groups = ENTRIES.flatMap(({ entry, file, about, kinds }) => {
    const all = exportsOf(join(types, file))
    const kindOf = ({ from }) => kinds.find(([, files]) => files.test(from))
    return kinds.map((kind, at) => ({
      head: at === 0 ? `## ${entry}\n\n${about}\n\n` : '',
      entry,
      title: kind[0],
      guides: kind[2]
        .split(' ')
        .map((name) => `[${name}](${name}.md)`)
        .join(', '),
      names: all
        .filter((each) => kindOf(each) === kind)
        .map((each) => ({ ...each, text: declarationOf(each.from, each.local) })),
    }))
  })
  const links = new Map()
  // The same name a second time gets a number.
  const slugs = new Map()
  const slugOf = (title) => {
    const slug = title
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-')
    const count = slugs.get(slug) ?? 0
    slugs.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }
  for (const { entry, title, names, head } of groups) {
    if (head) slugOf(entry)
    slugOf(title)
    for (const each of names) {
      each.link = `[${each.name}](#${slugOf(each.name)})`
      if (!links.has(each.name)) links.set(each.name, each.link)
    }
  }
  const index = groups.map(
    ({ entry, title, names }) => `- \`${entry}\`, ${title.toLowerCase()}: ${names.map(({ link }) => link).join(' · ')}`,
  )
  const parts = groups.map(
    ({ head, title, guides, names }) =>
      `${head}### ${title}\n\nGuides: ${guides}.\n\n${names.map((each) => section(each, links)).join('\n')}`,
  )
  return `# API\n\nEvery name the package exports, as its type declarations have it. Made by \`npm run docs\`.\n\n${index.join('\n')}\n\n${parts.join('\n')}`
}

function section({ name, text }, links) {
  const words = new Set(text.replace(/\/\*[^]*?\*\//g, '').match(/\b[A-Z]\w+/g))
  const used = [...links].filter(([other]) => other !== name && words.has(other)).map(([, link]) => link)
  return `#### ${name}\n\n\`\`\`ts\n${text}\n\`\`\`\n${used.length > 0 ? `\nUses ${used.join(', ')}.\n` : ''}`
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

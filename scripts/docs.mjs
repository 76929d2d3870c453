// Writes the pages of docs/ that are made from the product itself: the command line, the settings, the errors, the API.
//   node scripts/docs.mjs [--check] [--no-api]
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { apiPage } from './docs-api.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const check = process.argv.includes('--check')
let stale = 0
const PROJECT = {
  override: 'may set',
  add: 'adds',
  within: 'narrows',
  stricter: 'tightens',
  tightens: 'tightens',
  never: 'may not',
}

replacePart('docs/cli.md', 'verbs', verbsPart())
replacePart('docs/configuration.md', 'settings', settingsPart())
// Needs the declarations of a full build, which the tests do without.
if (!process.argv.includes('--no-api')) whole('docs/api.md', apiPage(root))
process.exitCode = check && stale > 0 ? 1 : 0

/** Every verb as its own help shows it. */
function verbsPart() {
  const verbs = [...cli('--help').matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name]) => name)
  return verbs.map((verb) => `## cerith ${verb}\n\n\`\`\`text\n${cli(verb, '--help').trimEnd()}\n\`\`\`\n`).join('\n')
}

/** Every setting as the schema for editors has it. */
function settingsPart() {
  const rows = [
    ['Setting', 'Default', 'Variable', 'A project', 'What it is for'],
    ['---', '---', '---', '---', '---'],
  ]
  const add = (key, property) =>
    rows.push([
      `\`${key}\``,
      property.default === undefined ? 'none' : `\`${JSON.stringify(property.default)}\``,
      property['x-variable'] ? `\`${property['x-variable']}\`` : '',
      PROJECT[property['x-project']],
      property.description,
    ])
  for (const [key, property] of Object.entries(JSON.parse(cli('config', '--schema')).properties)) {
    if (key === '$schema') continue
    if (property.description) add(key, property)
    else for (const [name, inner] of Object.entries(property.properties)) add(`${key}.${name}`, inner)
  }
  return `${rows.map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')}\n`
}

/** Between `<!-- begin NAME -->` and `<!-- end NAME -->`. */
function replacePart(file, name, text) {
  const path = join(root, file)
  const before = existsSync(path) ? readFileSync(path, 'utf8') : `<!-- begin ${name} -->\n<!-- end ${name} -->\n`
  whole(
    file,
    before.replace(
      new RegExp(`(<!-- begin ${name} -->\\n)[^]*?(<!-- end ${name} -->)`),
      (_, begin, end) => `${begin}\n${text}\n${end}`,
    ),
  )
}

function whole(file, text) {
  const path = join(root, file)
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  stale++
  if (check) console.error(`${file} is not what the product says; run \`npm run docs\`.`)
  else writeFileSync(path, text)
}

function cli(...argv) {
  const result = spawnSync(process.execPath, [join(root, 'dist/cli.js'), ...argv], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  })
  if (result.status !== 0) throw new Error(`cerith ${argv.join(' ')}: ${result.stderr}`)
  return result.stdout
}

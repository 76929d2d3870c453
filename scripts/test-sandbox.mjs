// The sandbox against attacks, random policies and real work.
//   npm run test:sandbox                              everything
//   npm run test:sandbox -- PROFILE... [--only ID,ID] every escape attempt, as this user and (where this is root) as an
//                                                     ordinary one
//   npm run test:sandbox -- fuzz | work               random policies (CERITH_SEED, CERITH_FUZZ_RUNS), real work in rooms
//   npm run test:sandbox -- try                       tries with mounts, owners and groups of their own, and many random
//                                                     ones
//   npm run test:sandbox -- --short                   the profile workspace, fuzz and work; nothing where no room can be
//                                                     built
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, chmodSync, chownSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ensure, root } from './ensure.mjs'

ensure()
const words = process.argv.slice(2)
const only = words.includes('--only') ? (words[words.indexOf('--only') + 1] ?? '').split(',') : []
const isShort = words.includes('--short')
const chosen = isShort
  ? ['workspace', 'fuzz', 'work']
  : words.filter((word, at) => !word.startsWith('--') && words[at - 1] !== '--only')
const plays = chosen.filter((word) => ['fuzz', 'work', 'try'].includes(word))
const named = chosen.filter((word) => !plays.includes(word))
const profiles = chosen.length > 0 ? named : ['read-only', 'workspace', 'strict', 'landlock']
const runner = join(root, 'test', 'sandbox', 'runner.sh')
let failed = 0

/** Plays one profile as one user; its words come in one piece, so that two can be played at once. */
function play(profile, user) {
  // Not in /tmp: that is private in a room, and what lies there would be held for the wrong reason.
  const base = mkdtempSync(join(user?.home ?? homedir(), 'cerith-escapes-'))
  if (user) chownSync(base, user.uid, user.gid)
  chmodSync(base, 0o755)
  const child = spawn('bash', [join(root, 'test', 'sandbox', 'run.sh'), runner, profile, ...only], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: base,
      ESC_BASE: base,
      ESC_CERITH: join(root, 'dist', 'cli.js'),
      LANG: 'C.UTF-8',
    },
    ...(user ? { uid: user.uid, gid: user.gid } : {}),
    cwd: base,
  })
  let said = `\n== ${profile}, as ${user?.name ?? (process.getuid() === 0 ? 'root' : 'this user')}\n`
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  return new Promise((resolve) => {
    child.on('close', (status) => {
      rmSync(base, { recursive: true, force: true })
      process.stdout.write(said)
      if (status !== 0) failed += 1
      resolve()
    })
  })
}

/** An ordinary user of this machine whose rights root can take. */
function ordinaryUser() {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((one) => one.split(':'))
    .find(
      ([, , uid, , , home, shell]) =>
        Number(uid) >= 1000 && Number(uid) < 60_000 && shell?.endsWith('sh') && existsSync(home ?? ''),
    )
  return line ? { name: line[0], uid: Number(line[2]), gid: Number(line[3]), home: line[5] } : null
}

/** Tries with mounts, owners and groups of their own; and many more random ones than the suite plays. */
function playTries(user) {
  const base = mkdtempSync(join(user?.home ?? homedir(), 'cerith-tries-'))
  if (user) chownSync(base, user.uid, user.gid)
  try {
    const played = spawnSync(process.execPath, [join(root, 'test', 'sandbox', 'try.mjs'), base], {
      stdio: 'inherit',
      env: { PATH: process.env['PATH'], HOME: user?.home ?? homedir(), LANG: 'C.UTF-8' },
      ...(user ? { uid: user.uid, gid: user.gid } : {}),
      cwd: base,
    })
    if (played.status !== 0) failed += 1
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

function playManyTries() {
  const env = { ...process.env, CERITH_TRY_SEEDS: '40' }
  const words = ['vitest', 'run', 'test/os/confine/try-accept.test.ts']
  if (spawnSync('npx', words, { stdio: 'inherit', env, cwd: root }).status !== 0) failed += 1
}

/** Why a room cannot be had here as this user or another; null where it can. */
function lacking(user) {
  const home = mkdtempSync(join(user?.home ?? homedir(), 'cerith-probe-'))
  if (user) chownSync(home, user.uid, user.gid)
  try {
    const probe = spawnSync(process.execPath, [join(root, 'dist', 'cli.js'), 'run', '--sandbox', '--', 'true'], {
      env: { PATH: process.env['PATH'], HOME: home, CERITH_HOME: join(home, 'state') },
      encoding: 'utf8',
      ...(user ? { uid: user.uid, gid: user.gid } : {}),
      cwd: home,
    })
    return probe.status === 0 ? null : (probe.stderr.split('\n').find(Boolean) ?? `exit ${probe.status}`)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

const missing = isShort ? lacking(null) : null
if (missing !== null) {
  console.log(`Skipped: no room can be built here (${missing}).`)
  process.exit(0)
}
const other = process.getuid() === 0 ? ordinaryUser() : null
const unusable = other ? lacking(other) : null
if (unusable !== null) console.log(`Not played as ${other.name}: ${unusable}`)
const user = unusable === null ? other : null
if (chosen.length === 0 || chosen.includes('try')) {
  console.log('\n== tries')
  playTries(null)
  if (user) {
    console.log(`\n== tries, as ${user.name}`)
    playTries(user)
  }
  playManyTries()
}
for (const profile of profiles) await Promise.all([play(profile, null), ...(user ? [play(profile, user)] : [])])
const others = plays.filter((word) => word !== 'try')
if (chosen.length === 0 || others.length > 0) {
  const words = ['vitest', 'run', '--config', 'test/sandbox/vitest.config.ts', ...others]
  if (spawnSync('npx', words, { cwd: root, stdio: 'inherit' }).status !== 0) failed += 1
}
console.log(
  `\n${failed === 0 ? 'Everything held' : `${failed} parts failed`}, ${Math.round(performance.now() / 1000)} s.`,
)
process.exit(failed > 0 ? 1 : 0)

/**
 * Machines that lack something: few descriptors, no /proc, an old bash, a home that cannot be written. One right
 * message, and never a false success.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { findBash } from '../../src/os/user/bash.js'
import { knownHome } from '../../src/os/files/home.js'
import { temporaryFolder } from '../fixtures/folder.js'

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const base = temporaryFolder('machine')
const env = { ...process.env, CERITH_HOME: join(base, 'state'), NODE: process.execPath, CLI: cli, BASE: base }

function shell(line: string, more: Record<string, string | undefined> = {}) {
  const script = `cerith() { "$NODE" "$CLI" "$@"; }; ${line}`
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script], { env: { ...env, ...more }, encoding: 'utf8' })
  return { status, stdout, stderr }
}
/** Whether this process may make mounts of its own. */
const mounts = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0

test.each([
  ['a run', `cerith run 'echo hi; exit 3'`, 'hi\n'],
  ['a session', `cerith run --session low 'echo hi; exit 3'`, 'hi\n'],
  ['a terminal', `cerith run --pty 'echo hi; exit 3'`, 'hi\r\n'],
])('with 100 descriptors %s runs and says how it ended', (_, line, out) => {
  expect(shell(`ulimit -n 100; ${line}`)).toEqual({ status: 3, stdout: out, stderr: '' })
})

// Just above a number that the shell's own are put on from: 1020, 510, 63.
test.each([34, 65, 67, 512, 1023])('with %i of them a session keeps its streams and its state', (limit) => {
  const calls = ['a=1', 'echo out $a', 'echo again $a >&2', 'exit 3']
  const program = `import { createEngine } from ${JSON.stringify(cli.replace('cli.js', 'index.js'))}
    const engine = await createEngine()
    const session = await engine.session()
    const outcomes = []
    for (const command of ${JSON.stringify(calls)}) outcomes.push(await session.run({ command }))
    console.log(outcomes.map(({ stdout, stderr, exitCode }) => stdout + stderr + exitCode).join())
    await engine.close()`
  const { status, stdout, stderr } = shell(`ulimit -n ${limit}; exec "$NODE" --input-type=module -e "$PROGRAM"`, {
    PROGRAM: program,
  })
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '0,out 1\n0,again 1\n0,3\n', stderr: '' })
})

test.each([30, 34, 64, 97])('the lower tier, which needs more than %i, names the limit', (limit) => {
  for (const line of [`cerith run 'echo hi'`, `cerith run --session low 'echo hi'`])
    expect(shell(`ulimit -n ${limit}; ${line}`, { CERITH_HELPER: 'none' })).toMatchObject({
      status: 125,
      stdout: '',
      stderr: expect.stringMatching(/EMFILE[^]*`ulimit -n`/),
    })
})

test('with too few for Node itself nothing is called a success', () => {
  for (const limit of [34, 28, 22]) {
    const { status, stdout, stderr } = shell(`ulimit -n ${limit}; cerith run 'echo hi; exit 3'`)
    const ran = stdout === 'hi\n' && status === 3
    // cerith's words and code, not the crash of a host that reached for the pipes of a helper it could not start.
    expect({ limit, ran, said: status === 125 && /^cerith: .*EMFILE/.test(stderr) }).toEqual({ limit, ran, said: !ran })
    expect(stderr).not.toMatch(/^ {4}at |Cannot read/m)
  }
})

describe.skipIf(!mounts)('without /proc', () => {
  const without = (line: string) =>
    shell(`unshare -m bash -c 'mount -t tmpfs none /proc; cerith() { "$NODE" "$CLI" "$@"; }; ${line}'`)
  test.each(['run "echo hi"', 'run --session s "echo hi"', 'run --background "echo hi"', 'run --pty "echo hi"', 'ps'])(
    'cerith %s says that it is not mounted',
    (line) => {
      const { status, stdout, stderr } = without(`cerith ${line}`)
      expect({ status, stdout }).toEqual({ status: 125, stdout: '' })
      expect(stderr).toMatch(/^cerith: \/proc is not mounted\n +Mount it/)
    },
  )
  test('the doctor says the same, and calls it broken', () => {
    expect(without('cerith doctor').stdout).toMatch(/broken +\/proc +\/proc is not mounted/)
  })
})

describe('an old bash', () => {
  const make = (version: string): string => {
    const dir = mkdtempSync(join(base, 'bash-'))
    // As much of an old bash as is asked for before the first command: what it says about itself.
    writeFileSync(join(dir, 'bash'), `#!/bin/sh\necho '${version}'\n`)
    chmodSync(join(dir, 'bash'), 0o755)
    return join(dir, 'bash')
  }
  test.each(['3.2.57(1)-release', '4.3.48(1)-release'])('%s is refused with the way out', async (version) => {
    await expect(findBash(make(version))).rejects.toMatchObject({
      code: 'SHELL_NOT_FOUND',
      message: expect.stringContaining(`is bash ${version}: cerith needs bash 4.4 or newer`),
      hint: expect.stringContaining('Install a newer one'),
    })
  })
  test('a newer one further along PATH is taken', async () => {
    const old = make('3.2.57(1)-release')
    const PATH = `${old.slice(0, -'/bash'.length)}:${process.env['PATH']}`
    expect((await findBash(undefined, { PATH })).path).not.toBe(old)
  })
  test('4.4 is new enough', async () => {
    expect((await findBash(make('4.4.0(1)-release'))).version).toBe('4.4.0(1)-release')
  })
})

/** Root has no limit of processes, and a user of its own has no process that would count. */
const canLimit = process.getuid?.() === 0
test.skipIf(!canLimit)('with too few processes that is what is said: bash is not called missing', () => {
  const home = join(base, 'few')
  mkdirSync(home)
  chownSync(home, 61_234, 61_234)
  chmodSync(base, 0o755)
  const words: string[] = []
  const few = [7, 8, 9, 10, 11].map((limit) => ({ tier: '', limit }))
  for (const { tier, limit } of [...few, { tier: 'none', limit: 16 }, { tier: 'none', limit: 20 }]) {
    const user = `setpriv --reuid 61234 --regid 61234 --clear-groups prlimit --nproc=${limit}`
    const { status, stdout, stderr } = shell(`timeout 10 ${user} "$NODE" "$CLI" run 'echo hi; exit 3'`, {
      CERITH_HOME: join(home, String(limit)),
      CERITH_HELPER: tier,
      HOME: home,
    })
    if (stdout === 'hi\n') expect(status).toBe(3)
    else words.push(stderr)
  }
  // (Node itself gives up, or waits, where it cannot have its threads.)
  const ours = words.filter((text) => text.startsWith('cerith: '))
  expect(ours).not.toEqual([])
  for (const text of ours)
    expect(text).toMatch(/^cerith: .*\bcould not (?:be )?start.*(?:EAGAIN|ended at once)[^]*processes/i)
})

describe('a home that cannot be written', () => {
  test.skipIf(!mounts)('state goes to a private temporary directory, which is said, and later calls find it', () => {
    mkdirSync(join(base, 'home'), { recursive: true })
    const inside = (line: string) =>
      shell(
        `unshare -m bash -c 'mount -t tmpfs -o ro none $BASE/home; export HOME=$BASE/home; cerith() { "$NODE" "$CLI" "$@"; }; ${line}'`,
        { CERITH_HOME: undefined, XDG_STATE_HOME: undefined, TMPDIR: base },
      )
    const first = inside('cerith run "echo hi; exit 3"')
    expect({ status: first.status, stdout: first.stdout }).toEqual({ status: 3, stdout: 'hi\n' })
    expect(first.stderr).toMatch(/^cerith: \S+ cannot be written \(EROFS\); state is kept in \S+\/cerith-\d+/)
    inside('cerith run --session kept "x=5"')
    expect(inside('cerith run --session kept "echo \\$x"').stdout).toBe('5\n')
    expect(execFileSync('stat', ['-c', '%a', join(base, `cerith-${process.getuid?.()}`)], { encoding: 'utf8' })).toBe(
      '700\n',
    )
  })

  test('a HOME that is no directory, as accounts of services have, is such a home', () => {
    const { status, stdout, stderr } = shell(`HOME=/dev/null cerith run 'echo hi; exit 3'`, {
      CERITH_HOME: undefined,
      XDG_STATE_HOME: undefined,
      TMPDIR: base,
    })
    expect({ status, stdout }).toEqual({ status: 3, stdout: 'hi\n' })
    expect(stderr).toMatch(/^cerith: \S+ cannot be written \(ENOTDIR\); state is kept in/)
  })

  test('an empty HOME is no reason to call the user unknown', () => {
    expect(knownHome({ HOME: '' })).not.toBe(null)
    expect(shell('HOME= cerith run "echo hi"')).toMatchObject({ status: 0, stdout: 'hi\n', stderr: '' })
  })
})

describe('the list of processes', () => {
  /** Looks at every process without starting one whose words would match. */
  const look = `for f in /proc/[0-9]*/cmdline; do while IFS= read -r -d '' a; do [[ $a == *zebra''-word* ]] && echo "$f"; done < $f; done 2>/dev/null; : zebra-word; echo looked`
  test.each([
    ['run', ['run', look]],
    ['session', ['run', '--session', 'seen', look]],
    ['terminal', ['run', '--pty', look]],
    ['argv', ['run', '--', 'bash', '-c', `${look.replace(': zebra-word; ', '')}`]],
    ['env', ['run', '--env', 'A=zebra-word', look]],
  ])('nothing of a command is in it (%s)', (_, argv) => {
    const { stdout } = spawnSync(process.execPath, [cli, ...argv], { env, encoding: 'utf8' })
    expect(stdout.trim()).toBe('looked')
  })
})

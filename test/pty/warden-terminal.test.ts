/** The terminal that a warden gives to a command, without an engine: size, hangup, drain, backpressure, leaks. */
import { mkdtempSync, readFileSync, readdirSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findHelper } from '../../src/os/helper/file.js'
import type { OneLauncher, Ward } from '../../src/os/helper/launcher.js'
import { startHelper } from '../../src/os/helper/native-launcher.js'
import { makeGate } from '../fixtures/gate.js'
import { temporaryFolder } from '../fixtures/folder.js'
import { until } from '../fixtures/until.js'

const helper = findHelper()

describe.skipIf(!helper)('the terminal of a warden', () => {
  let launcher: OneLauncher
  const root = temporaryFolder('pty')
  let number = 0

  beforeAll(async () => {
    launcher = await startHelper(helper as string, [], 'native')
  })
  afterAll(async () => {
    await launcher.close()
  })

  const start = async (command: string, size = { cols: 120, rows: 40 }): Promise<{ ward: Ward; dir: string }> => {
    const dir = mkdtempSync(join(root, `${++number}-`))
    const ward = await launcher.start({
      path: '/bin/bash',
      argv: ['bash', '--norc', '-c', command],
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', TERM: 'xterm-256color' },
      cwd: root,
      keep: { dir, headBytes: 1 << 20, tailBytes: 1 << 20, pty: size },
    })
    return { ward, dir }
  }
  const statusOf = (dir: string): Record<string, string> =>
    Object.fromEntries(
      readFileSync(join(dir, 'status'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => line.split('=') as [string, string]),
    )
  const outputOf = (dir: string): string =>
    readFileSync(join(dir, 'output.log'))
      .subarray(0, Number(statusOf(dir)['out_total']))
      .toString()
  const run = async (
    command: string,
    size?: { cols: number; rows: number },
  ): Promise<{ output: string; status: Record<string, string>; dir: string; ward: Ward }> => {
    const { ward, dir } = await start(command, size)
    await ward.recorded
    return { output: outputOf(dir), status: statusOf(dir), dir, ward }
  }

  test('F77: it has the size that was asked for, is a controlling terminal, and job control works', async () => {
    const { output } = await run(
      'stty size; tty; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all; : </dev/tty && echo ctty; set -m; sleep 5 & jobs; kill %1; wait',
      { cols: 91, rows: 33 },
    )
    expect(output).toMatch(/^33 91\r\n\/dev\/pts\/\d+\r\nall\r\nctty\r\n\[1\]\+\s+Running\s+sleep 5 &\r\n/)
  })

  test('F77: a resize reaches the foreground program as SIGWINCH', async () => {
    const { ward, dir } = await start('trap "stty size; exit" WINCH; echo ready; while :; do sleep 0.05; done')
    await outputMatching(dir, /ready/)
    writeFileSync(join(dir, 'control'), 'size 70 20\n')
    await ward.recorded
    expect(outputOf(dir)).toContain('20 70')
  })

  test('F77: C-c on the terminal reaches the foreground job only', async () => {
    const { ward, dir } = await start(
      'set -m; (trap "echo background-got-it" INT; echo back-ready; while :; do sleep 0.05; done) & (trap "echo front-got-it; exit 3" INT; echo front-ready; while :; do sleep 0.05; done); echo "status $?"; kill -9 %1',
    )
    await outputMatching(dir, /back-ready[^]*front-ready|front-ready[^]*back-ready/)
    writeFileSync(join(dir, 'stdin'), '\x03')
    await ward.recorded
    expect(outputOf(dir)).toContain('status 3')
    expect(outputOf(dir)).not.toContain('background-got-it')
  })

  test('F76: the result comes at exit although a grandchild keeps the terminal, and its late output does not mix in', async () => {
    const gate = makeGate()
    const began = performance.now()
    // The grandchild says when it no longer hears the hangup that the exit brings.
    const { status, output, ward, dir } = await run(
      `(trap '' HUP; : >deaf; ${gate.wait}; echo late; sleep 60) & while [ ! -e deaf ]; do sleep 0.01; done; echo said; exit 3`,
    )
    expect(performance.now() - began).toBeLessThan(20_000)
    expect(status['code']).toBe('3')
    expect(output).toBe('said\r\n')
    gate.open()
    await until(() => existsSync(join(dir, 'late.log')))
    ward.kill({ graceMs: 100, why: 'caller' })
    await ward.gone
    expect(readFileSync(join(dir, 'late.log'), 'utf8')).toBe('late\r\n')
  })

  test('a program that closes every descriptor and opens /dev/tty again keeps its terminal', async () => {
    const { status, output } = await run('exec </dev/null >/dev/null 2>&1; sleep 0.3; echo back >/dev/tty; exit 7')
    expect(status['code']).toBe('7')
    expect(output).toBe('back\r\n')
  })

  test('EIO is end of file, and nothing printed just before the end is lost', async () => {
    for (let round = 0; round < 30; round++) {
      const { status, output } = await run("head -c 30000 /dev/zero | tr '\\0' x; printf END")
      expect(status['code']).toBe('0')
      expect(output.length).toBe(30_003)
      expect(output.endsWith('END')).toBe(true)
    }
  })

  test('F78: a flood is stored bounded, not in memory', async () => {
    const { status, ward } = await run('yes 0123456789abcdef | head -c 20000000')
    expect(Number(status['out_total'])).toBeGreaterThan(20_000_000)
    expect(Number(status['out_omitted'])).toBeGreaterThan(15_000_000)
    expect(ward.state.exited?.code).toBe(0)
  })

  test('what is typed ahead waits, and the end of input comes after it', async () => {
    const { ward, dir } = await start('sleep 0.3; cat; echo "[$?]"')
    writeFileSync(join(dir, 'stdin'), 'one\ntwo\n')
    writeFileSync(join(dir, 'control'), 'eof\n')
    await ward.recorded
    expect(outputOf(dir)).toContain('two\r\none\r\ntwo\r\n[0]')
  })

  test('look tells the modes of the terminal, also without echo', async () => {
    const { ward, dir } = await start('stty -echo; printf "Password: "; read -r a; stty echo; echo; echo "got ${#a}"')
    await outputMatching(dir, /Password: /)
    writeFileSync(join(dir, 'control'), 'look 41\n')
    await until(() => existsSync(join(dir, 'look.41')))
    const facts = readFileSync(join(dir, 'look.41'), 'utf8')
    expect(facts).toContain('canonical=1\necho=0\n')
    expect(facts).toMatch(new RegExp(`foreground=${ward.pid}\n`))
    writeFileSync(join(dir, 'stdin'), 'hunter22\n')
    await ward.recorded
    expect(outputOf(dir)).toBe('Password: \r\ngot 8\r\n')
  })

  test('a value masked through the control file never reaches the disk', async () => {
    const { ward, dir } = await start('read -r a; echo "it is $a"')
    writeFileSync(join(dir, 'control'), `mask token:${Buffer.from('hunter2hunter2').toString('hex')}\nlook 1\n`)
    await until(() => existsSync(join(dir, 'look.1')))
    writeFileSync(join(dir, 'stdin'), 'hunter2hunter2\n')
    await ward.recorded
    expect(readFileSync(join(dir, 'output.log'), 'utf8')).toContain('[secret:token]\r\nit is [secret:token]\r\n')
  })

  test('a prompt that ends as a masked value begins is shown after a moment, and the value is hidden all the same', async () => {
    const { ward, dir } = await start(
      `stty -echo; read -r a; printf 'Pick Z'; read -r a; printf 'ebra-crossing-5 and Zebra-cross'; read -r a; echo`,
    )
    writeFileSync(join(dir, 'control'), `mask s:${Buffer.from('Zebra-crossing-5').toString('hex')}\nlook 1\n`)
    await until(() => existsSync(join(dir, 'look.1')))
    writeFileSync(join(dir, 'stdin'), 'a\n')
    await outputMatching(dir, /Pick Z$/)
    writeFileSync(join(dir, 'stdin'), '\n')
    await outputMatching(dir, / and $/)
    // Twice the moment after which a short beginning is shown, counted by the warden's own answers: a busy machine
    // makes them late together.
    for (const end = performance.now() + 250, look = { n: 2 }; performance.now() < end; look.n++) {
      writeFileSync(join(dir, 'control'), `look ${look.n}\n`)
      await until(() => existsSync(join(dir, `look.${look.n}`)))
    }
    // Eleven of sixteen bytes would give the value away: they stay back until it is clear what they are.
    expect(readFileSync(join(dir, 'output.log'), 'utf8')).not.toContain('Zebra')
    writeFileSync(join(dir, 'stdin'), '\n')
    await ward.recorded
    expect(outputOf(dir)).toMatch(/^(?:a\r\n)?Pick Z\[secret:s\] and Zebra-cross\r\n$/)
  })

  test('control lines are obeyed although they come in pieces or by the thousand', async () => {
    const { ward, dir } = await start('read -r a')
    writeFileSync(join(dir, 'control'), 'lo')
    writeFileSync(join(dir, 'control'), `ok 1\n${'nonsense\n'.repeat(400)}`)
    writeFileSync(join(dir, 'control'), 'look 2\n')
    await until(() => existsSync(join(dir, 'look.1')) && existsSync(join(dir, 'look.2')))
    ward.kill({ graceMs: 0, why: 'caller' })
    await ward.gone
  })

  test('pain 29: 500 terminals, ended in every way, leak no descriptor', async () => {
    const here = readdirSync('/proc/self/fd').length
    const there = readdirSync(`/proc/${launcher.pid}/fd`).length
    const terminals = readdirSync('/dev/pts').length
    for (let batch = 0; batch < 50; batch++) {
      await Promise.all(
        Array.from({ length: 10 }, async (_, at) => {
          const { ward } = await start(at % 2 ? 'exit 0' : 'sleep 30')
          if (at % 2 === 0 || at === 1) ward.kill({ graceMs: at === 0 ? 100 : 0, why: 'caller' })
          await ward.gone
        }),
      )
    }
    await until(() => readdirSync('/dev/pts').length <= terminals)
    await until(() => readdirSync('/proc/self/fd').length <= here + 2)
    await until(() => readdirSync(`/proc/${launcher.pid}/fd`).length <= there + 2)
  })

  async function outputMatching(dir: string, pattern: RegExp): Promise<void> {
    await until(
      () => existsSync(join(dir, 'output.log')) && pattern.test(readFileSync(join(dir, 'output.log'), 'utf8')),
    )
  }
})

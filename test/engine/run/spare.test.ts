/**
 * An engine that is used again keeps a spare: a warden that waits for the next command, outside or in a room. It
 * changes nothing but the time.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import type { Engine } from '../../../src/index.js'
import { descendantsOf, isAlive, processFacts, signalProcess } from '../../../src/os/process/proc.js'
import { until } from '../harness.js'
import { canConfine, ground } from '../sandbox/harness.js'

const spares = (): number[] => descendantsOf(process.pid).filter((pid) => processFacts(pid)?.name === 'cerith-spare')

/** In a room it has namespaces of its own. */
async function withSpare(engine: Engine, inRoom: boolean): Promise<number[]> {
  await engine.run({ command: 'true' })
  await engine.run({ command: 'true' })
  await until(() => spares().some((pid) => !inRoom || descendantsOf(pid).some((one) => isInit(one))))
  return spares()
}

function isInit(pid: number): boolean {
  try {
    return /NSpid:\t.*\t1$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

describe.each([
  ['outside', false],
  ['in a room', true],
])('a spare %s', (_, inRoom) => {
  const place = (): ReturnType<typeof ground> => ground(inRoom ? {} : { profile: 'off' })
  test.skipIf(inRoom && !canConfine)(
    'is made by the second command, used by the next, and gone with the engine',
    async () => {
      const { engine } = await place()
      await engine.run({ command: 'true' })
      expect(spares()).toEqual([])
      const before = await withSpare(engine, inRoom)
      const outcome = await engine.run({
        command: 'ls /proc/self/fd | wc -l; cat /proc/self/oom_score_adj',
        input: 'x',
      })
      expect(outcome.stdout.split('\n')).toEqual(['4', '300', ''])
      // It is the warden of that command now, and the next spare is another.
      expect(spares().some((pid) => before.includes(pid))).toBe(false)
      const session = await engine.session()
      expect((await session.run({ command: 'cat; echo $$ >&2', input: 'through' })).stdout).toBe('through')
      expect((await engine.run({ command: 'tty; test -t 0 && echo yes', pty: true })).output).toContain('yes')
      await engine.close()
      expect(spares()).toEqual([])
    },
  )

  test.skipIf(inRoom && !canConfine)('that was killed costs nothing', async () => {
    const { engine } = await place()
    for (let round = 0; round < 5; round++) {
      // The first of them is the warden; what it has brought inside goes with it.
      const [warden] = await withSpare(engine, inRoom)
      process.kill(warden as number, 'SIGKILL')
      await until(() => !isAlive(warden as number))
      expect((await engine.run({ command: 'echo alive' })).stdout).toBe('alive\n')
    }
  })

  test.skipIf(inRoom && !canConfine)(
    'that is killed as a command reaches it: the command runs once, or is told as lost',
    async () => {
      const { engine, work } = await place()
      const ends: string[] = []
      for (let round = 0; round < 12; round++) {
        const before = await withSpare(engine, inRoom)
        const running = engine.run({ command: `echo x >>m${round}` })
        // The order is on its way with this turn of the event loop; every other kill comes before it.
        if (round % 2 === 0) await new Promise((next) => setImmediate(next))
        for (const pid of before) signalProcess(pid, 'SIGKILL')
        const { end, exitCode } = await running
        const times = existsSync(join(work, `m${round}`)) ? readFileSync(join(work, `m${round}`), 'utf8').length / 2 : 0
        ends.push(
          exitCode === 0 && times === 1
            ? 'once'
            : end?.kind === 'lost' && times <= 1
              ? 'lost'
              : `${end?.kind} ${times}`,
        )
      }
      expect(ends.filter((one) => one !== 'once' && one !== 'lost')).toEqual([])
      expect(ends).toContain('once')
    },
  )

  test.skipIf(inRoom && !canConfine)('that was stopped goes on when a command comes', async () => {
    const { engine } = await place()
    for (const pid of await withSpare(engine, inRoom)) process.kill(pid, 'SIGSTOP')
    const [one, two] = await Promise.all(['one', 'two'].map((word) => engine.run({ command: `echo ${word}` })))
    expect([one?.stdout, two?.stdout]).toEqual(['one\n', 'two\n'])
  })

  test.skipIf(inRoom && !canConfine)('many commands at once: each has its own pipes and process ids', async () => {
    const { engine } = await place()
    await withSpare(engine, inRoom)
    const all = Array.from({ length: 12 }, (_, at) => engine.run({ command: `read x; echo $x $$`, input: `n${at}\n` }))
    const told = (await Promise.all(all)).map(({ stdout }) => stdout.trim().split(' '))
    expect(told.map(([word]) => word)).toEqual(all.map((_, at) => `n${at}`))
    expect(new Set(told.map(([, pid]) => pid)).size).toBe(inRoom ? 1 : all.length)
  })
})

describe.skipIf(!canConfine)('a spare in a room', () => {
  test('holds its command as a room without one does', async () => {
    const { engine } = await ground()
    await withSpare(engine, true)
    const look = `echo $$; grep -E 'Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp:' /proc/self/status | tr -d '\\t'`
    const held = ['CapPrm', 'CapEff', 'CapBnd', 'CapAmb'].map((name) => `${name}:0000000000000000`)
    const outcome = await engine.run({ command: look })
    expect(outcome.stdout.split('\n')).toEqual(['2', ...held, 'NoNewPrivs:1', 'Seccomp:2', ''])
  })

  test('has the covers that came after it: of sockets, and of protected files that were replaced', async () => {
    const { engine, work } = await ground()
    mkdirSync(join(work, '.git'))
    writeFileSync(join(work, '.git', 'config'), '[core]\n')
    await withSpare(engine, true)
    const folder = mkdtempSync('/var/tmp/cerith-test-')
    const server = createServer((socket) => socket.end('reached')).listen(join(folder, 'late.sock'))
    await once(server, 'listening')
    writeFileSync(join(work, 'new'), '[core]\n[x]\n')
    renameSync(join(work, 'new'), join(work, '.git', 'config'))
    const ask = `require('net').connect('${folder}/late.sock').on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code))`
    const outcome = await engine.run({ command: `node -e "${ask}"; echo y >>.git/config` })
    server.close()
    rmSync(folder, { recursive: true, force: true })
    expect(outcome.stdout).toMatch(/^E[A-Z]+\n$/)
    expect(readFileSync(join(work, '.git', 'config'), 'utf8')).toBe('[core]\n[x]\n')
  })
})

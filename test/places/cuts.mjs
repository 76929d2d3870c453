// What holds when the network itself goes: checks over an sshd in a network namespace (netns.mjs).
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { must, until } from './daemons.mjs'

const QUICK = { reach: { beatMs: 300 } }
const sleep = (ms) => new Promise((next) => setTimeout(next, ms))
/** The place is this machine's disk behind another network: what ran there is counted here. */
const linesOf = (file) => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [])
const isAlive = (pid) => existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
const childrenOf = (pid) =>
  must('ps', ['-o', 'pid=', '--ppid', String(pid)])
    .trim()
    .split(/\s+/)
    .map(Number)
const textsOf = ({ notes = [] }) => notes.map(({ text }) => text).join()
const eventsOf = (engine) => {
  const kinds = []
  engine.onLink((event) => {
    kinds.push(event.kind)
    if (process.env['CERITH_TEST_ONLY']) console.log(`  ${JSON.stringify(event)}`)
  })
  return kinds
}
const down = (kinds) => until('the cut is noticed', () => kinds.includes('down'))

/** A check with an engine of its own, a file that counts, and a network that is whole again afterwards. */
const cut = (title, check, options = QUICK, host = 'far') => [title, async ({ open, network, folder, ssh }) => {
  const file = join(folder('counted'), 'once')
  for (const each of [file, `${file}.over`]) rmSync(each, { force: true })
  const engine = await open(options, `ssh://${host}`)
  try {
    await check({ engine, network, file, kinds: eventsOf(engine), ssh })
  } finally {
    network.mend()
    network.plug()
    await engine.close()
  }
}] // prettier-ignore

export const CUTS = [
  cut('a call goes on while packets vanish, its result comes, and it ran once', async ({ engine, network, file, kinds }) => {
    const session = await engine.session()
    await session.run({ command: 'Y=kept' })
    const running = session.run({ command: `echo x >> ${file}; sleep 2; echo $Y $(wc -l < ${file}); touch ${file}.over` })
    await until('it runs', () => linesOf(file).length === 1)
    network.silence()
    await down(kinds)
    await until('it ends', () => existsSync(`${file}.over`))
    network.speak()
    assert.equal((await running).stdout, 'kept 1\n')
    assert.equal(kinds.at(-1), 'up')
  }),
  cut('a call that leaves into a network that is gone arrives later, once', async ({ engine, network, file, kinds }) => {
    const session = await engine.session()
    await session.run({ command: 'Y=kept' })
    network.silence()
    const running = session.run({ command: `echo x >> ${file}; echo $Y` })
    await down(kinds)
    assert.deepEqual(linesOf(file), [])
    network.speak()
    assert.equal((await running).stdout, 'kept\n')
    assert.deepEqual(linesOf(file), ['x'])
  }),
  cut('a pulled cable: what was handed over may run and is not repeated, what was not is said to be not started', async ({ engine, network, file }) => {
    const session = await engine.session()
    const running = session.run({ command: `echo x >> ${file}; sleep 3; echo made` })
    await until('it runs', () => linesOf(file).length === 1)
    network.unplug()
    const outcome = await running
    assert.deepEqual([outcome.status, outcome.exitCode, outcome.end.kind, outcome.end.link.mayRun], ['failed', null, 'lost', true])
    assert.match(textsOf(outcome), /do not run it again/)
    await assert.rejects(session.run({ command: `echo y >> ${file}` }), { code: 'LINK_DOWN', message: /was not started/ })
    network.plug()
    assert.equal((await engine.recover(outcome.end.link.call)).stdout, 'made\n')
    assert.deepEqual(linesOf(file), ['x'])
    assert.equal((await session.run({ command: 'echo works' })).stdout, 'works\n')
  }, { reach: { beatMs: 300, linkWaitMs: 1_500 } }),
  cut('a job goes on, and who waits for it hears of its end', async ({ engine, network, file, kinds }) => {
    const job = await engine.start({ command: `for i in $(seq 30); do echo line$i; sleep 0.1; done; touch ${file}.over` })
    const waiting = job.wait()
    await job.wait({ until: /line3/ })
    network.unplug()
    await down(kinds)
    await until('it ends', () => existsSync(`${file}.over`))
    network.plug()
    assert.equal((await waiting).reason, 'exit')
    assert.deepEqual((await job.read()).text.trim().split('\n'), Array.from({ length: 30 }, (_, i) => `line${i + 1}`))
  }),
  cut('an attached terminal shows what came meanwhile, and takes keys again', async ({ engine, network, file, kinds }) => {
    const job = await engine.start({ command: 'bash --norc', pty: true })
    let seen = ''
    const attached = await job.attach({ by: 'test', size: { cols: 90, rows: 20 }, readOnly: false, show: (text) => void (seen += text) })
    attached.type(Buffer.from(`(sleep 2; echo mid$((40+2)); touch ${file}.over) &\r`))
    await until('it was typed', () => seen.includes('sleep 2'))
    network.silence()
    await down(kinds)
    await until('it was printed', () => existsSync(`${file}.over`))
    assert.doesNotMatch(seen, /mid42/)
    network.speak()
    await until('what came meanwhile is shown', () => seen.includes('mid42'))
    attached.type(Buffer.from('echo after$((1+1))\r'))
    await until('keys arrive again', () => seen.includes('after2'))
    await attached.leave()
    await job.kill({ graceMs: 0 })
  }),
  cut('a network that comes and goes runs each of 40 commands once, in order', async ({ engine, network, file, kinds }) => {
    const session = await engine.session()
    let isOver = false
    const flapping = (async () => {
      for (let i = 0; i < 4; i++) {
        await sleep(300)
        const before = kinds.length
        network.silence()
        await until('a cut is noticed', () => kinds.slice(before).includes('down') || isOver)
        network.speak()
        await until('it is back', () => kinds.at(-1) === 'up' || isOver)
      }
    })()
    const codes = []
    for (let i = 1; i <= 40; i++) codes.push((await session.run({ command: `echo ${i} >> ${file}; sleep 0.05`, key: `k${i}` })).exitCode)
    isOver = true
    await flapping
    assert.deepEqual([...new Set(codes)], [0])
    assert.deepEqual(linesOf(file).map(Number), Array.from({ length: 40 }, (_, i) => i + 1))
  }),
  cut('longer than the lease: the engine there ends, what is lost is said, a detached job goes on', async ({ engine, network, kinds }) => {
    const session = await engine.session()
    await session.run({ command: 'Y=kept' })
    const job = await engine.start({ command: 'sleep 98716', owner: 'detached' })
    const { pid } = engine.place
    network.silence()
    await down(kinds)
    await until('the engine there ends', () => !isAlive(pid))
    network.speak()
    const next = await session.run({ command: 'echo "[$Y]"' }).catch((error) => error)
    const after = next.stdout === undefined ? await session.run({ command: 'echo "[$Y]"' }) : next
    assert.equal(after.stdout, '[]\n')
    assert.match([textsOf(next), textsOf(after), next.message].join(), /is gone|lost/)
    const found = await engine.job(job.id)
    assert.equal((await found.info()).isRunning, true)
    await found.kill({ graceMs: 0 })
  }, { reach: { beatMs: 300, leaseMs: 1_500 } }),
  cut('one packet in eight lost and 200 ms away: every answer is right', async ({ engine, network }) => {
    network.lose(8)
    const session = await engine.session()
    for (let i = 0; i < 15; i++) assert.equal((await session.run({ command: `echo $((${i} * 3))` })).stdout, `${i * 3}\n`)
    const input = 'x'.repeat(100_000)
    assert.equal((await engine.run({ command: 'wc -c', input })).stdout.trim(), '100000')
    const { stdout } = await engine.run({ command: 'seq 3000' })
    assert.equal(stdout.split('\n').length, 3_001)
  }, { reach: { linkWaitMs: 60_000 } }, 'slow'),
  ...[30_000, 1_000].map((leaseMs) => [`a closed lid (everything here stopped for 6 s), lease ${leaseMs} ms`, async ({ ssh, stateDir, folder }) => {
    const file = join(folder('counted'), 'lid')
    rmSync(file, { force: true })
    // What ends while everything here is stopped is kept; what would go on ends with the lease.
    const seconds = leaseMs > 6_000 ? 2 : 60
    const words = [join(import.meta.dirname, 'lid.mjs'), ssh.config, stateDir, leaseMs, file, seconds].map(String)
    const lid = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
    const said = createInterface({ input: lid.stdout })[Symbol.asyncIterator]()
    const [, far] = /^running (\d+)$/.exec((await said.next()).value)
    // The client too, as a sleeping machine would: sshd gives up on it meanwhile.
    const all = [lid.pid, ...childrenOf(lid.pid)]
    for (const pid of all) process.kill(pid, 'SIGSTOP')
    await sleep(6_000)
    if (leaseMs < 6_000) await until('the engine there ends', () => !isAlive(far))
    for (const pid of all) process.kill(pid, 'SIGCONT')
    const { first, next } = JSON.parse((await said.next()).value)
    assert.deepEqual(linesOf(file), ['x'])
    if (leaseMs > 6_000) assert.deepEqual([first.stdout, next.stdout], ['late kept\n', '[kept]\n'])
    else {
      assert.equal(first.end.kind, 'lost')
      assert.equal(next.stdout, '[]\n')
      assert.match(textsOf(next), /is gone/)
    }
  }]),
] // prettier-ignore

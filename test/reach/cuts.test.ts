/** A link that is cut, silent or gone: commands run at most once, and what happened is said. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Transform, type Writable } from 'node:stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createReader, readOutput } from '../../src/reach/frames.js'
import type { OpenLink } from '../../src/reach/near/link.js'
import { uniqueSeconds } from '../engine/harness.js'
import { linked, processesOf, runDirectory, temporaryFolder, until } from './harness.js'

describe('a link that is cut', () => {
  test('a command goes on meanwhile, its outcome comes with the next link, and it ran once', async () => {
    const folder = temporaryFolder()
    const link = await linked({ cwd: folder })
    const session = await link.engine.session()
    await session.run({ command: 'X=kept' })
    const running = session.run({ command: 'echo began >> once; while [ ! -e go ]; do sleep 0.02; done; echo done $X' })
    await until(() => lines(join(folder, 'once')) === 1, 'the command runs')
    await link.cut()
    await (await link.engine.session('other')).run({ command: 'touch go' })
    expect(await running).toMatchObject({ status: 'completed', stdout: 'done kept\n' })
    expect(lines(join(folder, 'once'))).toBe(1)
    expect(link.events.map(({ kind }) => kind)).toEqual(['down', 'up'])
  })

  test('a call that was cut off before it arrived is sent again, and runs once', async () => {
    const folder = temporaryFolder()
    const link = await linked({ cwd: folder })
    const session = await link.engine.session()
    for (const pid of link.linkPids()) process.kill(pid, 'SIGSTOP')
    const running = session.run({ command: 'echo twice >> once; wc -l < once' })
    await link.cut()
    expect((await running).stdout.trim()).toBe('1')
  })

  test('what waits for its turn when its client leaves never begins, also while others use the engine', async () => {
    const folder = temporaryFolder()
    const options = { cwd: folder, stateDir: join(folder, 'state'), reach: { keep: 'kept' } }
    const stays = await linked(options)
    const leaves = await linked(options, stays)
    const session = await leaves.engine.session()
    const running = session.run({ command: 'touch began; sleep 60' })
    const waiting = session.run({ command: 'touch never' })
    await until(() => existsSync(join(folder, 'began')), 'the first command runs')
    await leaves.engine.close()
    await Promise.allSettled([running, waiting])
    await (await stays.engine.session()).run({ command: 'touch after' })
    expect(['after', 'never'].map((name) => existsSync(join(folder, name)))).toEqual([true, false])
  })

  test('a link that is silent is opened again', async () => {
    const link = await linked({ reach: { beatMs: 100 } })
    const session = await link.engine.session()
    await session.run({ command: 'X=1' })
    for (const pid of link.linkPids()) process.kill(pid, 'SIGSTOP')
    expect((await session.run({ command: 'echo $X' })).stdout).toBe('1\n')
    expect(link.events[0]).toMatchObject({ kind: 'down' })
  })

  test('an engine that is busy answers beats all the same', async () => {
    let beats = 0
    const counting = (open: OpenLink): OpenLink => {
      // A frame: its length, then its kind. Nothing else comes from an engine that is stopped.
      open.input.on('data', (chunk: Buffer) => (beats += chunk[4] === 'p'.charCodeAt(0) ? 1 : 0))
      return open
    }
    const link = await linked({ reach: { beatMs: 100 } }, undefined, counting)
    process.kill(link.engine.place?.pid as number, 'SIGSTOP')
    const running = link.engine.run({ command: 'echo late' })
    beats = 0
    // Three without an answer would be the end of the link.
    await until(() => beats >= 5, 'five answers')
    process.kill(link.engine.place?.pid as number, 'SIGCONT')
    expect((await running).stdout).toBe('late\n')
    expect(link.events).toEqual([])
  })

  test('after the wait the caller reads that it may run and must not be repeated; the result is kept', async () => {
    const folder = temporaryFolder()
    const link = await linked({ cwd: folder, reach: { linkWaitMs: 300 } })
    const session = await link.engine.session()
    const running = session.run({ command: 'echo one >> once; while [ ! -e go ]; do sleep 0.02; done; echo made' })
    await until(() => lines(join(folder, 'once')) === 1, 'the command runs')
    link.blocked = true
    await link.cut()
    const outcome = await running
    expect(outcome).toMatchObject({ status: 'failed', end: { kind: 'lost', link: { mayRun: true } } })
    expect(outcome.notes[0]?.text).toContain('do not run it again')
    const call = outcome.end?.kind === 'lost' ? (outcome.end.link?.call as string) : ''
    await expect(session.run({ command: 'echo two >> once' })).rejects.toMatchObject({
      code: 'LINK_DOWN',
      message: expect.stringContaining('was not started'),
    })
    link.blocked = false
    await until(() => link.events.at(-1)?.kind === 'up', 'the link is back')
    const other = await link.engine.session('other')
    const before = await other.run({ command: 'touch go' })
    expect(await link.engine.recover(call)).toMatchObject({ status: 'completed', stdout: 'made\n' })
    const after = await other.run({ command: 'true' })
    expect([...before.notes, ...after.notes].map(({ text }) => text).join()).toContain(call)
    expect(lines(join(folder, 'once'))).toBe(1)
    expect(await link.engine.recover('call_unknown')).toBeNull()
  })
})

test('bytes that their reader took while the link was down are confirmed with the next link', async () => {
  const link = await linked()
  let bytes = 0
  let release!: () => void
  const held = new Promise<void>((resolve) => (release = resolve))
  const running = link.engine.run({
    command: 'head -c 3000000 /dev/zero',
    onBytes: async (chunk) => {
      bytes += chunk.bytes.length
      await held
    },
  })
  await until(() => bytes > 0, 'output comes')
  // The whole window has arrived when nothing more does: other calls are answered behind it.
  for (let i = 0; i < 5; i++) await link.engine.run({ command: 'sleep 0.05' })
  link.blocked = true
  await link.cut()
  const before = bytes
  release()
  await until(() => bytes > before, 'what had arrived is taken')
  link.blocked = false
  expect((await running).status).toBe('completed')
  expect(bytes).toBe(3_000_000)
})

test('a cut does not count for the lease of the one before', async () => {
  const link = await linked({ reach: { leaseMs: 3_000 } })
  const session = await link.engine.session()
  await session.run({ command: 'X=kept' })
  const running = session.run({ command: 'for i in $(seq 35); do sleep 0.1; done; echo whole' })
  const began = performance.now()
  const kinds = (): string[] => link.events.map(({ kind }) => kind)
  // At any moment 3 s after a cut the link is down again for a moment: each is far shorter than the lease.
  while (performance.now() - began < 3_500) {
    await link.cut()
    await until(() => kinds().at(-1) === 'up', 'the link is back')
  }
  expect((await running).stdout).toBe('whole\n')
  expect((await session.run({ command: 'echo $X' })).stdout).toBe('kept\n')
  expect(kinds()).not.toContain('gone')
})

test('two streams of bytes that are read slowly both come whole', async () => {
  const link = await linked()
  const got = { stdout: 0, stderr: 0, output: 0 }
  const { status } = await link.engine.run({
    command: 'head -c 1000000 /dev/zero & head -c 1000000 /dev/zero >&2; wait',
    timeoutMs: 60_000,
    onBytes: async ({ stream, bytes }) => {
      got[stream] += bytes.length
      await new Promise((next) => setTimeout(next, 5))
    },
  })
  expect([status, got]).toEqual(['completed', { stdout: 1_000_000, stderr: 1_000_000, output: 0 }])
})

test('what happens while the link is down is told with the next one, once: the end of a job, an audit line', async () => {
  const audited: string[] = []
  const folder = temporaryFolder()
  const link = await linked({
    cwd: folder,
    audit: { write: ({ kind, command }) => void audited.push(`${kind} ${command}`) },
  })
  const events: string[] = []
  link.engine.onJobEvent(({ kind }) => events.push(kind))
  await link.engine.start({ command: 'while [ ! -e go ]; do sleep 0.02; done' })
  const command = 'touch began; while [ ! -e go ]; do sleep 0.02; done; touch over'
  const running = link.engine.run({ command })
  await until(() => existsSync(join(folder, 'began')), 'the command runs')
  link.blocked = true
  await link.cut()
  writeFileSync(join(folder, 'go'), '')
  await until(() => existsSync(join(folder, 'over')), 'both end')
  // Whether the engine there has noticed by now or not: it tells over the new link.
  link.blocked = false
  await running
  await until(() => events.includes('ended') && audited.includes(`run ${command}`), 'both are told')
  expect(events.filter((kind) => kind === 'ended')).toHaveLength(1)
  expect(audited.filter((line) => line === `run ${command}`)).toHaveLength(1)
})

test.each([-5, 5])('a clock there that is %s h ahead shifts no time that is read here', async (hours) => {
  const folder = temporaryFolder()
  const began = Date.now()
  const { engine } = await linked({ cwd: folder, reach: { runtime: shiftedNode(folder, hours) } })
  expect((await engine.run({ command: 'sleep 20', timeoutMs: 300 })).status).toBe('timeout')
  await engine.session()
  const [session] = await engine.sessions()
  expect(Math.abs((session?.startedAt ?? 0) - began)).toBeLessThan(3_600_000)
})

test('an engine that is being started is no leftover, also when the clock has jumped; one that was killed is', async () => {
  const [starting, killed] = [runDirectory('00000000000000a1'), runDirectory('00000000000000a2')]
  const child = spawn('sh', ['-c', 'sleep 60; :', starting], { stdio: 'ignore' })
  try {
    for (const dir of [starting, killed]) mkdirSync(dir, { mode: 0o700, recursive: true })
    writeFileSync(join(starting, 'pid'), `${child.pid}\n`)
    writeFileSync(join(killed, 'pid'), '4194303\n')
    const folder = temporaryFolder()
    await linked({ cwd: folder, reach: { runtime: shiftedNode(folder, 5) } })
    await until(() => !existsSync(killed), 'the one that was killed is swept')
    expect(existsSync(starting)).toBe(true)
  } finally {
    child.kill('SIGKILL')
    for (const dir of [starting, killed]) rmSync(dir, { recursive: true, force: true })
  }
})

test('audit entries travel to a client that writes them, and to no other', async () => {
  const audited: string[] = []
  const heard: string[] = []
  const listening = (link: OpenLink): OpenLink => {
    link.input.on('data', (chunk: Buffer) => heard.push(chunk.toString('latin1')))
    return link
  }
  const options = { cwd: temporaryFolder(), reach: { keep: 'kept' } }
  const link = await linked(options, undefined, listening)
  await link.engine.run({ command: 'echo one' })
  const audit = { write: ({ command }: { command: string }) => void audited.push(command) }
  const writer = await linked({ ...options, audit, stateDir: link.stateDir }, link)
  const silent = await linked({ ...options, stateDir: link.stateDir }, link, listening)
  await silent.engine.run({ command: 'echo two' })
  await until(() => audited.includes('echo two'), 'the client that writes hears of the command of another')
  expect(writer.engine.place?.pid).toBe(link.engine.place?.pid)
  expect(heard.join('')).not.toContain('"audit"')
})

test('a client that was given up while others kept the engine reads that its call is lost; it is not run again', async () => {
  const cwd = temporaryFolder()
  // Within the lease the second has to be back, on a busy machine too.
  const reach = { leaseMs: 3_000, linkWaitMs: 60_000 }
  const first = await linked({ cwd, reach })
  const second = await linked({ cwd, stateDir: first.stateDir, reach }, first)
  const seconds = uniqueSeconds()
  const sleepers = (): number[] => processesOf((words) => words[0] === 'sleep' && words[1] === seconds)
  const running = first.engine.run({ command: `echo one >> once; sleep ${seconds}` })
  await until(() => sleepers().length === 1, 'the command runs')
  first.blocked = true
  for (const each of first.linkPids()) process.kill(each, 'SIGKILL')
  // Both links fall; the second comes back at once.
  expect((await second.engine.run({ command: 'echo works' })).stdout).toBe('works\n')
  await until(() => sleepers().length === 0, 'it is given up')
  first.blocked = false
  expect(await running).toMatchObject({ status: 'failed', end: { kind: 'lost' } })
  expect(lines(join(cwd, 'once'))).toBe(1)
  expect((await first.engine.run({ command: 'echo again' })).stdout).toBe('again\n')
})

test('a call for a place that is gone says that, and not that its link is down; one that is back is used', async () => {
  const dir = temporaryFolder()
  const path = process.env['PATH']
  onTestFinished(() => void (process.env['PATH'] = path))
  const client = `#!/bin/sh
[ ! -e ${dir}/gone ] || { echo "Error response from daemon: No such container: web" >&2; exit 1; }
shift 3; exec "$@"
`
  writeFileSync(join(dir, 'docker'), client, { mode: 0o755 })
  process.env['PATH'] = `${dir}:${path}`
  const link = await linked({ at: 'docker://web' })
  writeFileSync(join(dir, 'gone'), '')
  await link.cut()
  await until(() => link.events.at(-1)?.kind === 'gone', 'it is known')
  await expect(link.engine.run({ command: 'true' })).rejects.toMatchObject({
    code: 'PLACE_GONE',
    message: expect.stringMatching(/No such container: web. The call was not started/),
    hint: expect.stringContaining('docker ps -a'),
  })
  rmSync(join(dir, 'gone'))
  expect((await link.engine.run({ command: 'echo back' })).stdout).toBe('back\n')
})

describe('an engine that is gone', () => {
  test('killed: its calls are lost and not repeated, the next one works in a new shell and says so', async () => {
    const folder = temporaryFolder()
    const link = await linked({ cwd: folder })
    const session = await link.engine.session()
    await session.run({ command: 'X=1' })
    const running = session.run({ command: 'echo one >> once; sleep 600' })
    await until(() => lines(join(folder, 'once')) === 1, 'the command runs')
    process.kill(link.engine.place?.pid as number, 'SIGKILL')
    expect(await running).toMatchObject({ status: 'failed', end: { kind: 'lost' } })
    const next = await session.run({ command: 'echo "[$X]"' })
    expect(next.stdout).toBe('[]\n')
    expect(next.notes.map(({ text }) => text).join()).toContain('The session main on loop: is gone')
    expect((await session.run({ command: 'true' })).notes).toEqual([])
    expect(lines(join(folder, 'once'))).toBe(1)
  })

  test('without a link for longer than the lease it ends; its detached jobs go on and are found again', async () => {
    const link = await linked({ reach: { leaseMs: 300 } })
    const detached = await link.engine.start({ command: 'sleep 600', owner: 'detached' })
    const managed = await link.engine.start({ command: 'sleep 600' })
    const pids = await Promise.all([detached, managed].map(async (job) => (await job.info()).pid as number))
    const far = link.engine.place?.pid as number
    link.blocked = true
    await link.cut()
    await until(() => !alive(far), 'the far engine ends')
    await until(() => !alive(pids[1] as number), 'the managed job ends')
    expect(alive(pids[0] as number)).toBe(true)
    link.blocked = false
    const found = await link.engine.job(detached.id)
    expect(await found.info()).toMatchObject({ status: 'running' })
    await found.kill({ graceMs: 0 })
  })
})

test('a near side that vanishes without a word is noticed there, whatever its connection says; then the lease counts', async () => {
  let isGone = false
  const swallow = (open: OpenLink): OpenLink => {
    const output = new Transform({ transform: (chunk, _, done) => done(null, isGone ? undefined : chunk) })
    output.pipe(open.output as Writable)
    return { ...open, output, destroy: () => {} }
  }
  const link = await linked({ reach: { beatMs: 50, leaseMs: 300 } }, undefined, swallow)
  expect((await link.engine.run({ command: 'echo here' })).stdout).toBe('here\n')
  link.blocked = true
  isGone = true
  await until(() => !alive(link.engine.place?.pid as number), 'the engine there ends')
})

test('a link that comes up while its engine is closed is not left open', async () => {
  let isHeld = false
  const held: (() => void)[] = []
  const hold = (open: OpenLink): OpenLink => {
    const input = new Transform({
      transform: (chunk, _, done) => (isHeld ? void held.push(() => done(null, chunk)) : done(null, chunk)),
    })
    open.input.pipe(input)
    return { ...open, input }
  }
  const link = await linked({ reach: { leaseMs: 300 } }, undefined, hold)
  const far = link.engine.place?.pid as number
  isHeld = true
  await link.cut()
  await until(() => held.length > 0, 'the next link greets')
  await link.engine.close()
  isHeld = false
  for (const go of held.splice(0)) go()
  await until(() => link.linkPids().length === 0, 'the link is closed')
  await until(() => !alive(far), 'the engine there ends')
})

function lines(file: string): number {
  try {
    return readFileSync(file, 'utf8').split('\n').length - 1
  } catch {
    return 0
  }
}

function alive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** A Node whose clock differs; that of its helper cannot be set here. */
function shiftedNode(folder: string, hours: number): string {
  const [shift, node] = [join(folder, 'shift.cjs'), join(folder, 'node')]
  writeFileSync(shift, `const now = Date.now; Date.now = () => now() + ${hours * 3_600_000}\n`)
  writeFileSync(node, `#!/bin/sh\nexec '${process.execPath}' --require '${shift}' "$@"\n`, { mode: 0o700 })
  return node
}

test('what a reader takes while the link is greeted counts: its command is not held back for ever', async () => {
  // Holds the second answer of each greeting back until the test lets it go.
  let isHeld = false
  const held: (() => void)[] = []
  let came = 0
  const through = (link: OpenLink): OpenLink => {
    let answers = 0
    const read = createReader((kind, payload) => (came += kind === 'O' ? readOutput(payload).bytes.length : 0))
    const late = new Transform({
      transform(chunk: Buffer, _, next) {
        answers += 1
        read(chunk)
        if (!isHeld || answers !== 2) return next(null, chunk)
        held.push(() => next(null, chunk))
      },
    })
    return { ...link, input: link.input.pipe(late) }
  }
  const link = await linked({}, undefined, through)
  const waiting: (() => void)[] = []
  let isSlow = true
  let bytes = 0
  const running = link.engine.run({
    command: 'head -c 4000000 /dev/zero',
    timeoutMs: 20_000,
    onBytes: (chunk) => {
      bytes += chunk.bytes.length
      if (isSlow) return new Promise((resolve) => waiting.push(() => resolve(undefined)))
    },
  })
  await until(() => waiting.length > 0 && came >= 256 * 1024, 'the window is full')
  isHeld = true
  await link.cut()
  await until(() => held.length > 0, 'the link is greeted')
  isSlow = false
  for (const take of waiting.splice(0)) take()
  await until(() => bytes >= 256 * 1024, 'the reader has taken the window')
  isHeld = false
  for (const letGo of held) letGo()
  expect(await running).toMatchObject({ status: 'completed' })
  expect(bytes).toBe(4_000_000)
})

test('an interrupt that is given while there is no link is said with the next one, once', async () => {
  const folder = temporaryFolder()
  const link = await linked({ cwd: folder })
  const session = await link.engine.session()
  const command = "trap 'echo got >> got; kill $! 2>/dev/null' INT; touch began; sleep 1000 & wait $!; wait; echo over"
  const run = session.stream({ command: `bash -c ${JSON.stringify(command)}`, timeoutMs: 20_000 })
  await until(() => existsSync(join(folder, 'began')), 'the command runs')
  link.blocked = true
  await link.cut()
  run.interrupt()
  link.blocked = false
  await run.outcome
  expect(lines(join(folder, 'got'))).toBe(1)
})

test('a mistake in a listener costs neither the link nor the process', async () => {
  const { engine, events, cut } = await linked()
  const mistake = (): never => {
    throw new Error('a mistake')
  }
  engine.onJobEvent(mistake)
  engine.onLink(mistake)
  const job = await engine.start({ command: 'echo shown; sleep 1000', pty: true })
  const attached = await job.attach({ show: mistake, by: 'someone', size: null, readOnly: true })
  expect(await attached.done).toBe('left')
  await cut()
  expect((await engine.run({ command: 'echo on' })).stdout).toBe('on\n')
  expect(events.map(({ kind }) => kind)).toEqual(['down', 'up'])
  await job.kill()
})

test('a start that was not answered is not said to be harmless to repeat; a look is', async () => {
  const link = await linked({ reach: { linkWaitMs: 300 } })
  const job = await link.engine.start({ command: 'sleep 1000' })
  for (const pid of link.linkPids()) process.kill(pid, 'SIGSTOP')
  const calls = [link.engine.start({ command: 'sleep 1000' }), job.send({ text: 'x' }), job.read()]
  const said = Promise.all(calls.map((call) => call.then(String, (error: { hint: string }) => error.hint)))
  link.blocked = true
  await link.cut()
  const look = expect.stringContaining('before you repeat it') as string
  expect(await said).toEqual([look, look, 'Try again when the link is back.'])
  link.blocked = false
  await until(() => link.events.at(-1)?.kind === 'up', 'the link is back')
  await job.kill()
})

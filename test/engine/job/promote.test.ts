/**
 * A foreground command becomes a job: by its own slowness, by its time limit, by its caller; not a byte is lost or
 * doubled.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isAlive } from '../../../src/os/process/proc.js'
import { makeGate } from '../../fixtures/gate.js'
import { until } from '../../fixtures/until.js'
import { withEngine } from './setup.js'

const place = withEngine()

const lines = (count: number): string => Array.from({ length: count }, (_, n) => `line ${n + 1}\n`).join('')

test('a yield names the job, keeps the output so far, and the end comes later with its true exit code', async () => {
  const gate = makeGate()
  const outcome = await place.engine.run({ command: `echo one; ${gate.wait}; echo two; exit 12`, yieldMs: 1_000 })
  expect(outcome).toMatchObject({ status: 'running', stdout: 'one\n', end: null, exitCode: null })
  expect(outcome.id).toMatch(/^shell_/)
  expect(outcome.notes[0]?.text).toMatch(
    /^Still running, NOT killed: .* background job shell_\w+\. Read its output, wait for it or stop it by that id\.$/,
  )
  const job = await place.engine.job(outcome.id as string)
  gate.open()
  const { info } = await job.wait()
  expect(info).toMatchObject({
    status: 'failed',
    exitCode: 12,
    owner: 'manager',
    pid: outcome.pid,
    outputFile: outcome.outputFile,
  })
  expect(info.durationMs).toBeGreaterThan(500)
  expect((await job.read()).text).toBe('one\ntwo\n')
  // The record comes first, the line for people a moment later.
  await until(() => readFileSync(info.outputFile, 'utf8') === 'one\ntwo\n[background process failed: exit code 12]\n')
})

test('a time limit with onTimeout background moves instead of killing', async () => {
  const gate = makeGate()
  const outcome = await place.engine.run({
    command: `${gate.wait}; echo still here`,
    timeoutMs: 150,
    onTimeout: 'background',
  })
  expect(outcome).toMatchObject({ status: 'running' })
  expect(isAlive(outcome.pid as number)).toBe(true)
  gate.open()
  const job = await place.engine.job(outcome.id as string)
  expect((await job.wait()).info).toMatchObject({ status: 'completed' })
  expect((await job.read()).text).toBe('still here\n')
})

test('the caller moves it at any moment; the chunks before and the file after are the whole', async () => {
  const gate = makeGate()
  const run = place.engine.stream({
    command: `for ((i = 1; i <= 120; i++)); do echo "line $i"; sleep 0.001; ((i != 80)) || { ${gate.wait}; }; done`,
    streams: 'merged',
    newId: () => 'bash_7',
  })
  let seen = ''
  for await (const chunk of run) {
    seen += chunk.text
    if (seen.includes('line 40\n')) void run.toBackground()
  }
  expect(await run.outcome).toMatchObject({ status: 'running', id: 'bash_7' })
  gate.open()
  const job = await place.engine.job('bash_7')
  await job.wait()
  const whole = (await job.read()).text
  expect(whole).toBe(lines(120))
  expect(whole.startsWith(seen)).toBe(true)
})

test.each([2, 7, 20, 45])('a flood that is moved after %i ms is complete and in order', async (yieldMs) => {
  const outcome = await place.engine.run({
    command: "seq -f 'line %.0f' 1 300000; sleep 0.05; echo over; echo err >&2",
    yieldMs,
    clip: { kind: 'ends', maxChars: 1_000 },
  })
  const whole = `${lines(300_000)}over\n`
  if (outcome.status !== 'running') return expect(outcome.status).toBe('completed')
  const job = await place.engine.job(outcome.id as string)
  expect((await job.wait()).info).toMatchObject({ status: 'completed', bytes: { total: whole.length + 4, omitted: 0 } })
  expect((await job.read()).text === whole).toBe(true)
  expect((await job.read({ stream: 'stderr' })).text).toBe('err\n')
  await until(() => readdirSync(join(place.stateDir, 'jobs', job.id)).every((name) => !/\.log\.\d+$/.test(name)))
})

test('more than is kept was printed before the move: head, hole and tail still add up', async () => {
  const small = await place.another({ limits: { storedBytes: 200_001, memoryBytes: 65_537 } })
  const gate = makeGate()
  const run = small.stream({ command: `seq -f '%07g' 1 100000; ${gate.wait}; seq -f '%07g' 100001 200000` })
  let printed = 0
  for await (const { text } of run) if ((printed += text.length) === 800_000) void run.toBackground()
  const outcome = await run.outcome
  expect(outcome.status).toBe('running')
  gate.open()
  const job = await small.job(outcome.id as string)
  const { info } = await job.wait()
  expect(info.bytes.total).toBe(1_600_000)
  const head = await job.read()
  const rest = await job.read({ since: head.cursor })
  expect(head.text.startsWith('0000001\n0000002\n')).toBe(true)
  expect(rest.text.endsWith('0199999\n0200000\n')).toBe(true)
  const seen = [head, rest]
  for (let at = rest; at.cursor < at.totalBytes;) seen.push((at = await job.read({ since: at.cursor })))
  expect(seen.reduce((sum, { text, omittedBytes }) => sum + text.length + omittedBytes, 0)).toBe(1_600_000)
  // Every kept number stands at its own offset.
  for (const { text, start } of seen)
    for (const { 0: number, index } of text.matchAll(/^\d{7}(?=\n)/gm))
      if ((start + index) % 8 === 0 && Number(number) !== (start + index) / 8 + 1)
        expect([start + index, number]).toEqual('its own offset')
})

test('a secret that is printed around the moment of the move is masked on both sides of it', async () => {
  place.engine.secrets.set('key', 'abcdefghijklmnopqrstuvwxyz')
  for (const pause of [0.05, 0.1, 0.15]) {
    const gate = makeGate()
    const outcome = await place.engine.run({
      command: `printf '<abcdefghij'; sleep ${pause}; printf 'klm'; ${gate.wait}; printf 'nopqrstuvwxyz>\\n'; echo abcdefghijklmnopqrstuvwxyz`,
      yieldMs: 100,
    })
    gate.open()
    const job = await place.engine.job(outcome.id as string)
    await job.wait()
    expect((await job.read()).text).toBe('<[secret:key]>\n[secret:key]\n')
    expect(readFileSync((await job.info()).outputFile, 'utf8')).not.toContain('abcdef')
    expect(outcome.stdout).not.toContain('abcdef')
  }
})

test('a command that ends while it is being moved is reported once, complete, as ended or as a job', async () => {
  // Many times: the leader must be gone when its keeper looks for it, which was so once in 300.
  for (let turn = 0; turn < 120; turn++) {
    const outcome = await place.engine.run({ command: 'echo a; sleep 0.005; echo b; exit 3', yieldMs: 1 + (turn % 12) })
    if (outcome.status === 'running') {
      const job = await place.engine.job(outcome.id as string)
      expect((await job.wait({ timeoutMs: 10_000 })).info).toMatchObject({ status: 'failed', exitCode: 3 })
      expect((await job.read()).text).toBe('a\nb\n')
    } else expect(outcome).toMatchObject({ status: 'failed', exitCode: 3, stdout: 'a\nb\n' })
  }
})

test.each(['run', 'session'])('a command of a %s that cannot become a job is ended with its call', async (kind) => {
  const { engine } = place
  const newId = (): string => `taken-${kind}`
  await (await engine.start({ command: 'true', newId })).wait({ exit: true })
  const request = { command: 'sleep 61; echo never', yieldMs: 150, newId }
  const call = kind === 'run' ? engine.stream(request) : (await engine.session()).stream(request)
  await expect(call.outcome).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  await until(() => !isAlive(call.pid as number), 'the end of the command', 10_000)
})

test('a moved job can be killed with all its children, and ends with its engine', async () => {
  const outcome = await place.engine.run({ command: 'sleep 300 & echo $!; sleep 300', yieldMs: 1_000 })
  const child = Number(outcome.stdout)
  const job = await place.engine.job(outcome.id as string)
  expect(await job.kill()).toMatchObject({ info: { status: 'killed' }, notes: [] })
  expect(isAlive(child)).toBe(false)
  const again = await place.engine.run({ command: 'sleep 300', yieldMs: 50 })
  await place.engine.close()
  expect(isAlive(again.pid as number)).toBe(false)
})

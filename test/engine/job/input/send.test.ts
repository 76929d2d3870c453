/** Typing into running commands: terminals and pipes, secrets, and every way it can be refused. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Job } from '../../../../src/contract/job.js'
import { createEngine, type Engine } from '../../../../src/index.js'
import { findHelper } from '../../../../src/os/helper/file.js'
import { readInputNotes } from '../../../../src/os/job/terminal.js'
import { temporaryFolder } from '../../../fixtures/folder.js'

describe.skipIf(!findHelper())('input', () => {
  const root = temporaryFolder('input')
  let engine: Engine
  beforeAll(async () => {
    engine = await createEngine({ cwd: root, stateDir: join(root, 'state') })
  })
  afterAll(async () => {
    await engine.close()
  })
  const ended = async (job: Job): Promise<string> => {
    const { reason } = await job.wait({ timeoutMs: 20_000 })
    expect(reason).toBe('exit')
    return (await job.read()).text
  }
  const filesOf = async (job: Job): Promise<string> => {
    const dir = dirname((await job.info()).outputFile)
    return readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => readFileSync(join(dir, name), 'latin1'))
      .join('\n')
  }

  test('text, Enter and the end of input reach a pipe', async () => {
    const job = await engine.start({
      command: 'while read -r line; do echo "<$line>"; done; echo end',
      openStdin: true,
    })
    await job.send({ text: 'one\ntwo', enter: true })
    await job.send({ text: 'three\n' })
    await job.send({ keys: ['f', 'space', 'g', 'enter'] })
    await job.send({ eof: true })
    expect(await ended(job)).toBe('<one>\n<two>\n<three>\n<f g>\nend\n')
    await expect(job.send({ text: 'late' })).rejects.toMatchObject({ code: 'NOT_RUNNING' })
  })

  test('after the end of input nothing more can be typed into a pipe', async () => {
    const job = await engine.start({ command: 'cat; sleep 30', openStdin: true })
    await job.send({ text: 'x', eof: true })
    await expect(job.send({ text: 'y' })).rejects.toMatchObject({
      code: 'NOT_RUNNING',
      message: expect.stringContaining('already ended'),
    })
    await job.kill({ graceMs: 0 })
  })

  test('C-c interrupts a command on pipes; arrows need a terminal', async () => {
    const job = await engine.start({ command: 'trap "echo caught; exit 5" INT; echo up; while :; do sleep 0.05; done' })
    await job.wait({ until: /up/, timeoutMs: 20_000 })
    await expect(job.send({ keys: ['up'] })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining('terminal'),
    })
    await expect(job.send({ text: 'x' })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      hint: expect.stringContaining('openStdin'),
    })
    await job.send({ keys: ['C-c'] })
    expect(await ended(job)).toContain('caught')
  })

  test('C-d ends the input of a terminal, in the middle of a line too', async () => {
    const job = await engine.start({ command: 'stty -echo; echo quiet; cat; echo; echo "[$?]"', pty: true })
    await job.wait({ until: /^quiet/, timeoutMs: 20_000 })
    await job.send({ text: 'no newline', eof: true })
    expect(await ended(job)).toBe('quiet\r\nno newline\r\n[0]\r\n')
  })

  test('REF-01: a secret is typed, masked in the echo at once, and in no file; the note keeps the token', async () => {
    engine.secrets.set('pass', 'pa55word-Zq"$x')
    const job = await engine.start({ command: 'read -r a; echo "len ${#a}"; echo "$a" | base64', pty: true })
    await job.send({ text: '{{secret:pass}} {{secret:unknown}}', enter: true, by: 'agent' })
    const text = await ended(job)
    expect(text).toContain('[secret:pass] {{secret:unknown}}\r\nlen 33')
    expect(await filesOf(job)).not.toContain('pa55word')
    expect(readInputNotes(dirname((await job.info()).outputFile)).at(-1)).toMatchObject({
      by: 'agent',
      text: '{{secret:pass}} {{secret:unknown}}',
      enter: true,
    })
  })

  test('a pipe gets the exact bytes of a value; an unknown token stays', async () => {
    engine.secrets.set('raw', Buffer.from([0xff, 0x00, 0x27, 0xc3]))
    const job = await engine.start({ command: 'sha256sum', openStdin: true })
    await job.send({ text: 'é{{secret:raw}}\n{{secret:unknown}}', eof: true })
    const typed = Buffer.concat([
      Buffer.from('é'),
      Buffer.from([0xff, 0x00, 0x27, 0xc3]),
      Buffer.from('\n{{secret:unknown}}'),
    ])
    expect(await ended(job)).toBe(`${createHash('sha256').update(typed).digest('hex')}  -\n`)
  })

  test('a secret that became known after the start is masked as well, also for another engine', async () => {
    const job = await engine.start({ command: 'read -r a; echo "it was $a"', pty: true })
    const other = await createEngine({ cwd: root, stateDir: join(root, 'state') })
    try {
      other.secrets.set('late', 'only-the-other-knows-9')
      await (await other.job(job.id)).send({ text: '{{secret:late}}', enter: true, by: 'cli' })
      expect(await ended(job)).toBe('[secret:late]\r\nit was [secret:late]\r\n')
      expect(await filesOf(job)).not.toContain('only-the-other')
    } finally {
      await other.close()
    }
  })

  test('a line that the terminal would cut is refused whole; many short ones arrive all', async () => {
    const job = await engine.start({ command: 'stty -echo; echo quiet; wc -lc', pty: true })
    await job.wait({ until: /^quiet/, timeoutMs: 20_000 })
    await expect(job.send({ text: 'x'.repeat(5_000), enter: true })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining('4095'),
    })
    await job.send({ text: `${'y'.repeat(79)}\n`.repeat(3_000) })
    await job.send({ eof: true })
    expect((await ended(job)).trim()).toMatch(/^quiet\r\n\s*3000  240000$/)
  })

  test('mistakes are told, and nothing is typed', async () => {
    const job = await engine.start({ command: 'cat', pty: true })
    for (const wrong of [
      {},
      { text: '' },
      { keys: [] },
      { keys: ['nokey'] },
      { text: 'typed?', keys: ['C-c', 'bogus'] },
      { text: 7 },
      { keys: 'C-c' },
    ] as never[])
      await expect(job.send(wrong)).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    await job.send({ keys: ['C-d'] })
    expect(await ended(job)).not.toContain('typed?')
  })

  test('a program that never reads does not hold up the sender for ever', async () => {
    const job = await engine.start({ command: 'sleep 30', openStdin: true })
    await job.send({ text: 'x'.repeat(60_000) })
    await expect(job.send({ text: 'x'.repeat(60_000) })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining('does not read its input'),
    })
    await job.kill({ graceMs: 0 })
  })

  test('a wait for input ends with the prompt, on a terminal and on pipes, and not before', async () => {
    const terminal = await engine.start({
      command: 'sleep 0.7; read -r -p "Ready? " a; echo thanks; sleep 30',
      pty: true,
    })
    expect(await terminal.wait({ input: true, timeoutMs: 20_000 })).toMatchObject({ reason: 'input', match: 'Ready?' })
    await terminal.send({ text: 'yes', enter: true })
    await terminal.wait({ until: /^thanks/, timeoutMs: 20_000 })
    expect(await terminal.wait({ input: true, timeoutMs: 1_200 })).toMatchObject({ reason: 'timeout' })
    const pipe = await engine.start({ command: 'printf "Name: "; read -r a; echo thanks; sleep 30', openStdin: true })
    expect(await pipe.wait({ input: true, timeoutMs: 20_000 })).toMatchObject({ reason: 'input', match: 'Name:' })
    await pipe.send({ text: 'x', enter: true })
    await pipe.wait({ until: /thanks/, timeoutMs: 20_000 })
    expect(await pipe.wait({ input: true, timeoutMs: 1_200 })).toMatchObject({ reason: 'timeout' })
    await Promise.all([terminal.kill({ graceMs: 0 }), pipe.kill({ graceMs: 0 })])
  })

  test('a program that draws the whole screen without the alternate one, as top does, asks for keys and not with its last row', async () => {
    const job = await engine.start({
      command: String.raw`stty -icanon -echo; printf '\e[?1h\e=\e[?25l\e[H\e[2JTasks: 2\r\n  PID USER\r\n  471 root  bash'; head -c 1 > /dev/null; printf '\e[?1l\e[?25h\r\nMore? '; head -c 1`,
      pty: true,
    })
    expect(await job.wait({ input: true, timeoutMs: 20_000 })).toMatchObject({
      reason: 'input',
      match: '(full-screen program: head -c 1)',
    })
    await job.send({ text: 'q' })
    expect(await job.wait({ input: true, timeoutMs: 20_000 })).toMatchObject({ reason: 'input', match: 'More?' })
    await job.kill({ graceMs: 0 })
  })

  test('arrows follow the mode that the program asked for', async () => {
    const job = await engine.start({
      command: String.raw`stty raw -echo; printf '\033[?1hready'; head -c 3 | od -c; printf '\033[?1lagain'; head -c 3 | od -c`,
      pty: true,
    })
    await job.wait({ until: /ready/, timeoutMs: 20_000 })
    await job.send({ keys: ['up'] })
    await job.wait({ until: /again/, timeoutMs: 20_000 })
    await job.send({ keys: ['up'] })
    const text = await ended(job)
    expect(text).toMatch(/033\s+O\s+A/)
    expect(text).toMatch(/033\s+\[\s+A/)
  })
})

/**
 * A person's terminal on a job's terminal, from another engine, with streams in place of a real keyboard and screen.
 */
import { EventEmitter } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { attach } from '../../../../src/cli/verbs/job/person-terminal.js'
import type { Job } from '../../../../src/contract/job.js'
import { createEngine, type Engine } from '../../../../src/index.js'
import { findHelper } from '../../../../src/os/helper/file.js'
import { readInputNotes } from '../../../../src/os/job/terminal.js'
import { temporaryFolder } from '../../../fixtures/folder.js'
import { until } from '../../../fixtures/until.js'

/** Keys wait until they are read, as in a real terminal. */
class Keyboard extends EventEmitter {
  readonly isTTY = true
  raw: boolean[] = []
  setRawMode(raw: boolean): void {
    this.raw.push(raw)
  }
  #waiting: string[] | null = []
  resume(): void {
    const typedAhead = this.#waiting ?? []
    this.#waiting = null
    for (const text of typedAhead) this.press(text)
  }
  pause(): void {
    this.#waiting ??= []
  }
  press(text: string): void {
    if (this.#waiting) this.#waiting.push(text)
    else this.emit('data', Buffer.from(text))
  }
}

class Display extends EventEmitter {
  readonly isTTY = true
  text = ''
  constructor(
    public columns = 90,
    public rows = 25,
  ) {
    super()
  }
  write(text: string): void {
    this.text += text
    this.emit('wrote')
  }
  /** A stopped terminal (C-s) takes nothing until it is let go. */
  stopped: Promise<void> | undefined
  gone = false
  taken(): Promise<void> | 'closed' | undefined {
    return this.gone ? 'closed' : this.stopped
  }
  async shows(pattern: RegExp): Promise<void> {
    const end = performance.now() + 20_000
    while (!pattern.test(this.text)) {
      if (performance.now() > end) throw new Error(`${pattern} never showed:\n${JSON.stringify(this.text)}`)
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer)
          this.off('wrote', done)
          resolve()
        }
        const timer = setTimeout(done, 100)
        this.on('wrote', done)
      })
    }
  }
}

describe.skipIf(!findHelper())('attach', () => {
  const root = temporaryFolder('attach')
  let agent: Engine
  let person: Engine
  beforeAll(async () => {
    agent = await createEngine({ cwd: root, stateDir: join(root, 'state') })
    person = await createEngine({ cwd: root, stateDir: join(root, 'state') })
  })
  afterAll(async () => {
    await person.close()
    await agent.close()
  })
  const shell = (): Promise<Job> =>
    agent.start({ command: `HISTFILE= PS1='$ ' bash --norc --noprofile -i`, pty: { cols: 70, rows: 20 } })
  const sit = (job: Job, readOnly = false) => {
    const keyboard = new Keyboard()
    const display = new Display()
    return {
      keyboard,
      display,
      done: attach(person, job.id, { input: keyboard, output: display, screen: display, by: 'ann', readOnly }),
    }
  }

  test('shows the past, types, resizes, leaves with C-] and puts everything back', async () => {
    const job = await shell()
    await job.send({ text: 'echo from-the-$((1 + 0))-agent', enter: true })
    await job.wait({ until: /^from-the-1-agent/, timeoutMs: 10_000 })
    const { keyboard, display, done } = sit(job)
    await display.shows(/from-the-1-agent/)
    keyboard.press('stty size\r')
    await display.shows(/25 90/)
    Object.assign(display, { columns: 100, rows: 33 }).emit('resize')
    // Keys and sizes travel on different ways: asked until the size has arrived.
    keyboard.press('until [ "$(stty size)" = "33 100" ]; do sleep 0.05; done; echo now $((30 + 3)) rows\r')
    await display.shows(/now 33 rows/)
    await job.send({ text: 'echo still-$((2 + 0))-mine', enter: true })
    await display.shows(/still-2-mine/)
    keyboard.press('echo half\x1dnever typed\r')
    expect((await done).reason).toBe('left')
    expect(keyboard.raw).toEqual([true, false])
    expect(display.text).toMatch(/\x1b\[\?1049l.*\r\n$/s)
    await job.send({ keys: ['C-u'], text: '' })
    await job.send({ text: 'stty size; exit', enter: true })
    const { info } = await job.wait({ timeoutMs: 10_000 })
    expect((await job.read()).text).toContain('20 70')
    expect((await job.read()).text).not.toContain('never typed')
    expect(info.notes.map(({ text }) => text).join(' ')).toMatch(/Typed into by ann \(\d+ bytes/)
  })

  test('a terminal that was stopped holds the view back, not the job; it sees everything when it goes on', async () => {
    const command = 'echo is-$((1 + 0))-there; read -r x; seq 1 200000; echo the-$((1 + 0))-end; read -r x'
    const job = await agent.start({ command, pty: true })
    const { keyboard, display, done } = sit(job)
    // What is shown of earlier output comes behind the first words of the view: from then on it follows.
    await display.shows(/is-1-there/)
    let goOn!: () => void
    display.stopped = new Promise((resolve) => (goOn = resolve))
    await job.send({ text: '', enter: true })
    await job.wait({ until: /^the-1-end/, timeoutMs: 20_000 })
    await job.wait({ idleMs: 300, timeoutMs: 20_000 })
    expect(display.text.length).toBeLessThan(600_000) // Of 1,488,895 bytes: two blocks may be on their way.
    display.stopped = undefined
    goOn()
    await display.shows(/199999\r\n200000\r\nthe-1-end/)
    const numbers = display.text.split('\r\n').filter((line) => /^\d+$/.test(line))
    expect(numbers.length).toBe(200_000)
    keyboard.press('\x1d')
    expect((await done).reason).toBe('left')
    await job.kill({ graceMs: 0 })
  })

  test('a terminal that is gone ends the view; the job goes on', async () => {
    const job = await agent.start({ command: 'read -r x; echo one; read -r x', pty: true })
    const { display, done } = sit(job)
    await display.shows(/C-\] leaves/)
    display.gone = true
    await job.send({ text: '', enter: true })
    expect((await done).reason).toBe('left')
    expect((await job.info()).isRunning).toBe(true)
    await job.kill({ graceMs: 0 })
  })

  test('several watchers see the same; one who only watches cannot type', async () => {
    const job = await shell()
    const [first, second] = [sit(job), sit(job, true)]
    await Promise.all([first, second].map(({ display }) => display.shows(/\$ /)))
    second.keyboard.press('echo intruder\r')
    first.keyboard.press('echo to-$((40 + 2))-all; exit 3\r')
    await Promise.all([first.display.shows(/to-42-all/), second.display.shows(/to-42-all/)])
    expect((await Promise.all([first.done, second.done])).map(({ reason, info }) => [reason, info.exitCode])).toEqual([
      ['ended', 3],
      ['ended', 3],
    ])
    expect(first.display.text).not.toContain('intruder')
  })

  test('what a person types is counted, not kept: a password stays out of every file', async () => {
    const job = await agent.start({ command: 'read -rs -p "Password: " p; echo; echo "${#p} characters"', pty: true })
    const { keyboard, display, done } = sit(job)
    await display.shows(/Password: /)
    keyboard.press('open sesame\r')
    expect((await done).reason).toBe('ended')
    expect(display.text).toContain('11 characters')
    // Its keeper removes a file when it has written the end down.
    await job.wait()
    const dir = join((await job.info()).outputFile, '..')
    await until(() => !existsSync(join(dir, 'status.reserve')))
    for (const name of readdirSync(dir)) expect(readFileSync(join(dir, name), 'utf8')).not.toContain('sesame')
    expect(readInputNotes(dir).filter(({ by, size }) => by === 'ann' && !size)).toMatchObject([{ bytes: 12 }])
  })

  test('a foreground run on a terminal can be watched and helped while it runs', async () => {
    const running = agent.run({ command: 'read -p "Who? " who; echo "hello $who"', pty: true })
    let jobs = await person.jobs()
    while (!jobs.some(({ command }) => command.includes('Who?'))) jobs = await person.jobs()
    const { keyboard, display, done } = sit(
      await person.job(jobs.find(({ command }) => command.includes('Who?'))?.id as string),
    )
    await display.shows(/Who\? /)
    keyboard.press('a person\r')
    expect((await running).output).toContain('hello a person')
    expect((await done).reason).toBe('ended')
  })

  test('old questions to the terminal are not asked again', async () => {
    const job = await agent.start({
      command: String.raw`printf 'A\033[6nB\033[cC\033[>cD\033[>qE\033]11;?\007F\033[5nG\033[2 qH\n'; read -r x`,
      pty: true,
    })
    await job.wait({ until: /H/, timeoutMs: 10_000 })
    const { keyboard, display, done } = sit(job)
    await display.shows(/H/)
    expect(display.text).toContain('ABCDEFG\x1b[2 qH')
    keyboard.press('\x1d')
    await done
    await job.kill({ graceMs: 0 })
  })

  test('jobs without a terminal, ended ones and unknown ones are refused with what to do', async () => {
    const plain = await agent.start({ command: 'sleep 30' })
    await expect(sit(plain).done).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      hint: expect.stringContaining('--follow'),
    })
    await plain.kill({ graceMs: 0 })
    // That it never had a terminal is said first.
    await expect(sit(plain).done).rejects.toMatchObject({ code: 'BAD_REQUEST' })
    const ended = await agent.start({ command: 'true', pty: true })
    await ended.wait({ exit: true, timeoutMs: 20_000 })
    await expect(sit(ended).done).rejects.toMatchObject({ code: 'NOT_RUNNING' })
    await expect(
      attach(person, 'shell_nothere', {
        input: new Keyboard(),
        output: new Display(),
        screen: new Display(),
        by: 'ann',
      }),
    ).rejects.toMatchObject({ code: 'JOB_NOT_FOUND' })
  })
})

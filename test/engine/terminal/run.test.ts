/** Foreground runs on a terminal, as an agent asks for them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEngine, type Engine } from '../../../src/index.js'
import { findHelper } from '../../../src/os/helper/file.js'
import { isAlive, processFacts } from '../../../src/os/process/proc.js'
import { until } from '../harness.js'
import { temporaryFolder } from '../../fixtures/folder.js'

describe.skipIf(!findHelper())('a run on a terminal', () => {
  const root = temporaryFolder('pty-run')
  const stateDir = join(root, 'state')
  let engine: Engine

  beforeAll(async () => {
    engine = await createEngine({ cwd: root, stateDir })
  })
  afterAll(async () => {
    await engine.close()
  })
  const jobDirectories = (): string[] => readdirSync(join(stateDir, 'jobs'))

  test('PTY-01: the command has a terminal, its output comes back, and nothing of the run stays', async () => {
    const outcome = await engine.run({
      command: 'tty; stty size; [ -t 0 ] && [ -t 2 ] && echo yes; echo error >&2; exit 4',
      pty: true,
    })
    expect(outcome).toMatchObject({
      status: 'failed',
      exitCode: 4,
      stdout: '',
      stderr: '',
      truncated: false,
      id: null,
      waitingForInput: null,
    })
    expect(outcome.output).toMatch(/^\/dev\/pts\/\d+\r\n40 120\r\nyes\r\nerror\r\n$/)
    expect(jobDirectories()).toEqual([])
  })

  test('PTY-01: escape sequences are kept or stripped as asked', async () => {
    const command = `printf '\\033[31mred\\033[0m\\n'; echo $TERM`
    expect((await engine.run({ command, pty: true })).output).toBe('\x1b[31mred\x1b[0m\r\nxterm-256color\r\n')
    expect(
      (await engine.run({ command, pty: { cols: 80, rows: 24 }, ansi: 'strip', progress: 'collapse' })).output,
    ).toBe('red\nxterm-256color\n')
  })

  test('EXEC-09, conflict 6: without pty there is no terminal to be reached', async () => {
    const outcome = await engine.run({ command: 'tty; (: </dev/tty) 2>&1; wc -c' })
    expect(outcome.stdout).toContain('not a tty')
    expect(outcome.stdout).toContain('/dev/tty')
    expect(outcome.stdout).toMatch(/\n0\n$/)
  })

  test('F74: the terminal of the engine is out of reach, and the command leads a session of its own', async () => {
    const { output, pid } = await engine.run({ command: 'ps -o sid=,pgid=,tpgid= -p $$', pty: true })
    expect(output?.trim().split(/\s+/)).toEqual([String(pid), String(pid), String(pid)])
  })

  test('EXEC-06: a timeout ends everything on the terminal and keeps what was printed', async () => {
    const outcome = await engine.run({
      command: 'sleep 77 & echo $!; setsid sleep 78 & echo $!; echo begun; sleep 79',
      pty: true,
      timeoutMs: 1_500,
      graceMs: 200,
    })
    expect(outcome.end).toMatchObject({ kind: 'timeout', afterMs: 1_500 })
    const [first, second] = (outcome.output ?? '').split('\r\n').map(Number)
    expect(outcome.output).toContain('begun')
    expect([first, second].map((pid) => isAlive(pid as number))).toEqual([false, false])
    expect(jobDirectories()).toEqual([])
  })

  test('an abort ends it, an interrupt ends it as C-c would', async () => {
    const stopper = new AbortController()
    const aborted = engine.run({
      command: 'echo up; sleep 60',
      pty: true,
      signal: stopper.signal,
      onOutput: () => stopper.abort(),
    })
    expect((await aborted).end).toMatchObject({ kind: 'kill', by: 'caller' })
    const handle = engine.stream({
      command: 'trap "echo caught; exit 9" INT; echo up; while :; do sleep 0.05; done',
      pty: true,
    })
    for await (const { text } of handle) if (text.includes('up')) handle.interrupt()
    expect(await handle.outcome).toMatchObject({ exitCode: 9, output: expect.stringContaining('caught') })
  })

  test('a long run goes on as a job without losing a byte, and can be typed into', async () => {
    const outcome = await engine.run({ command: 'echo one; read -r a; echo "got $a"', pty: true, yieldMs: 1_000 })
    expect(outcome).toMatchObject({ status: 'running', output: 'one\r\n', waitingForInput: null })
    const job = await engine.job(outcome.id as string)
    await job.send({ text: 'it', enter: true })
    expect((await job.wait({ timeoutMs: 10_000 })).reason).toBe('exit')
    expect((await job.read()).text).toBe('one\r\nit\r\ngot it\r\n')
    await expect(job.send({ text: 'more' })).rejects.toMatchObject({ code: 'NOT_RUNNING' })
  })

  test('EXEC-12: a flood is clipped at both ends, and the whole is in a file', async () => {
    const outcome = await engine.run({ command: 'seq 1 200000', pty: true })
    expect(outcome.truncated).toBe(true)
    expect(outcome.output).toMatch(/^1\r\n2\r\n/)
    expect(outcome.output).toMatch(/200000\r\n$/)
    expect(readFileSync(outcome.outputFile as string, 'utf8')).toBe(
      Array.from({ length: 200_000 }, (_, at) => `${at + 1}\r\n`).join(''),
    )
    expect(jobDirectories().filter((id) => existsSync(join(stateDir, 'jobs', id, 'status')))).toHaveLength(1)
  })

  test('REF-01: a secret reaches the command and is masked in the echo, the record and the recording', async () => {
    engine.secrets.set('code', 'tr0ub4dor&3')
    const cast = join(root, 'secret.cast')
    const outcome = await engine.run({
      command: 'echo {{secret:code}}; echo {{secret:code}} | rev; sleep 0.1',
      pty: true,
      record: cast,
    })
    expect(outcome.output).toContain('[secret:code]')
    expect(outcome.output).not.toContain('tr0ub')
    expect(readFileSync(cast, 'utf8')).not.toContain('tr0ub')
  })

  test('a prompt that ends as a secret begins is shown all the same', async () => {
    const own = await createEngine({ cwd: root, stateDir: join(root, 'prefix') })
    try {
      own.secrets.set('s', 'Zebra-crossing-5')
      const seen: string[] = []
      const outcome = await own.run({
        command: `printf 'Animal Z'; read -r a`,
        pty: true,
        yieldMs: 1_500,
        onOutput: ({ text }) => void seen.push(text),
      })
      expect(outcome.output).toBe('Animal Z')
      expect(seen.join('')).toBe('Animal Z')
      await (await own.job(outcome.id as string)).kill({ graceMs: 0 })
    } finally {
      await own.close()
    }
  })

  test('asciicast v2: a recording has a header and timed output that adds up to the output', async () => {
    const cast = join(root, 'plain.cast')
    const outcome = await engine.run({
      command: 'echo a; sleep 0.2; printf "\\033[1mé\\033[0m"',
      pty: { cols: 61, rows: 17 },
      record: cast,
    })
    const [header, ...events] = readFileSync(cast, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown) as [Record<string, unknown>, ...[number, string, string][]]
    expect(header).toMatchObject({ version: 2, width: 61, height: 17, env: { TERM: 'xterm-256color' } })
    expect(events.map(([, , data]) => data).join('')).toBe(outcome.output)
    expect((events.at(-1) as [number, string, string])[0]).toBeGreaterThan(0.15)
  })

  test('the stages of a pipeline are told as without a terminal', async () => {
    expect(await engine.run({ command: 'true | false | true', pty: true })).toMatchObject({
      pipeStatus: [0, 1, 0],
      exitCode: 0,
    })
  })

  test('input given beforehand is typed, then ended', async () => {
    const outcome = await engine.run({ command: 'tr a-z A-Z', pty: true, input: 'one\ntwo' })
    expect(outcome.output).toContain('ONE\r\nTWO')
    expect(outcome.exitCode).toBe(0)
  })

  test('a resize by somebody else is in the recording', async () => {
    const cast = join(root, 'resized.cast')
    const handle = engine.stream({
      command: 'trap "stty size; exit" WINCH; echo up; while :; do sleep 0.05; done',
      pty: { cols: 50, rows: 10 },
      record: cast,
    })
    for await (const { text } of handle) {
      if (!text.includes('up')) continue
      const [info] = (await engine.jobs()).filter(({ command }) => command.includes('WINCH'))
      await (await engine.job(info?.id as string)).resize({ cols: 66, rows: 22 })
    }
    expect((await handle.outcome).output).toContain('22 66')
    expect(readFileSync(cast, 'utf8')).toMatch(/\[[\d.]+,"r","66x22"\]\n\[[\d.]+,"o","22 66/)
  })

  test('pain 29: runs that end, are killed and are left leak neither descriptors nor directories', async () => {
    const own = await createEngine({ cwd: root, stateDir: join(root, 'leaks') })
    try {
      await own.run({ command: 'true', pty: true })
      const before = readdirSync('/proc/self/fd').length
      for (let batch = 0; batch < 10; batch++) {
        const outcomes = await Promise.all(
          ['exit 0', 'exit 1', 'sleep 30', 'echo x; kill -9 $$', 'sleep 30 & exit 0'].map((command, at) =>
            own.run({ command, pty: true, graceMs: 0, ...(at === 2 ? { timeoutMs: 40 } : {}) }),
          ),
        )
        expect(outcomes.map(({ status }) => status)).toEqual(['completed', 'failed', 'timeout', 'failed', 'completed'])
      }
      // What was handed to the kernel to close is closed a moment later.
      await until(() => readdirSync('/proc/self/fd').length <= before + 3, 'every descriptor being closed')
      expect(readdirSync(join(root, 'leaks', 'jobs'))).toEqual([])
    } finally {
      await own.close()
    }
  })

  test('closing the engine ends what runs on terminals, and settles it', async () => {
    const own = await createEngine({ cwd: root, stateDir: join(root, 'closes') })
    let pid = 0
    const running = own.run({
      command: 'echo $$; exec sleep 60',
      pty: true,
      onOutput: ({ text }) => (pid = Number(text.trim()) || pid),
    })
    while (pid === 0) await new Promise((resolve) => setTimeout(resolve, 10))
    await own.close()
    expect((await running).end).toMatchObject({ kind: 'kill', by: 'close' })
    expect(isAlive(pid)).toBe(false)
  })

  test('when the keeper is destroyed the run is lost, not hanging, and its command does not live on', async () => {
    const own = await createEngine({ cwd: root, stateDir: join(root, 'destroyed') })
    try {
      const handle = own.stream({ command: 'echo $$; exec sleep 60', pty: true })
      let pid = 0
      for await (const { text } of handle) {
        pid = Number(text.trim()) || pid
        const keeper = processFacts(pid)?.parent
        if (keeper && keeper > 1) process.kill(keeper, 'SIGKILL')
      }
      expect((await handle.outcome).end).toMatchObject({ kind: 'lost' })
      await until(() => !isAlive(pid), 'its command being gone')
    } finally {
      await own.close()
    }
  })

  test('on the lower tier a terminal is refused with how to get one, and everything else works', async () => {
    const plain = await createEngine({ cwd: root, stateDir: join(root, 'plain'), tier: 'plain' })
    try {
      const refused = { code: 'PTY_UNAVAILABLE', hint: expect.stringContaining('`tier` of the engine') }
      await expect(plain.run({ command: 'true', pty: true })).rejects.toMatchObject(refused)
      await expect(plain.start({ command: 'true', pty: true })).rejects.toMatchObject(refused)
      expect((await plain.run({ command: 'echo fine' })).stdout).toBe('fine\n')
      plain.secrets.set('low', 'value-of-the-lower-tier')
      const job = await plain.start({ command: 'read -r a; echo "it is $a"', openStdin: true })
      await job.send({ text: '{{secret:low}}', enter: true })
      await job.wait({ timeoutMs: 10_000 })
      expect((await job.read()).text).toBe('it is [secret:low]\n')
    } finally {
      await plain.close()
    }
  })

  test('mistakes are told before anything starts', async () => {
    await expect(engine.run({ command: 'true', pty: { cols: 0, rows: 5 } })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
    await expect(engine.run({ command: 'true', pty: true, record: join(root, 'no', 'dir') })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
    await expect(engine.run({ command: 'true', record: join(root, 'x.cast') })).rejects.toMatchObject({
      code: 'BAD_REQUEST',
    })
    await expect(
      engine.start({ command: 'true', pty: true, record: join(root, 'x.cast') } as never),
    ).rejects.toMatchObject({
      code: 'BAD_REQUEST',
      message: expect.stringContaining('cannot be recorded'),
    })
    expect((await engine.run({ command: 'rm -rf /', pty: true })).status).toBe('refused')
    expect((await engine.run({ command: 'echo hi', pty: true, dryRun: true })).status).toBe('dry_run')
  })
})

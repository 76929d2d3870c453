/**
 * The link is cut at every message of a run, a session, a job, an attached terminal, a question and a secret, in both
 * directions and also in the middle of the message: each command runs once, every result, event and audit line comes
 * once. `npm test` takes the cuts of a stride in three scenes; CERITH_TEST_EVERY_CUT=1 takes all of them (`npm run
 * test:nightly`).
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Engine } from '../../src/index.js'
import { linked, temporaryFolder, until } from './harness.js'
import { Scissors, type Way } from './scissors.js'

const EVERY = process.env['CERITH_TEST_EVERY_CUT'] === '1'
const VALUE = 'S3cr3t-0123456789abcdef'

interface Scene {
  readonly engine: Engine
  /** Counts what ran. */
  readonly file: string
  readonly cards: string[]
}

const SCENES: Record<string, (scene: Scene) => Promise<void>> = {
  async run({ engine, file }) {
    const outcome = await engine.run({ command: `echo x >> ${file}; echo done` })
    expect(outcome).toMatchObject({ status: 'completed', stdout: 'done\n' })
  },
  async session({ engine, file }) {
    const session = await engine.session(`s${Math.random()}`)
    await session.run({ command: 'X=kept' })
    expect((await session.run({ command: `echo x >> ${file}; echo $X` })).stdout).toBe('kept\n')
    await session.close()
  },
  async bytes({ engine, file }) {
    const hash = createHash('sha256')
    let length = 0
    const command = `echo x >> ${file}; seq 1 120000`
    await engine.run({
      command,
      onBytes: async ({ stream, offset, bytes }) => {
        expect([stream, offset]).toEqual(['stdout', length])
        length += bytes.length
        hash.update(bytes)
        await new Promise((next) => setImmediate(next))
      },
    })
    const whole = Array.from({ length: 120_000 }, (_, i) => `${i + 1}\n`).join('')
    expect(hash.digest('hex')).toBe(createHash('sha256').update(whole).digest('hex'))
  },
  async job({ engine, file }) {
    const job = await engine.start({ command: `echo x >> ${file}; echo ready; read line; echo "got $line"`, openStdin: true })
    const kinds: string[] = []
    const told = (async () => {
      for await (const { kind } of job.events()) kinds.push(kind)
    })()
    await job.wait({ until: /ready/ })
    await job.send({ text: 'it', enter: true })
    expect((await job.wait()).reason).toBe('exit')
    expect((await job.read()).text).toBe('ready\ngot it\n')
    await told
    expect(kinds.filter((kind) => kind === 'ended')).toEqual(['ended'])
  },
  async attach({ engine, file }) {
    const job = await engine.start({ command: `echo x >> ${file}; HISTFILE= bash --norc`, pty: true })
    let seen = ''
    const attached = await job.attach({ by: 't', size: { cols: 90, rows: 20 }, readOnly: false, show: (text) => void (seen += text) })
    // Keys that a cut takes are lost, and typed again as a person would.
    for (let tries = 0; !seen.includes('is 42'); tries++) {
      attached.type(Buffer.from('echo is $((40+2))\r'))
      for (let i = 0; i < 100 && !seen.includes('is 42'); i++) await new Promise((next) => setTimeout(next, 20))
      expect(tries).toBeLessThan(20)
    }
    await attached.leave()
    await job.kill({ graceMs: 0 })
  },
  async 'question and secret'({ engine, file, cards }) {
    cards.length = 0
    const { stdout } = await engine.run({ command: `touch ${file}.x; echo x >> ${file}; T={{secret:T}}; echo \${#T} $T` })
    expect(stdout).toBe(`${VALUE.length} [secret:T]\n`)
    expect(cards).toHaveLength(1)
  },
} // prettier-ignore

test.each(EVERY ? Object.keys(SCENES) : ['bytes', 'job', 'attach'])('%s', async (name) => {
  const scissors = new Scissors()
  const folder = temporaryFolder()
  const file = join(folder, 'once')
  const cards: string[] = []
  const audited: string[] = []
  const link = await linked(
    {
      cwd: folder,
      policy: { rules: [{ name: 'ask-touch', decision: 'ask', commands: ['touch *'] }] },
      ask: async ({ command }) => (cards.push(command), 'once'),
      audit: { write: ({ kind, command }) => void audited.push(`${kind} ${command}`) },
    },
    undefined,
    scissors.through,
  )
  link.engine.secrets.set('T', VALUE)
  const play = async (): Promise<void> => {
    rmSync(file, { force: true })
    audited.length = 0
    await SCENES[name]!({ engine: link.engine, file, cards })
    expect(existsSync(file) && readFileSync(file, 'utf8')).toBe('x\n')
    // One line for what ran, whenever it comes.
    const ran = (): number => audited.filter((line) => /^(?:run|session|job) .*echo x >>/s.test(line)).length
    await until(() => ran() > 0, 'the audit line comes')
    expect(ran()).toBe(1)
  }
  await play()
  scissors.passed['to far'] = scissors.passed['to near'] = 0
  await play()
  const { passed } = scissors
  const counts = { ...passed }
  for (const way of ['to far', 'to near'] as Way[])
    for (let n = 1; n <= counts[way]; n += EVERY ? 1 : Math.ceil(counts[way] / 3))
      for (const isHalf of EVERY ? [false, true] : [n % 2 === 0]) {
        scissors.arm(way, n, isHalf)
        try {
          await play()
        } catch (error) {
          throw new Error(`cut at message ${n} of ${counts[way]} ${way}${isHalf ? ', in its middle' : ''}: ${(error as Error).message}`, { cause: error })
        }
        scissors.disarm()
      }
  expect(scissors.cuts).toBeGreaterThan(2)
}, EVERY ? 600_000 : 120_000) // prettier-ignore

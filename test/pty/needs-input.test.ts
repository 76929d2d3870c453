/** Which programs are reported as waiting for input, and which must not be: a table of real programs, both ways. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Outcome } from '../../src/contract/outcome.js'
import { createEngine, type Engine } from '../../src/index.js'
import { findHelper } from '../../src/os/helper/file.js'
import { startSshd, type LocalSshd } from './local-sshd.js'
import { SILENT, WAITS, type Row } from './needs-input.table.js'
import { temporaryFolder } from '../fixtures/folder.js'

const AT_ONCE = 10
/** Long enough to be reported several times over. */
const SILENCE_LIMIT_MS = 2_200
const only = process.env['NEEDS_INPUT']

describe.skipIf(!findHelper())('needs input', () => {
  const root = temporaryFolder('needs')
  const outcomes = new Map<string, { outcome: Outcome; tookMs: number }>()
  let engine: Engine
  let sshd: LocalSshd | null = null
  let stuck: Server

  beforeAll(async () => {
    writeFileSync(join(root, 'lines.txt'), Array.from({ length: 500 }, (_, at) => `line ${at}\n`).join(''))
    for (const name of ['repo', 'repo2'])
      spawnSync(
        'bash',
        [
          '-c',
          `git init -q ${name} && cd ${name} && git config user.email a@b.c && git config user.name n && for i in 1 2 3; do seq $((i * 50)) >a; git add a; git commit -qm "commit $i"; done`,
        ],
        { cwd: root },
      )
    sshd = await startSshd(root)
    stuck = createServer(() => {})
    await new Promise<void>((resolve) => stuck.listen(0, '127.0.0.1', resolve))
    engine = await createEngine({ cwd: root, stateDir: join(root, 'state'), ask: async () => 'once' })
    const env = { SSHD_PORT: String(sshd?.port ?? 0), STUCK_PORT: String((stuck.address() as { port: number }).port) }
    const queue = [...WAITS, ...SILENT].filter((row) => !missing(row) && (!only || row.name.includes(only)))
    const work = async (): Promise<void> => {
      for (let row = queue.shift(); row; row = queue.shift()) {
        const began = performance.now()
        const outcome = await engine.run({
          command: row.command,
          env,
          pty: true,
          reportInput: true,
          graceMs: 0,
          timeoutMs: row.prompt ? 60_000 : SILENCE_LIMIT_MS,
        })
        outcomes.set(row.name, { outcome, tookMs: performance.now() - began })
        if (outcome.id) await (await engine.job(outcome.id)).kill({ graceMs: 0 })
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  }, 300_000)
  afterAll(async () => {
    await engine.close()
    sshd?.close()
    stuck.close()
  })

  const missing = (row: Row): string | undefined =>
    row.needs?.find((name) =>
      name === 'sshd'
        ? sshd === null
        : name === 'root'
          ? process.getuid?.() !== 0
          : spawnSync('bash', ['-c', `command -v ${name}`]).status !== 0,
    )

  test.for(WAITS)('is reported: $name', (row, { skip }) => {
    skip(Boolean(only) && !row.name.includes(only as string))
    skip(Boolean(missing(row)), `${missing(row)} is not here`)
    const { outcome } = outcomes.get(row.name) as { outcome: Outcome }
    expect(outcome, outcome.output ?? '').toMatchObject({
      status: 'running',
      waitingForInput: { prompt: expect.stringMatching(row.prompt as RegExp) },
    })
    if (row.hidden) expect(outcome.notes.map(({ text }) => text).join(' ')).toContain('{{secret:NAME}}')
  })

  test.for(SILENT)('is not reported: $name', (row, { skip }) => {
    skip(Boolean(only) && !row.name.includes(only as string))
    skip(Boolean(missing(row)), `${missing(row)} is not here`)
    const { outcome } = outcomes.get(row.name) as { outcome: Outcome }
    expect(outcome).toMatchObject({ status: 'timeout', waitingForInput: null })
  })

  test('the table is large enough, and a question is reported within about a second of silence', () => {
    if (only) return
    expect(WAITS.length + SILENT.length).toBeGreaterThan(80)
    const times = ['read -p with [y/N]', 'read without echo', 'cat', 'rm -i'].map(
      (name) => outcomes.get(name)?.tookMs ?? 0,
    )
    expect(Math.min(...times)).toBeLessThan(5_000)
  })
})

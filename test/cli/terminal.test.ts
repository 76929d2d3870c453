/** The command line on a real terminal: questions, hidden prompts, Ctrl-C, the progress line. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Engine } from '../../src/index.js'
import type { Job } from '../../src/contract/job.js'
import { createTestEngine } from '../../src/testing.js'

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
let engine: Engine & { readonly stateDir: string }
beforeAll(async () => {
  engine = await createTestEngine()
})
afterAll(() => engine.close())

/** Types as a person would: waits for the words on the screen, then answers. */
async function atTerminal(line: string, answers: readonly (readonly [seen: string, typed: string] | readonly [seen: string, key: { readonly key: string }])[]): Promise<string> {
  const job: Job = await engine.start({ command: `${line}; echo "exit code $?"`, pty: { cols: 100, rows: 30 }, env: { CERITH_HOME: join(engine.stateDir, 'inner'), HOME: engine.stateDir } })
  for (const [seen, answer] of answers) {
    expect(await job.wait({ until: seen, timeoutMs: 20_000 })).toMatchObject({ reason: 'until' })
    await job.send(typeof answer === 'string' ? { text: answer, enter: true } : { keys: [answer.key] })
  }
  await job.wait({ exit: true, timeoutMs: 20_000 })
  return (await job.read({ ansi: 'strip' })).text
}

const cerith = `${process.execPath} ${cli}`

describe('a person', () => {
  test('is asked, and no means no', async () => {
    const text = await atTerminal(`${cerith} run --set policy.preset=careful 'curl -s http://127.0.0.1:9/'`, [['Run it', 'n']])
    expect(text).toContain('wants your approval')
    expect(text).toContain('exit code 126')
  })

  test('says yes, and it runs', async () => {
    expect(await atTerminal(`${cerith} run --set policy.preset=careful 'curl -s http://127.0.0.1:9/'`, [['Run it', 'y']])).toContain('exit code 7')
  })

  test('types a pass phrase and a secret that do not appear', async () => {
    const text = await atTerminal(`${cerith} secret set TYPED`, [
      ['Choose a pass phrase', 'open sesame please'],
      ['Once more', 'open sesame please'],
      ['Value of TYPED', 'never on the screen'],
    ])
    expect(text).toContain('Set TYPED')
    expect(text).toContain('exit code 0')
    expect(text).not.toContain('sesame')
    expect(text).not.toContain('never on')
    const used = await atTerminal(`${cerith} run 'printf %s {{secret:TYPED}} | wc -c'`, [['Pass phrase of the vault', 'open sesame please']])
    expect(used).toContain('19')
  })

  test('presses Ctrl-C: the command is interrupted and its handler runs', async () => {
    const text = await atTerminal(`${cerith} run "trap 'echo cleaned up; exit 9' INT; echo ready; while :; do sleep 0.05; done"`, [['ready', { key: 'C-c' }]])
    expect(text).toContain('cleaned up')
    expect(text).toMatch(/exit code (?:9|130)/)
  })

  test('waits with a progress line that goes away', async () => {
    const job = `id=$(${cerith} run --background 'sleep 1.2; echo over')`
    const text = await atTerminal(`${job}; ${cerith} wait $id --until over`, [])
    expect(text).toContain('until: over')
    expect(text).toContain('exit code 0')
  })
})

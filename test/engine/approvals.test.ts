import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { AskFunction } from '../../src/index.js'
import { pendingNotes } from '../../src/audit/approvals.js'
import { approveElsewhere } from '../fixtures/approve.js'
import { temporaryFolder, testEngine } from './harness.js'

const ASKING = { rules: [{ name: 'ask-touch', decision: 'ask', commands: ['touch *'] }] } as const

describe('SEC-05 a command that a rule asks about', () => {
  test('is not run when nobody can be asked, and says how a person can allow it', async () => {
    const engine = await testEngine({ policy: ASKING })
    const outcome = await engine.run({ command: 'touch ran' })
    expect(outcome.status).toBe('refused')
    expect(outcome.refused?.reason).toContain('Nobody could be asked')
    expect(outcome.refused?.guidance).toContain(`cerith approve ${outcome.approvalId}`)
    expect(readdirSync(engine.cwd)).toEqual([])
  })

  test('runs once after `approve` from elsewhere, and only exactly that command in that directory', async () => {
    const stateDir = join(temporaryFolder(), 'state')
    const engine = await testEngine({ policy: ASKING, stateDir })
    const refused = await engine.run({ command: 'touch ran' })
    expect(pendingNotes(stateDir).map(({ id, command, cwd }) => ({ id, command, cwd }))).toEqual([
      { id: refused.approvalId, command: 'touch ran', cwd: engine.cwd },
    ])
    expect(statSync(join(stateDir, 'approvals')).mode & 0o777).toBe(0o700)
    expect(await approveElsewhere(stateDir, 'ask_000000000000')).toBe(false)
    expect(await approveElsewhere(stateDir, refused.approvalId as string)).toBe(true)
    expect((await engine.run({ command: 'touch other' })).status).toBe('refused')
    expect((await engine.run({ command: 'touch ran', env: { A: '1' } })).status).toBe('refused')
    expect((await engine.run({ command: 'touch ran' })).status).toBe('completed')
    expect((await engine.run({ command: 'touch ran' })).status).toBe('refused')
  })

  test('asks the callback with the verdict; once, for the session, or no', async () => {
    const asked: string[] = []
    const answers = ['once', 'deny', 'session'] as const
    const ask: AskFunction = async ({ command, verdict, session }) => {
      asked.push(`${session} ${command} ${verdict.decision}`)
      return answers[asked.length - 1] ?? null
    }
    const engine = await testEngine({ policy: ASKING, ask })
    const session = await engine.session('s')
    expect((await session.run({ command: 'touch a' })).status).toBe('completed')
    const denied = await session.run({ command: 'touch a' })
    expect(denied.refused?.reason).toContain('declined')
    expect(denied.approvalId).toBeNull()
    expect((await session.run({ command: 'touch a' })).status).toBe('completed')
    expect((await session.run({ command: 'touch a' })).status).toBe('completed')
    expect(asked).toEqual(['s touch a ask', 's touch a ask', 's touch a ask'])
  })

  test('the request’s own ask function comes before the engine’s, and the permission hook sees every doubtful command', async () => {
    const engine = await testEngine({ policy: ASKING, ask: async () => 'deny' })
    expect((await engine.run({ command: 'touch b', ask: async () => 'once' })).status).toBe('completed')
    engine.setAsk(async () => 'once')
    expect((await engine.run({ command: 'touch c' })).status).toBe('completed')
  })

  test('a dry run asks nobody', async () => {
    const engine = await testEngine({
      policy: ASKING,
      ask: async () => {
        throw new Error('asked')
      },
    })
    expect(await engine.run({ command: 'touch d', dryRun: true })).toMatchObject({
      status: 'dry_run',
      plan: { verdict: { decision: 'ask' } },
    })
  })
})

describe('own automation', () => {
  test('an agent cannot approve its own request through the shell', async () => {
    const engine = await testEngine()
    for (const command of ['cerith approve ask_123', 'npx cerith secret list', "bash -c 'cerith approve ask_1'"])
      expect((await engine.run({ command })).status, command).toBe('refused')
    expect((await engine.run({ command: 'echo cerith approve' })).status).toBe('completed')
  })

  test('the state directory is a protected target', async () => {
    const stateDir = join(temporaryFolder(), 'state')
    const engine = await testEngine({ stateDir })
    expect((await engine.run({ command: `rm -rf ${stateDir}/approvals` })).status).toBe('refused')
    expect((await engine.run({ command: `echo x > ${stateDir}/approvals/x.granted` })).status).toBe('refused')
  })
})

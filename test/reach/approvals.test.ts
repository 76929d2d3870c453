/**
 * Commands at another place that need a yes: asked here, of our own copy, by every way that answers for commands here.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { pendingNotes } from '../../src/audit/approvals.js'
import { openQuestions, questionText } from '../../src/cli/verb/approvals.js'
import { lookOnce } from '../../src/engine/live/watch.js'
import { approveElsewhere } from '../fixtures/approve.js'
import { keyIn, Knock, World } from '../web/harness.js'
import { linked, until } from './harness.js'

const policy = { rules: [{ name: 'ask-touch', decision: 'ask', commands: ['touch *'] }] } as const

/** What waits, as a person sees it in another terminal. */
async function shownIn(stateDir: string): Promise<{ id: string; text: string; isWaiting: boolean }[]> {
  const watch = await lookOnce(stateDir, null, 20_000)
  try {
    const open = openQuestions(watch, stateDir)
    return open.map((each) => ({ id: each.id, text: questionText(each), isWaiting: each.isWaiting }))
  } finally {
    watch.close()
  }
}

/** The question that a call waits for. */
async function waitingIn(stateDir: string): Promise<string> {
  let id = ''
  await until(async () => {
    id = (await shownIn(stateDir)).find(({ isWaiting }) => isWaiting)?.id ?? ''
    return id !== ''
  }, 'a question waits')
  return id
}

describe('a command there that a rule asks about', () => {
  test('is refused when nobody can be asked; `cerith approve` here lets exactly that run there, once', async () => {
    const link = await linked({ policy })
    const { engine, stateDir } = link
    const refused = await engine.run({ command: 'touch ran' })
    expect(refused).toMatchObject({ status: 'refused', approvalId: expect.stringMatching(/^ask_/) })
    expect(refused.refused?.guidance).toContain(`cerith approve ${refused.approvalId}`)
    // The card carries the place, and the path there is not one of this machine.
    expect(pendingNotes(stateDir).map(({ cwd }) => cwd)).toEqual([`loop: ${engine.cwd}`])
    expect((await shownIn(stateDir))[0]?.text).toContain(`loop: ${engine.cwd}`)
    expect(await approveElsewhere(stateDir, refused.approvalId as string)).toBe(true)
    expect((await engine.run({ command: 'touch other' })).status).toBe('refused')
    expect((await engine.run({ command: 'touch ran', env: { A: '1' } })).status).toBe('refused')
    expect((await engine.run({ command: 'touch ran' })).status).toBe('completed')
    expect((await engine.run({ command: 'touch ran' })).status).toBe('refused')
  })

  test('waits as long as it was told to, in a session and as a job, and the record here says who answered', async () => {
    const entries: { kind: string; by?: string; cwd: string; place?: string }[] = []
    const audit = { write: (entry: object) => void entries.push(entry as never) }
    const link = await linked({ policy, audit, approvalWaitMs: 60_000 })
    const { engine, stateDir } = link
    const session = await engine.session()
    const ran = session.run({ command: 'touch ran' })
    await approveElsewhere(stateDir, await waitingIn(stateDir), 'session')
    expect((await ran).status).toBe('completed')
    // Remembered at the place, for this session.
    expect((await session.run({ command: 'touch ran' })).status).toBe('completed')
    const job = engine.start({ command: 'touch job' })
    await approveElsewhere(stateDir, await waitingIn(stateDir), 'once')
    await (await job).wait()
    const denied = engine.run({ command: 'touch no' })
    await approveElsewhere(stateDir, await waitingIn(stateDir), 'deny')
    expect((await denied).refused?.reason).toContain('declined')
    await until(() => entries.some(({ kind }) => kind === 'deny'), 'the no is written down')
    const answers = entries.filter(({ kind }) => ['approve', 'deny'].includes(kind))
    expect(answers.map(({ kind, cwd }) => [kind, cwd])).toEqual(
      ['approve', 'approve', 'deny'].map((kind) => [kind, `loop: ${engine.cwd}`]),
    )
    // Said here, by a person here: no place said so.
    for (const entry of answers) expect([entry.by, entry.place]).toEqual([expect.any(String), undefined])
  })

  test('an approval for an engine that has ended counts for the same command there, once', async () => {
    const first = await linked({ policy })
    const { stateDir } = first
    const { cwd } = first.engine
    const { approvalId } = await first.engine.run({ command: 'touch ran' })
    await first.engine.close()
    expect(await approveElsewhere(stateDir, approvalId as string)).toBe(true)
    const second = await linked({ policy, stateDir, cwd })
    expect((await second.engine.run({ command: 'touch ran', cwd: '/usr' })).status).toBe('refused')
    expect((await second.engine.run({ command: 'touch ran' })).status).toBe('completed')
    expect((await second.engine.run({ command: 'touch ran' })).status).toBe('refused')
  })

  test('a link that is cut while a person thinks changes nothing: one question, one yes, run once', async () => {
    const link = await linked({ policy, approvalWaitMs: 60_000 })
    const { engine, stateDir } = link
    const running = engine.run({ command: 'touch x; echo one >> once' })
    const id = await waitingIn(stateDir)
    for (let cuts = 0; cuts < 2; cuts++) {
      await link.cut()
      await until(() => link.events.at(-1)?.kind === 'up', 'the link is back')
    }
    expect((await shownIn(stateDir)).map((each) => each.id)).toEqual([id])
    await approveElsewhere(stateDir, id)
    expect((await running).status).toBe('completed')
    expect(readFileSync(join(engine.cwd, 'once'), 'utf8')).toBe('one\n')
    expect(await shownIn(stateDir)).toEqual([])
  })

  test('called off while it waits, or closed, it ends and did not run', async () => {
    const link = await linked({ policy, approvalWaitMs: 60_000 })
    const { engine, stateDir } = link
    const stop = new AbortController()
    const running = engine.run({ command: 'touch ran', signal: stop.signal })
    await waitingIn(stateDir)
    stop.abort()
    expect((await running).status).toBe('killed')
    const next = engine.run({ command: 'touch ran' })
    await waitingIn(stateDir)
    await engine.close()
    expect((await next).status).toBe('refused')
    expect(existsSync(join(engine.cwd, 'ran'))).toBe(false)
  })

  test('a secret that is bound to no place can be let go with `cerith approve`', async () => {
    const source = { lookup: async (_: string, name: string) => (name === 'V' ? Buffer.from('v-12345678') : undefined) }
    const link = await linked({ secretSources: [source], approvalWaitMs: 60_000 })
    const running = link.engine.run({ command: 'echo {{secret:V}}' })
    const id = await waitingIn(link.stateDir)
    expect((await shownIn(link.stateDir))[0]?.text).toContain('would be sent to loop: for the first time')
    await approveElsewhere(link.stateDir, id)
    expect((await running).stdout).toBe('[secret:V]\n')
  })
})

describe('others who look', () => {
  let world: World | null = null
  afterEach(async () => {
    await world?.close()
    world = null
  })

  test('the page shows the command and the question of a place, and its answer counts there', async () => {
    world = new World()
    const reach = { uploadDir: join(tmpdir(), 'reach-code'), leaseMs: 30_000, stateDir: join(world.base, 'there') }
    const engine = await world.agent({ at: 'loop:', cwd: world.base, policy, approvalWaitMs: 60_000, reach })
    const ui = await world.ui()
    const page = await Knock.with(ui, keyIn(ui.link()))
    const called = engine.run({ command: 'touch made' })
    const rows = ({ t, set }: { t: string; set?: unknown }): [string, string, Record<string, unknown>][] =>
      t === 'delta' ? (set as never) : []
    const isAsk = ([kind, , row]: [string, string, Record<string, unknown>]): boolean =>
      kind === 'asks' && row['isWaiting'] === true
    const heard = await page.hear((said) => rows(said).some(isAsk))
    const [, id, ask] = rows(heard).find(isAsk)!
    expect(ask).toMatchObject({ command: 'touch made', cwd: `loop: ${engine.cwd}` })
    const shown = ['command', 'cwd', 'session', 'env', 'envMode', 'pty', 'reason', 'rule'].map((name) => ask[name])
    const digest = createHash('sha256').update(JSON.stringify(shown)).digest('hex')
    page.say({ do: 'answer', id, as: 'once', digest })
    expect((await called).status).toBe('completed')
    expect(existsSync(join(engine.cwd, 'made'))).toBe(true)
  })

  test('commands there are seen here, followed and stopped; nothing of this machine is shown for their pids', async () => {
    const link = await linked()
    const session = await link.engine.session()
    const running = session.run({ command: 'for i in 1 2 3 4 5 6 7 8 9; do echo line$i; sleep 0.2; done; sleep 600' })
    let text = ''
    let watch = await lookOnce(link.stateDir, null, 20_000)
    await until(async () => {
      if (watch.engines.get(link.engine.id)?.state === 'live') return true
      watch.close()
      watch = await lookOnce(link.stateDir, null, 20_000)
      return false
    }, 'the young engine has opened its socket')
    watch.listen(({ said }) => (text += said.t === 'out' ? String(said['text']) : ''))
    const seen = watch.engines.get(link.engine.id)
    const [call] = [...(seen?.calls.values() ?? [])]
    expect(call).toMatchObject({ session: 'main', command: expect.stringContaining('line$i'), pid: null })
    expect(seen?.sessions).toMatchObject([{ name: 'main', pid: null }])
    seen?.send({ do: 'follow', run: call?.run })
    await until(() => text.includes('line9'), 'its output is seen')
    seen?.send({ do: 'kill', run: call?.run })
    expect((await running).status).toBe('killed')
    watch.close()
  })
})

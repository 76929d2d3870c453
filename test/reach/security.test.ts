/** What each side of a link does not believe of the other, and what others on the machine cannot do. */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { EngineOptions } from '../../src/index.js'
import { createReader, frame, framesOf, outputFrame } from '../../src/reach/frames.js'
import { lyingFar } from './lying.js'
import { linked, processesOf, runDirectory, temporaryFolder, until } from './harness.js'

const VALUE = `S3cr3t-${randomBytes(12).toString('hex')}`

describe('the far side', () => {
  test('a forged client learns nothing, runs nothing and does not disturb', async () => {
    const link = await linked()
    const path = join(runDirectory(link.name), 'sock')
    const call = framesOf(
      'C',
      JSON.stringify({ id: 1, verb: 'engine.run', args: { request: { command: 'touch forged' } } }),
    )
    const hello = framesOf('H', JSON.stringify({ version: 1, client: 'x', nonce: 'n' }))
    const wrong = framesOf(
      'H',
      JSON.stringify({ proof: '0'.repeat(64), options: {}, pending: [], keep: false, events: true }),
    )
    for (const words of [call, [...hello, ...call], [...hello, ...wrong, ...call], [Buffer.alloc(100_000, 0xff)]]) {
      const { kinds } = await talk(path, words)
      expect(kinds.every((kind) => kind === 'h')).toBe(true)
      expect(kinds.length).toBeLessThanOrEqual(1)
    }
    expect((await link.engine.run({ command: 'ls' })).stdout).toBe('')
  })

  test('its directory and socket are of one user; the key is in no argument, environment or file', async () => {
    const link = await linked()
    const dir = runDirectory(link.name)
    expect(statSync(dir).mode & 0o777).toBe(0o700)
    expect(statSync(join(dir, 'sock')).mode & 0o077).toBe(0)
    const far = link.engine.place?.pid as number
    const hex = link.key.toString('hex')
    const places = ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${far}/${name}`, 'latin1'))
    const files = readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    for (const text of [...places, ...files]) expect(text).not.toContain(hex)
    expect(processesOf((words) => words.some((word) => word.includes(hex)))).toEqual([])
  })

  test('a second client cannot change the policy', async () => {
    const first = await linked({ policy: { preset: 'careful' } })
    const loose: EngineOptions = { policy: { preset: 'open' }, stateDir: first.stateDir }
    await expect(linked(loose, first)).rejects.toMatchObject({ code: 'PLACE_REFUSED' })
  })

  test('a directory of another owner, mode or behind a link is not used', async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'open'))
    chmodSync(join(folder, 'open'), 0o777)
    mkdirSync(join(folder, 'mine'), { mode: 0o700 })
    symlinkSync(join(folder, 'mine'), join(folder, 'link'))
    for (const name of ['open', 'link', 'missing/below'])
      await expect(linked({ reach: { uploadDir: join(folder, name) } })).rejects.toMatchObject({ code: 'PLACE_UNFIT' })
  })
})

describe('secrets', () => {
  test('a named one is used there and seen nowhere: no argument, no file, masked in all that comes back', async () => {
    const link = await linked()
    link.engine.secrets.set('TOKEN', VALUE)
    const session = await link.engine.session()
    const outcome = await session.run({ command: 'T={{secret:TOKEN}}; echo ${#T}; echo "$T"; sleep 0.2' })
    expect(outcome.stdout).toBe(`${VALUE.length}\n[secret:TOKEN]\n`)
    const job = await link.engine.start({ command: 'echo {{secret:TOKEN}}; sleep 600' })
    await job.wait({ until: /secret/ })
    expect(processesOf((words) => words.some((word) => word.includes(VALUE)))).toEqual([])
    for (const dir of [runDirectory(link.name), link.stateDir])
      for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true }))
        if (entry.isFile())
          expect(readFileSync(join(entry.parentPath, entry.name), 'latin1'), entry.name).not.toContain(VALUE)
    await job.kill({ graceMs: 0 })
  })

  test('one that belongs to no place is asked about first, and refused when nobody can be asked', async () => {
    const source = { lookup: async (_: string, name: string) => (name === 'VAULT' ? Buffer.from(VALUE) : undefined) }
    const link = await linked({ secretSources: [source] })
    await expect(link.engine.run({ command: 'echo {{secret:VAULT}}' })).rejects.toMatchObject({
      code: 'SECRET_REFUSED',
    })
    const questions: string[] = []
    link.engine.setAsk(async ({ verdict, command }) => {
      questions.push(`${command}: ${verdict.reason}`)
      return 'session'
    })
    for (let i = 0; i < 2; i++)
      expect((await link.engine.run({ command: 'echo {{secret:VAULT}}' })).stdout).toBe('[secret:VAULT]\n')
    expect(questions).toEqual(['echo {{secret:VAULT}}: the secret VAULT would be sent to loop: for the first time'])
  })
})

describe('the near side', () => {
  test('gives an engine that lies no secret that was not named, and says so', async () => {
    const far = await lyingFar({
      secretSources: [{ lookup: async () => Buffer.from(VALUE) }],
      reach: { secrets: ['*'] },
    })
    const running = far.engine.run({ command: 'echo plain' })
    const id = (await far.next('C'))['id'] as number
    far.say('Q', { n: 1, call: id, ask: 'secret', kind: 'secret', name: 'OTHER' })
    expect(await far.next('q')).toMatchObject({ n: 1, error: { code: 'SECRET_REFUSED' } })
    far.say('Q', { n: 2, call: null, ask: 'secret', kind: 'secret', name: 'OTHER' })
    expect(await far.next('q')).toMatchObject({ n: 2, error: { code: 'SECRET_REFUSED' } })
    far.result(id)
    expect((await running).notes.map(({ text }) => text).join()).toContain('asked for the secret OTHER')
    await far.close()
  })

  test('a question that comes again after a cut gets the same answer, and another one about the same secret gets none', async () => {
    const far = await lyingFar({})
    far.engine.secrets.set('TOKEN', VALUE)
    const running = far.engine.run({ command: 'echo {{secret:TOKEN}}' })
    const id = (await far.next('C'))['id'] as number
    const ask = { call: id, ask: 'secret', kind: 'secret', name: 'TOKEN' }
    const given = { value: Buffer.from(VALUE).toString('base64') }
    for (const [n, answer] of [
      [1, given],
      [1, given],
      [2, { error: { code: 'SECRET_REFUSED' } }],
    ] as const) {
      far.say('Q', { n, ...ask })
      expect(await far.next('q')).toMatchObject({ n, ...answer })
    }
    far.result(id)
    await running
    await far.close()
  })

  test('shows its own copy of a command on the card, and denies what is never allowed', async () => {
    const cards: string[] = []
    const far = await lyingFar({ ask: async ({ command }) => (cards.push(command), 'once') })
    const running = [far.engine.run({ command: 'echo mine' }), far.engine.run({ command: 'rm -rf /' })]
    const ids = [(await far.next('C'))['id'] as number, (await far.next('C'))['id'] as number]
    const ask = { ask: 'approval', id: 'x', cwd: '/', reason: 'harmless', rule: 'r', command: 'something else' }
    far.say('Q', { n: 1, call: ids[0], ...ask })
    expect(await far.next('q')).toMatchObject({ value: { as: 'once' } })
    far.say('Q', { n: 2, call: ids[1], ...ask })
    expect(await far.next('q')).toMatchObject({ value: { as: 'deny' } })
    expect(cards).toEqual(['echo mine'])
    for (const id of ids) far.result(id)
    await Promise.all(running)
    await far.close()
  })

  test('writes what a place says as said by that place, with its own time, and never an approval', async () => {
    const entries: Record<string, unknown>[] = []
    const far = await lyingFar({ audit: { write: (entry) => void entries.push(entry as never) } })
    const entry = { kind: 'run', command: 'ls', at: 1, engine: 'forged', door: 'cli', cwd: '/', status: 'completed' }
    far.say('E', { audit: { ...entry, kind: 'approve' } })
    far.say('E', { audit: entry })
    await until(() => entries.length > 0, 'the entry is written')
    expect(entries).toHaveLength(1)
    expect(entries[0]).toMatchObject({ kind: 'run', place: 'fake:', engine: far.engine.id, door: 'library' })
    expect(entries[0]?.['at']).toBeGreaterThan(1)
    await far.close()
  })

  test.each([
    ['a frame of no kind', frame('Z', 'x')],
    ['news of a call that is not open', frame('R', '{"id":99,"value":1}')],
    ['what is no JSON', frame('R', '{{')],
  ])('closes the link on %s, and does not call such a peer again at once', async (_, bytes) => {
    const far = await lyingFar({ reach: { linkWaitMs: 1_000 } }, { identities: ['i', 'i', 'i'] })
    const events: string[] = []
    far.engine.onLink(({ kind }) => events.push(kind))
    far.raw(bytes)
    await until(() => events.includes('down'), 'the link is closed')
    // A link that was only cut is opened again after 0.2 s.
    await expect(far.engine.run({ command: 'true' })).rejects.toMatchObject({ code: 'LINK_DOWN' })
    expect(far.opens()).toBe(1)
    await far.close()
  })

  test('masks what a place shows of a value, and never sends the key', async () => {
    const far = await lyingFar({})
    far.engine.secrets.set('TOKEN', VALUE)
    const seen: string[] = []
    const running = far.engine.run({ command: 'x', onOutput: ({ text }) => seen.push(text) })
    const id = (await far.next('C'))['id'] as number
    far.raw(outputFrame(id, 'stdout', 0, Buffer.from(`live ${VALUE}`)))
    far.result(id, { stdout: VALUE, stderr: `also ${VALUE}` })
    expect(await running).toMatchObject({ stdout: '[secret:TOKEN]', stderr: 'also [secret:TOKEN]' })
    expect(seen.join('')).toBe('live [secret:TOKEN]')
    expect(far.heard()).not.toContain(far.key.toString('hex'))
    expect(far.heard()).not.toContain(far.key.toString('latin1'))
    await far.close()
  })

  test('a client that ends with 0 is no result; another machine behind the same address is gone, not joined', async () => {
    const far = await lyingFar({}, { identities: ['one', 'two'] })
    const running = far.engine.run({ command: 'true' })
    await far.next('C')
    far.end()
    const lost = await running
    expect(lost).toMatchObject({ status: 'failed', exitCode: null, end: { kind: 'lost' } })
    // It had been handed over: that nothing was run is said of the next call only.
    expect(lost.notes[0]?.text).toMatch(/ was lost: another machine or container answers there now\. It may have run/)
    await expect(far.engine.run({ command: 'true' })).rejects.toMatchObject({ code: 'PLACE_GONE' })
    const next = far.engine.run({ command: 'true' })
    far.result((await far.next('C'))['id'] as number)
    expect((await next).status).toBe('completed')
    await far.close()
  })

  test('does not talk to an engine that cannot prove the key', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length
    const before = timers()
    await expect(lyingFar({}, { proof: () => '0'.repeat(64) })).rejects.toMatchObject({ code: 'PLACE_REFUSED' })
    // Nothing of the attempt keeps this process alive.
    expect(timers()).toBeLessThanOrEqual(before)
  })
})

async function talk(path: string, words: readonly Buffer[]): Promise<{ kinds: string[] }> {
  const kinds: string[] = []
  const socket = createConnection(path)
  const reader = createReader((kind) => kinds.push(kind))
  socket.on('data', reader)
  socket.on('error', () => {})
  for (const bytes of words) socket.write(bytes)
  await new Promise((resolve) => socket.on('close', resolve))
  return { kinds }
}

/**
 * A far side that lies: the test says its words, after the one thing that it cannot lie about (the proof of the key).
 */
import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import type { EngineOptions, Outcome } from '../../src/index.js'
import { createReader, framesOf } from '../../src/reach/frames.js'
import { proofOf } from '../../src/reach/messages.js'
import { createNearEngine } from '../../src/reach/near/engine.js'
import { lostOutcome } from '../../src/engine/services/outcomes.js'
import { temporaryFolder, until } from './harness.js'

/** What came of a command that printed nothing. */
export const OUTCOME: Outcome = {
  ...lostOutcome({ cwd: '/', session: null }, 1),
  status: 'completed',
  end: { kind: 'exit', code: 0 },
  exitCode: 0,
  notes: [],
}

/** An engine in name only: the test says its words. For each of `identities` a link can be opened once. */
export async function lyingFar(options: EngineOptions, { proof = proofOf, identities = ['i'] } = {}) {
  const key = randomBytes(32)
  const inbox: [string, Record<string, unknown>][] = []
  let heard = ''
  let raw!: (bytes: Buffer) => void
  let end!: (stderr?: string) => void
  let opens = 0
  let told = 0
  const say = (kind: string, message: object): void =>
    raw(Buffer.concat(framesOf(kind, JSON.stringify(kind === 'E' ? { n: ++told, ...message } : message))))
  const open = () => {
    const identity = identities[opens++]
    if (identity === undefined) throw new Error('not again')
    const [there, back] = [new PassThrough(), new PassThrough()]
    raw = (bytes) => void back.write(bytes)
    const closed = new Promise<{ code: number; signal: null; stderr: string }>((resolve) => {
      // As kubectl may after a lost stream.
      end = (stderr = '') => resolve({ code: 0, signal: null, stderr })
    })
    let step = 0
    there.on('data', (bytes: Buffer) => (heard += bytes.toString('latin1')))
    there.on('data', createReader((kind, payload) => {
      if (kind === 'P') return
      const message = JSON.parse(payload.toString('utf8')) as Record<string, string>
      if (kind !== 'H') return void inbox.push([kind, message])
      if (++step === 1) return say('h', { nonce: 'f', proof: proof(key, 'far', message['client'] as string, message['nonce'] as string, 'f') })
      say('h', { engine: `of ${identity}`, pid: 1, identity, host: 'h', platform: 'linux-x64', shell: { path: '/bin/bash', version: '5' }, cwd: '/', isKnown: false, begun: [] })
    })) // prettier-ignore
    return { input: back, output: there, closed, destroy: () => end(), hold: () => {} }
  }
  const engine = await createNearEngine({
    url: 'fake:',
    key,
    options: { stateDir: temporaryFolder(), ...options },
    open: async () => open(),
    release: async () => {},
  })
  return {
    engine,
    key,
    say,
    raw: (bytes: Buffer) => raw(bytes),
    end: (stderr?: string) => end(stderr),
    heard: () => heard,
    opens: () => opens,
    result: (id: number, value: object = {}) => say('R', { id, value: { ...OUTCOME, ...value } }),
    async next(kind: string): Promise<Record<string, unknown>> {
      await until(() => inbox.some(([each]) => each === kind), kind)
      return inbox.splice(
        inbox.findIndex(([each]) => each === kind),
        1,
      )[0]![1]
    },
    /** Answers every call from now on. */
    serve(answer: (verb: string) => unknown) {
      const timer = setInterval(() => {
        for (const [kind, { id, verb }] of inbox.splice(0))
          if (kind === 'C') say('R', { id, value: answer(verb as string) })
      }, 5)
      return { stop: () => clearInterval(timer) }
    },
    async close() {
      end()
      await engine.close()
    },
  }
}

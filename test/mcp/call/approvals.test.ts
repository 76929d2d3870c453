/**
 * Doubtful commands: the person behind the client is asked in both eras, and an answer counts once, for exactly what
 * was asked.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { ClientCapabilities, ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'
import { openQuestions } from '../../../src/cli/verb/approvals.js'
import { lookOnce } from '../../../src/engine/live/watch.js'
import { approveElsewhere } from '../../fixtures/approve.js'
import {
  ERAS,
  http,
  scratch,
  stdio,
  structuredOf,
  textOf,
  type Connected,
  type Era,
  type HttpServerProcess,
} from '../harness.js'

const place = scratch()
const file = join(place.dir, 'made')
const options = {
  engine: { policy: { rules: [{ decision: 'ask' as const, commands: ['touch *'], reason: 'it makes a file' }] } },
}
const command = `touch ${file}`

afterEach(() => rmSync(file, { force: true }))

type Answer = () => ElicitResult

let server: HttpServerProcess
beforeAll(async () => {
  server = await http(place.dir, options)
})

async function hostThat(
  era: Era,
  door: 'stdio' | 'http',
  capabilities: ClientCapabilities,
  answer: Answer = () => ({ action: 'cancel' }),
): Promise<{ host: Connected; asked: ElicitRequest[] }> {
  const asked: ElicitRequest[] = []
  const host =
    door === 'stdio'
      ? await stdio({ era, dir: place.dir, options, client: { capabilities } })
      : await server.connect(era, 'default', { capabilities })
  if (capabilities.elicitation) {
    host.client.setRequestHandler('elicitation/create', (request) => {
      asked.push(request as ElicitRequest)
      return answer()
    })
  }
  return { host, asked }
}

const hostThatAnswers = (era: Era, answer: Answer, door: 'stdio' | 'http' = 'http') =>
  hostThat(era, door, { elicitation: { form: {} } }, answer)

/** The id of the one question that waits for its answer. */
async function openQuestion(stateDir: string): Promise<string> {
  for (;;) {
    const watch = await lookOnce(stateDir, null, 20_000)
    const waiting = openQuestions(watch, stateDir).find(({ isWaiting }) => isWaiting)
    watch.close()
    if (waiting) return waiting.id
    await new Promise((next) => setTimeout(next, 20))
  }
}

const accept =
  (decision: string): Answer =>
  () => ({ action: 'accept', content: { decision } })

for (const era of ERAS) {
  describe(era, () => {
    for (const door of ['stdio', 'http'] as const)
      test(`${door}: a command that needs approval is asked about, with its text, directory and reason, and runs when allowed`, async () => {
        const { host, asked } = await hostThatAnswers(era, accept('allow once'), door)
        const result = await host.call('Bash', { command })
        expect(structuredOf(result)).toMatchObject({ status: 'completed', exit_code: 0 })
        expect(existsSync(file)).toBe(true)
        expect(asked).toHaveLength(1)
        const { message } = asked[0]!.params
        expect(message).toContain(command)
        expect(message).toContain(place.dir)
        expect(message).toContain('it makes a file')
      })

    test('"once" is for once; "for the session" is for exactly this command from then on', async () => {
      const { host, asked } = await hostThatAnswers(era, accept('allow once'))
      await host.call('Bash', { command })
      await host.call('Bash', { command })
      expect(asked).toHaveLength(2)
      const remembering = await hostThatAnswers(era, accept('allow exactly this for the session'))
      await remembering.host.call('Bash', { command: `${command}.${era}` })
      await remembering.host.call('Bash', { command: `${command}.${era}` })
      expect(remembering.asked).toHaveLength(1)
      await remembering.host.call('Bash', { command: `${command}.${era}.other` })
      expect(remembering.asked).toHaveLength(2)
    })

    test('a no is a refusal in both channels, and nothing ran', async () => {
      const { host } = await hostThatAnswers(era, accept('deny'))
      const result = await host.call('Bash', { command })
      expect(result.isError).toBe(true)
      expect(structuredOf(result)).toMatchObject({
        status: 'refused',
        refused: { reason: expect.stringContaining('declined') },
      })
      expect(textOf(result)).toContain('declined')
      expect(existsSync(file)).toBe(false)
    })

    for (const action of ['decline', 'cancel'] as const) {
      test(`a client that answers "${action}" may not have asked anybody: the text says so and names the way out`, async () => {
        const { host } = await hostThatAnswers(era, () => ({ action }))
        const result = await host.call('Bash', { command })
        const id = String(structuredOf(result)['approval_id'])
        expect(textOf(result)).toContain('declined, or it cannot ask')
        expect(textOf(result)).toContain(`cerith approve ${id}`)
        expect(structuredOf(result)).toMatchObject({
          status: 'refused',
          refused: { reason: expect.stringContaining('declined, or it cannot ask') },
        })
        expect(existsSync(file)).toBe(false)

        // What `cerith approve ID` does, from another terminal.
        expect(await approveElsewhere(join(place.dir, 'state'), id)).toBe(true)
        expect(structuredOf(await host.call('Bash', { command }))).toMatchObject({ status: 'completed' })
        expect(existsSync(file)).toBe(true)
      })
    }

    test('an acceptance without a decision is no permission', async () => {
      const { host } = await hostThatAnswers(era, () => ({ action: 'accept', content: {} }))
      expect(structuredOf(await host.call('Bash', { command }))['status']).toBe('refused')
      expect(existsSync(file)).toBe(false)
    })

    test('a client that cannot be asked gets an honest refusal with the way out', async () => {
      const { host } = await hostThat(era, 'http', {})
      const result = await host.call('Bash', { command })
      expect(textOf(result)).toMatch(/Nobody could be asked[^]*cerith approve ask_/)
      expect(existsSync(file)).toBe(false)
    })

    test('a call that may wait is answered when a person approves in time, and says how long nobody answered otherwise', async () => {
      const waits = await stdio({ era, dir: place.dir, options: { ...options, approvalWaitMs: 30_000 } })
      const called = waits.call('Bash', { command })
      const stateDir = join(place.dir, 'state')
      const id = await openQuestion(stateDir)
      expect(existsSync(file)).toBe(false)
      expect(await approveElsewhere(stateDir, id)).toBe(true)
      expect(structuredOf(await called)).toMatchObject({ status: 'completed' })
      expect(existsSync(file)).toBe(true)
      const impatient = await stdio({
        era,
        dir: place.dir,
        options: { ...options, approvalWaitMs: 30_000, yieldMs: 1_200 },
      })
      expect(textOf(await impatient.call('Bash', { command: `${command}.late` }))).toMatch(
        /Nobody answered within [12] s\.[^]*cerith approve ask_/,
      )
    })

    test('a client that only opens web pages is not asked for a form', async () => {
      const { host, asked } = await hostThat(era, 'http', { elicitation: { url: {} } })
      expect(textOf(await host.call('Bash', { command }))).toContain('Nobody could be asked')
      expect(asked).toHaveLength(0)
    })

    test('background commands are asked about too', async () => {
      const { host, asked } = await hostThatAnswers(era, accept('allow once'))
      const started = structuredOf(await host.call('Bash', { command, run_in_background: true }))
      expect(asked).toHaveLength(1)
      expect(structuredOf(await host.call('BashOutput', { bash_id: started['id'], wait_ms: 5_000 }))).toMatchObject({
        status: 'completed',
      })
      expect(existsSync(file)).toBe(true)
    })
  })
}

describe('the state between question and answer (2026)', () => {
  type Wire = { result?: Record<string, unknown>; error?: { code: number; message: string } }

  let id = 0
  async function call(params: object): Promise<Wire> {
    const response = await fetch(server.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${server.tokens['default']}`,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'Bash',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: ++id,
        method: 'tools/call',
        params: {
          ...params,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
          },
        },
      }),
    })
    return (await response.json()) as Wire
  }
  const inputResponses = { approval: { action: 'accept', content: { decision: 'allow once' } } }

  test('it is good once, for the same command only, and not after a change', async () => {
    const count = `echo x >> ${place.dir}/count; ${command}`
    const first = await call({ name: 'Bash', arguments: { command: count } })
    expect(first.result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { approval: { method: 'elicitation/create' } },
      requestState: expect.any(String),
    })
    const requestState = String(first.result!['requestState'])

    // Another command with this answer: asked again, not run.
    const other = await call({ name: 'Bash', arguments: { command: `${count} other` }, requestState, inputResponses })
    expect(other.result).toMatchObject({ resultType: 'input_required' })

    // A byte changed: refused.
    const forged = `${requestState.slice(0, -2)}${requestState.at(-2) === 'A' ? 'B' : 'A'}${requestState.slice(-1)}`
    expect(
      (await call({ name: 'Bash', arguments: { command: count }, requestState: forged, inputResponses })).error,
    ).toMatchObject({ code: -32602 })
    for (const nonsense of ['', '.', 'a.b', 'x'.repeat(10_000)]) {
      expect(
        (await call({ name: 'Bash', arguments: { command: count }, requestState: nonsense, inputResponses })).error,
      ).toMatchObject({ code: -32602 })
    }
    expect(existsSync(join(place.dir, 'count'))).toBe(false)

    // An answer without the state that belongs to it: asked again.
    expect((await call({ name: 'Bash', arguments: { command: count }, inputResponses })).result).toMatchObject({
      resultType: 'input_required',
    })

    const granted = await call({ name: 'Bash', arguments: { command: count }, requestState, inputResponses })
    expect(granted.result).toMatchObject({ structuredContent: { status: 'completed' } })
    // The same again: asked again.
    expect(
      (await call({ name: 'Bash', arguments: { command: count }, requestState, inputResponses })).result,
    ).toMatchObject({ resultType: 'input_required' })
    expect(readFileSync(join(place.dir, 'count'), 'utf8')).toBe('x\n')
  })

  test('it does not survive a change of directory between question and answer', async () => {
    const relative = { command: 'touch made', session: 'wanders' }
    const first = await call({ name: 'Bash', arguments: relative })
    await call({ name: 'Bash', arguments: { command: 'cd /', session: 'wanders' } })
    const second = await call({
      name: 'Bash',
      arguments: relative,
      requestState: first.result!['requestState'],
      inputResponses,
    })
    expect(second.result).toMatchObject({ resultType: 'input_required' })
  })
})

/** What happens around a call: yielding, waiting, progress, cancellation, the size of an answer. */
import { randomInt } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { makeGate } from '../../fixtures/gate.js'
import {
  ERAS,
  http,
  processesWith,
  scratch,
  stdio,
  structuredOf,
  textOf,
  type Connected,
  type HttpServerProcess,
} from '../harness.js'
import { until } from '../../fixtures/until.js'

const place = scratch()
const options = { yieldMs: 2_500, progressEveryMs: 100, heartbeatMs: 250 }
let server: HttpServerProcess

beforeAll(async () => {
  server = await http(place.dir, options)
})

const mark = (): string => `986.${randomInt(1e6, 1e7)}`

for (const door of ['stdio', 'http'] as const) {
  for (const era of ERAS) {
    describe(`${door}, ${era}`, () => {
      let host: Connected
      beforeAll(async () => {
        host = door === 'stdio' ? await stdio({ era, dir: place.dir, options }) : await server.connect(era)
      })

      test('a long command yields before the client gives up: NOT killed, with an id that says how to go on', async () => {
        const gate = makeGate()
        const yielded = await host.call('Bash', {
          command: `echo early; ${gate.wait}; echo late`,
          session: `yield-${door}-${era}`,
        })
        gate.open()
        expect(yielded.isError).toBeFalsy()
        expect(textOf(yielded)).toMatch(/NOT killed.*BashOutput.*KillShell[^]*early/)
        const { id, status, stdout, output, notes } = structuredOf(yielded)
        expect(status).toBe('running')
        expect(String(notes)).toMatch(/NOT killed.*BashOutput.*KillShell/)
        expect(stdout ?? output).toContain('early')
        expect(textOf(yielded)).toContain(String(id))

        let read = await host.call('BashOutput', { bash_id: id, wait_ms: 10_000 })
        // A wait is no longer than the yield, so it may take more than one.
        for (let tries = 0; tries < 20 && structuredOf(read)['status'] === 'running'; tries++)
          read = await host.call('BashOutput', { bash_id: id, wait_ms: 10_000 })
        expect(structuredOf(read)).toMatchObject({ status: 'completed', exit_code: 0, id })
        expect(textOf(read)).toContain('completed (exit 0)')
        const all = await host.call('BashOutput', { bash_id: id, since: 0 })
        expect(structuredOf(all)['text']).toMatch(/early\nlate\n/)
      })

      test('calls that wait for each other in one session all yield in time', async () => {
        const calls = [1, 2, 3].map((at) =>
          host.call('Bash', { command: `echo call-${at}; sleep 60`, session: `queue-${door}-${era}` }),
        )
        const startedAt = performance.now()
        const results = await Promise.all(calls)
        expect(performance.now() - startedAt, 'in time, not when the first one ends').toBeLessThan(30_000)
        expect(results.map((result) => structuredOf(result)['status'])).toEqual(['running', 'running', 'running'])
        await Promise.all(results.map((result) => host.call('KillShell', { shell_id: structuredOf(result)['id'] })))
      })

      test('BashOutput waits on the server until a line comes', async () => {
        const started = await host.call('Bash', {
          command: 'sleep 0.2; echo ready on 80; sleep 20',
          run_in_background: true,
        })
        const { id } = structuredOf(started)
        let read = await host.call('BashOutput', { bash_id: id, since: 0, until: 'ready on \\d+', wait_ms: 5_000 })
        // A wait is no longer than the yield, so it may take more than one.
        for (let tries = 0; tries < 10 && structuredOf(read)['waited_for'] === 'timeout'; tries++)
          read = await host.call('BashOutput', { bash_id: id, since: 0, until: 'ready on \\d+', wait_ms: 5_000 })
        expect(structuredOf(read)).toMatchObject({ status: 'running', waited_for: 'until' })
        expect(textOf(read)).toContain('ready on 80')
        expect(textOf(await host.call('KillShell', { shell_id: id }))).toContain('terminated')
      })

      test('progress comes with a token only, strictly rises, shows the last line and does not flood', async () => {
        const seen: { progress: number; message?: string }[] = []
        const began = performance.now()
        // It does not end before something was seen of it; a server that says nothing lets it go on as a job.
        const gate = makeGate()
        const command = `for i in $(seq 200); do printf "\\e[31mline %s\\e[0m\\n" $i; sleep 0.002; done; ${gate.wait}`
        await host.client.callTool(
          { name: 'Bash', arguments: { command } },
          { onprogress: (one) => (seen.push(one), gate.open()) },
        )
        expect(seen.length).toBeGreaterThan(0)
        expect(seen.length, 'one per 100 ms at most, of 200 lines').toBeLessThanOrEqual(
          (performance.now() - began) / 100 + 2,
        )
        expect(seen.at(-1)!.message).toMatch(/^\d+s: line \d+$/)
        expect(seen.every((one, at) => at === 0 || one.progress > seen[at - 1]!.progress)).toBe(true)
      })

      test('a silent command gives signs of life', async () => {
        const seen: unknown[] = []
        const gate = makeGate()
        await host.client.callTool(
          { name: 'Bash', arguments: { command: gate.wait } },
          { onprogress: (one) => (seen.push(one), gate.open()) },
        )
        expect(seen.length).toBeGreaterThanOrEqual(1)
      })

      test('cancelling ends the foreground command and nothing else', async () => {
        const [foreground, background] = [mark(), mark()]
        const kept = structuredOf(await host.call('Bash', { command: `sleep ${background}`, run_in_background: true }))
        await until(() => processesWith(background).length > 0)
        await host.call('Bash', { command: 'KEPT=yes', session: 'cancel' })
        const stop = new AbortController()
        const call = host.client.callTool(
          {
            name: 'Bash',
            arguments: { command: `setsid sleep ${foreground} & sleep ${foreground}`, session: 'cancel' },
          },
          { signal: stop.signal },
        )
        const failed = expect(call).rejects.toThrow()
        await until(() => processesWith(foreground).length >= 2)
        stop.abort()
        await failed
        await until(() => processesWith(foreground).length === 0)
        expect(processesWith(background).length).toBeGreaterThan(0)
        expect(structuredOf(await host.call('Bash', { command: 'echo $KEPT', session: 'cancel' }))).toMatchObject({
          stdout: 'yes\n',
        })
        await host.call('KillShell', { shell_id: kept['id'] })
        await until(() => processesWith(background).length === 0)
      })

      test('a finished request never kills what it left running', async () => {
        const background = mark()
        const stop = new AbortController()
        const started = await host.client.callTool(
          { name: 'Bash', arguments: { command: `sleep ${background}`, run_in_background: true } },
          { signal: stop.signal },
        )
        await until(() => processesWith(background).length > 0)
        stop.abort()
        // Another round trip: by now a late cancellation would have arrived.
        await host.call('ListShells')
        expect(processesWith(background).length).toBeGreaterThan(0)
        await host.call('KillShell', { shell_id: structuredOf(started as never)['id'] })
      })

      test('an answer stays far below the message limit, whatever the command prints', async () => {
        const result = await host.call('Bash', {
          command: `head -c 20000000 /dev/zero | tr '\\0' '\\1'; seq 500000 >&2`,
          timeout: 20_000,
        })
        const bytes = Buffer.byteLength(JSON.stringify(result))
        expect(bytes).toBeLessThan(1_048_576)
        if (structuredOf(result)['status'] === 'completed') {
          expect(structuredOf(result)).toMatchObject({ truncated: true, output_file: expect.any(String) })
          expect(textOf(result)).toContain('omitted')
        }
      })
    })
  }
}

test('a dialect that never clips is bounded by the door', async () => {
  const host = await stdio({
    era: 'legacy',
    dir: place.dir,
    options: { tools: { dialect: 'lango' }, maxResultBytes: 100_000 },
  })
  const result = await host.call('exec', { command: `head -c 3000000 /dev/zero | tr '\\0' '\\2'` })
  expect(Buffer.byteLength(JSON.stringify(result))).toBeLessThanOrEqual(100_000)
  expect(structuredOf(result)['exitCode']).toBe(0)
})

test('--no-structured leaves the text alone and drops the other channel with its schema', async () => {
  const host = await stdio({ era: 'legacy', dir: place.dir, options: { structured: false } })
  const { tools } = await host.client.listTools()
  expect(tools.every((tool) => tool.outputSchema === undefined)).toBe(true)
  const result = await host.call('Bash', { command: 'exit 4' })
  expect(result.structuredContent).toBeUndefined()
  expect(textOf(result)).toContain('exit 4')
})

test('with failedIsError off an exit code is news, a timeout still an error', async () => {
  const host = await stdio({ era: 'legacy', dir: place.dir, options: { failedIsError: false } })
  expect((await host.call('Bash', { command: '(exit 4)' })).isError).toBeFalsy()
  expect((await host.call('Bash', { command: 'sleep 9', timeout: 100 })).isError).toBe(true)
})

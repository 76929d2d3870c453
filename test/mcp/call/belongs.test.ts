/** Ownership: sessions of connections, jobs of servers, and what each host is shown. Over real connections. */
import { beforeAll, describe, expect, test } from 'vitest'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { bundled } from '../bundle.js'
import { ERAS, http, scratch, stdio, structuredOf, textOf, type HttpServerProcess } from '../harness.js'
import { until } from '../../fixtures/until.js'

const place = scratch()

describe('two connections with one token', () => {
  let server: HttpServerProcess
  beforeAll(async () => {
    server = await http(place.dir)
  })

  for (const era of ERAS)
    test(`${era}: a cd of one does not move the other, and its sleep is not waited for`, async () => {
      // Requests of 2026 belong to no connection; there the name of the client tells them apart.
      const a = await server.connect(era, 'default', {}, `a-${era}`)
      const b = await server.connect(era, 'default', {}, `b-${era}`)
      await a.call('Bash', { command: 'cd /usr; MINE=a' })
      expect(structuredOf(await b.call('Bash', { command: 'echo "[$MINE]"; pwd' }))['stdout']).toBe(
        `[]\n${place.dir}\n`,
      )
      expect(structuredOf(await a.call('Bash', { command: 'echo $MINE; pwd' }))['stdout']).toBe('a\n/usr\n')
      const slow = a.call('Bash', { command: `while [ ! -e ${place.dir}/go-${era} ]; do sleep 0.02; done` })
      expect(structuredOf(await b.call('Bash', { command: 'echo at once' }))['stdout']).toBe('at once\n')
      await b.call('Bash', { command: `touch ${place.dir}/go-${era}` })
      expect(structuredOf(await slow)['status']).toBe('completed')
      // Sharing is possible, by name and on purpose.
      await a.call('Bash', { command: 'SHARED=yes', session: `both-${era}` })
      const shared = await b.call('Bash', { command: 'echo $SHARED', session: `both-${era}` })
      expect(structuredOf(shared)['stdout']).toBe('yes\n')
    })

  for (const era of ERAS)
    test(`${era}: each reads a shell for itself; one of the other is named, and ended only when asked for twice`, async () => {
      const a = await server.connect(era, 'default', {}, `reader-a-${era}`)
      const b = await server.connect(era, 'default', {}, `reader-b-${era}`)
      const started = await a.call('Bash', { command: 'echo once; sleep 600', run_in_background: true })
      const shell_id = String(structuredOf(started)['id'])
      const own = String(structuredOf(await b.call('Bash', { command: 'sleep 601', run_in_background: true }))['id'])
      expect(structuredOf(await a.call('BashOutput', { shell_id, until: 'once' }))['text']).toBe('once\n')
      expect(structuredOf(await b.call('BashOutput', { shell_id }))['text']).toBe('once\n')
      expect(textOf(await a.call('BashOutput', { shell_id }))).toContain('(no new output)')
      const listed = textOf(await b.call('ListShells'))
      expect(listed).toMatch(
        new RegExp(`${own} [^]*${shell_id} .*\\[of another connection of reader-a-${era}, not yours\\]`),
      )
      expect(textOf(await a.call('ListShells'))).toMatch(new RegExp(`${shell_id} (?:.(?!not yours))*\n`))
      const first = await b.call('KillShell', { shell_id })
      expect(textOf(first)).toMatch(/started by another connection of reader-a.*repeat the same call/s)
      expect(structuredOf(await a.call('BashOutput', { shell_id }))['status']).toBe('running')
      expect(textOf(await b.call('KillShell', { shell_id }))).toContain('terminated')
      expect(textOf(await a.call('BashOutput', { shell_id }))).toContain(`killed (by reader-b-${era})`)
      expect(textOf(await b.call('KillShell', { shell_id: own }))).toContain('terminated')
    })

  test('a connection that names the default session means its own', async () => {
    const a = await server.connect('legacy', 'default', {}, 'names-main-a')
    const b = await server.connect('legacy', 'default', {}, 'names-main-b')
    await a.call('Bash', { command: 'WHOSE=a', session: 'main' })
    expect(structuredOf(await b.call('Bash', { command: 'echo "[$WHOSE]"', session: 'main' }))['stdout']).toBe('[]\n')
    expect(structuredOf(await a.call('Bash', { command: 'echo "[$WHOSE]"' }))['stdout']).toBe('[a]\n')
  })

  test('a client is woken up for shells of its own, and when a wait that ran out comes true after all', async () => {
    const heard = async (name: string) => {
      const host = await server.connect('legacy', 'default', {}, name)
      const lines: string[] = []
      host.client.setNotificationHandler('notifications/message', ({ params }) => void lines.push(String(params.data)))
      return { ...host, lines }
    }
    const [a, b] = [await heard('wakes-a'), await heard('wakes-b')]
    const command = `while [ ! -e ${place.dir}/ready ]; do sleep 0.02; done; echo ready to serve; sleep 600`
    const shell_id = String(structuredOf(await a.call('Bash', { command, run_in_background: true }))['id'])
    expect(textOf(await a.call('BashOutput', { shell_id, until: 'ready', wait_ms: 50 }))).toContain('no line matched')
    await b.call('Bash', { command: `touch ${place.dir}/ready` })
    await until(() => a.lines.includes(`${shell_id} matched "ready to serve"`))
    const theirs = String(structuredOf(await b.call('Bash', { command: 'true', run_in_background: true }))['id'])
    await a.call('KillShell', { shell_id })
    await until(() => a.lines.some((line) => line.startsWith(`${shell_id} killed (by wakes-a)`)))
    await until(() => b.lines.some((line) => line.startsWith(`${theirs} completed`)))
    expect(a.lines.filter((line) => line.includes(theirs))).toEqual([])
    expect(b.lines.filter((line) => line.includes(shell_id))).toEqual([])
  })

  test('2026: two clients of one name in one process cannot be told apart, unless the address names a session', async () => {
    const [a, b] = [
      await server.connect('modern', 'default', {}, 'twin'),
      await server.connect('modern', 'default', {}, 'twin'),
    ]
    await a.call('Bash', { command: 'TWIN=shared' })
    expect(structuredOf(await b.call('Bash', { command: 'echo $TWIN' }))['stdout']).toBe('shared\n')
    const apart = await server.connect('modern', 'default', {}, 'twin', '?session=apart')
    expect(structuredOf(await apart.call('Bash', { command: 'echo "[$TWIN]"' }))['stdout']).toBe('[]\n')
  })
})

describe('two processes of one 2026 client, with one token', () => {
  test('each has a session of its own, whose shell ends with the process; a name in the address is shared on purpose', async () => {
    const server = await http(place.dir)
    const window = async (url = server.url) => {
      const child = spawn(process.execPath, [await bundled('modern-client'), url, server.tokens['default']!, 'same'], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
      const next = async (): Promise<Record<string, unknown>> => JSON.parse((await lines.next()).value as string)
      await next()
      const run = (command: string) => {
        child.stdin.write(`${command}\n`)
        return next()
      }
      const end = (): Promise<unknown> => {
        child.stdin.end()
        return new Promise((resolve) => child.once('exit', resolve))
      }
      return { run, end }
    }
    const [a, b] = await Promise.all([window(), window()])
    await a.run('cd /usr; MINE=a')
    expect((await b.run('echo "[$MINE]"; pwd'))['stdout']).toBe(`[]\n${place.dir}\n`)
    expect((await a.run('echo "[$MINE]"; pwd'))['stdout']).toBe('[a]\n/usr\n')
    const { stdout: shell } = await a.run('echo $$')
    await a.end()
    await until(() => !existsSync(`/proc/${String(shell).trim()}`))
    expect((await b.run('echo still here'))['stdout']).toBe('still here\n')
    const [c, d] = await Promise.all([window(`${server.url}?session=team`), window(`${server.url}?session=team`)])
    await c.run('OURS=yes')
    expect((await d.run('echo $OURS'))['stdout']).toBe('yes\n')
    await Promise.all([b.end(), c.end(), d.end()])
    await server.stop()
  })
})

test('a restart in the dialect of Anthropic restarts the shell of its own connection', async () => {
  const server = await http(place.dir, { tools: { dialect: 'anthropic' } })
  const [a, b] = [await server.connect('legacy'), await server.connect('legacy')]
  await a.call('bash', { command: 'KEPT=a' })
  await b.call('bash', { command: 'KEPT=b' })
  await b.call('bash', { restart: true })
  expect(textOf(await a.call('bash', { command: 'echo "[$KEPT]"' }))).toBe('[a]\n')
  expect(textOf(await b.call('bash', { command: 'echo "[$KEPT]"' }))).toBe('[]\n')
  await server.stop()
})

test('background shells of a connection that is gone are ended after a while, those of others are not', async () => {
  const server = await http(place.dir, { orphanMs: 300 })
  const gone = await server.connect('legacy')
  const here = await server.connect('legacy')
  const left = structuredOf(await gone.call('Bash', { command: 'sleep 600', run_in_background: true }))
  const mine = structuredOf(await here.call('Bash', { command: 'sleep 601', run_in_background: true }))
  await (gone.client.transport as unknown as { terminateSession(): Promise<void> }).terminateSession()
  const ended = await here.call('BashOutput', { shell_id: left['id'], wait_ms: 30_000 })
  expect(structuredOf(ended)['status']).toBe('killed')
  expect(textOf(ended)).toContain('killed (by cerith, because its client was gone for 0 s)')
  expect(structuredOf(await here.call('BashOutput', { shell_id: mine['id'] }))['status']).toBe('running')
  await server.stop()
})

describe('one connection', () => {
  for (const era of ERAS)
    test(`${era}: a background command starts while the session is busy, with the state from before`, async () => {
      const host = await stdio({ era, dir: place.dir })
      await host.call('Bash', { command: 'cd /usr; export STAGE=before' })
      const slow = host.call('Bash', { command: `while [ ! -e ${place.dir}/end-${era} ]; do sleep 0.02; done` })
      const started = structuredOf(
        await host.call('Bash', { command: 'echo "$STAGE in $PWD"', run_in_background: true }),
      )
      const read = await host.call('BashOutput', { shell_id: started['id'], wait_ms: 30_000 })
      expect(structuredOf(read)).toMatchObject({ status: 'completed', text: 'before in /usr\n' })
      await host.call('Bash', { command: `touch ${place.dir}/end-${era}`, session: 'other' })
      expect(structuredOf(await slow)['status']).toBe('completed')
    })
})

test('a job of another window is named as such, listed last, and ended only when asked for twice', async () => {
  const dir = place.dir
  const a = await stdio({ era: 'legacy', dir, name: 'window-a' })
  const b = await stdio({ era: 'legacy', dir, name: 'window-b' })
  const theirs = String(structuredOf(await a.call('Bash', { command: 'sleep 600', run_in_background: true }))['id'])
  const mine = String(structuredOf(await b.call('Bash', { command: 'sleep 601', run_in_background: true }))['id'])
  const listed = textOf(await b.call('ListShells'))
  expect(listed).toMatch(new RegExp(`${mine} [^]*${theirs} .*\\[of window-a, not yours\\]`))
  const first = await b.call('KillShell', { shell_id: theirs })
  expect(first.isError).toBe(true)
  expect(textOf(first)).toMatch(/started by window-a, not by you.*repeat the same call/s)
  expect(structuredOf(await a.call('BashOutput', { shell_id: theirs }))['status']).toBe('running')
  expect(textOf(await b.call('KillShell', { shell_id: theirs }))).toContain('terminated')
  expect(textOf(await a.call('BashOutput', { shell_id: theirs }))).toMatch(/killed \(by window-b\) after/)
  await b.call('KillShell', { shell_id: mine })
})

describe('hosts that are known by name', () => {
  const failing = { command: 'seq 1 40000; echo "FAILED it.test.ts"; seq 1 40000; (exit 1)' }

  test('Gemini gets one half: no structured content, and no schema that promises it', async () => {
    const host = await stdio({ era: 'legacy', dir: place.dir, name: 'gemini-cli-mcp-client-cerith' })
    const { tools } = await host.client.listTools()
    expect(tools.every((tool) => tool.outputSchema === undefined)).toBe(true)
    const failed = await host.call('Bash', failing)
    expect(failed.structuredContent).toBeUndefined()
    expect(textOf(failed)).toContain('FAILED it.test.ts')
  })

  test.each([
    ['claude-code', 10_000],
    ['codex-mcp-client', 12_020],
  ])('a big failure fits what %s keeps, with size and file in the first line', async (name, maxChars) => {
    const host = await stdio({ era: 'legacy', dir: place.dir, name })
    const failed = await host.call('Bash', failing)
    const text = textOf(failed)
    expect(text.length).toBeLessThan(maxChars)
    expect(text).toMatch(/^\[exit 1, .*; clipped, 4\d\d kB in all, whole in \/\S+\]\n/)
    expect(text).toContain('FAILED it.test.ts')
    const fine = await host.call('Bash', { command: 'seq 1 40000' })
    if (name.startsWith('codex')) expect(JSON.stringify(fine.structuredContent).length).toBeLessThan(maxChars)
  })
})

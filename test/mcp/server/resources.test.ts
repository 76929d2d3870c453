/** A shell's output as a resource: listed, read in ranges, and told about when it grows. */
import { beforeAll, describe, expect, test } from 'vitest'
import { createPace } from '../../../src/mcp/server/updates.js'
import { parse } from '../../../src/mcp/server/resources.js'
import { ERAS, http, scratch, stdio, structuredOf, type HttpServerProcess } from '../harness.js'
import { until } from '../../fixtures/until.js'

const place = scratch()
const options = { updateEveryMs: 100 }
let server: HttpServerProcess
beforeAll(async () => {
  server = await http(place.dir, options)
})

for (const door of ['stdio', 'http'] as const) {
  for (const era of ERAS) {
    test(`${door}, ${era}: a shell is listed, read in ranges, and its growth is announced`, async () => {
      const host = door === 'stdio' ? await stdio({ era, dir: place.dir, options }) : await server.connect(era)
      const updated: string[] = []
      host.client.setNotificationHandler(
        'notifications/resources/updated',
        ({ params }) => void updated.push(params.uri),
      )

      const { id } = structuredOf(
        await host.call('Bash', {
          command: 'echo 12345; while ! [ -e go-$$ ] && [ "$SECONDS" -lt 120 ]; do sleep 0.05; echo tick; done',
          run_in_background: true,
        }),
      )
      const uri = `shell://${String(id)}/output`
      const { resources } = await host.client.listResources()
      expect(resources.find((one) => one.uri === uri)).toMatchObject({ name: id, mimeType: 'text/plain' })
      expect((await host.client.listResourceTemplates()).resourceTemplates[0]!.uriTemplate).toContain(
        'shell://{id}/output',
      )

      const subscription =
        era === 'modern'
          ? await host.client.listen({ resourceSubscriptions: [uri] })
          : await host.client.subscribeResource({ uri })
      await until(() => updated.length >= 2)
      expect(new Set(updated)).toEqual(new Set([uri]))

      const { contents } = await host.client.readResource({ uri: `${uri}?since=2&max_bytes=4` })
      expect(contents[0]).toMatchObject({
        text: '345\n',
        _meta: { 'cerith/start': 2, 'cerith/cursor': 6, 'cerith/status': 'running', 'cerith/next': `${uri}?since=6` },
      })

      await host.call('KillShell', { shell_id: id })
      const ended = (await host.client.readResource({ uri: `${uri}?filter=^123` })).contents[0]!
      expect(ended).toMatchObject({ text: '12345\n', _meta: { 'cerith/status': 'killed' } })
      if (subscription && 'close' in subscription) await (subscription as { close(): Promise<void> }).close()
    })
  }
}

test('what does not exist is not found, and wrong parameters are named', async () => {
  const host = await server.connect('legacy')
  for (const uri of [
    'shell://nothing/output',
    'shell://../output',
    'file:///etc/passwd',
    'shell:///output',
    'shell://a/b/output',
    'shell://%ff/output',
  ]) {
    await expect(host.client.readResource({ uri })).rejects.toMatchObject({ code: -32602 })
  }
  const { id } = structuredOf(await host.call('Bash', { command: 'echo hi', run_in_background: true }))
  for (const query of ['since=-1', 'since=1e3', 'max_bytes=0', 'max_bytes=99999999', 'stream=all', 'tail=x']) {
    await expect(host.client.readResource({ uri: `shell://${String(id)}/output?${query}` })).rejects.toThrow(
      query.split('=')[0]!,
    )
  }
  await expect(host.client.readResource({ uri: `shell://${String(id)}/output?filter=(` })).rejects.toThrow(/regex/i)
  await expect(host.client.listResources({ cursor: 'x' })).rejects.toThrow(/cursor/)
})

test('an id is taken as a name, not as a path', () => {
  expect(parse('shell://shell_0a/output')).toMatchObject({ id: 'shell_0a', options: { since: 0, maxBytes: 65_536 } })
  expect(parse('shell://..%2F..%2Fetc/output').id).toBe('../../etc')
  expect(() => parse('shell://a/output#x')).toThrow()
})

describe('pace', () => {
  test('a burst becomes its first and its last', async () => {
    const sent: number[] = []
    const pace = createPace(40)
    for (let at = 0; at < 50; at++) pace.soon('a', () => sent.push(at))
    pace.soon('b', () => sent.push(-1))
    expect(sent).toEqual([0, -1])
    await until(() => sent.length === 3)
    expect(sent).toEqual([0, -1, 49])
    pace.stop()
  })
})

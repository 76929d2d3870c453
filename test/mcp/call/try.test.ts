/** A try over MCP: the model looks and asks, the person behind the client decides. */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ElicitRequest } from '@modelcontextprotocol/client'
import { canConfine } from '../../engine/sandbox/harness.js'
import { ERAS, scratch, stdio, structuredOf } from '../harness.js'

const place = scratch()

describe.skipIf(!canConfine).each(ERAS)('%s', (era) => {
  test('what the model tried counts when the person says so', async () => {
    const work = join(place.dir, `work-${era}`)
    mkdirSync(work)
    const asked: ElicitRequest[] = []
    const host = await stdio({
      era,
      dir: place.dir,
      options: { engine: { cwd: work, sandbox: { profile: 'workspace', try: true } } },
      client: { capabilities: { elicitation: { form: {} } } },
    })
    let decision = 'deny'
    host.client.setRequestHandler('elicitation/create', (request) => {
      asked.push(request as ElicitRequest)
      return { action: 'accept', content: { decision } }
    })
    expect((await host.client.listTools()).tools.map(({ name }) => name)).toContain('Changes')
    await host.call('Bash', { command: 'mkdir d; cd d; echo made >file' })
    expect(structuredOf(await host.call('Changes', { action: 'stat' }))).toMatchObject({ status: 'tried', changes: 2 })
    expect(structuredOf(await host.call('Changes', { action: 'accept' }))).toMatchObject({ status: 'refused' })
    expect(existsSync(join(work, 'd'))).toBe(false)
    decision = 'allow once'
    expect(structuredOf(await host.call('Changes', { action: 'accept' }))).toMatchObject({
      status: 'accepted',
      left: 0,
    })
    expect(asked.at(-1)?.params.message).toContain(`add ${work}/d/file`)
    expect(existsSync(join(work, 'd/file'))).toBe(true)
    expect(structuredOf(await host.call('Bash', { command: 'pwd; ls' }))['stdout']).toBe(`${work}/d\nfile\n`)
  })
})

/** One command outside the sandbox over MCP: the person behind the client is asked, and the answer counts once. */
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ElicitRequest } from '@modelcontextprotocol/client'
import { canConfine } from '../../engine/sandbox/harness.js'
import { ERAS, scratch, stdio, structuredOf } from '../harness.js'

const place = scratch()
const work = join(place.dir, 'work')
mkdirSync(work)
const file = join(place.dir, 'made')

const options = { engine: { cwd: work, sandbox: { profile: 'workspace' as const } } }

describe.skipIf(!canConfine).each(ERAS)('%s', (era) => {
  test('it is asked with its reason, and runs outside when the person agrees, once', async () => {
    rmSync(file, { force: true })
    const asked: ElicitRequest[] = []
    const host = await stdio({ era, dir: place.dir, options, client: { capabilities: { elicitation: { form: {} } } } })
    let decision = 'allow exactly this for the session'
    host.client.setRequestHandler('elicitation/create', (request) => {
      asked.push(request as ElicitRequest)
      return { action: 'accept', content: { decision } }
    })
    const { tools } = await host.client.listTools()
    expect(tools[0]?.description).toContain('Sandboxed')
    const inside = await host.call('Bash', { command: `touch ${file}` })
    expect(structuredOf(inside)['exit_code']).not.toBe(0)
    expect(asked).toHaveLength(0)
    const call = { command: `touch ${file}`, outside: 'a file beside the workspace' }
    expect(structuredOf(await host.call('Bash', call))).toMatchObject({ exit_code: 0 })
    expect(existsSync(file)).toBe(true)
    expect(asked[0]?.params.message).toContain('OUTSIDE')
    expect(asked[0]?.params.message).toContain('a file beside the workspace')
    rmSync(file)
    decision = 'deny'
    expect(structuredOf(await host.call('Bash', call))).toMatchObject({ status: 'refused' })
    expect(asked).toHaveLength(2)
    expect(existsSync(file)).toBe(false)
  })
})

test.skipIf(!canConfine)('the tools that are listed before the engine is there are the same', async () => {
  const host = await stdio({ era: 'legacy', dir: place.dir, options })
  const early = (await host.client.listTools()).tools
  await host.call('Bash', { command: 'true' })
  expect((await host.client.listTools()).tools).toEqual(early)
  expect(Object.keys(early[0]?.inputSchema.properties ?? {})).toContain('outside')
})

/** The same calls over stdio and HTTP, in both eras: what a host gets must not depend on how it talks. */
import { beforeAll, describe, expect, test } from 'vitest'
import { ERAS, http, scratch, stdio, structuredOf, textOf, type Connected, type HttpServerProcess } from './harness.js'

const place = scratch()
let server: HttpServerProcess

beforeAll(async () => {
  server = await http(place.dir)
})

for (const door of ['stdio', 'http'] as const) {
  for (const era of ERAS) {
    describe(`${door}, ${era}`, () => {
      let host: Connected
      beforeAll(async () => {
        host = door === 'stdio' ? await stdio({ era, dir: place.dir }) : await server.connect(era)
      })

      test('the house tools are listed with schemas and annotations, under 3 KB', async () => {
        const { tools } = await host.client.listTools()
        expect(tools.map(({ name }) => name)).toEqual(['Bash', 'BashOutput', 'KillShell', 'ListShells', 'SendInput'])
        for (const tool of tools) {
          expect(tool.title).toBeTruthy()
          expect(tool.outputSchema?.type).toBe('object')
          expect(tool.annotations?.readOnlyHint).toBeTypeOf('boolean')
        }
        expect(JSON.stringify(tools).length).toBeLessThan(3_000)
      })

      test('instructions tell the directory, the shell, the session and the yield', () => {
        const instructions = host.client.getInstructions() ?? ''
        expect(instructions).toContain(place.dir)
        expect(instructions).toMatch(/bash \d/)
        expect(instructions).toContain('session: main')
        expect(instructions).toContain('45 s')
      })

      test('a success is complete in both channels', async () => {
        const result = await host.call('Bash', { command: 'echo out; echo err >&2' })
        expect(result.isError).toBeFalsy()
        expect(textOf(result)).toMatch(/exit 0[^]*out[^]*err/)
        expect(structuredOf(result), 'only what says something').toEqual({
          status: 'completed',
          exit_code: 0,
          stdout: 'out\n',
          stderr: 'err\n',
        })
      })

      test('a failure is complete in both channels', async () => {
        const result = await host.call('Bash', { command: 'echo partial; (exit 3)' })
        expect(result.isError).toBe(true)
        expect(textOf(result)).toMatch(/exit 3[^]*partial/)
        expect(structuredOf(result)).toMatchObject({ status: 'failed', exit_code: 3, stdout: 'partial\n' })
      })

      test('a refusal is complete in both channels', async () => {
        const result = await host.call('Bash', { command: 'rm -rf /' })
        expect(result.isError).toBe(true)
        expect(textOf(result)).toMatch(/blocked/i)
        expect(structuredOf(result)).toMatchObject({
          status: 'refused',
          refused: { rule: expect.any(String), reason: expect.any(String), guidance: expect.any(String) },
        })
      })

      test('a timeout is complete in both channels', async () => {
        const result = await host.call('Bash', { command: 'echo before; sleep 30', timeout: 300 })
        expect(result.isError).toBe(true)
        expect(textOf(result)).toMatch(/timed out after 300ms[^]*before/)
        expect(structuredOf(result)).toMatchObject({ status: 'timeout', stdout: 'before\n' })
      })

      test('a wrong argument is a tool error that names it, not a protocol error', async () => {
        const result = await host.call('Bash', { commando: 'ls' })
        expect(result.isError).toBe(true)
        expect(textOf(result)).toContain('command')
        expect(structuredOf(result)).toMatchObject({ status: 'error', error: { code: 'BAD_REQUEST' } })
      })

      test('an unknown tool is a protocol error that lists the tools', async () => {
        await expect(host.call('Shell', { command: 'ls' })).rejects.toThrow(/Shell.*Bash, BashOutput/)
      })

      test('the session remembers between calls', async () => {
        await host.call('Bash', { command: `export MARK=${era}` })
        expect(structuredOf(await host.call('Bash', { command: 'echo $MARK' }))).toMatchObject({ stdout: `${era}\n` })
      })
    })
  }
}

/** A server that its host killed and started again tells the model that its shell is new. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../fixtures/folder.js'

const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url))
const base = temporaryFolder('restarted')

/** Starts a server, runs the commands one by one, and ends it. Gives the texts that the model reads. */
async function serve(
  commands: readonly string[],
  end: 'SIGKILL' | 'eof',
  program: readonly string[] = [cli, 'mcp'],
): Promise<string[]> {
  const server = spawn(process.execPath, program, {
    cwd: base,
    env: { ...process.env, CERITH_HOME: join(base, 'state') },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
  const send = (message: object): void => void server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const answerTo = async (id: number): Promise<{ content: { text: string }[] }> => {
    for (;;) {
      const { value } = await lines.next()
      const message = JSON.parse(value as string) as { id?: number; result: { content: { text: string }[] } }
      if (message.id === id) return message.result
    }
  }
  const clientInfo = { name: 'test', version: '1' }
  send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } })
  await answerTo(0)
  send({ method: 'notifications/initialized' })
  const texts: string[] = []
  for (const [at, command] of commands.entries()) {
    send({ id: at + 1, method: 'tools/call', params: { name: 'Bash', arguments: { command } } })
    const { content } = await answerTo(at + 1)
    texts.push(content.map(({ text }) => text).join('\n'))
  }
  if (end === 'eof') server.stdin.end()
  else server.kill(end)
  await once(server, 'exit')
  return texts
}

const NEW = 'this shell is new'

test('a server after one that was killed says so with the first call, once', async () => {
  const first = await serve(['cd /; x=1', 'echo $x'], 'SIGKILL')
  expect(first.join('\n')).not.toContain(NEW)
  const second = await serve(['echo "x=$x"', 'echo again'], 'SIGKILL')
  expect(second[0]).toContain(`was killed and has been started again: ${NEW}`)
  expect(second[0]).toContain('x=')
  expect(second[1]).not.toContain(NEW)
})

test('so does one whose host closed the input of the one before and goes on', async () => {
  await serve(['echo killed before'], 'eof')
  const again = await serve(['echo "x=$x"', 'echo again'], 'eof')
  expect(again[0]).toContain(`ended by its host and has been started again: ${NEW}`)
  expect(again[1]).not.toContain(NEW)
  // A server that runs nothing tells nothing: the next one does.
  await serve([], 'eof')
  expect((await serve(['echo x'], 'eof'))[0]).toContain(NEW)
})

test('a server of another host hears nothing', async () => {
  await serve(['x=1'], 'eof')
  const other = `require('node:child_process').spawn(process.execPath, [${JSON.stringify(cli)}, 'mcp'], { stdio: 'inherit' })`
  expect((await serve(['echo other'], 'eof', ['-e', other])).join('\n')).not.toContain(NEW)
})

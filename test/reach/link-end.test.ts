/** The far end of a link when its engine closes: the near end still gets every byte that the engine has said. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { distFile } from '../../src/os/package/file.js'
import { createReader, frame } from '../../src/reach/frames.js'
import { temporaryFolder } from './harness.js'

const PIECE = 'x'.repeat(500_000)

test('what did not fit the pipe when the engine closed is read by a slow reader', async () => {
  const { engine, link } = await joined()
  // More than a pipe holds, so that the link has the rest when the engine is gone.
  for (let i = 0; i < 4; i++) engine.write(frame('R', PIECE))
  engine.write(frame('B', '{}'))
  engine.destroySoon()
  await once(engine, 'close')
  expect(await said(link)).toEqual([...Array.from({ length: 4 }, () => 'R'), 'B'])
})

test('what the near end sends to an engine that has just closed does not cost its last words', async () => {
  const { engine, link } = await joined()
  for (let i = 0; i < 4; i++) engine.write(frame('R', PIECE))
  engine.write(frame('B', '{}'))
  engine.destroySoon()
  await once(engine, 'close')
  link.stdin?.write(frame('A', '{"ids":[1]}'))
  expect(await said(link)).toEqual([...Array.from({ length: 4 }, () => 'R'), 'B'])
})

test('a near end that has gone is not waited for', async () => {
  const { engine, link } = await joined()
  for (let i = 0; i < 4; i++) engine.write(frame('R', PIECE))
  engine.destroySoon()
  await once(engine, 'close')
  link.stdout?.destroy()
  link.stdin?.end()
  expect((await once(link, 'exit'))[0]).toBe(0)
})

/** A link whose stdout nobody reads yet, and its engine's end of the socket. */
async function joined(): Promise<{ engine: Socket; link: ChildProcess }> {
  const path = join(temporaryFolder(), 'sock')
  const server = createServer().listen(path)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const helper = distFile(`native/cerith-helper-linux-${process.arch}`)
  const link = spawn(helper, ['link', path, '5000', '/dev/null', '/dev/null', '60000'], { stdio: 'pipe' })
  onTestFinished(() => void link.kill('SIGKILL'))
  const [engine] = (await once(server, 'connection')) as [Socket]
  engine.on('error', () => {})
  engine.resume()
  return { engine, link }
}

/** The kinds of everything that comes until the link ends. */
async function said(link: ChildProcess): Promise<string[]> {
  const kinds: string[] = []
  link.stdout?.on(
    'data',
    createReader((kind) => kinds.push(kind)),
  )
  await once(link, 'close')
  return kinds
}

/** The far end of a link when its engine closes: the near end still gets every byte that the engine has said. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { distFile } from '../../src/os/package/file.js'
import { createReader, frame } from '../../src/reach/frames.js'
import { temporaryFolder } from './harness.js'

/** The kinds of what an engine says before it closes: more than a pipe holds, so that the link has the rest. */
const WORDS = ['R', 'R', 'R', 'R', 'B']

test('what did not fit the pipe when the engine closed is read by a slow reader', async () => {
  const { engine, link } = await joined()
  await closes(engine)
  expect(await said(link)).toEqual(WORDS)
})

test('what the near end sends to an engine that has just closed does not cost its last words', async () => {
  const { engine, link } = await joined()
  await closes(engine)
  link.stdin?.write(frame('A', '{"ids":[1]}'))
  expect(await said(link)).toEqual(WORDS)
})

test('a near end that has gone is not waited for', async () => {
  const { engine, link } = await joined()
  await closes(engine)
  link.stdout?.destroy()
  link.stdin?.end()
  expect((await once(link, 'exit'))[0]).toBe(0)
})

test('a link that never runs empty keeps its memory', async () => {
  const { engine, link } = await joined()
  const bytes = frame('R', 'x'.repeat(1_000_000))
  let sent = 0
  const send = (): void => {
    while (sent < 100 && engine.write(bytes)) sent += 1
  }
  engine.on('drain', send)
  // The engine is ahead of the reader from the first byte to the last.
  send()
  const output = link.stdout as Readable
  for (let heard = 0; heard < 60_000_000; await new Promise((next) => setTimeout(next, 1))) {
    const chunk = output.read() as Buffer | null
    heard += chunk?.length ?? 0
  }
  const most = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${link.pid}/status`, 'utf8'))?.[1])
  expect(most).toBeLessThan(24 * 1024)
})

async function closes(engine: Socket): Promise<void> {
  for (const kind of WORDS) engine.write(frame(kind, kind === 'R' ? 'x'.repeat(500_000) : '{}'))
  engine.destroySoon()
  await once(engine, 'close')
}

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

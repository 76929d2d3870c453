/** `cerith ui` as a process of its own: what it prints, what it refuses, what it does not start. */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { createEngine } from '../../../src/index.js'
import { inspect } from '../../../src/guard/inspect.js'
import { OWN_AUTOMATION } from '../../../src/guard/policy/automation.js'
import { makeWorld } from '../harness.js'

const world = makeWorld()
const program = fileURLToPath(new URL('../../../dist/cli.cjs', import.meta.url))
const started: ChildProcess[] = []
afterEach(() => started.splice(0).forEach((child) => child.kill('SIGTERM')))

async function ui(...words: string[]): Promise<{ child: ChildProcess; link: URL }> {
  const child = spawn(process.execPath, [program, 'ui', '--no-open', ...words], {
    env: { ...process.env, CERITH_HOME: world.home },
    cwd: world.dir,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.push(child)
  const printed = await new Promise<string>((resolve) =>
    child.stdout?.once('data', (text: Buffer) => resolve(String(text))),
  )
  return { child, link: new URL(printed.trim()) }
}

test('prints one link under a fresh name with its key in the fragment, starts no process and leaves no engine', async () => {
  const { child, link } = await ui()
  expect(link.hostname).toMatch(/^[0-9a-f]{10}\.localhost$/)
  expect(link.hash).toMatch(/^#k=[\w-]{32}$/)
  expect([link.pathname, link.search]).toEqual(['/', ''])
  expect(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).toBe('')
  const run = join(world.home, 'run')
  expect(existsSync(run) ? readdirSync(run) : []).toEqual([])
  const key = link.hash.slice('#k='.length)
  expect(readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')).not.toContain(key)
  // Keys are in memory and nowhere else.
  for (const name of readdirSync(world.home, { recursive: true, encoding: 'utf8' })) {
    const path = join(world.home, name)
    if (statSync(path).isFile()) expect([name, readFileSync(path, 'utf8').includes(key)]).toEqual([name, false])
  }
})

test('ends by a signal with everything closed', async () => {
  const { child } = await ui()
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGINT')
  expect(await ended).toBe(0)
})

test('refuses to start in an agent’s shell, also when its environment says nothing of that', async () => {
  expect(await world.with({ insideEngine: true })('ui', '--no-open')).toMatchObject({
    code: 125,
    err: expect.stringContaining('The page is for a person'),
  })
  const engine = await createEngine({ stateDir: world.home, cwd: world.dir })
  const outcome = await engine.run({
    command: `env -i HOME=/tmp CERITH_HOME="$H" "$N" "$P" ui --no-open`,
    env: { H: world.home, N: process.execPath, P: program },
    timeoutMs: 60_000,
  })
  await engine.close()
  expect(outcome.stdout).toBe('')
  expect(outcome.stderr).toContain('The page is for a person')
})

test('an agent that types it is told to leave it to the person', () => {
  const verdict = inspect('cerith ui --no-open', { cwd: '/', home: '/root', automation: [OWN_AUTOMATION] } as never)
  expect(verdict.decision).toBe('deny')
})

test('an address that other machines can reach needs a flag, and a way to say so', async () => {
  for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.org'])
    expect(await world.cli('ui', '--no-open', '--host', host)).toMatchObject({
      code: 125,
      err: expect.stringContaining('can be reached by other machines'),
    })
})

/** `cerith check` and `cerith schema`: answers without running anything. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { makeWorld } from '../../harness.js'

const world = makeWorld()
const { cli } = world

describe('check', () => {
  test('shows what it sees, layer by layer, and the word that decides', async () => {
    const { code, out } = await cli('check', 'sudo env X=1 bash -c "rm -rf $HOME/"')
    expect(code).toBe(0)
    expect(out).toMatch(/^deny/)
    expect(out).toContain('sudo')
    expect(out).toContain('bash -c')
    expect(out).toContain('<--')
  })

  test('as JSON has the fields of the contract', async () => {
    const { out } = await cli('check', '--json', 'ls -l | wc -l')
    expect(JSON.parse(out)).toMatchObject({
      cmd: 'ls -l | wc -l',
      decision: 'allow',
      rule: null,
      reason: null,
      guidance: null,
      commands: [
        ['ls', '-l'],
        ['wc', '-l'],
      ],
    })
  })

  test('--jsonl answers each line in order, also the ones that cannot be read', async () => {
    const stdin = [
      '{"cmd": "ls"}',
      'not json',
      '{"cmd": "mkfs.ext4 /dev/sda", "id": 7}',
      '',
      '{"cmd": 5}',
      '{"cmd": ""}',
    ].join('\n')
    const { code, out } = await world.with({ stdin })('check', '--jsonl')
    expect(code).toBe(0)
    const answers = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers.map(({ decision }) => decision)).toEqual(['allow', 'deny', 'deny', 'deny', 'deny'])
    expect(answers[2]).toMatchObject({ id: 7, cmd: 'mkfs.ext4 /dev/sda', rule: expect.any(String) })
  })

  test('--jsonl takes a directory, a home and a session for each line', async () => {
    const lines = [
      { cmd: 'rm -rf ../proj/*', cwd: '/home/u/proj', home: '/home/u' },
      { cmd: 'rm -rf ~', cwd: '/home/u/proj', home: '/home/u' },
      { cmd: 'cd .. && rm -rf *', cwd: '/home/u/proj', home: '/home/u' },
      { cmd: 'rm -rf *', cwd: '/' },
      { cmd: 'ls', cwd: '/no/such/directory' },
      { cmd: 'ls', session: 'other' },
      { cmd: 'ls', home: 5 },
      { cmd: 'git clean -fdx; rm -rf *; sed -i s/a/b/ *', home: '/home/u' },
    ]
    const stdin = lines.map((line) => JSON.stringify(line)).join('\n')
    const { out } = await world.with({ stdin })('check', '--jsonl')
    const decisions = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).decision)
    expect(decisions).toEqual(['allow', 'deny', 'deny', 'deny', 'allow', 'allow', 'deny', 'allow'])
  })

  test('--jsonl knows what the session of a line holds', async () => {
    await cli('run', '--session', 'safe', 'T=./build')
    await cli('run', '--session', 'root', 'T=/')
    const stdin = ['safe', 'root'].map((session) => JSON.stringify({ cmd: 'rm -rf "$T"/*', session })).join('\n')
    const { out } = await world.with({ stdin })('check', '--jsonl')
    const answers = out.trim().split('\n')
    expect(answers.map((line) => JSON.parse(line).decision)).toEqual(['allow', 'deny'])
  })

  test('--jsonl answers while its input stays open: a coprocess can ask', { timeout: 60_000 }, async () => {
    const script = fileURLToPath(new URL('../../../../dist/cli.js', import.meta.url))
    const child = spawn(process.execPath, [script, 'check', '--jsonl'], {
      cwd: world.dir,
      env: { ...process.env, CERITH_HOME: join(world.dir, 'coprocess') },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const questions: [{ cmd: string; cwd?: string; home?: string; session?: string }, string][] = [
      [{ cmd: 'ls' }, 'allow'],
      [{ cmd: 'mkfs.ext4 /dev/sda' }, 'deny'],
      [{ cmd: 'rm -rf *', cwd: '/' }, 'deny'],
      [{ cmd: 'rm -rf *.o', cwd: world.dir }, 'allow'],
      [{ cmd: 'rm -rf ~/box', home: '/home/u' }, 'allow'],
      [{ cmd: 'rm -rf /home/u', home: '/home/u' }, 'deny'],
      [{ cmd: 'rm -rf "$T"/*', session: 'coprocess' }, 'deny'],
    ]
    for (const [question, decision] of questions) {
      child.stdin.write(`${JSON.stringify(question)}\n`)
      expect(JSON.parse((await answers.next()).value as string)).toMatchObject({ cmd: question.cmd, decision })
    }
    child.stdin.end()
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test('--exit-code lets a script decide', async () => {
    expect((await cli('check', '--exit-code', 'ls')).code).toBe(0)
    expect((await cli('check', '--exit-code', 'mkfs.ext4 /dev/sda')).code).toBe(126)
    expect(
      (
        await world.with({ env: { CERITH_POLICY_PRESET: 'careful' } })(
          'check',
          '--exit-code',
          'curl http://127.0.0.1:9/',
        )
      ).code,
    ).toBe(1)
  })

  test('never runs what it looks at', async () => {
    await cli('check', 'touch witness; $(touch witness)')
    expect(existsSync(join(world.dir, 'witness'))).toBe(false)
  })

  test('knows the directory and the session it is asked about', async () => {
    expect(JSON.parse((await cli('check', '--json', '--cwd', '/', 'rm -rf *')).out).decision).toBe('deny')
    await cli('run', '--session', 'c', "c='rm -rf /'")
    expect(JSON.parse((await cli('check', '--json', '--session', 'c', '$c')).out).decision).toBe('deny')
  })

  test('without a command is a mistake', async () => {
    expect((await cli('check')).code).toBe(125)
  })
})

describe('schema', () => {
  test('gives the tools of a dialect in the form that is asked for', async () => {
    const house = JSON.parse((await cli('schema')).out)
    expect(house[0]).toMatchObject({ type: 'function', function: { name: 'Bash', parameters: { type: 'object' } } })
    const mcp = JSON.parse((await cli('schema', '--dialect', 'forge', '--format', 'mcp')).out)
    expect(mcp[0]).toHaveProperty('inputSchema')
  })

  test('an unknown dialect names the ones there are', async () => {
    const { code, err } = await cli('schema', '--dialect', 'hose')
    expect(code).toBe(125)
    expect(err).toContain('house')
  })
})

test('check prints the sandbox that would hold the command, and what its settings give away', async () => {
  const { out } = await cli('check', '--sandbox', '--set', 'sandbox.sockets=["/run/docker.sock"]', 'ls')
  expect(out).toContain('sandbox      workspace')
  expect(out).toContain('network    none')
  expect(out).toMatch(/writes     .*, \/tmp \(its own\)/)
  expect(out).toContain('/run/docker.sock is a container engine')
  const json = JSON.parse((await cli('check', '--json', '--sandbox', 'strict', 'ls')).out) as Record<string, unknown>
  expect(json['sandbox']).toMatchObject({ profile: 'strict', network: 'none' })
  expect((await cli('check', 'ls')).out).not.toContain('sandbox')
})

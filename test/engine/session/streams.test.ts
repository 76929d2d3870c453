/**
 * Copies of a session's streams: wherever the agent has pointed its descriptors, what a command prints arrives, or the
 * outcome says where it went.
 */
import { describe, expect, test } from 'vitest'
import type { Session } from '../../../src/index.js'
import { testEngine, uniqueSeconds, until } from '../harness.js'

const say = async (session: Session, command: string): Promise<readonly [string, string]> => {
  const { stdout, stderr } = await session.run({ command })
  return [stdout, stderr]
}

describe.each(['auto', 'plain'] as const)('tier %s', (tier) => {
  /** Each story ends with a command and what its two streams show. `BG` is a process that goes on holding the pipes. */
  test.each<readonly [readonly string[], string, readonly [RegExp, RegExp]]>([
    [['exec 2>&1', 'BG'], 'ls nowhere', [/cannot access/, /^$/]],
    [['BG', 'exec 2>&1'], 'ls nowhere', [/cannot access/, /^$/]],
    [['exec 2>&1'], 'ls nowhere', [/cannot access/, /^$/]],
    [['exec 1>&2', 'BG'], 'echo out', [/^$/, /^out\n$/]],
    [['BG', 'exec 1>&2'], 'echo out', [/^$/, /^out\n$/]],
    [['exec 5>&1', 'BG'], 'echo x >&5', [/^x\n$/, /^$/]],
    [['BG', 'exec 5>&1', 'BG'], 'echo x >&5; echo y; echo z >&2', [/^x\ny\n$/, /^z\n$/]],
    [['exec 5>&2', 'BG'], 'echo x >&5', [/^$/, /^x\n$/]],
    [
      ['exec 6>&1 >log', 'BG', 'echo hidden', 'exec >&6 6>&-', 'BG'],
      'echo shown; cat log',
      [/^shown\nhidden\n$/, /^$/],
    ],
    [['exec 3>&1 1>&2 2>&3 3>&-', 'BG'], 'echo one; echo two >&2', [/^two\n$/, /^one\n$/]],
    [['exec {copy}>&1', 'BG'], 'echo x >&$copy', [/^x\n$/, /^$/]],
    [['exec 5>&1 1>&-', 'BG'], 'echo x >&5; echo y', [/^x\ny\n$/, /^$/]],
  ])('what is printed after %j arrives: %s', async (before, command, [out, err]) => {
    const session = await (await testEngine({ tier })).session()
    for (const step of before) await session.run({ command: step === 'BG' ? `sleep ${uniqueSeconds()} &` : step })
    for (let round = 0; round < 3; round++) {
      const [stdout, stderr] = await say(session, command)
      expect(stdout).toMatch(out)
      expect(stderr).toMatch(err)
    }
  })

  test('what an exec points at a file is said with the next call, once, and how it comes back', async () => {
    const session = await (await testEngine({ tier })).session()
    const told = async (command: string): Promise<readonly string[]> =>
      (await session.run({ command })).notes.filter(({ code }) => code === 'output-lost').map(({ text }) => text)
    expect(await told('exec >log; echo hidden')).toEqual([])
    expect(await told('echo hidden')).toEqual([
      expect.stringMatching(/^stdout of this session goes to \/.*\/log, .*`exec >&-` brings it back/) as string,
    ])
    expect(await told('echo hidden')).toEqual([])
    expect(await told('exec >&-')).toEqual([])
    expect(await say(session, 'echo shown; echo also >&2')).toEqual(['shown\n', 'also\n'])
    expect(await told('exec 5>&1 >log; echo hidden; exec >&5')).toEqual([])
    expect(await told('echo shown')).toEqual([])
    expect(await told('exec cat >log </dev/null')).toEqual([])
    expect(await told('echo shown')).toEqual([])
  })

  test('a copy in the shell gets nothing that a process of an earlier call prints', async () => {
    const session = await (await testEngine({ tier })).session()
    await session.run({ command: 'exec 5>&1; mkfifo go; { read -r x <go; echo late; echo >told; } &' })
    await session.run({ command: 'echo >go' })
    await until(async () => (await say(session, 'ls told 2>/dev/null'))[0] === 'told\n', 'the late word')
    expect(await say(session, 'echo x >&5')).toEqual(['x\n', ''])
  })

  test('what passes through another process is read, late words come with a later call, and the outcome says so', async () => {
    const session = await (await testEngine({ tier })).session()
    await session.run({ command: 'exec > >(sed -u s/^/P:/) 2>&1' })
    const outcome = await session.run({ command: 'echo one' })
    expect(outcome.notes.map(({ text }) => text).join()).toContain('another process')
    let seen = outcome.stdout
    await until(async () => (seen += (await say(session, ':'))[0]).includes('P:one\n'), 'the word')
    for (const word of ['two', 'three']) seen += (await say(session, `echo ${word}; ls nowhere/${word}`))[0]
    await until(async () => (seen += (await say(session, ':'))[0]).includes('nowhere/three'), 'the last word')
    expect(seen.split('\n').filter(Boolean)).toEqual([
      'P:one',
      'P:two',
      expect.stringContaining('nowhere/two'),
      'P:three',
      expect.stringContaining('nowhere/three'),
    ])
  })

  test('a copy that leads through another process is read too', async () => {
    const session = await (await testEngine({ tier })).session()
    await session.run({ command: 'exec 7> >(sed -u s/^/Q:/)' })
    const outcome = await session.run({ command: 'echo direct; echo one >&7' })
    expect(outcome.notes.map(({ text }) => text).join()).toContain('another process')
    let seen = outcome.stdout
    await until(async () => (seen += (await say(session, ':'))[0]).includes('Q:one\n'), 'the word')
    expect(seen.split('\n').sort()).toEqual(['', 'Q:one', 'direct'])
  })
})

test.each(['separate', 'merged'] as const)(
  'an outcome says what its file of the whole output lacks (%s)',
  async (streams) => {
    const engine = await testEngine({ limits: { storedBytes: 100_000, memoryBytes: 20_000 } })
    const session = await engine.session()
    const command = "head -c 300000 /dev/zero | tr '\\0' x"
    for (const run of [engine.run({ command, streams }), session.run({ command, streams })]) {
      const { notes, outputFile } = await run
      expect(outputFile).not.toBeNull()
      expect(notes.map(({ text }) => text).join()).toMatch(/lacks \d+ bytes/)
    }
  },
)

test.each(['separate', 'merged'] as const)(
  'descriptors from 10 on are those of the agent, as in a plain bash (%s)',
  async (streams) => {
    const session = await (await testEngine()).session()
    const say = async (command: string): Promise<string> => {
      const { stdout, output, stderr, notes } = await session.run({ command, streams })
      expect([stderr, notes]).toEqual(['', []])
      return output ?? stdout
    }
    await say('exec 10>ten 11</dev/null')
    await say('echo written >&10; exec 0<ten')
    expect(await say('exec 10>&- 11<&-; cat ten')).toBe('written\n')
    expect(await say('cat; exec 0</dev/null')).toBe('written\n')
    await say('exec {free}>three')
    expect(await say('echo $free')).toBe('10\n')
  },
)

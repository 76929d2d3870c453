import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ApprovalQuestion } from '../../../src/contract/request.js'
import { temporaryFolder, until } from '../harness.js'
import { canConfine, ground } from './harness.js'

/** As long as ten rounds of the loop below take outside of every room, on this machine and now. */
async function tenRounds(): Promise<void> {
  const loop = spawn('bash', ['-c', 'for ((n = 0; n < 10;)); do echo "$((++n))" >/dev/null; sleep 0.02; done'])
  await new Promise((resolve) => loop.once('exit', resolve))
}

describe.skipIf(!canConfine)('one command outside the sandbox', () => {
  test('is always asked about, with the reason and the files that the sandbox could have written', async () => {
    const asked: ApprovalQuestion[] = []
    const { engine, home, work } = await ground()
    engine.setAsk(async (question) => {
      asked.push(question)
      return 'session'
    })
    writeFileSync(join(work, 'tool.sh'), `echo ran >${home}/ran`)
    const outcome = await engine.run({ command: 'bash tool.sh', outside: 'it must write in the home' })
    expect(outcome).toMatchObject({ exitCode: 0, sandbox: null })
    expect(existsSync(join(home, 'ran'))).toBe(true)
    expect(asked[0]?.verdict.reason).toContain('OUTSIDE')
    expect(asked[0]?.verdict.reason).toContain('it must write in the home')
    expect(asked[0]?.verdict.reason).toContain(join(work, 'tool.sh'))
    // The answer counts once, also when it was for the session.
    await engine.run({ command: 'bash tool.sh', outside: 'it must write in the home' })
    expect(asked.length).toBe(2)
  })

  test('does not run when nobody agrees, or when the settings say never', async () => {
    const { engine, home } = await ground()
    const refused = await engine.run({ command: `echo x >${home}/x`, outside: 'because' })
    expect(refused).toMatchObject({ status: 'refused', refused: { rule: 'outside' } })
    const never = await ground({ outside: 'never' })
    never.engine.setAsk(async () => 'once')
    const denied = await never.engine.run({ command: `echo x >${never.home}/x`, outside: 'because' })
    expect(denied.status).toBe('refused')
    expect([existsSync(join(home, 'x')), existsSync(join(never.home, 'x'))]).toEqual([false, false])
  })

  test('does not run when a file that was shown changed, and the rooms stand still meanwhile', async () => {
    const { engine, home, work } = await ground()
    writeFileSync(join(work, 'tool.sh'), 'true')
    const session = await engine.session()
    await session.run({ command: '(while :; do echo "$((++n))" >count; sleep 0.02; done) >/dev/null 2>&1 &' })
    await session.run({ command: 'until [ -s count ]; do sleep 0.01; done' })
    engine.setAsk(async () => {
      const read = () => readFileSync(join(work, 'count'), 'utf8')
      const before = read()
      await tenRounds()
      expect(read()).toBe(before)
      writeFileSync(join(work, 'tool.sh'), `echo evil >${home}/evil`)
      return 'once'
    })
    const outcome = await session.run({ command: 'bash tool.sh', outside: 'because' })
    expect(outcome).toMatchObject({ status: 'refused', refused: { rule: 'outside' } })
    expect(outcome.refused?.reason).toContain('changed')
    expect(existsSync(join(home, 'evil'))).toBe(false)
    // The rooms go on.
    expect((await session.run({ command: 'echo on' })).stdout).toBe('on\n')
  })

  test.skipIf(spawnSync('sh', ['-c', 'command -v perl']).status !== 0)(
    'what forks faster than it can be listed stands still as well',
    async () => {
      const { engine, work } = await ground()
      // Each generation makes the next one and ends.
      const chain = 'for (1 .. 1000000) { exit if fork; open F, ">count"; print F ++$n; close F }'
      writeFileSync(join(work, 'chain.pl'), chain)
      const job = await engine.start({ command: 'perl chain.pl & sleep 1000' })
      await until(() => existsSync(join(work, 'count')))
      const read = () => readFileSync(join(work, 'count'), 'utf8')
      engine.setAsk(async () => {
        const before = read()
        await tenRounds()
        expect(read()).toBe(before)
        return 'once'
      })
      for (let round = 0; round < 5; round++) {
        expect((await engine.run({ command: 'true', outside: 'because' })).status).toBe('completed')
        const before = read()
        await until(() => read() !== before)
      }
      await job.kill()
    },
  )

  test('what starts programs by vfork stands still as well, also when it is met between a vfork and its exec', async () => {
    const { engine } = await ground()
    engine.setAsk(async () => 'once')
    // Debian's sh starts programs by vfork.
    const job = await engine.start({
      command: "sh -c 'for i in 1 2 3 4; do (while :; do /bin/true; done) & done; wait'",
    })
    for (let round = 0; round < 30; round++)
      expect((await engine.run({ command: 'true', outside: 'because' })).status).toBe('completed')
    await job.kill()
  })

  test('a command that is started while a person thinks begins only after the one outside has ended', async () => {
    const { engine, work } = await ground()
    const other = await ground()
    await engine.run({ command: 'true' })
    const started: Promise<unknown>[] = []
    engine.setAsk(async () => {
      started.push(engine.run({ command: 'echo inside >>order' }))
      // Another engine gets the same done meanwhile.
      for (let round = 0; round < 3; round++) await other.engine.run({ command: 'echo inside >>order' })
      return 'once'
    })
    await engine.run({ command: 'echo outside >>order', outside: 'because' })
    await Promise.all(started)
    expect(readFileSync(join(work, 'order'), 'utf8')).toBe('outside\ninside\n')
  })

  test('has the environment of the engine, not that of the room', async () => {
    const { engine } = await ground()
    engine.setAsk(async () => 'once')
    const outcome = await engine.run({
      command: 'echo "${CERITH_SANDBOX_PROFILE-none} ${GOMODCACHE-none}"',
      outside: 'look',
    })
    expect(outcome.stdout).toBe('none none\n')
  })

  test('is asked about with the variables that it is given', async () => {
    const { engine } = await ground()
    const asked: string[] = []
    engine.setAsk(async ({ verdict }) => {
      asked.push(verdict.reason ?? '')
      return 'once'
    })
    await engine.run({ command: 'git --version', outside: 'look', env: { GIT_PAGER: './p\n' } })
    expect(asked).toEqual([expect.stringMatching(/It is given the variables GIT_PAGER="\.\/p\\n"\.$/)])
  })

  test('has no variables from a file that commands could have written', async () => {
    const work = temporaryFolder()
    const { engine } = await ground({}, { cwd: work, directoryEnv: { dotenv: [work] } })
    engine.setAsk(async () => 'once')
    const [command, outside] = ['echo "${PLANTED-none}"', 'look']
    await engine.run({ command: 'echo PLANTED=yes >.env' })
    expect([(await engine.run({ command })).stdout, (await engine.run({ command, outside })).stdout]).toEqual([
      'yes\n',
      'none\n',
    ])
  })
})

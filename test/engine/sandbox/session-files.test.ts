/**
 * Files of a session lie in a folder that its commands can write: the engine, which is outside, is led nowhere by what
 * they put there.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { canConfine, ground } from './harness.js'

/** The folder, as a command of the session finds it. */
const FOLDER = 'D=$(dirname $(readlink /proc/$$/fd/* | grep -m1 ^/dev/shm/cerith-))'
const KINDS = 'command setup settle end dump leave traps aside interrupt'

describe.skipIf(!canConfine).each([{}, { tier: 'landlock' as const }])('the folder of a session, %o', (tier) => {
  test('links in the place of what the next shell is given lead the engine to no file of the person', async () => {
    const { engine, home } = await ground(tier)
    const file = join(home, 'rc')
    writeFileSync(file, 'original\n')
    const session = await engine.session()
    await session.run({
      command: `${FOLDER}; for n in 1 2 3 4 5; do for k in ${KINDS}; do ln -s ${file} $D/s$n.$k 2>/dev/null; done; done`,
    })
    await session.run({ command: 'exit 3' })
    const next = await session.run({ command: 'echo again' })
    expect([next.stdout, readFileSync(file, 'utf8')]).toEqual(['again\n', 'original\n'])
  })

  test('links in the place of files that were removed lead it to none either', async () => {
    const { engine, home } = await ground(tier)
    const file = join(home, 'rc')
    writeFileSync(file, 'original\n')
    const session = await engine.session()
    await session.run({
      command: `${FOLDER}; for k in ${KINDS}; do rm -f $D/s1.$k; [ $k = command ] || ln -s ${file} $D/s1.$k; done`,
    })
    await session.run({ command: 'for i in 1 2; do echo $i; done | cat', timeoutMs: 10_000 }).catch(() => {})
    await session.run({ command: 'trap true ERR; echo more | cat', timeoutMs: 10_000 }).catch(() => {})
    expect(readFileSync(file, 'utf8')).toBe('original\n')
  })

  test('what the engine reads there is read from no link and no pipe', async () => {
    const { engine, home, work } = await ground(tier)
    mkdirSync(join(home, '.ssh'))
    writeFileSync(join(home, '.ssh', 'key'), `trap -- 'echo stolen' USR1\n`)
    const session = await engine.session()
    // Behind the command's own lines, before the engine looks.
    const late = (put: string): string =>
      `${FOLDER}; trap true ERR; (until [ -s $D/s1.traps ]; do :; done; rm -f $D/s1.traps; ${put}) & true`
    await session.run({ command: late(`ln -s ${home}/.ssh/key $D/s1.traps`) })
    await session.run({ command: late('mkfifo $D/s1.traps'), timeoutMs: 5_000 })
    const seen = await session.run({
      command: 'rm -f $D/s1.traps; trap -p; cat $D/* 2>/dev/null </dev/null & wait',
      timeoutMs: 5_000,
    })
    expect(seen.output ?? seen.stdout).not.toContain('stolen')
    // In a script: the guard refuses the words.
    const script = 'D=$(echo /dev/shm/cerith-*/f*); until [ -s $D/p1 ]; do :; done; rm -f $D/p1; mkfifo $D/p1'
    writeFileSync(join(work, 'late.sh'), script)
    const run = { command: 'timeout 5 bash late.sh >/dev/null 2>&1 & true | true', timeoutMs: 10_000 }
    expect((await engine.run(run)).status).toBe('completed')
  })
})

/** `cerith run --try`, `diff`, `accept`, `discard`. */
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { canConfine } from '../../../engine/sandbox/harness.js'
import { makeWorld } from '../../harness.js'

const world = makeWorld()
let number = 0
let dir = ''
beforeEach(() => {
  dir = join(realpathSync(world.dir), `p${(number += 1)}`)
  mkdirSync(dir)
  writeFileSync(join(dir, 'a'), 'one\n')
})
const cli = (...words: string[]) => world.with({ cwd: dir })(...words)

describe.skipIf(!canConfine)('a try on the command line', () => {
  test('shows what would change, and changes it when it is accepted', async () => {
    const ran = await cli('run', '--try', 'echo two >>a; mkdir d; echo x >d/x; cat a')
    expect([ran.code, ran.out]).toEqual([0, 'one\ntwo\n'])
    expect(ran.err).toMatch(/^cerith: try_[0-9a-f]{10}: 2 added, 1 changed, and nothing of it counts yet/m)
    expect(readdirSync(dir)).toEqual(['a'])
    // The next call goes on with it.
    expect((await cli('run', '--try', 'cat d/x')).out).toBe('x\n')
    const diff = await cli('diff')
    expect(diff.out).toBe(
      `M ${dir}/a\n--- ${dir}/a\n+++ ${dir}/a\n@@ -1 +1,2 @@\n one\n+two\nA ${dir}/d  (directory)\nA ${dir}/d/x\n--- /dev/null\n+++ ${dir}/d/x\n@@ -0,0 +1 @@\n+x\n`,
    )
    expect((await cli('diff', '--stat', 'd')).out).toBe(`A ${dir}/d  (directory)\nA ${dir}/d/x\n`)
    const json = JSON.parse((await cli('diff', '--json')).out)
    expect(json).toMatchObject({
      id: expect.stringMatching(/^try_/),
      roots: [dir],
      changes: [{ kind: 'changed' }, {}, {}],
    })
    const some = await cli('accept', 'd/x')
    expect([some.code, some.out]).toEqual([0, `${dir}/d\n${dir}/d/x\n`])
    expect((await cli('accept', '--digest', json.digest)).code).toBe(1)
    const { tries } = JSON.parse((await cli('diff', '--list', '--json')).out)
    expect(tries).toMatchObject([{ id: json.id }])
    const accepted = JSON.parse((await cli('accept', json.id, '--json')).out)
    expect(accepted).toMatchObject({ accepted: [`${dir}/a`] })
    for (const one of [json, accepted, ...tries])
      expect(Object.keys(one).filter((name) => /[A-Z]/.test(name))).toEqual([])
    expect(readFileSync(join(dir, 'a'), 'utf8')).toBe('one\ntwo\n')
    expect((await cli('diff')).out).toBe('Nothing is tried; see `cerith run --try`.\n')
  })

  test('one that holds nothing is not said to wait for a person, and a name that is in none is told', async () => {
    const ran = await cli('run', '--try', 'true')
    expect(ran.err).toMatch(/^cerith: try_[0-9a-f]{10}: nothing changed\n$/)
    expect((await cli('accept')).err).toBe(
      'cerith: Nothing was tried in this directory\n        Try something with `cerith run --try`.\n',
    )
    await cli('run', '--try', 'rm a')
    expect((await cli('diff', 'b')).err).toMatch(/^cerith: try_[0-9a-f]{10}: nothing of this name was changed\n$/)
    expect((await cli('diff', 'a')).err).toMatch(/: 1 deleted; cerith accept, or cerith discard\n$/)
  })

  test('asks the person at the terminal, who can say no, or throw it away', async () => {
    await cli('run', '--try', 'rm a')
    const at = (...types: string[]) => world.with({ cwd: dir, types })
    expect((await at('n')('accept')).code).toBe(126)
    expect(existsSync(join(dir, 'a'))).toBe(true)
    expect((await at('n')('discard')).code).toBe(126)
    const listed = await cli('diff', '--list')
    expect(listed.out).toMatch(/^try_[0-9a-f]{10} {2}.*kept until/)
    expect((await at('y')('discard')).out).toMatch(/^Discarded 1 changes of try_/)
    expect((await cli('accept')).code).toBe(125)
    expect(existsSync(join(dir, 'a'))).toBe(true)
    await cli('run', '--try', 'rm a')
    const yes = await at('yes')('accept')
    expect([yes.code, existsSync(join(dir, 'a'))]).toEqual([0, false])
    expect(yes.err).toContain(`D ${dir}/a`)
  })

  test('a conflict and a protected name are kept with the reason, and taken when that is said', async () => {
    await cli('run', '--try', 'echo tried >a; mkdir .vscode; echo {} >.vscode/tasks.json')
    writeFileSync(join(dir, 'a'), 'mine\n')
    const first = await cli('accept')
    expect(first.code).toBe(1)
    expect(first.err).toContain(`kept ${dir}/a: the original changed`)
    expect(first.err).toContain(`kept ${dir}/.vscode: it is protected`)
    expect((await cli('diff', '--stat')).out).toMatch(/CONFLICT[^]*PROTECTED|PROTECTED[^]*CONFLICT/)
    expect((await cli('accept', '--force', '--protected')).code).toBe(0)
    expect(readFileSync(join(dir, 'a'), 'utf8')).toBe('tried\n')
  })

  test('is no business of an agent: neither in its terminal nor as its command', async () => {
    await cli('run', '--try', 'rm a')
    for (const verb of ['accept', 'discard'])
      expect((await world.with({ cwd: dir, insideEngine: true })(verb)).err).toContain('Only a person')
    expect((await cli('run', 'cerith accept')).code).toBe(126)
    await cli('discard')
  })

  test('a session of the command line finds the directory that only its try holds', async () => {
    await cli('run', '--try', '--session', 'work', 'mkdir -p deep/er; cd deep/er; kept=1')
    const next = await cli('run', '--try', '--session', 'work', 'pwd; echo $kept')
    expect(next.out).toBe(`${dir}/deep/er\n1\n`)
    await cli('discard')
  })

  test('a job in a try keeps it in use until the job ends', async () => {
    const id = (await cli('run', '--try', '--background', 'echo made >made; sleep 60')).out.trim()
    await cli('wait', id, '--timeout', '300')
    expect((await cli('diff', '--stat')).out).toBe(`A ${dir}/made\n`)
    const busy = await cli('accept')
    expect([busy.code, busy.err]).toEqual([125, expect.stringContaining('is in use')])
    await cli('kill', id)
    expect((await cli('accept')).out).toBe(`${dir}/made\n`)
  })
})

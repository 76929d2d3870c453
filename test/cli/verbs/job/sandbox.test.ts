/** `cerith run --sandbox` whose words go to a pipe. */
import { existsSync, mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { canConfine } from '../../../engine/sandbox/harness.js'
import { makeWorld } from '../../harness.js'

const world = makeWorld()

describe.skipIf(!canConfine)('a sandbox on the command line', () => {
  test('what was set aside and what is not in force is told to a pipe too, also on exit 0; advice is not', async () => {
    const dir = join(realpathSync(world.dir), 'p')
    mkdirSync(dir)
    const cli = world.with({ cwd: dir })
    const planted = await cli('run', '--sandbox', '--', 'mkdir .vscode && echo x >.vscode/tasks.json')
    expect(existsSync(join(dir, '.vscode'))).toBe(false)
    expect([planted.code, planted.out]).toEqual([0, ''])
    expect(planted.err).toMatch(/^cerith: The sandbox set \S+\/p\/\.vscode aside .* it is now \S+\n$/)
    const weaker = ['--set', 'sandbox.tier=landlock', '--set', 'sandbox.limits={"tmpBytes":1000000}']
    const limited = await cli('run', '--sandbox', ...weaker, '--', 'true')
    expect([limited.code, limited.err]).toEqual([
      0,
      'cerith: sandbox.limits.tmpBytes is not in force: the weaker sandbox has no /tmp of its own.\n',
    ])
    const kept = await cli('run', '--sandbox', '--', 'echo x 2>/dev/null >/usr/x')
    expect([kept.code, kept.err]).toEqual([1, expect.not.stringContaining('cerith:')])
  })
})

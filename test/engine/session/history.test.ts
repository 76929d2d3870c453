/** A session's bash is an interactive one, and such a bash cuts the history of the person short when it starts. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { createEngine } from '../../../src/index.js'
import { temporaryFolder } from '../../fixtures/folder.js'

const LINES = Array.from({ length: 2_000 }, (_, at) => `echo ${at}\n`).join('')
let home: string

beforeEach(() => {
  home = temporaryFolder('history')
})

test.for(['auto', 'plain'] as const)('the history of the person stays as it is, on tier %s', async (tier) => {
  const files = ['.bash_history', '.history', 'elsewhere'].map((name) => join(home, name))
  for (const file of files) writeFileSync(file, LINES)
  const shells = [{ HOME: home }, { HOME: home, HISTFILE: join(home, 'elsewhere'), HISTFILESIZE: '10', HISTSIZE: '10' }]
  for (const env of shells) {
    const engine = await createEngine({ stateDir: join(home, 'state'), cwd: home, env, tier })
    const session = await engine.session()
    const { stdout } = await session.run({ command: 'history; echo "${HISTFILE-none} ${HISTSIZE-none}"' })
    await session.restart()
    await engine.close()
    expect(stdout).toBe('none none\n')
  }
  for (const file of files) expect(readFileSync(file, 'utf8').length, file).toBe(LINES.length)
})

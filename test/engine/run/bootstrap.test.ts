/**
 * Before the first word of a command: shells that do not get it; and after the last: a folder that fills up while it is
 * removed.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createEngine } from '../../../src/index.js'
import { temporaryFolder } from '../../fixtures/folder.js'

const base = temporaryFolder('bootstrap')

test.each(['auto', 'plain'] as const)(
  'a shell that does not get its command is an error of ours, never a result of the command (tier %s)',
  async (tier) => {
    // A bash whose descriptor for the command is closed before it can read it.
    const bash = join(base, `bash-${tier}`)
    writeFileSync(bash, '#!/bin/bash\nexec /bin/bash "$@" 3<&-\n', { mode: 0o755 })
    const engine = await createEngine({ stateDir: join(base, `state-${tier}`), bash, tier })
    const marker = join(base, `ran-${tier}`)
    // A long command comes in a file: there it is the file that is missing.
    const lose = `#!/bin/bash\nrm -f ${base}/state-${tier}/run/*/c*\nexec /bin/bash "$@" 3<&-\n`
    for (const [text, command] of [
      [null, `touch ${marker}`],
      [lose, `touch ${marker} # ${'x'.repeat(100_000)}`],
    ] as const) {
      if (text) writeFileSync(bash, text)
      await expect(engine.run({ command })).rejects.toMatchObject({
        code: 'SPAWN_FAILED',
        message: expect.stringContaining('did not get its command'),
      })
    }
    expect(existsSync(marker)).toBe(false)
    await engine.close()
  },
)

test.each(['auto', 'plain'] as const)(
  'close() removes a run folder into which something still writes (tier %s)',
  async (tier) => {
    const stateDir = join(base, `busy-${tier}`)
    const engine = await createEngine({ stateDir, tier })
    await (await engine.session()).run({ command: 'x=1' })
    const dir = join(stateDir, 'run', engine.id)
    const writer = spawn(
      'bash',
      ['-c', 'echo; end=$((SECONDS + 1)); while ((SECONDS < end)); do : >"$0/f$RANDOM"; done', dir],
      {
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    )
    const ended = once(writer, 'exit')
    await once(writer.stdout, 'data')
    await engine.close()
    expect(readdirSync(join(stateDir, 'run'))).toEqual([])
    writer.kill('SIGKILL')
    await ended
  },
)

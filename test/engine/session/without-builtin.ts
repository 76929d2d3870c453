/** An engine whose sessions have no builtin of cerith's: bash does everything by itself. */
import { chmodSync, copyFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Engine } from '../../../src/index.js'
import { findHelper } from '../../../src/os/helper/file.js'
import { temporaryFolder, testEngine } from '../harness.js'

export async function engineWithoutBuiltin(cwd: string = temporaryFolder()): Promise<Engine> {
  const alone = join(temporaryFolder(), 'helper')
  copyFileSync(findHelper() as string, alone)
  chmodSync(alone, 0o755)
  const before = process.env['CERITH_HELPER']
  process.env['CERITH_HELPER'] = alone
  try {
    return await testEngine({ cwd })
  } finally {
    if (before === undefined) delete process.env['CERITH_HELPER']
    else process.env['CERITH_HELPER'] = before
  }
}

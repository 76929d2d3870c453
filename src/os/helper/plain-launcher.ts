/**
 * The lower tier: the helper's words spoken by a small Node process, for machines on which the native one cannot run.
 */
import { existsSync } from 'node:fs'
import { ShellError } from '../../contract/errors.js'
import { runtimeArgv } from '../package/runtime.js'
import { startHelper } from './native-launcher.js'
import type { OneLauncher } from './launcher.js'
import { distFile } from '../package/file.js'

export async function startPlainLauncher(): Promise<OneLauncher> {
  const file = distFile('native', 'plain-helper.mjs')
  if (!existsSync(file))
    throw new ShellError(
      'SPAWN_FAILED',
      'Neither the native nor the plain helper was found',
      'Reinstall cerith, or run `npm run build`.',
    )
  const [program, ...words] = runtimeArgv()
  try {
    return await startHelper(program, [...words, file], 'plain')
  } catch (error) {
    if (error instanceof ShellError) throw error
    throw new ShellError(
      'SPAWN_FAILED',
      `The helper that starts commands could not be started (${(error as Error).message})`,
      'The machine or user may be out of processes or memory; end some jobs (`cerith ps`) and try again.',
    )
  }
}

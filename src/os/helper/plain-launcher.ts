/**
 * The lower tier: the helper's words spoken by a small Node process, for machines on which the native one cannot run.
 */
import { existsSync } from 'node:fs'
import { ShellError } from '../../contract/errors.js'
import { runtimeArgv } from '../package/runtime.js'
import { startHelper } from './native-launcher.js'
import type { Launcher } from './launcher.js'
import { distFile } from '../package/file.js'

export async function startPlainLauncher(): Promise<Launcher> {
  const file = distFile('native', 'plain-helper.mjs')
  if (!existsSync(file))
    throw new ShellError(
      'SPAWN_FAILED',
      'Neither the native nor the plain helper was found',
      'Reinstall cerith, or run `npm run build`.',
    )
  const [program, ...words] = runtimeArgv()
  return startHelper(program, [...words, file], 'plain')
}

/** The lower tier: the helper's words spoken by a small Node process, for machines on which the native one cannot run. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ShellError } from '../../contract/errors.js'
import { startHelper } from './native-launcher.js'
import type { Launcher } from './launcher.js'

export async function startPlainLauncher(): Promise<Launcher> {
  const places = ['./native/plain-helper.mjs', '../native/plain-helper.mjs', '../../native/plain-helper.mjs'].map(
    (path) => fileURLToPath(new URL(path, import.meta.url)),
  )
  const file = places.find((path) => existsSync(path))
  if (!file)
    throw new ShellError(
      'SPAWN_FAILED',
      'Neither the native nor the plain helper was found',
      'Reinstall cerith, or run `npm run build`.',
    )
  return startHelper(process.execPath, [file], 'plain')
}

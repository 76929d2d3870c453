/** The launcher without native code. */
import { ShellError } from '../contract/errors.js'
import type { Launcher } from './launcher.js'

export async function startPlainLauncher(): Promise<Launcher> {
  throw new ShellError('SPAWN_FAILED', 'The native helper cannot be used here and there is no other launcher yet', 'Run `npm run build` with a C compiler installed.')
}

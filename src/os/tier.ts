/** Chooses the launcher: the native helper where it runs, the plain one elsewhere. */
import { findHelper } from './helper-file.js'
import type { Launcher } from './launcher.js'

export async function startLauncher(tier: 'auto' | 'plain'): Promise<Launcher> {
  const helper = tier === 'auto' ? findHelper() : null
  if (helper) {
    try {
      const { startNativeLauncher } = await import('./native-launcher.js')
      return await startNativeLauncher(helper)
    } catch {
      // It cannot be executed here (noexec, another libc, another kernel): the lower tier works everywhere.
    }
  }
  const { startPlainLauncher } = await import('./plain-launcher.js')
  return startPlainLauncher()
}

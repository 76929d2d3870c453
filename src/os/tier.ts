/** Chooses the launcher: the native helper where it runs, the plain one elsewhere. */
import { findHelper } from './helper-file.js'
import type { Launcher } from './launcher.js'

export async function startLauncher(tier: 'auto' | 'plain'): Promise<Launcher> {
  const helper = tier === 'auto' ? findHelper() : null
  if (helper) {
    try {
      const { startHelper } = await import('./helper-launcher.js')
      return await startHelper(helper, [], 'native')
    } catch {
      // It cannot be executed here (noexec, another libc, another kernel): the lower tier works everywhere.
    }
  }
  const { startPlainLauncher } = await import('./plain-launcher.js')
  return startPlainLauncher()
}

/**
 * Opens a link in the person's browser without showing it to other processes: its key would be
 * in the arguments of the browser.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const KEEP_MS = 30_000

/** Does nothing where there is no screen. */
export async function openInBrowser(link: string, env: Readonly<Record<string, string | undefined>>): Promise<void> {
  const hasScreen = process.platform === 'darwin' || env['DISPLAY'] || env['WAYLAND_DISPLAY'] || env['BROWSER']
  if (!hasScreen || env['SSH_CONNECTION']) return
  const dir = mkdtempSync(join(tmpdir(), 'cerith-ui-'))
  const file = join(dir, 'open.html')
  const quoted = link.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  writeFileSync(file, `<!doctype html><meta http-equiv="refresh" content="0; url=${quoted}">`, { mode: 0o600 })
  const opener = process.platform === 'darwin' ? 'open' : (env['BROWSER'] ?? 'xdg-open')
  const child = spawn(opener, [file], { detached: true, stdio: 'ignore' })
  child.on('error', () => {})
  child.unref()
  // The link is good once: what is left of the file is worth nothing after that.
  setTimeout(() => rmSync(dir, { recursive: true, force: true }), KEEP_MS).unref()
}

/**
 * Builds dist/ once when a source is newer, so that tests can start the command line as a user does, and gives them a
 * temporary directory of their own.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export default function setup(): () => void {
  // Each project of vitest.config.ts calls this; the first call is for all of them.
  if (process.env['CT_FOLDER'] !== undefined) return () => {}
  const build = fileURLToPath(new URL('../scripts/build.mjs', import.meta.url))
  const result = spawnSync(process.execPath, [build, '--if-stale', '--no-types'], { encoding: 'utf8' })
  // Tests of single rooms do not need dist/; those that start the command line fail by themselves, and this says why.
  if (result.status !== 0)
    console.error(
      `The build failed; tests that start dist/cli.js use an old one or none:\n${result.stdout}${result.stderr}`,
    )
  const helper = fileURLToPath(
    new URL(`../dist/native/cerith-helper-${process.platform}-${process.arch}`, import.meta.url),
  )
  if (!existsSync(helper) && !process.env['CERITH_HELPER'])
    console.error(
      'There is no native helper (no C compiler, or not Linux): tests of terminals and of what only it can do are skipped.',
    )
  return withTemporaryFolder()
}

/**
 * Everything that tests put into the temporary directory goes with the run. Some of it other users must be able to
 * enter.
 */
function withTemporaryFolder(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'ct-'))
  chmodSync(folder, 0o755)
  process.env['TMPDIR'] = folder
  process.env['CT_FOLDER'] = folder
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

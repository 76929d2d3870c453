/** Builds dist/ once when a source is newer, so that tests can start the command line as a user does. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export default function setup(): void {
  const build = fileURLToPath(new URL('../scripts/build.mjs', import.meta.url))
  const result = spawnSync(process.execPath, [build, '--if-stale', '--no-types'], { encoding: 'utf8' })
  // Tests of single rooms do not need dist/; those that start the command line fail by themselves, and this says why.
  if (result.status !== 0) console.error(`The build failed; tests that start dist/cli.js use an old one or none:\n${result.stdout}${result.stderr}`)
  const helper = fileURLToPath(new URL(`../dist/native/cerith-helper-${process.platform}-${process.arch}`, import.meta.url))
  if (!existsSync(helper) && !process.env['CERITH_HELPER']) console.error('There is no native helper (no C compiler, or not Linux): tests of terminals and of what only it can do are skipped.')
}

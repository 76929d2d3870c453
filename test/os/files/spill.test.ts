/** One big output does not fill a small state directory: the next commands, sessions and jobs start all the same. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../../fixtures/folder.js'

const library = fileURLToPath(new URL('../../../dist/index.js', import.meta.url))
const base = temporaryFolder('small')
const mounts = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0

const HOST = `
import { createEngine } from ${JSON.stringify(library)}
import { statfsSync } from 'node:fs'
const stateDir = process.env.SMALL
const tier = process.env.TIER
const engine = await createEngine({ stateDir, tier })
const flood = 'head -c 30000000 /dev/zero | tr "\\\\0" x'
const big = await engine.run({ command: flood })
const job = await engine.start({ command: flood })
const { info } = await job.wait({ exit: true })
const after = await createEngine({ stateDir, tier })
const session = await after.session()
const { bavail, bsize } = statfsSync(stateDir)
console.log(JSON.stringify({
  noted: big.notes.some(({ text }) => text.includes('lacks')),
  job: [info.status, info.outputComplete],
  run: (await after.run({ command: 'echo hi; exit 3' })).exitCode,
  long: (await after.run({ command: 'echo hi; exit 4 #' + 'x'.repeat(20000) })).exitCode,
  session: (await session.run({ command: 'echo in' })).stdout,
  second: await (await after.start({ command: 'exit 5' })).wait().then(({ info }) => info.exitCode),
  left: bavail * bsize > 500000,
}))
await after.close()
await engine.close()
process.exit(0)
`

test.skipIf(!mounts).each(['auto', 'plain'])('output gives way first, and says what it lacks (tier %s)', (tier) => {
  const { stdout, stderr } = spawnSync(
    'unshare',
    ['-m', 'bash', '-c', 'mount -t tmpfs -o size=8m none "$SMALL" && exec "$NODE" --input-type=module -e "$HOST"'],
    { env: { ...process.env, SMALL: base, NODE: process.execPath, HOST, TIER: tier }, encoding: 'utf8' },
  )
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({
    noted: true,
    job: ['completed', false],
    run: 3,
    long: 4,
    session: 'in\n',
    second: 5,
    left: true,
  })
})

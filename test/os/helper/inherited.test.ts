/** A descriptor that the host inherited and did not close is no command's, on both tiers. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { distFile } from '../../../src/os/package/file.js'
import { temporaryFolder } from '../../engine/harness.js'

test.each(['auto', 'plain'])('tier %s', async (tier) => {
  const script = `
    const { createEngine } = await import(${JSON.stringify(distFile('index.js'))})
    const engine = await createEngine({ stateDir: ${JSON.stringify(temporaryFolder())}, tier: '${tier}' })
    const command = '[[ -e /proc/self/fd/77 ]] && echo inherited || echo own'
    const session = await engine.session()
    for (const place of [engine, session]) process.stdout.write((await place.run({ command })).stdout)
    const job = await engine.start({ command })
    await job.wait()
    process.stdout.write((await job.read()).text)
    await engine.close()`
  const stdio = Array.from({ length: 77 }, (_, at) => (at === 1 || at === 2 ? 'pipe' : 'ignore') as 'pipe' | 'ignore')
  const host = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: [...stdio, 'pipe'] })
  let said = ''
  for (const stream of [host.stdout, host.stderr]) stream?.on('data', (chunk: Buffer) => (said += chunk))
  await once(host, 'close')
  expect(said.split('\n').filter((line) => /^(?:own|inherited)$/.test(line) || /rror/.test(line))).toEqual([
    'own',
    'own',
    'own',
  ])
})

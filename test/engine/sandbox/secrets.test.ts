/**
 * Secrets and password prompts reach commands in a room as they reach others, and nothing else of the state directory
 * does.
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { canConfine, ground } from './harness.js'

const VALUE = 'hunter2 $(touch pwned) "quoted"'
const digest = createHash('sha256').update(VALUE).digest('hex')

describe.skipIf(!canConfine).each([['workspace'], ['read-only'], ['strict']] as const)('%s', (profile) => {
  test('a token becomes the value in runs, sessions, jobs and terminals, and is masked in what they print', async () => {
    const { engine } = await ground({ profile })
    engine.secrets.set('pw', VALUE)
    const command = `printf %s {{secret:pw}} | sha256sum; printf '%s\\n' {{secret:pw}}`
    const session = await engine.session()
    for (const outcome of [await engine.run({ command }), await session.run({ command })])
      expect(outcome.stdout).toBe(`${digest}  -\n[secret:pw]\n`)
    const job = await engine.start({ command })
    await job.wait({ exit: true, timeoutMs: 20_000 })
    expect((await job.read()).text).toBe(`${digest}  -\n[secret:pw]\n`)
    expect((await engine.run({ command, pty: true })).output).toContain(digest)
  })

  test('password prompts are answered inside, and the rest of the run directory is not there', async () => {
    const { engine, work } = await ground(
      { profile },
      { askpass: [{ program: 'git', prompt: /^Password/, secret: 'pw' }] },
    )
    engine.secrets.set('pw', VALUE)
    const session = await engine.session()
    for (const run of [engine, session]) {
      const outcome = await run.run({ command: `"$GIT_ASKPASS" 'Password for x' | tr -d '\\n' | sha256sum` })
      expect(outcome.stdout, outcome.stderr).toBe(`${digest}  -\n`)
    }
    // A script: the guard would not let a command name that directory.
    writeFileSync(join(work, 'look.sh'), 'cd "$(dirname "$GIT_ASKPASS")"; ls ..; touch x || echo read-only')
    const seen = await engine.run({ command: 'sh look.sh' })
    expect(seen.stdout).toMatch(/read-only/)
    expect(seen.stdout).not.toContain('engine.json')
  })
})

test.skipIf(!canConfine)('real git gets its password for a host on the allow-list', async () => {
  let seen = ''
  const server = createServer((request, response) => {
    seen = request.headers.authorization ?? seen
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    const { engine } = await ground(
      { network: 'allow-list', domains: [`git.test:${port}=127.0.0.1`] },
      { askpass: [{ program: 'git', prompt: /^Password for/, secret: 'pw' }] },
    )
    engine.secrets.set('pw', 'open-sesame-42')
    const outcome = await engine.run({
      command: `git -c credential.helper= ls-remote http://me@git.test:${port}/x.git; true`,
    })
    expect(Buffer.from(seen.replace('Basic ', ''), 'base64').toString(), outcome.stderr).toBe('me:open-sesame-42')
    expect(JSON.stringify(outcome)).not.toContain('open-sesame')
  } finally {
    server.close()
  }
})

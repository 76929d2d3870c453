/**
 * Password prompts answered from the engine's secrets: the program gets the value, and neither the command nor the
 * model sees it.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { testEngine } from './harness.js'

const VALUE = 'hunter2 $(touch pwned) "quoted"'

test('git and sudo ask the helper and get the secret that was mapped to them; the model sees only its name', async () => {
  const engine = await testEngine({ askpass: [{ program: 'git', prompt: /^Password for/, secret: 'git-password' }] })
  engine.secrets.set('git-password', VALUE)
  const session = await engine.session()
  for (const run of [engine, session]) {
    const outcome = await run.run({
      command: `"$GIT_ASKPASS" "Password for 'https://me@example.com': " | tr -d '\\n' | sha256sum | cut -d' ' -f1; "$GIT_ASKPASS" 'Password for x'`,
    })
    expect(outcome.stdout).toBe(`${createHash('sha256').update(VALUE).digest('hex')}\n[secret:git-password]\n`)
    const refused = await run.run({ command: `"$GIT_ASKPASS" 'Username for x'; echo "$? [$SUDO_ASKPASS]"` })
    expect(refused.stdout).toMatch(/^[1-9]\d* \[\]\n$/)
  }
  const helper = (await engine.run({ command: 'echo $GIT_ASKPASS' })).stdout.trim()
  expect(existsSync(helper)).toBe(true)
  await engine.close()
  expect(existsSync(helper)).toBe(false)
})

test('real git uses it against a server that wants a password', async () => {
  const { createServer } = await import('node:http')
  let seen = ''
  const server = createServer((request, response) => {
    seen = request.headers.authorization ?? seen
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as { port: number }
    const engine = await testEngine({ askpass: [{ program: 'git', prompt: /^Password for/, secret: 'pw' }] })
    engine.secrets.set('pw', 'open-sesame-42')
    const outcome = await engine.run({
      command: `git -c credential.helper= ls-remote http://me@127.0.0.1:${port}/x.git; true`,
    })
    expect(Buffer.from(seen.replace('Basic ', ''), 'base64').toString()).toBe('me:open-sesame-42')
    expect(JSON.stringify(outcome)).not.toContain('open-sesame')
  } finally {
    server.close()
  }
})

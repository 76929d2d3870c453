/** The recipe for ssh runs as it is written, against a real sshd with a user that has that password. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findHelper } from '../../src/os/helper/file.js'
import { startSshd, type LocalSshd } from '../pty/local-sshd.js'
import { AGENT, namespaceScript } from '../pty/other-user.js'
import { expectLike, fencesOf, runSteps } from './fences.js'
import { temporaryFolder } from '../fixtures/folder.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const fences = fencesOf(join(root, 'docs/recipes.md')).filter(({ tag }) => tag === 'ssh')

describe.skipIf(!findHelper())('the recipe for ssh', () => {
  const base = temporaryFolder('ssh-recipe')
  let sshd: LocalSshd | null = null
  const env = {
    ...process.env,
    PATH: `${join(base, 'bin')}:${process.env['PATH']}`,
    HOME: base,
    CERITH_HOME: join(base, 'state'),
    CERITH_PASSPHRASE: 'for the recipe',
    BUILD_PASSWORD: AGENT.password,
    NO_COLOR: '1',
    CERITH_ENGINE: undefined,
  }

  beforeAll(async () => {
    const namespace = namespaceScript(base)
    sshd = namespace ? await startSshd(base, namespace) : null
    mkdirSync(join(base, 'bin'))
    mkdirSync(join(base, 'node_modules'))
    symlinkSync(root, join(base, 'node_modules', 'cerith'))
    // What a person has in ~/.ssh; ssh looks for that in the home of the password file, wherever HOME points.
    writeFileSync(
      join(base, 'known_hosts'),
      `[127.0.0.1]:${sshd?.port} ${sshd ? readFileSync(join(base, 'host.pub'), 'utf8') : ''}`,
    )
    writeFileSync(
      join(base, 'ssh_config'),
      `Host build\n  HostName 127.0.0.1\n  Port ${sshd?.port}\n  User ${AGENT.name}\n  UserKnownHostsFile ${base}/known_hosts\n  PubkeyAuthentication no\n`,
    )
    const programs = {
      ssh: `exec /usr/bin/ssh -F ${base}/ssh_config "$@"`,
      cerith: `exec ${process.execPath} ${join(root, 'dist/cli.js')} "$@"`,
    }
    for (const [name, line] of Object.entries(programs)) {
      writeFileSync(join(base, 'bin', name), `#!/bin/sh\n${line}\n`)
      chmodSync(join(base, 'bin', name), 0o755)
    }
  })
  afterAll(() => {
    sshd?.close()
    rmSync(base, { recursive: true, force: true, maxRetries: 3 })
  })

  test.for(fences)('the $kind block at line $line', ({ kind, body, line, shows }, { skip }) => {
    skip(sshd === null, 'no sshd that may run here')
    if (kind === 'console') return runSteps(body, { cwd: base, env, what: `docs/recipes.md:${line}` })
    writeFileSync(join(base, 'recipe.mjs'), body)
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(base, 'recipe.mjs')], {
      cwd: base,
      env,
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect(status, stderr).toBe(0)
    expectLike(stdout, shows ?? '', `docs/recipes.md:${line}`)
  })

  test('there is one of each kind', () => {
    expect(fences.map(({ kind }) => kind)).toEqual(['console', 'js'])
  })
})

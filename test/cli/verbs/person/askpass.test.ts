/**
 * Password prompts answered from the configuration: real git, ssh and sudo ask, the program gets the value, and it is
 * shown nowhere.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { makeWorld } from '../../harness.js'
import { temporaryFolder } from '../../../fixtures/folder.js'

const world = makeWorld()
const PASSWORD = 'open sesame $(id) "42"'
const userFile = join(world.home, '..', '.config', 'cerith', 'cerith.config.json')
const env = { HOST_PASSWORD: PASSWORD }
const cli = world.with({ env })

/** The user's configuration with these rules; the value of the secret comes from the host's environment. */
const answer = (rules: unknown): void =>
  writeFileSync(userFile, JSON.stringify({ secrets: { environment: { pw: 'HOST_PASSWORD' }, askpass: rules } }))
beforeEach(() => void mkdirSync(join(userFile, '..'), { recursive: true }))

const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

describe('the setting', () => {
  test('is shown with its origin, and a project may not set it', async () => {
    answer([{ program: 'git', secret: 'pw' }])
    expect(JSON.parse((await cli('config', 'secrets.askpass', '--json')).out).settings).toMatchObject({
      'secrets.askpass': { value: [{ program: 'git', secret: 'pw' }], origin: ['user'] },
    })
    writeFileSync(join(world.dir, 'cerith.config.json'), '{"secrets": {"askpass": []}}')
    expect(await cli('run', 'true')).toMatchObject({
      code: 125,
      err: expect.stringContaining('secrets.askpass cannot be set by a project'),
    })
    rmSync(join(world.dir, 'cerith.config.json'))
  })

  test.each([
    [{ program: 'svn', secret: 'pw' }, /secrets\.askpass\[0\]: program must be one of sudo, ssh, git, got "svn"/],
    [{ program: 'git' }, /secret must be the name of a secret, got undefined/],
    [{ program: 'git', secret: 'two words' }, /got "two words"/],
    [{ program: 'git', secret: 'pw', prompt: '(' }, /prompt is no regular expression/],
    [{ program: 'git', secret: 'pw', prompts: 'x' }, /unknown key "prompts"/],
  ])('%j is a mistake that is told before anything runs', async (rule, message) => {
    answer([rule])
    expect(await cli('run', 'echo ran')).toMatchObject({ code: 125, out: '', err: expect.stringMatching(message) })
  })
})

describe('cerith run', () => {
  test.skipIf(!has('git'))(
    'real git gets the password for the host that was named, and no other prompt is answered (skipped without git)',
    async () => {
      const seen: string[] = []
      const server = createServer((request, response) => {
        if (request.headers.authorization)
          seen.push(Buffer.from(request.headers.authorization.replace('Basic ', ''), 'base64').toString())
        response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      try {
        const { port } = server.address() as { port: number }
        answer([{ program: 'git', prompt: `^Password for 'http://me@127\\.0\\.0\\.1:${port}'`, secret: 'pw' }])
        const fetch = (who: string): ReturnType<typeof cli> =>
          cli('run', `git -c credential.helper= ls-remote http://${who}127.0.0.1:${port}/x.git`)
        const asked = await fetch('me@')
        expect(asked.code).toBe(128)
        expect(seen).toContain(`me:${PASSWORD}`)
        seen.length = 0
        const unknown = await fetch('other@')
        expect(unknown.err).toMatch(/could not read Password/)
        expect(seen.join()).not.toContain(PASSWORD)
        for (const { out, err } of [asked, unknown]) expect(out + err).not.toContain('sesame')
      } finally {
        server.close()
      }
    },
  )

  test.skipIf(!has('ssh-keygen'))(
    'a key with a pass phrase opens for ssh-keygen, also in a session and on a terminal (skipped without OpenSSH)',
    async () => {
      const key = join(world.dir, 'key')
      expect(spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', PASSWORD, '-C', 'test', '-f', key]).status).toBe(0)
      answer([{ program: 'ssh', prompt: 'passphrase', secret: 'pw' }])
      const line = readFileSync(`${key}.pub`, 'utf8').split(' ')[1] as string
      for (const where of [[], ['--session', 'keys'], ['--pty']])
        expect((await cli('run', ...where, `ssh-keygen -y -f ${key}`)).out, where.join(' ')).toContain(line)
      answer([{ program: 'ssh', prompt: 'passphrase for another', secret: 'pw' }])
      const refused = await cli('run', `ssh-keygen -y -f ${key}`)
      expect(refused.code).not.toBe(0)
      expect(refused.out).not.toContain(line)
    },
  )

  const noServer = !existsSync('/usr/sbin/sshd') || !existsSync('/run/sshd') || process.getuid?.() !== 0
  test.skipIf(noServer)(
    'real ssh logs in to a real sshd with it (skipped where sshd cannot be started: it needs root and /run/sshd)',
    async () => {
      const dir = join(world.dir, 'ssh')
      mkdirSync(dir, { mode: 0o700 })
      for (const [name, phrase] of [
        ['host', ''],
        ['user', PASSWORD],
      ] as const)
        expect(spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', phrase, '-f', join(dir, name)]).status).toBe(0)
      writeFileSync(join(dir, 'authorized'), readFileSync(join(dir, 'user.pub')))
      writeFileSync(
        join(dir, 'config'),
        ['HostKey host', 'AuthorizedKeysFile authorized'].map((row) => row.replace(' ', ` ${dir}/`)).join('\n') +
          '\nStrictModes no\nUsePAM no\nPermitRootLogin yes\n',
      )
      answer([{ program: 'ssh', prompt: 'passphrase for key', secret: 'pw' }])
      // sshd on the two ends of a pipe: no port, nothing left behind.
      const { code, out, err } = await cli(
        'run',
        `ssh -F none -i ${dir}/user -o IdentitiesOnly=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ProxyCommand='/usr/sbin/sshd -i -f ${dir}/config' root@local 'echo "in as $(id -un)"'`,
      )
      expect({ code, out }, err).toEqual({ code: 0, out: 'in as root\n' })
      expect(err).not.toContain('sesame')
    },
  )
})

/**
 * As another user, because root is never asked by sudo. Whether the password is right is not ours to know: that sudo
 * asked us is.
 */
const noSudo =
  !has('sudo') ||
  !has('setpriv') ||
  process.getuid?.() !== 0 ||
  /^NoNewPrivs:\s*1/m.test(readFileSync('/proc/self/status', 'utf8'))
test.skipIf(noSudo)(
  'real sudo -A asks for the password of its user (skipped without sudo and setpriv, when not root, and where privileges cannot be gained)',
  (context) => {
    const program = fileURLToPath(new URL('../../../../dist/cli.js', import.meta.url))
    const asNobody = ['--reuid=65534', '--regid=65534', '--clear-groups', process.execPath, program]
    if (spawnSync('setpriv', [...asNobody, '--version'], { cwd: '/' }).status !== 0)
      return context.skip('another user cannot read this checkout')
    const base = temporaryFolder('sudo')
    chmodSync(base, 0o777)
    const config = join(base, 'config.json')
    // The secret comes from a program that notes that it was asked, and answers once: sudo would try three times, with
    // a pause each.
    writeFileSync(
      config,
      JSON.stringify({
        secrets: {
          commands: {
            pw: ['sh', '-c', '[ -e "$0" ] && exit 1; echo asked > "$0"; echo not-the-password', join(base, 'log')],
          },
          askpass: [{ program: 'sudo', secret: 'pw' }],
        },
      }),
    )
    const { stderr } = spawnSync('setpriv', [...asNobody, 'run', '--timeout', '20s', 'sudo -A -k true'], {
      encoding: 'utf8',
      cwd: base,
      env: { PATH: process.env['PATH'], HOME: base, CERITH_HOME: join(base, 'state'), CERITH_CONFIG: config },
    })
    expect(readFileSync(join(base, 'log'), 'utf8'), stderr).toBe('asked\n')
    expect(stderr).not.toContain('not-the-password')
  },
)

/**
 * Approvals cannot be forged: whatever a command of an engine does, its yes does not count, and a yes counts for what
 * was shown only.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { openQuestions } from '../../../src/cli/verb/approvals.js'
import { lookOnce } from '../../../src/engine/live/watch.js'
import { shownDigest } from '../../../src/audit/approvals.js'
import { approveElsewhere } from '../../fixtures/approve.js'
import { temporaryFolder, testEngine, until } from '../harness.js'

const FORGE = fileURLToPath(new URL('../../fixtures/forge-answer.mjs', import.meta.url))
const ASKING = { rules: [{ name: 'ask-touch', decision: 'ask', commands: ['touch *'] }] } as const

async function asked() {
  const stateDir = join(temporaryFolder(), 'state')
  const engine = await testEngine({ policy: ASKING, stateDir })
  const refused = await engine.run({ command: 'touch ran' })
  const socket = join(stateDir, 'run', engine.id, 'live')
  const out = join(temporaryFolder(), 'said')
  const forge = async (wrap: string, how = ''): Promise<string> => {
    const outcome = await engine.run({
      command: `${wrap} "$N" "$F" "$S" "$O" ${how}`,
      env: { N: process.execPath, F: FORGE, S: socket, O: out },
    })
    expect(outcome.refused, JSON.stringify(outcome.refused)).toBeNull()
    await until(() => existsSync(out), 'the forger had its answer')
    return readFileSync(out, 'utf8')
  }
  return { engine, stateDir, id: refused.approvalId as string, socket, forge }
}

/** A server that speaks on its own input, with keys that were made for it. */
const SSH_TO_ITSELF = `sh -c '
  d=$(mktemp -d) && trap "rm -r $d" EXIT && ssh-keygen -q -t ed25519 -N "" -f "$d/h" && cp "$d/h.pub" "$d/a" &&
  printf "HostKey %s\\nAuthorizedKeysFile %s\\nStrictModes no\\nPermitRootLogin yes\\n" "$d/h" "$d/a" > "$d/c" &&
  ssh -F none -i "$d/h" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes \
    -o ProxyCommand="/usr/sbin/sshd -i -f $d/c" localhost "$@"' sh`

/** Whether the program of that wrapper is there and starts something. */
function isUsable(wrap: string): boolean {
  if (wrap.startsWith('script')) return spawnSync('script', ['-qfc', 'true', '/dev/null']).status === 0
  if (wrap.includes('tmux')) return spawnSync('tmux', ['-V']).status === 0
  const [program = '', ...rest] = wrap.split(' ')
  return spawnSync(program, [...rest, 'true'], { timeout: 10_000 }).status === 0
}

describe('a command of an engine that answers its own question', () => {
  for (const [title, wrap] of [
    ['as it is', ''],
    ['with an empty environment', 'env -i'],
    ['as a daemon that left its session and its parent', 'setsid -f'],
    ['in namespaces of its own with a /proc of its own', 'unshare -cpf --mount-proc env -i'],
    ['in the namespaces of the first process', 'nsenter -t 1 -m -p env -i'],
    ['as the grandchild of a process that has ended', `sh -c '"$@" & exit' sh`],
    ['twice removed, in a session of its own', `setsid sh -c 'env -i setsid "$@" & exit' sh`],
    ['under a debugger', 'gdb -q -batch -ex run --args'],
    ['under a tracer', 'strace -f -o /dev/null env -i'],
    ['in a terminal multiplexer that it starts', 'env -i PATH=/usr/bin:/bin tmux -L forge new-session -d'],
    ['on a terminal of its own', `script -qfc 'env -i "$N" "$F" "$S" "$O"' /dev/null #`],
    ['in another root', 'chroot / env -i'],
    ['as the root of a user namespace', 'unshare -Ur env -i'],
    ['as the root of a container that has no image', 'podman unshare env -i'],
    ['through a starter of daemons', 'start-stop-daemon --start --background --startas /usr/bin/env -- -i'],
    ['with a limit and another priority, under a lock', 'prlimit --nofile=64 nice -n 5 flock /dev/null env -i'],
    ['as a job that timers start', 'systemd-run --user --pipe --wait env -i'],
    ['through a login by ssh at a server that it starts', SSH_TO_ITSELF],
  ] as const)
    test(`${title}: is told nothing, and nothing runs`, async (context) => {
      if (wrap.startsWith('unshare -c') && spawnSync('unshare', ['-cpf', '--mount-proc', 'true']).status !== 0)
        return context.skip('namespaces are not allowed here')
      const works = wrap.startsWith('nsenter')
        ? spawnSync('nsenter', ['-t', '1', '-m', '-p', 'true']).status === 0
        : !/^(?:gdb|strace|systemd-run|chroot|unshare -Ur|podman|start-stop|prlimit)|tmux|script/.test(wrap) ||
          isUsable(wrap)
      if (wrap === SSH_TO_ITSELF && spawnSync('bash', ['-c', `${wrap} true`], { timeout: 10_000 }).status !== 0)
        return context.skip('there is no server for ssh')
      if (!works) return context.skip(`${wrap.split(' ')[0]} does not work here`)
      const { engine, forge } = await asked()
      const said = await forge(wrap)
      expect(said).toContain('"t":"no"')
      expect(said).not.toContain('touch ran')
      expect((await engine.run({ command: 'touch ran' })).status).toBe('refused')
      expect(readdirSync(engine.cwd)).toEqual([])
    })

  test('after it killed the helpers above it: the engine trusts no answer any more', async () => {
    const { engine, forge } = await asked()
    const said = await forge('', 'orphan &').catch(String)
    expect(said).not.toContain('"ok":true')
    expect((await engine.run({ command: 'touch ran' })).status).toBe('refused')
  })

  test('with a process of its own that says to hold the approval', async () => {
    const { engine, stateDir, id } = await asked()
    const watch = await lookOnce(stateDir, null, 20_000)
    const question = openQuestions(watch, stateDir).find((each) => each.id === id)!
    watch.close()
    const keeper = `require('net').createServer((s) => s.on('data', () => s.end('yes\\n'))).listen(process.argv[1])`
    const path = join(stateDir, 'grants', 'forged.sock')
    const started = await engine.run({
      command: `mkdir -m 700 "$D"; "$N" -e "$K" "$P" & until [ -S "$P" ]; do sleep 0.02; done; : ${shownDigest(question)}`,
      env: { N: process.execPath, K: keeper, P: path, D: join(stateDir, 'grants') },
    })
    expect(started.refused).toBeNull()
    expect(existsSync(path)).toBe(true)
    expect((await engine.run({ command: 'touch ran' })).status).toBe('refused')
  })
})

describe('files', () => {
  test('a pending file whose text was swapped is not what the person is shown', async () => {
    const { stateDir, id, engine } = await asked()
    const file = join(stateDir, 'approvals', `${id}.json`)
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), command: 'ls -la' }))
    const watch = await lookOnce(stateDir, null, 20_000)
    expect(openQuestions(watch, stateDir).map(({ command }) => command)).toEqual(['touch ran'])
    watch.close()
    expect((await engine.run({ command: 'touch ran' })).status).toBe('refused')
  })

  test('a swapped text of a process that is gone is approved as that text, and lets nothing else run', async () => {
    const { stateDir, id, engine } = await asked()
    const { cwd } = engine
    await engine.close()
    const file = join(stateDir, 'approvals', `${id}.json`)
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('touch ran', 'touch harmless'))
    expect(await approveElsewhere(stateDir, id)).toBe(true)
    const next = await testEngine({ policy: ASKING, stateDir, cwd })
    expect((await next.run({ command: 'touch ran' })).status).toBe('refused')
    expect((await next.run({ command: 'touch harmless' })).status).toBe('completed')
    expect((await next.run({ command: 'touch harmless' })).status).toBe('refused')
  })

  test('a file that says "granted" means nothing', async () => {
    const { stateDir, engine, id } = await asked()
    const folder = join(stateDir, 'approvals')
    const watch = await lookOnce(stateDir, null, 20_000)
    const digest = shownDigest(openQuestions(watch, stateDir).find((each) => each.id === id)!)
    watch.close()
    for (const name of [`${id}.granted`, `${'0'.repeat(64)}.granted`]) writeFileSync(join(folder, name), '')
    linkSync(join(folder, `${id}.json`), join(folder, `${digest}.granted`))
    expect((await engine.run({ command: 'touch ran' })).status).toBe('refused')
  })
})

test('an answer with the digest of another text is refused', async () => {
  const { stateDir, id, engine } = await asked()
  const watch = await lookOnce(stateDir, null, 20_000)
  const said = new Promise((resolve) =>
    watch.listen((event) => event.said.t === 'said' && resolve(event.said['result'])),
  )
  watch.engines.get(engine.id)!.send({ do: 'answer', id, digest: '0'.repeat(64), as: 'once' })
  expect(await said).toBe('differs')
  watch.close()
  expect((await engine.run({ command: 'touch ran' })).status).toBe('refused')
})

test('another directory under the same name is another question', async () => {
  const { stateDir, engine, id } = await asked()
  expect(await approveElsewhere(stateDir, id)).toBe(true)
  renameSync(engine.cwd, `${engine.cwd}-before`)
  mkdirSync(engine.cwd)
  expect((await engine.run({ command: 'touch ran' })).status).toBe('refused')
})

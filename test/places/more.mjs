// Checks of one kind of place: what only ssh or only containers can show.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { must } from './daemons.mjs'

export const SSH = [
  ['refuses a host whose key is not known, and names why', async ({ open }) =>
    assert.rejects(open({}, 'ssh://stranger'), { code: 'PLACE_REFUSED', message: /[Hh]ost key/ })],
  ['says that a host cannot be reached', async ({ open }) => assert.rejects(open({}, 'ssh://127.0.0.1:1'), { code: 'PLACE_UNREACHABLE' })],
  ['needs one round trip for each call at 200 ms', async ({ open }) => {
    const engine = await open({}, 'ssh://slow')
    const session = await engine.session()
    const median = async (use) => {
      const times = []
      for (let i = 0; i < 5; i++) {
        const at = performance.now()
        await use()
        times.push(performance.now() - at)
      }
      return times.sort((a, b) => a - b)[2]
    }
    const one = await median(() => session.run({ command: 'true' }))
    const exit = await median(() => session.run({ command: 'exit 3' }))
    const started = await median(() => engine.start({ command: 'true' }))
    console.log(`  at 200 ms: true ${one.toFixed(0)}, exit 3 ${exit.toFixed(0)}, job start ${started.toFixed(0)} ms`)
    assert.ok(one < 400 && exit < 800 && started < 600)
    await engine.close()
  }],
  ['moves a gigabyte over the link as 64 KB', async ({ engine, session }) => {
    const { status, omittedBytes, stdout, stderr } = await session.run({ command: "head -c 1073741824 /dev/zero | tr '\\0' x | fold -w 99", timeoutMs: 600_000 })
    assert.equal(status, 'completed')
    assert.ok(omittedBytes > 1_000_000_000 && stdout.length + stderr.length < 64_000)
    assert.ok(engine.place)
  }],
  ['serves 200 sessions on one link', async ({ engine }) => {
    const at = performance.now()
    const sessions = await Promise.all(Array.from({ length: 200 }, async (_, i) => {
      const session = await engine.session(`h${i}`)
      await session.run({ command: `N=${i}` })
      return session
    }))
    const opened = performance.now() - at
    const answers = await Promise.all(sessions.map(async (session) => (await session.run({ command: 'echo $N' })).stdout.trim()))
    assert.deepEqual(answers, answers.map((_, i) => String(i)))
    console.log(`  200 sessions: open in ${(opened / 1000).toFixed(1)} s`)
    await Promise.all(sessions.map((session) => session.close()))
  }],
] // prettier-ignore

/** `program` is docker or podman. */
export const CONTAINERS = (program, image) => [
  ['says that there is no such container', async ({ open }) => assert.rejects(open({}, `${program}://nope`), { code: 'PLACE_GONE' })],
  ['makes a container from an image, and removes it', async ({ open }) => {
    const engine = await open({}, `${program}://?image=${image}&network=none`)
    const { host } = engine.place
    assert.equal((await engine.run({ command: 'echo made' })).stdout, 'made\n')
    assert.match(must(program, ['ps', '-q']), new RegExp(host.slice(0, 12)))
    await engine.close()
    assert.doesNotMatch(must(program, ['ps', '-aq']), new RegExp(host.slice(0, 12)))
  }],
  ['runs without any libc, as uid 1000, on a read-only root', async ({ open }) => {
    must(program, ['run', '-d', '--init', '--network', 'none', '--name', 'bare', '--read-only', '--tmpfs', '/tmp:exec,mode=1777', '-u', '1000', 'bare:1', 'sleep', '1000000'])
    const engine = await open({}, `${program}://bare`)
    assert.equal((await engine.run({ command: 'id -u; ls /lib 2>/dev/null' })).stdout, '1000\n')
    const plain = await (await engine.session()).run({ command: 'X=1; echo $X' })
    assert.equal(plain.stdout, '1\n')
    await engine.close()
  }],
  ['refuses a container from whose directories nothing may be executed, with words', async ({ open }) => {
    must(program, ['run', '-d', '--init', '--network', 'none', '--name', 'noexec', '--read-only', '--tmpfs', '/tmp', '-u', '1000', 'bare:1', 'sleep', '1000000'])
    await assert.rejects(open({}, `${program}://noexec`), { code: 'PLACE_UNFIT', message: /noexec/ })
  }],
  ['tells that a container was removed, and runs nothing again', async ({ open }) => {
    must(program, ['run', '-d', '--init', '--network', 'none', '--name', 'short', image, 'sleep', '1000000'])
    const engine = await open({}, `${program}://short`)
    const running = engine.run({ command: 'sleep 600' })
    setTimeout(() => spawnSync(program, ['rm', '-f', 'short']), 300)
    assert.equal((await running).end.kind, 'lost')
    await assert.rejects(engine.run({ command: 'true' }), /not there|down|lost|gone/i)
    await engine.close()
  }],
  ['does not take another container of the same name for the one before', async ({ open }) => {
    const start = () => must(program, ['run', '-d', '--init', '--network', 'none', '--name', 'again', image, 'sleep', '1000000'])
    start()
    const engine = await open({}, `${program}://again`)
    await (await engine.session()).run({ command: 'X=1' })
    spawnSync(program, ['rm', '-f', 'again'])
    start()
    // Handed over to the old one it is lost; otherwise it is refused before it leaves.
    const first = await (await engine.session()).run({ command: 'echo $X' }).catch((error) => error)
    assert.ok(first.end?.kind === 'lost' || ['PLACE_GONE', 'LINK_DOWN'].includes(first.code), JSON.stringify(first))
    await engine.close()
  }],
] // prettier-ignore

const examples = join(import.meta.dirname, '../../examples/fleet')
/** Runs an example as its reader would, with the package found by its name. */
const example = (name, words) =>
  execFileSync(process.execPath, [join(examples, name), ...words], { encoding: 'utf8', timeout: 300_000 })

export const QUEUE = [
  ['runs the example of a fleet', async () => assert.match(example('slurm.mjs', ['agents']), /^on .+\non .+\n$/)],
  ['gives its allocation back', async ({ open }) => {
    const before = must('squeue', ['-h', '-o', '%i']).split('\n').length
    const engine = await open({})
    assert.equal(must('squeue', ['-h', '-o', '%i']).split('\n').length, before + 1)
    await engine.close()
    assert.ok(must('squeue', ['-h', '-t', 'RUNNING', '-o', '%i']).split('\n').length <= before)
  }],
] // prettier-ignore

export const PODS = (template) => [
  ['says that there is no such pod', async ({ open }) => assert.rejects(open({}, 'k8s://default/nope'), { code: 'PLACE_GONE' })],
  ['makes a pod from a template, and removes it', async ({ open }) => {
    const engine = await open({}, `k8s://default/?template=${encodeURIComponent(template)}`)
    assert.equal((await engine.run({ command: 'id -u' })).stdout, '1000\n')
    await engine.close()
    assert.match(must('kubectl', ['get', 'pods', '-l', 'cerith=1', '-o', 'jsonpath={.items[*].metadata.deletionTimestamp}']) || 'gone', /gone|\d/)
  }],
  ['runs the example of a fleet with no more than its rights', async () => {
    must('kubectl', ['apply', '-f', join(examples, 'kubernetes.yaml')])
    const said = example('kubernetes.mjs', [template, '--as', 'system:serviceaccount:agents:cerith'])
    assert.equal(said, 'agent-1 as 1000\nagent-2 as 1000\n')
  }],
] // prettier-ignore

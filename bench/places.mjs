// `npm run bench:places [loop ssh docker k8s]`: a session at a place against one client process per command,
// interleaved in one run; real sshd and dockerd, and the cluster of CERITH_TEST_KUBECONFIG with its image
// CERITH_TEST_IMAGE.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensure, root } from '../scripts/ensure.mjs'
import { ownClients } from '../test/places/contract.mjs'
import { must } from '../test/places/daemons.mjs'
import { startDocker, startSsh } from '../test/places/servers.mjs'

ensure()
const { createEngine } = await import(join(root, 'dist/index.js'))
const work = mkdtempSync(join(tmpdir(), 'cb-'))
const folder = (name) => (mkdirSync(join(work, name), { recursive: true }), join(work, name))
const stateDir = join(work, 'state')
const median = (times) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)]
const timed = async (times, use) => {
  const at = performance.now()
  await use()
  times.push(performance.now() - at)
}

/** What no session can be quicker than: as many bytes as a call has, there and back through the same client. */
function echo(argv) {
  const client = spawn(argv[0], argv.slice(1), { stdio: ['pipe', 'pipe', 'ignore'] })
  const bytes = Buffer.alloc(250, 'x')
  return {
    async once() {
      client.stdin.write(bytes)
      for (let left = bytes.length; left > 0;) left -= (await once(client.stdout, 'data'))[0].length
    },
    close: () => client.stdin.end(),
  }
}

/** `prefix`: the words that run others there with stdin and stdout joined. */
async function against(name, at, reach, argv, prefix) {
  const engine = await createEngine({ at, stateDir, reach })
  const session = await engine.session()
  await session.run({ command: 'true' })
  const floor = echo([...prefix, 'cat'])
  await floor.once()
  const [plain, ours, bare] = [[], [], []]
  for (let round = 0; round < 20; round++) {
    await timed(plain, () => spawnSync(argv[0], argv.slice(1)))
    for (let i = 0; i < 150; i++) await timed(ours, () => session.run({ command: 'true' }))
    for (let i = 0; i < 25; i++) await timed(bare, () => floor.once())
  }
  floor.close()
  // Both engines compile their code while they are used.
  const [early, late] = [ours.slice(0, 300), ours.slice(-300)].map(median)
  const [a, b, c] = [plain, ours, bare].map(median)
  const [client, all, first, last, least] = [a.toFixed(1), ...[b, early, late, c].map((ms) => ms.toFixed(2))]
  console.log(
    `${name}: one client per command ${client} ms, session ${all} ms: ${(a / b).toFixed(0)}x (of 3,000 calls; the first 300: ${first} ms, ${(a / early).toFixed(0)}x, the last 300: ${last} ms, ${(a / late).toFixed(0)}x); bare echo ${least} ms`,
  )
  await engine.close()
}

async function link(reach) {
  const here = await createEngine({ stateDir: join(work, 'here') })
  const there = await createEngine({ at: 'loop:', stateDir, reach })
  const sessions = [await here.session(), await there.session()]
  const times = [[], []]
  for (let round = 0; round < 40; round++)
    for (const [k, session] of sessions.entries())
      for (let i = 0; i < 10; i++) await timed(times[k], () => session.run({ command: 'true' }))
  const [a, b] = times.map(median)
  console.log(`loop: true ${b.toFixed(2)} ms against ${a.toFixed(2)} ms here: ${(b - a).toFixed(2)} ms more`)
  const rollup = readFileSync(`/proc/${there.place.pid}/smaps_rollup`, 'utf8')
  const kilobytes = ['Private_Clean', 'Private_Dirty'].map((key) =>
    Number(new RegExp(`${key}:\\s+(\\d+)`).exec(rollup)?.[1]),
  )
  console.log(`loop: private memory of the far engine ${((kilobytes[0] + kilobytes[1]) / 1024).toFixed(1)} MB`)
  const [client] = ownClients()
  const written = () => Number(/wchar: (\d+)/.exec(readFileSync(`/proc/${client}/io`, 'utf8'))?.[1])
  const before = written()
  const command = "head -c 1073741824 /dev/zero | tr '\\0' x | fold -w 99"
  const { status } = await sessions[1].run({ command, timeoutMs: 600_000 })
  console.log(`loop: 1 GB of output (${status}) moved ${((written() - before) / 1024).toFixed(0)} KB over the link`)
  await Promise.all([here.close(), there.close()])
}

const reach = { leaseMs: 10_000 }
const stops = []
const KINDS = {
  loop: () => link(reach),
  async ssh() {
    const ssh = await startSsh(folder('ssh'))
    if (!ssh) return
    stops.push(() => ssh.stop())
    const settings = ['ControlMaster=auto', `ControlPath=${work}/cm`, 'ControlPersist=60']
    const master = ['-F', ssh.config, ...settings.flatMap((setting) => ['-o', setting])]
    const plain = ['ssh', ...master, 'far', 'true']
    const settled = { ...reach, clientArgs: ['-F', ssh.config] }
    await against('ssh', 'ssh://far', settled, plain, ['ssh', '-T', '-F', ssh.config, 'far'])
    stops.unshift(() => spawnSync('ssh', [...master, '-O', 'exit', 'far']))
  },
  async docker() {
    const docker = await startDocker(folder('docker'))
    if (!docker) return
    stops.push(() => docker.stop())
    Object.assign(process.env, docker.env)
    must('docker', ['run', '-d', '--init', '--network', 'none', '--name', 'b1', 'box:1', 'sleep', '1000000'])
    await against('docker', 'docker://b1', reach, ['docker', 'exec', 'b1', 'true'], ['docker', 'exec', '-i', 'b1'])
  },
  async k8s() {
    const { CERITH_TEST_KUBECONFIG: config, CERITH_TEST_IMAGE: image } = process.env
    if (!config || !image) return console.log('k8s: no cluster (CERITH_TEST_KUBECONFIG, CERITH_TEST_IMAGE)')
    process.env['KUBECONFIG'] = config
    const container = { name: 'box', image, imagePullPolicy: 'IfNotPresent', command: ['/bin/sleep', '2147483647'] }
    const spec = { hostNetwork: true, terminationGracePeriodSeconds: 1, containers: [container] }
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'cerith-bench' }, spec }
    must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(pod) })
    stops.push(() => spawnSync('kubectl', ['delete', 'pod', 'cerith-bench', '--grace-period=1']))
    must('kubectl', ['wait', '--for=condition=Ready', 'pod/cerith-bench', '--timeout=120s'])
    const [exec, inside] = [
      ['kubectl', 'exec', 'cerith-bench', '--', 'true'],
      ['kubectl', 'exec', '-i', 'cerith-bench', '--'],
    ]
    await against('k8s', 'k8s://default/cerith-bench', reach, exec, inside)
  },
}

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(KINDS)
try {
  for (const kind of wanted) await KINDS[kind]()
} finally {
  for (const stop of stops) await stop()
  rmSync(work, { recursive: true, force: true, maxRetries: 5 })
}

// Checks of one kind of place: what only ssh or only containers can show.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { clientsWith, ownClients } from './contract.mjs'
import { must, until } from './daemons.mjs'

export const SSH = [
  ['refuses a host whose key is not known, and names why', async ({ open }) =>
    assert.rejects(open({}, 'ssh://stranger'), { code: 'PLACE_REFUSED', message: /[Hh]ost key/ })],
  ['says that a host cannot be reached', async ({ open }) => assert.rejects(open({}, 'ssh://127.0.0.1:1'), { code: 'PLACE_UNREACHABLE' })],
  ['is no master whose end would end the sessions of others', async ({ open, folder, ssh }) => {
    const shared = ['-o', 'ControlMaster=auto', '-o', `ControlPath=${folder('master')}/%C`, '-F', ssh.config]
    const engine = await open({ reach: { clientArgs: shared } })
    const other = spawn('ssh', [...shared, 'far', 'echo began; read -r line; echo $line'], { stdio: ['pipe', 'pipe', 'inherit'] })
    const lines = createInterface({ input: other.stdout })[Symbol.asyncIterator]()
    assert.equal((await lines.next()).value, 'began')
    await engine.close()
    other.stdin.end('still here\n')
    assert.equal((await lines.next()).value, 'still here')
  }],
  ['says that the disk there is full, leaves nothing, and arrives when it is not', async ({ open, folder }) => {
    const dir = folder('small')
    must('mount', ['-t', 'tmpfs', '-o', 'size=400k,mode=700', 'tmpfs', dir])
    try {
      const small = { reach: { uploadDir: join(dir, 'code') } }
      await assert.rejects(open(small), { code: 'PLACE_UNFIT', message: /could not be unpacked/, hint: /disk full/ })
      assert.deepEqual(readdirSync(join(dir, 'code')), [])
      must('mount', ['-o', 'remount,size=64m', dir])
      const engine = await open(small)
      assert.equal((await engine.run({ command: 'echo fits' })).stdout, 'fits\n')
      await engine.close()
    } finally {
      must('umount', ['-l', dir])
    }
  }],
  ['an upload whose client is killed in the middle leaves nothing that the next one could take for whole', async ({ open, folder }) => {
    const uploadDir = join(folder('torn'), 'code')
    const send = { reach: { uploadDir, runtime: 'send' } }
    const before = new Set(ownClients())
    const opening = open(send).catch((error) => error)
    await until('something is unpacked', () => existsSync(uploadDir) && readdirSync(uploadDir).some((name) => /^t.*-/.test(name)), 60_000, 2)
    for (const pid of ownClients()) if (!before.has(pid)) process.kill(pid, 'SIGKILL')
    assert.equal((await opening).code, 'PLACE_UNREACHABLE')
    const engine = await open(send)
    assert.equal((await engine.run({ command: 'echo whole' })).stdout, 'whole\n')
    assert.deepEqual(readdirSync(uploadDir).filter((name) => !/^[0-9a-f]{64}/.test(name)), [])
    await engine.close()
  }],
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
] // prettier-ignore

const cli = join(import.meta.dirname, '../../dist/cli.cjs')
const cerith = (home, ...words) =>
  execFileSync(process.execPath, [cli, ...words], { encoding: 'utf8', env: { ...process.env, CERITH_HOME: home } })

/** `made`: how many places there are, as their platform says. */
const fleet = (url, made) => ['a fleet: a place per agent, full is said, and what a killed program left is found and swept', async ({ folder }) => {
  const home = join(folder('fleet'), url.split(':')[0])
  const before = made()
  const program = spawn(process.execPath, [join(import.meta.dirname, 'fleet.mjs'), url, home], { stdio: ['ignore', 'pipe', 'inherit'] })
  const { value } = await createInterface({ input: program.stdout })[Symbol.asyncIterator]().next()
  assert.deepEqual(JSON.parse(value), { said: ['here\n', 'here\n'], isSame: true, third: 'PLACE_FULL' })
  await until('one is made ahead', () => cerith(home, 'fleet', 'ls').trim().split('\n').length === 3)
  assert.equal(made() - before, 3)
  assert.match(cerith(home, 'fleet', 'sweep'), /Nothing had to be removed/)
  assert.equal(made() - before, 3, 'what a living program uses was swept')
  program.kill('SIGKILL')
  await once(program, 'exit')
  assert.match(cerith(home, 'fleet', 'ls'), /orphan/)
  cerith(home, 'fleet', 'sweep')
  await until('all are gone', () => made() === before)
}] // prettier-ignore

/** A container that idles. podman brings no init of its own. */
const start = (program, name, image, ...words) =>
  must(program, ['run', '-d', ...(program === 'docker' ? ['--init'] : []), '--network', 'none', '--name', name, ...words, image, 'sh', '-c', 'while :; do sleep 1000; done']) // prettier-ignore

/** `program` is docker or podman. */
export const CONTAINERS = (program, image, bare) => [
  fleet(`${program}://?image=${image}&network=none`, () => must(program, ['ps', '-q', '--filter', 'label=cerith=1']).split('\n').length),
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
    start(program, 'bare', bare, '--read-only', '--tmpfs', '/tmp:exec,mode=1777', '-u', '1000')
    const engine = await open({}, `${program}://bare`)
    assert.equal((await engine.run({ command: 'id -u; ls /lib 2>/dev/null' })).stdout, '1000\n')
    const plain = await (await engine.session()).run({ command: 'X=1; echo $X' })
    assert.equal(plain.stdout, '1\n')
    await engine.close()
  }],
  ['refuses a container from whose directories nothing may be executed, with words', async ({ open }) => {
    // podman makes directories writable on its own.
    const plain = program === 'podman' ? ['--read-only-tmpfs=false'] : []
    start(program, 'noexec', bare, '--read-only', ...plain, '--tmpfs', '/tmp:noexec,mode=1777', '-u', '1000')
    await assert.rejects(open({}, `${program}://noexec`), { code: 'PLACE_UNFIT', message: /noexec/ })
  }],
  ['refuses a container in which nothing may be written, with words', async ({ open }) => {
    const plain = program === 'podman' ? ['--read-only-tmpfs=false'] : []
    start(program, 'sealed', bare, '--read-only', ...plain, '--tmpfs', '/tmp:ro', '--tmpfs', '/var/tmp:ro', '--shm-size', '4096', '-u', '1000', '-e', 'HOME=/nonexistent')
    await assert.rejects(open({}, `${program}://sealed`), { code: 'PLACE_UNFIT', message: /no directory that we may write to/ })
  }],
  ['warns of a container that may rule its host', async ({ stateDir }) => {
    const socket = (process.env['DOCKER_HOST'] ?? 'unix:///run/docker.sock').replace('unix://', '')
    const risky = program === 'docker' ? ['-v', `${socket}:/var/run/docker.sock`] : []
    start(program, 'risky', image, '--cap-add', 'SYS_ADMIN', ...risky)
    const said = cerith(stateDir, '--at', `${program}://risky`, 'doctor')
    assert.match(said, /CAP_SYS_ADMIN/)
    if (program === 'docker') assert.match(said, /docker socket/)
  }],
  ['tells that a container was removed, and runs nothing again', async ({ open }) => {
    start(program, 'short', image)
    const engine = await open({}, `${program}://short`)
    const remove = () => void spawnSync(program, ['rm', '-f', 'short'])
    assert.equal((await engine.run({ command: 'echo up; sleep 600', onOutput: remove })).end.kind, 'lost')
    await assert.rejects(engine.run({ command: 'true' }), /not there|down|lost|gone/i)
    await engine.close()
  }],
  ['does not take another container of the same name for the one before', async ({ open }) => {
    start(program, 'again', image)
    const engine = await open({}, `${program}://again`)
    await (await engine.session()).run({ command: 'X=1' })
    spawnSync(program, ['rm', '-f', 'again'])
    start(program, 'again', image)
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
  fleet('slurm://agents?cpus=1', () => must('squeue', ['-h', '-t', 'PENDING,RUNNING', '-o', '%i']).split('\n').length),
  ['runs the example of a fleet', async () => assert.match(example('slurm.mjs', ['agents']), /^on .+\non .+\n$/)],
  ['works in an allocation that is there: later processes join, no step is left over, a killed engine has a successor', async ({ open }) => {
    const job = must('sbatch', ['--parsable', '-p', 'agents', '-n1', '--output=/dev/null', '--wrap', 'sleep 600']).trim()
    const url = `slurm://?job=${job}`
    const steps = () => clientsWith(`\0${job}\0--overlap`).length
    try {
      await until('the job runs', () => must('squeue', ['-h', '-j', job, '-o', '%T']).trim() === 'RUNNING')
      const counted = []
      for (let i = 0; i < 3; i++) {
        const engine = await open({ reach: { keep: 'contract' } }, url)
        const { stdout } = await (await engine.session()).run({ command: 'N=$((N+1)); echo $N' })
        await engine.close()
        await until('the link is gone', () => ownClients().every((pid) => !clientsWith(`\0${job}\0`).includes(pid)))
        counted.push(stdout.trim())
        // srun is two processes; the one that keeps the engine stays.
        if (i > 0) await until('one step is left', () => steps() <= 2, 15_000)
      }
      assert.deepEqual(counted, ['1', '2', '3'])
      const engine = await open({}, url)
      const session = await engine.session()
      await session.run({ command: 'X=1' })
      process.kill(engine.place.pid, 'SIGKILL')
      await until('the link is down or new', async () => (await session.run({ command: 'echo "[$X]"' }).catch(() => ({}))).stdout === '[]\n')
      await engine.close()
    } finally {
      must('scancel', [job])
      await until('it has left the queue', () => !must('squeue', ['-h', '-o', '%i']).split('\n').includes(job))
    }
  }],
  ['gives its allocation back', async ({ open }) => {
    const before = must('squeue', ['-h', '-o', '%i']).split('\n').length
    const engine = await open({})
    assert.equal(must('squeue', ['-h', '-o', '%i']).split('\n').length, before + 1)
    await engine.close()
    assert.ok(must('squeue', ['-h', '-t', 'RUNNING', '-o', '%i']).split('\n').length <= before)
  }],
] // prettier-ignore

export const PODS = (template) => [
  fleet(`k8s://default/?template=${encodeURIComponent(template)}`, () => must('kubectl', ['get', 'pods', '-l', 'cerith=1', '-o', 'name']).split('\n').length),
  ['says that there is no such pod', async ({ open }) => assert.rejects(open({}, 'k8s://default/nope'), { code: 'PLACE_GONE' })],
  ['makes a pod from a template, and removes it', async ({ open }) => {
    const engine = await open({}, `k8s://default/?template=${encodeURIComponent(template)}`)
    assert.equal((await engine.run({ command: 'id -u' })).stdout, '1000\n')
    await engine.close()
    assert.match(must('kubectl', ['get', 'pods', '-l', 'cerith=1', '-o', 'jsonpath={.items[*].metadata.deletionTimestamp}']) || 'gone', /gone|\d/)
  }],
  ['tells that a pod was deleted, and does not take another of its name for it', async ({ open }) => {
    const twin = join(tmpdir(), `cerith-twin-${process.pid}.json`)
    const pod = JSON.parse(readFileSync(template, 'utf8'))
    writeFileSync(twin, JSON.stringify({ ...pod, metadata: { name: 'cerith-twin' } }))
    const make = () => {
      must('kubectl', ['create', '-f', twin])
      must('kubectl', ['wait', '--for=condition=Ready', 'pod/cerith-twin', '--timeout=120s'])
    }
    make()
    const engine = await open({}, 'k8s://default/cerith-twin')
    const session = await engine.session()
    await session.run({ command: 'X=1' })
    let seen = ''
    const running = session.run({ command: 'echo up; sleep 600', onOutput: ({ text }) => (seen += text) })
    await until('it runs', () => seen === 'up\n')
    must('kubectl', ['delete', 'pod', 'cerith-twin', '--grace-period=1'])
    make()
    const lost = await running
    assert.deepEqual([lost.end.kind, lost.exitCode], ['lost', null])
    const next = await session.run({ command: 'echo "[$X]"' }).catch((error) => error)
    const after = next.stdout === undefined ? await session.run({ command: 'echo "[$X]"' }) : next
    assert.equal(after.stdout, '[]\n')
    await engine.close()
    must('kubectl', ['delete', 'pod', 'cerith-twin', '--wait=false'])
    rmSync(twin)
  }],
  ['runs the example of a fleet with no more than its rights', async () => {
    must('kubectl', ['apply', '-f', join(examples, 'kubernetes.yaml')])
    const said = example('kubernetes.mjs', [template, '--as', 'system:serviceaccount:agents:cerith'])
    assert.equal(said, 'agent-1 as 1000\nagent-2 as 1000\n')
  }],
] // prettier-ignore

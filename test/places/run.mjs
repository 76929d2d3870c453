// `npm run test:engines [ssh network docker chain podman slurm k8s]`: the contract of a place over real servers,
// started for it and stopped after. A server that is missing is installed where that is possible (root, apt); where it
// is not, that is a failure and is said. CERITH_TEST_ONLY: a pattern of titles, to look at some checks alone.
// Kubernetes: CERITH_TEST_KUBECONFIG names a cluster whose nodes have the image CERITH_TEST_IMAGE.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensure, root } from '../../scripts/ensure.mjs'
import { CONTRACT } from './contract.mjs'
import { CUTS } from './cuts.mjs'
import { must } from './daemons.mjs'
import { CONTAINERS, PODS, QUEUE, SSH } from './more.mjs'
import { makeNetwork } from './netns.mjs'
import { startDocker, startPodman, startSlurm, startSsh } from './servers.mjs'

ensure()
const { createEngine } = await import(join(root, 'dist/index.js'))
const work = mkdtempSync(join(tmpdir(), 'cp-'))
must('chmod', ['755', work])
const stateDir = join(work, 'state')
const folder = (name) => (mkdirSync(join(work, name), { recursive: true }), join(work, name))
let passed = 0
const failures = []

async function contract(name, url, { reach = {}, base = CONTRACT, more = [], facts = {} } = {}) {
  const open = (options = {}, at = url) =>
    createEngine({ stateDir, ...options, at, reach: { leaseMs: 30_000, ...reach, ...options.reach } })
  const only = new RegExp(process.env['CERITH_TEST_ONLY'] ?? '')
  const checks = [...base, ...more].filter(([title]) => only.test(title))
  const startedAt = Date.now()
  let ok = 0
  let engine = null
  try {
    engine = await open()
    const session = await engine.session()
    const run = (command, options = {}) => engine.run({ command, ...options })
    for (const [title, check] of checks) {
      let timer
      const late = new Promise(
        (_, reject) => (timer = setTimeout(() => reject(new Error('took longer than ten minutes')), 600_000)),
      )
      try {
        await Promise.race([check({ engine, session, run, open, url, createEngine, stateDir, folder, ...facts }), late])
        ok += 1
      } catch (error) {
        failures.push(`${name}: ${title}: ${String(error?.message ?? error).slice(0, 400)}`)
        console.log(`  FAILED ${name}: ${title}\n    ${String(error?.stack ?? error).slice(0, 700)}`)
      } finally {
        clearTimeout(timer)
      }
    }
  } catch (error) {
    failures.push(`${name}: ${error?.message ?? error}`)
  } finally {
    await engine?.close().catch(() => {})
  }
  passed += ok
  console.log(`${name}: ${ok} passed, ${checks.length - ok} failed, ${((Date.now() - startedAt) / 1000).toFixed(1)} s`)
}

const KINDS = {
  async ssh() {
    const ssh = await startSsh(folder('ssh'))
    if (!ssh) return 'sshd is missing'
    try {
      await contract('ssh', 'ssh://far', { reach: { clientArgs: ['-F', ssh.config] }, more: SSH, facts: { ssh } })
    } finally {
      await ssh.stop()
    }
  },
  async network() {
    const network = makeNetwork()
    if (!network) return 'no network namespace can be made'
    try {
      const ssh = await startSsh(folder('network'), { network })
      if (!ssh) return 'sshd is missing'
      try {
        const reach = { clientArgs: ['-F', ssh.config] }
        await contract('network', 'ssh://far', { reach, base: CUTS, facts: { ssh, network } })
      } finally {
        await ssh.stop()
      }
    } finally {
      network.remove()
    }
  },
  async chain() {
    const docker = await startDocker(folder('chain-docker'))
    if (!docker) return 'dockerd is missing'
    try {
      const words = ['run', '-d', '--init', '--network', 'none', '--name', 'c2', 'box:1', 'sleep', '1000000']
      must('docker', words, { env: { ...process.env, ...docker.env } })
      const ssh = await startSsh(folder('chain-ssh'), { env: docker.env })
      if (!ssh) return 'sshd is missing'
      try {
        await contract('chain', 'ssh://far!docker://c2', { reach: { clientArgs: ['-F', ssh.config] } })
      } finally {
        await ssh.stop()
      }
    } finally {
      await docker.stop()
    }
  },
  async docker() {
    const docker = await startDocker(folder('docker'))
    if (!docker) return 'dockerd is missing'
    Object.assign(process.env, docker.env)
    try {
      must('docker', ['run', '-d', '--init', '--network', 'none', '--name', 'c1', 'box:1', 'sleep', '1000000'])
      await contract('docker', 'docker://c1', { more: CONTAINERS('docker', 'box:1', 'bare:1') })
    } finally {
      await docker.stop()
    }
  },
  async podman() {
    const podman = await startPodman(folder('podman'))
    if (!podman) return 'podman is missing'
    Object.assign(process.env, podman.env)
    try {
      must('podman', ['run', '-d', '--name', 'c1', 'localhost/box:1', 'sh', '-c', 'while :; do sleep 1000; done'])
      await contract('podman', 'podman://c1', { more: CONTAINERS('podman', 'localhost/box:1', 'localhost/bare:1') })
    } finally {
      await podman.stop()
    }
  },
  async slurm() {
    const slurm = await startSlurm(folder('slurm'))
    if (!slurm) return 'Slurm is missing'
    Object.assign(process.env, slurm.env)
    try {
      await contract('slurm', 'slurm://agents?cpus=1', { more: QUEUE })
    } finally {
      await slurm.stop()
    }
  },
  async k8s() {
    const { CERITH_TEST_KUBECONFIG: config, CERITH_TEST_IMAGE: image } = process.env
    if (!config || !image) return 'no cluster: set CERITH_TEST_KUBECONFIG and CERITH_TEST_IMAGE'
    process.env['KUBECONFIG'] = config
    const template = join(work, 'pod.json')
    const container = {
      name: 'box',
      image,
      imagePullPolicy: 'IfNotPresent',
      command: ['/bin/sleep', '2147483647'],
    }
    const spec = {
      hostNetwork: true,
      terminationGracePeriodSeconds: 1,
      securityContext: { runAsUser: 1000 },
      containers: [container],
    }
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'cerith-contract' }, spec }
    writeFileSync(template, JSON.stringify(pod))
    must('kubectl', ['create', '-f', template])
    try {
      must('kubectl', ['wait', '--for=condition=Ready', 'pod/cerith-contract', '--timeout=120s'])
      await contract('k8s', 'k8s://default/cerith-contract', { more: PODS(template) })
    } finally {
      must('kubectl', ['delete', 'pod', 'cerith-contract', '--grace-period=1'])
    }
  },
}

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(KINDS)
try {
  for (const kind of wanted) {
    const missing = await KINDS[kind]()
    if (missing) failures.push(`${kind}: ${missing}`)
  }
} finally {
  rmSync(work, { recursive: true, force: true, maxRetries: 5 })
}
console.log(`\n${passed} passed, ${failures.length} failed`)
for (const failure of failures) console.log(`  ${failure}`)
process.exit(failures.length === 0 ? 0 : 1)

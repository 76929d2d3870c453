// Real sshd, dockerd, podman and Slurm, each below a directory of its own. `start` gives the environment of clients.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { daemons, ensurePackages, makeRoot, must, randomPort, succeeds, until } from './daemons.mjs'

const openFiles = () => must('bash', ['-c', 'ulimit -Hn']).trim()

/** `network` (netns.mjs): sshd stands behind it. */
export async function startSsh(dir, { env = {}, network = null } = {}) {
  if (!ensurePackages(['sshd', 'ssh'], ['openssh-server', 'openssh-client'])) return null
  const own = daemons(dir)
  mkdirSync(join(dir, 'home'), { recursive: true })
  mkdirSync('/run/sshd', { recursive: true })
  chmodSync(dir, 0o700)
  const port = randomPort()
  const address = network?.address ?? '127.0.0.1'
  for (const key of ['host', 'user']) must('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(dir, key)])
  const set = Object.entries({ HOME: join(dir, 'home'), ...env }).map(([name, value]) => `${name}=${value}`)
  writeFileSync(join(dir, 'sshd_config'), [
    `Port ${port}`, `ListenAddress ${address}`, `HostKey ${dir}/host`, `PidFile ${dir}/pid`, `AuthorizedKeysFile ${dir}/user.pub`, 'StrictModes no', 'UsePAM no',
    'PasswordAuthentication no', 'PermitRootLogin prohibit-password', 'MaxSessions 1000', 'MaxStartups 200:30:400', `SetEnv ${set.join(' ')}`,
    // A client that is gone without a word is given up.
    ...(network ? ['ClientAliveInterval 1', 'ClientAliveCountMax 2'] : []), '',
  ].join('\n')) // prettier-ignore
  const hostKey = readFileSync(join(dir, 'host.pub'), 'utf8').split(' ').slice(0, 2).join(' ')
  writeFileSync(join(dir, 'known'), `[${address}]:${port} ${hostKey}\n`)
  const config = join(dir, 'config')
  const host = (name, more) =>
    `Host ${name}\n${more}  HostName ${address}\n  Port ${port}\n  User root\n  IdentityFile ${dir}/user\n  IdentitiesOnly yes\n  UserKnownHostsFile ${dir}/known\n  StrictHostKeyChecking yes\n  LogLevel ERROR\n`
  const slow = `  ProxyCommand node ${join(import.meta.dirname, 'slow.mjs')} 100 ${address} ${port}\n`
  writeFileSync(config, host('far', '') + host('slow', slow) + host('stranger', '  UserKnownHostsFile /dev/null\n'))
  const sshd = ['/usr/sbin/sshd', '-D', '-e', '-f', join(dir, 'sshd_config')]
  const words = network ? ['ip', 'netns', 'exec', network.name, ...sshd] : sshd
  own.start('sshd', words[0], words.slice(1))
  await until('sshd answers', () => succeeds('ssh', ['-F', config, 'far', 'true']))
  return { config, port, stop: () => own.stop() }
}

export async function startDocker(dir) {
  if (
    !ensurePackages(
      ['dockerd', 'docker', 'busybox', 'bash-static'],
      ['docker.io', 'containerd', 'runc', 'iptables', 'busybox-static', 'bash-static'],
    )
  )
    return null
  const own = daemons(dir)
  const env = { DOCKER_HOST: `unix://${dir}/sock` }
  const files = openFiles()
  const server = own.start('dockerd', '/usr/sbin/dockerd', [
    '-H', env.DOCKER_HOST, '--data-root', join(dir, 'data'), '--exec-root', join(dir, 'exec'), '-p', join(dir, 'pid'), '--bridge=none', '--iptables=false',
    '--ip6tables=false', '--ip-forward=false', '--ip-masq=false', '--exec-opt', 'native.cgroupdriver=cgroupfs', '--default-ulimit', `nofile=${files}:${files}`,
  ]) // prettier-ignore
  await until(`dockerd answers: ${server.log()}`, () => succeeds('docker', ['version'], env))
  const clients = { env: { ...process.env, ...env } }
  must('docker', ['import', makeRoot(dir), 'box:1'], clients)
  must('docker', ['import', makeRoot(dir, { bare: true }), 'bare:1'], clients)
  return {
    env,
    async stop() {
      const ids = spawnSync('docker', ['ps', '-aq'], { ...clients, encoding: 'utf8' })
        .stdout.split('\n')
        .filter(Boolean)
      if (ids.length > 0) spawnSync('docker', ['rm', '-f', ...ids], clients)
      await own.stop()
    },
  }
}

export async function startPodman(dir) {
  const programs = ['podman', 'runc', 'busybox', 'bash-static']
  if (!ensurePackages(programs, ['podman', 'runc', 'busybox-static', 'bash-static'])) return null
  const files = openFiles()
  writeFileSync(
    join(dir, 'containers.conf'),
    `[containers]\ndefault_ulimits = ["nofile=${files}:${files}", "nproc=32768:32768"]\nnetns = "none"\nlog_driver = "k8s-file"\n[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\nruntime = "runc"\n`,
  )
  writeFileSync(
    join(dir, 'storage.conf'),
    `[storage]\ndriver = "overlay"\ngraphroot = "${dir}/graph"\nrunroot = "${dir}/run"\n`,
  )
  const env = { CONTAINERS_CONF: join(dir, 'containers.conf'), CONTAINERS_STORAGE_CONF: join(dir, 'storage.conf') }
  const clients = { env: { ...process.env, ...env } }
  must('podman', ['import', '-q', makeRoot(dir), 'localhost/box:1'], clients)
  must('podman', ['import', '-q', makeRoot(dir, { bare: true }), 'localhost/bare:1'], clients)
  const stop = async () => {
    spawnSync('podman', ['rm', '-af', '-t', '0'], clients)
    // What cleans up behind each container mounts the store once more.
    await until('podman has cleaned up', () => !succeeds('pgrep', ['-f', join(dir, 'graph')]))
    // It leaves its store mounted over itself.
    spawnSync('umount', ['-l', join(dir, 'graph/overlay')])
  }
  return { env, stop }
}

export async function startSlurm(dir) {
  if (!ensurePackages(['slurmctld', 'slurmd', 'munged', 'srun'], ['slurm-wlm', 'munge'])) return null
  const own = daemons(dir)
  const host = hostname().split('.')[0]
  const port = randomPort()
  for (const folder of ['state', 'spool', 'munge']) mkdirSync(join(dir, folder), { recursive: true })
  chmodSync(dir, 0o711)
  writeFileSync(join(dir, 'munge/key'), must('head', ['-c', '96', '/dev/urandom'], { encoding: 'latin1' }), {
    encoding: 'latin1',
    mode: 0o400,
  })
  must('chown', ['-R', 'munge:munge', join(dir, 'munge')])
  own.start('munged', 'runuser', [
    '-u',
    'munge',
    '--',
    'munged',
    '-F',
    '-f',
    ...['key-file', 'socket', 'pid-file', 'log-file', 'seed-file'].map(
      (each) => `--${each}=${dir}/munge/${each === 'key-file' ? 'key' : each}`,
    ),
  ])
  await until('munged listens', () => succeeds('test', ['-S', join(dir, 'munge/socket')]))
  writeFileSync(join(dir, 'slurm.conf'), [
    'ClusterName=test', `SlurmctldHost=${host}(127.0.0.1)`, `SlurmctldPort=${port}`, `SlurmdPort=${port + 1}`, 'SlurmUser=root', 'SlurmdUser=root', 'AuthType=auth/munge',
    `AuthInfo=socket=${dir}/munge/socket`, 'CredType=cred/munge', `StateSaveLocation=${dir}/state`, `SlurmdSpoolDir=${dir}/spool/%n`, `SlurmctldPidFile=${dir}/ctld.pid`,
    `SlurmdPidFile=${dir}/slurmd.pid`, 'ProctrackType=proctrack/cgroup', 'TaskPlugin=task/none', 'SwitchType=switch/none', 'MpiDefault=none', 'ReturnToService=2', 'KillWait=2',
    'SchedulerType=sched/builtin', 'SelectType=select/cons_tres', 'SelectTypeParameters=CR_CPU', 'SlurmdParameters=config_overrides', 'SchedulerParameters=batch_sched_delay=0',
    'JobAcctGatherType=jobacct_gather/none', 'AccountingStorageType=accounting_storage/none', `NodeName=${host} NodeAddr=127.0.0.1 CPUs=64 State=UNKNOWN`,
    'PartitionName=agents Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:100', '',
  ].join('\n')) // prettier-ignore
  const version = succeeds('test', ['-d', '/sys/fs/cgroup/freezer']) ? 'v1' : 'v2'
  writeFileSync(
    join(dir, 'cgroup.conf'),
    `CgroupPlugin=cgroup/${version}\nCgroupMountpoint=/sys/fs/cgroup\nConstrainCores=no\n`,
  )
  const env = { SLURM_CONF: join(dir, 'slurm.conf') }
  own.start('slurmctld', 'slurmctld', ['-D', '-f', env.SLURM_CONF, '-c', '-i'], env)
  own.start('slurmd', 'slurmd', ['-D', '-f', env.SLURM_CONF], env)
  await until('a node is idle', () =>
    spawnSync('sinfo', ['-h', '-o', '%T'], { env: { ...process.env, ...env }, encoding: 'utf8' }).stdout?.includes(
      'idle',
    ),
  )
  return {
    env,
    async stop() {
      const clients = { env: { ...process.env, ...env }, encoding: 'utf8' }
      spawnSync('scancel', ['-u', 'root'], clients)
      await until('the queue is empty', () => spawnSync('squeue', ['-h'], clients).stdout?.trim() === '', 30_000).catch(
        () => {},
      )
      await own.stop()
    },
  }
}

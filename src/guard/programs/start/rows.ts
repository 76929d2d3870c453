/** The wrappers as rows: which options of each take a value, and where the command it runs begins. */
import { nameList } from '../../../contract/quote.js'
import { type OptionSpec, table } from '../row/call.js'

interface Wrapper extends OptionSpec {
  /** Operands in front of the command (`timeout 5`, `chroot DIR`). */
  readonly skip?: number
  /** `NAME=value` words in front of the command set its environment. */
  readonly assigns?: boolean
  /** With one of these options the program only talks about commands or acts on a pid. */
  readonly idle?: readonly string[]
  /** An option whose value is a shell command line. */
  readonly shellOption?: readonly string[]
  /** The remaining words are joined and given to a shell (`watch`, `ssh HOST`). */
  readonly joins?: boolean
}

export const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    short: 'CDghpRrTtuU',
    long: nameList('close-from chdir group host prompt chroot role command-timeout type user other-user'),
    assigns: true,
    idle: ['l', 'v', 'k', 'K', 'V', 'list', 'validate', 'version', 'e', 'edit'],
  },
  doas: { short: 'aCu', idle: ['L'] },
  run0: {
    short: 'ugD',
    long: ['user', 'group', 'chdir', 'unit', 'property', 'description', 'slice', 'setenv', 'nice', 'background'],
  },
  pkexec: { long: ['user'] },
  nice: { short: 'n', long: ['adjustment'] },
  ionice: {
    short: 'cnpPu',
    long: ['class', 'classdata', 'pid', 'pgid', 'uid'],
    idle: ['p', 'P', 'u', 'pid', 'pgid', 'uid'],
  },
  chrt: {
    short: 'TPD',
    long: ['sched-runtime', 'sched-period', 'sched-deadline'],
    skip: 1,
    idle: ['p', 'm', 'pid', 'max'],
  },
  taskset: { skip: 1, idle: ['p', 'pid'] },
  timeout: { short: 'sk', long: ['signal', 'kill-after'], skip: 1 },
  stdbuf: { short: 'ioe', long: ['input', 'output', 'error'] },
  time: { short: 'fo', long: ['format', 'output'] },
  chroot: { long: ['userspec', 'groups'], skip: 1 },
  unshare: {
    short: 'RwSGl',
    long: nameList(`
      root wd setuid setgid propagation map-user map-group map-users map-groups setgroups load-interp monotonic
      boottime
    `),
  },
  nsenter: { short: 'tSG', long: ['target', 'setuid', 'setgid'] },
  setpriv: {
    long: nameList(`
      reuid regid groups ruid euid rgid egid inh-caps ambient-caps bounding-set securebits pdeathsig selinux-label
      apparmor-profile
    `),
  },
  'systemd-run': {
    short: 'pEuHMC',
    long: nameList(`
      property setenv unit host machine description slice service-type uid gid nice working-directory on-active
      on-boot on-startup on-calendar timer-property
    `),
  },
  'systemd-inhibit': { long: ['what', 'who', 'why', 'mode'] },
  'systemd-cat': { short: 'tp', long: ['identifier', 'priority'] },
  'dbus-run-session': { long: ['config-file', 'dbus-daemon'] },
  fakeroot: { short: 'lsibu', long: ['lib', 'faked'] },
  faketime: { skip: 1, short: 'f' },
  proot: { short: 'rbwqkS', long: ['rootfs', 'bind', 'cwd'] },
  strace: { short: 'eopsuEaIOPSUX', long: ['trace', 'output', 'attach'], idle: ['p', 'attach'] },
  ltrace: { short: 'eopsuanlx', idle: ['p'] },
  sops: { skip: 2, joins: true },
  rlwrap: { short: 'aAbcCfhHlLmMnopPqrRsStTVwz' },
  numactl: { short: 'NmiCp', long: ['interleave', 'membind', 'cpunodebind', 'physcpubind', 'preferred'] },
  cpulimit: { short: 'lpe', long: ['limit', 'pid', 'exe'], idle: ['p', 'e', 'pid', 'exe'] },
  cgexec: { short: 'g' },
  prlimit: { short: 'po', long: ['pid', 'output'], idle: ['p', 'pid'] },
  trickle: { short: 'udstLlNn' },
  caffeinate: { short: 'tw' },
  'xvfb-run': { short: 'efnps', long: ['error-file', 'auth-file', 'server-num', 'server-args'] },
  'start-stop-daemon': {
    short: 'xapnuNcgdrkICR',
    long: ['exec', 'pidfile', 'name', 'user', 'chuid', 'chdir', 'chroot', 'group', 'nicelevel'],
    idle: ['K', 'stop', 'status', 'T'],
  },
  daemonize: { short: 'acelopuE' },
  chpst: { short: 'uUbcdfmnopqrt/e' },
  tini: { short: 'pe' },
  choom: { short: 'np', idle: ['p'] },
  uclampset: { short: 'mMp' },
  flatpak: { skip: 99 },
  'aa-exec': { short: 'pnf', long: ['profile', 'namespace', 'file'] },
  runcon: { short: 'utrl', long: ['user', 'type', 'role', 'range'] },
  'ssh-agent': { short: 'aEtP' },
  dotenv: { short: 'fe', long: ['file'] },
  direnv: { skip: 2 },
  watchexec: { short: 'wefd', long: ['watch', 'exts', 'filter', 'ignore', 'delay-run'], joins: true },
  entr: { shellOption: ['s'] },
  autossh: { short: 'M', joins: true, skip: 1 },
  viddy: { short: 'n', joins: true },
  watch: { short: 'nqe', long: ['interval', 'equexit'], joins: true },
  retry: { short: 'tdm' },
  sem: { short: 'j', long: ['id', 'jobs'], joins: true },
  busybox: { idle: ['list', 'list-full', 'install'] },
  coreutils: { long: ['coreutils-prog'] },
  perf: { skip: 1, short: 'eoFcgpt' },
  mpirun: { short: 'nHx', long: ['np', 'host'] },
  srun: { short: 'nNpctJ' },
  ...table(
    nameList(`
      nohup unbuffer setsid fakechroot dbus-launch firejail valgrind torsocks torify tsocks eatmydata nocache chronic
      ifne catchsegv linux32 linux64 i386 x86_64 dumb-init catatonit ts tsp dvtm annotate toybox rosetta arch
      heaptrack git-bash sudoedit
    `),
    {},
  ),
  ...table(nameList('setarch setuidgid su-exec gosu tox samply newgrp'), { skip: 1 }),
  ...table(nameList('gksudo kdesudo'), { short: 'u' }),
  ...table(nameList('proxychains proxychains4'), { short: 'f' }),
}

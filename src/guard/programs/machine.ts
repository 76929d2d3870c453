/** Programs that act on the machine: disks, power, firewall, scheduled jobs, packages. */
import { ANYTHING, plain, UNKNOWN } from '../text.js'
import { isRawDevice, resolvePath } from '../paths.js'
import { basename, type Call, fieldsOf, onlyTalks, options, type Program } from './call.js'
import { SIGNAL_PROGRAMS } from './signals.js'

// --- disks ------------------------------------------------------------------------------------------------------

function namesDevice(call: Call, word: string): boolean {
  return call.shell.cwd.some((cwd) => isRawDevice(resolvePath(word, cwd)))
}

/** Whatever the option letters mean to this mkfs: a word that names a device is formatted, image files are left alone. */
const formats: Program = (call) => {
  const words = call.argv.slice(1)
  if (onlyTalks(words)) return undefined
  const device = words.find((word) => namesDevice(call, word))
  if (device !== undefined) call.walker.report('destroy-device', [basename(call.argv[0] ?? ''), device])
  for (const word of words) if (!word.startsWith('-') && word.includes('/')) call.walker.effect('overwrite', word, call.shell, call.argv)
  return undefined
}

/** Destroys a device only with certain words among its arguments. */
const destroysWith =
  (when: (words: readonly string[], call: Call) => boolean): Program =>
  (call) => {
    const words = call.argv.slice(1)
    const device = words.find((word) => namesDevice(call, word))
    if (device !== undefined && when(words.map(plain), call)) call.walker.report('destroy-device', [basename(call.argv[0] ?? ''), device])
    return undefined
  }

/** Partition editors change the disk when a script or a changing command is given. */
const partitions = destroysWith((words, call) => {
  const name = basename(call.argv[0] ?? '')
  if (
    words.some((word) => /^(-l|--list|-s|--getsz|-d|--dump|-J|--json|-p|--print|-V|--verify|-G|--show.*|--part-.*|-v|--version|-h|--help|print|unit)$/.test(word)) &&
    !words.some((word) => /^(--delete|-Z|--zap.*|-z|-o|--clear|mklabel|rm|mkpart.*)$/.test(word))
  )
    return false
  if (name === 'parted') return words.some((word) => /\b(mklabel|mktable|mkpart|rm|resizepart|rescue|set|mkfs|name)\b/.test(word))
  if (name === 'sgdisk')
    return words.some((word) => /^-(\w*[oZzdnNtGgRlceEjuUAbs]|-(zap.*|clear|delete.*|new.*|largest-new.*|replicate.*|load-backup.*|mbrtogpt|typecode.*|randomize-guids))/.test(word))
  return true
})

const storage: Readonly<Record<string, readonly string[]>> = {
  lvremove: [''],
  vgremove: [''],
  pvremove: [''],
  lvreduce: [''],
  vgreduce: ['--removemissing', '-a', '--all'],
  zpool: ['destroy', 'labelclear'],
  zfs: ['destroy', 'rollback'],
  dmsetup: ['remove_all', 'wipe_table'],
  mdadm: ['--zero-superblock', '--create', '-C'],
  cryptsetup: ['luksFormat', 'luksErase', 'erase', 'luksKillSlot', 'reencrypt', 'luksRemoveKey'],
  nvme: ['format', 'sanitize', 'write-zeroes', 'delete-ns', 'write-uncor', 'dsm'],
  btrfs: ['device', 'subvolume'],
  'ceph-volume': ['zap'],
  vgcfgrestore: [''],
  bcachefs: ['format'],
  multipath: [],
}

const volumes: Program = (call, name) => {
  const words = call.argv.slice(1).map(plain)
  if (onlyTalks(words) || words.includes('--test') || (name.startsWith('lv') && words.includes('-t'))) return undefined
  const verbs = storage[name] ?? []
  const [first, second] = words.filter((word) => !word.startsWith('-'))
  let destroys = verbs.includes('') ? first !== undefined : words.some((word) => verbs.includes(word.replace(/=.*/, '')))
  if (name === 'btrfs')
    destroys =
      (first === 'device' && /^(delete|remove)$/.test(second ?? '')) || (first === 'subvolume' && second === 'delete' && words.slice(2).some((word) => /^\/(@?|home|\.snapshots)?$/.test(word)))
  if (name === 'zfs') destroys = first === 'destroy' && !words.some((word) => /^-\w*n/.test(word)) && !(words.length > 0 && /@/.test(words[words.length - 1] ?? ''))
  if (name === 'zpool' && words.includes('-n')) destroys = false
  if (name === 'nvme' && first === 'dsm') destroys = words.includes('--ad') || words.includes('-d')
  if (destroys) call.walker.report('destroy-device', [name, ...words.slice(0, 4)])
  return undefined
}

const wipefs = destroysWith((words) => words.some((word) => /^(-\w*[ao]\w*|--all|--offset.*)$/.test(word)) && !words.some((word) => /^(-n|--no-act)$/.test(word)))
const hdparm = destroysWith((words) => words.some((word) => /^--(security-erase.*|trim-sector-.*|write-sector|make-bad-sector|dco-restore|security-set-pass|fwdownload|yes-i-know.*)$/.test(word)))
const always = destroysWith(() => true)
const withFlag = (pattern: RegExp): Program => destroysWith((words) => words.some((word) => pattern.test(word)))

// --- power ------------------------------------------------------------------------------------------------------

const power: Program = (call, name) => {
  const words = call.argv.slice(1).map(plain)
  if (words.some((word) => /^(--help|--version|--show|-c|-k|--no-wall-only)$/.test(word))) return undefined
  if ((name === 'reboot' || name === 'halt' || name === 'poweroff') && words.some((word) => word === '-w' || word === '--wtmp-only')) return undefined
  call.walker.report('host-down', [name, ...words.slice(0, 3)])
  return undefined
}

const init: Program = (call, name) => {
  if (/^[0156sS]$/.test(plain(call.argv[1] ?? '')))
    call.walker.report(
      'host-down',
      call.argv.slice(0, 2).map((word, i) => (i === 0 ? name : word)),
    )
  return undefined
}

const POWER_UNITS = /^(poweroff|reboot|halt|kexec|soft-reboot|suspend|hibernate|hybrid-sleep|suspend-then-hibernate|emergency|rescue|exit|switch-root)$/
const POWER_TARGETS = /^(poweroff|reboot|halt|kexec|emergency|rescue|shutdown|runlevel[016])(\.target)?$/
/** Without these a machine is unreachable or has no users. */
const VITAL_UNITS =
  /^(ssh|sshd|dbus|systemd-logind|systemd-journald|systemd-udevd|network|networking|NetworkManager|systemd-networkd|systemd-resolved|getty@tty1|init\.scope|user\.slice|system\.slice)(\.service|\.socket|\.target)?$/

const systemctl: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'tpHMnosP', long: ['type', 'property', 'host', 'machine', 'lines', 'output', 'signal', 'state', 'kill-whom', 'root', 'job-mode'] })
  const [verb = '', ...units] = given.operands.map(plain)
  if (given.has('help', 'version') || given.flags.includes('user') || given.has('dry-run')) return undefined
  if (POWER_UNITS.test(verb)) call.walker.report('host-down', ['systemctl', verb])
  else if (/^(isolate|start|default)$/.test(verb) && (verb === 'default' ? false : units.some((unit) => POWER_TARGETS.test(unit)))) call.walker.report('host-down', ['systemctl', verb, ...units])
  else if (/^(stop|disable|mask|kill)$/.test(verb) && units.some((unit) => VITAL_UNITS.test(unit))) call.walker.report('cut-network', ['systemctl', verb, ...units])
  return undefined
}

const service: Program = (call) => {
  const [unit = '', verb = ''] = call.argv.slice(1).map(plain)
  if (/^(stop|disable)$/.test(verb) && VITAL_UNITS.test(unit)) call.walker.report('cut-network', ['service', unit, verb])
  return undefined
}

const bus: Program = (call) => {
  const text = call.argv.map(plain).join(' ')
  if (/\b(login1|ConsoleKit|systemd1|UPower)\b/.test(text) && /\b(PowerOff|Reboot|Halt|Suspend|Hibernate|KExec|Stop|Restart|SoftReboot|HybridSleep)(WithFlags)?\b/.test(text))
    call.walker.report('host-down', [basename(call.argv[0] ?? ''), 'PowerOff'])
  return undefined
}

const loginctl: Program = (call) => {
  const [verb = '', who = ''] = options(call.argv.slice(1)).operands.map(plain)
  if (POWER_UNITS.test(verb)) call.walker.report('host-down', ['loginctl', verb])
  if (/^(terminate-user|kill-user)$/.test(verb)) call.walker.report('kill-everything', ['loginctl', verb, who])
  return undefined
}

const sysctl: Program = (call) => {
  const text = call.argv.slice(1).map(plain).join(' ')
  if (/kernel\.(sysrq|panic)\b.*=/.test(text) && /kernel\.sysrq=|panic=/.test(text.replaceAll(' ', ''))) return undefined
  return ANYTHING
}

// --- schedule, firewall, network --------------------------------------------------------------------------------

const crontab: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'u' })
  if (given.has('r')) {
    call.walker.report('wipe-cron', call.argv)
    return undefined
  }
  if (given.has('l', 'e', 'T', 'V')) return undefined
  const [file] = given.operands
  const texts = file === '-' || (file === undefined && call.stdin) ? (call.stdin ?? []) : file === undefined ? [] : call.walker.streams.contents(file, call.shell)
  for (const text of texts) {
    if (text.trim() === '') call.walker.report('wipe-cron', call.argv)
    for (const line of text.split('\n')) {
      const job = /^\s*(?:@\w+|(?:\S+\s+){5})(.+)$/.exec(line.replaceAll(UNKNOWN, ''))
      if (job && text !== UNKNOWN) call.walker.tryScript(job[1] ?? '', call.shell)
    }
  }
  return undefined
}

const iptables: Program = (call, name) => {
  const words = call.argv.slice(1).map(plain)
  const at = words.findIndex((word) => word === '-t' || word === '--table')
  const table = at >= 0 ? words[at + 1] : words.find((word) => word.startsWith('--table='))?.slice(8)
  if (table !== undefined && table !== 'filter') return undefined
  const policy = words.findIndex((word) => word === '-P' || word === '--policy')
  if (words.some((word) => /^(-F|--flush|-X|--delete-chain)$/.test(word)) && !words.some((word) => /^[A-Z][A-Z0-9_-]*$/.test(word) && !/^(INPUT|OUTPUT|FORWARD)$/.test(word)))
    call.walker.report('flush-firewall', [name, ...words])
  else if (policy >= 0 && /^(INPUT|OUTPUT)$/.test(words[policy + 1] ?? '') && /^(DROP|REJECT)$/.test(words[policy + 2] ?? '')) call.walker.report('cut-network', [name, ...words])
  return undefined
}

const firewall: Program = (call, name) => {
  const text = call.argv.slice(1).map(plain).join(' ')
  const flushes: Readonly<Record<string, RegExp>> = {
    nft: /\bflush\s+ruleset\b/,
    ipfw: /\bflush\b/,
    pfctl: /(^|\s)-F\s*(all|rules)|(^|\s)-d(\s|$)/,
    ufw: /(^|\s)(reset|disable)\b/,
    'firewall-cmd': /--(reset-to-defaults|panic-on)/,
    ebtables: /(^|\s)(-F|--flush)(\s|$)/,
    ipset: /^(destroy|flush)$/,
    'iptables-restore': /^$/,
  }
  if (name === 'iptables-restore' || name === 'nft') {
    const fed = (call.stdin ?? []).some((input) => (name === 'nft' ? /flush\s+ruleset/.test(input) : input.trim() === '')) || /(^|\s)\/dev\/null(\s|$)/.test(text)
    if (fed) call.walker.report('flush-firewall', [name])
  }
  if (name !== 'iptables-restore' && flushes[name]?.test(text)) call.walker.report('flush-firewall', [name, ...fieldsOf(text)])
  return undefined
}

const PHYSICAL = /^(eth\d+|en\d+|en[opsx]\w+|wl\w+|bond\d+|ib\d+|em\d+|venet\d+|ens\d+|enp\w+|wwan\d+|lo)$/

const ip: Program = (call) => {
  const words = options(call.argv.slice(1), { short: 'n', long: ['netns'] }).operands.map(plain)
  const text = words.join(' ')
  if (call.argv.some((arg) => arg === '-n' || arg === 'netns')) return undefined
  if (/^(l|link) (s|set)\b/.test(text) && / down\b/.test(text) && words.some((word) => PHYSICAL.test(word))) call.walker.report('cut-network', ['ip', ...words])
  if (/^(l|link) (d|del|delete)\b/.test(text) && words.some((word) => PHYSICAL.test(word))) call.walker.report('cut-network', ['ip', ...words])
  if (/^(a|addr|address) (f|flush)\b/.test(text) && words.some((word) => PHYSICAL.test(word))) call.walker.report('cut-network', ['ip', ...words])
  if (/^(r|route) (f|flush)\b/.test(text) || /^(r|route) (d|del|delete) default\b/.test(text)) call.walker.report('cut-network', ['ip', ...words])
  return undefined
}

const network: Program = (call, name) => {
  const words = call.argv.slice(1).map(plain)
  const text = words.join(' ')
  const down =
    (name === 'ifconfig' && words.includes('down') && words.some((word) => PHYSICAL.test(word))) ||
    (name === 'ifdown' && words.some((word) => PHYSICAL.test(word) || word === '-a' || word === '--all')) ||
    (name === 'nmcli' && (/\b(n|net|networking)\b.*\boff\b/.test(text) || /\br(adio)?\b.*\boff\b/.test(text) || /\bd(ev(ice)?)?\b.*\b(disconnect|delete|down)\b/.test(text))) ||
    (name === 'rfkill' && /\bblock all\b/.test(text)) ||
    (name === 'route' && /\b(del|delete)\b.*\bdefault\b|\bflush\b/.test(text)) ||
    (name === 'networkctl' && /\bdown\b/.test(text) && words.some((word) => PHYSICAL.test(word)))
  if (down) call.walker.report('cut-network', [name, ...words])
  return undefined
}

// --- packages and accounts --------------------------------------------------------------------------------------

const ESSENTIAL_PACKAGE =
  /^(libc6|libc-bin|libc|glibc(-common)?|musl|libgcc(-s1)?|bash|dash|coreutils|util-linux|systemd(-sysv)?|init|dpkg|apt|rpm|dnf|yum|pacman|apk-tools|busybox|base-files|base-passwd|login|passwd|shadow(-utils)?|sudo|mount|grub.*|linux-image.*|kernel(-core|-modules)?|linux|linux-base|linux-generic|openssh-server|filesystem|setup|perl-base|zlib1g|libpam.*|pam|e2fsprogs|kmod|udev|dbus|sysvinit.*|network-manager|NetworkManager|tar|gzip|debianutils|sed|grep|findutils|initramfs-tools|alpine-base|alpine-baselayout|base|libstdc\+\+6?|ld-linux.*|python3-minimal)(:\w+)?$/

const packages: Program = (call, name) => {
  const words = call.argv.slice(1).map(plain)
  const simulated = words.some((word) => /^(-s|--simulate|--just-print|--dry-run|--recon|--no-act|-p|--print|--test|--assumeno|-d|--download-only)$/.test(word))
  const removes: Readonly<Record<string, RegExp>> = {
    apt: /^(remove|purge|autoremove)$/,
    'apt-get': /^(remove|purge|autoremove)$/,
    aptitude: /^(remove|purge)$/,
    dpkg: /^(-r|-P|--remove|--purge)$/,
    rpm: /^(-e\w*|--erase)$/,
    dnf: /^(remove|erase|autoremove)$/,
    yum: /^(remove|erase|autoremove)$/,
    microdnf: /^remove$/,
    zypper: /^(remove|rm)$/,
    pacman: /^-R\w*$|^--remove$/,
    apk: /^del$/,
    'nix-env': /^(-e|--uninstall)$/,
    emerge: /^(-C|--unmerge)$/,
    snap: /^remove$/,
    xbps: /^-R/,
    opkg: /^remove$/,
  }
  if (simulated && !(name === 'pacman' && words.includes('-d'))) return undefined
  const pattern = removes[name]
  const hit = pattern && words.some((word) => pattern.test(word)) ? words.find((word) => ESSENTIAL_PACKAGE.test(word) || word === '*' || word === '.*') : undefined
  if (hit !== undefined) call.walker.report('remove-essential-package', [name, ...words])
  return undefined
}

const userdel: Program = (call, name) => {
  const user = options(call.argv.slice(1), { short: 'RZ' }).operands.map(plain)[0]
  if (user === 'root' || (user !== undefined && user === call.shell.get('USER').values[0])) call.walker.report('wipe-home', [name, ...call.argv.slice(1)])
  return undefined
}

const grub: Program = () => undefined

/** efibootmgr -B removes a boot entry. */
const efibootmgr: Program = (call) => {
  if (call.argv.slice(1).some((word) => /^-\w*[BO]|^--delete-boot/.test(word))) call.walker.report('overwrite-critical', call.argv)
  return undefined
}

const kexec: Program = (call) => {
  if (call.argv.slice(1).some((word) => /^(-e|--exec|-f|--force)$/.test(word))) call.walker.report('host-down', call.argv)
  return undefined
}

function table(names: string, program: Program): Record<string, Program> {
  return Object.fromEntries(names.split(' ').map((name) => [name, program]))
}

export const MACHINE_PROGRAMS: Readonly<Record<string, Program>> = {
  ...table(
    'mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.msdos mkfs.ntfs mkfs.f2fs mkfs.exfat mkfs.jfs mkfs.minix mkfs.bfs mkfs.cramfs mkfs.reiserfs mkfs.nilfs2 mkfs.udf mkfs.zfs mkfs.erofs mkfs.bcachefs mkfs.ubifs mke2fs mkdosfs mkntfs mkexfatfs mkudffs mkreiserfs newfs newfs_msdos',
    formats,
  ),
  mkswap: formats,
  swapoff: () => undefined,
  wipefs,
  ...table('blkdiscard', always),
  ...table('fdisk sfdisk cfdisk gdisk cgdisk sgdisk parted', partitions),
  hdparm,
  badblocks: withFlag(/^-\w*[wn]/),
  sg_format: always,
  sg_sanitize: always,
  sg_unmap: always,
  xfs_repair: withFlag(/^-\w*L/),
  flashrom: withFlag(/^(-w|-E|--write.*|--erase)/),
  flash_erase: always,
  flash_eraseall: always,
  nandwrite: always,
  mtd: always,
  ubiformat: always,
  raw: always,
  partprobe: () => undefined,
  tune2fs: withFlag(/^-U|^-O/),
  resize2fs: () => undefined,
  debugfs: withFlag(/^-\w*w/),
  diskutil: (call) => {
    if (
      /^(erase\w*|zeroDisk|randomDisk|secureErase|partitionDisk|reformat|apfs|deleteContainer)$/i.test(plain(call.argv[1] ?? '')) &&
      call.argv.slice(1).some((word) => /^(\/dev\/)?r?disk\d|^delete/.test(word))
    )
      call.walker.report('destroy-device', call.argv)
    return undefined
  },
  ...table(Object.keys(storage).join(' '), volumes),
  ...table('shutdown reboot halt poweroff', power),
  ...table('init telinit', init),
  systemctl,
  service,
  'rc-service': service,
  ...table('dbus-send busctl gdbus qdbus', bus),
  loginctl,
  sysctl,
  ...SIGNAL_PROGRAMS,
  crontab,
  ...table('iptables ip6tables iptables-legacy iptables-nft', iptables),
  ...table('nft ipfw pfctl ufw firewall-cmd ebtables ipset iptables-restore', firewall),
  ip,
  ...table('ifconfig ifdown nmcli rfkill route networkctl', network),
  ...table('apt apt-get aptitude dpkg rpm dnf yum microdnf zypper pacman apk nix-env emerge snap opkg', packages),
  ...table('userdel deluser', userdel),
  efibootmgr,
  kexec,
  'grub-install': grub,
}

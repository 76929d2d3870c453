/** Programs that act on the machine: all of them by name, and scheduled jobs, packages, accounts and boot entries. */
import { nameList } from '../../contract/quote.js'
import { plain, readable, TREE, UNKNOWN } from '../words/text.js'
import { ACCOUNT_PROGRAMS } from './machine/accounts.js'
import { fieldsOf, options, type Program, reportsOn, table } from './row/call.js'
import { cronJobs } from './machine/cron.js'
import { DISK_PROGRAMS } from './machine/disks.js'
import { NETWORK_PROGRAMS } from './machine/network.js'
import { POWER_PROGRAMS } from './machine/power.js'
import { SIGNAL_PROGRAMS } from './machine/signals.js'

const crontab: Program = (call) => {
  const given = options(call.args, { short: 'u' })
  if (given.has('r')) return call.report('wipe-cron')
  if (given.has('l', 'e', 'T', 'V')) return
  const [file] = given.operands
  const texts = file === undefined || file === '-' ? (call.stdin ?? []) : call.contents(file)
  if (texts.length > 0 && texts.every((text) => text.trim() === '')) call.report('wipe-cron')
  for (const text of texts) {
    if (text === UNKNOWN) continue
    for (const job of cronJobs(text.replaceAll(UNKNOWN, ''), false)) call.tryScript(job)
  }
}

const ESSENTIAL_PACKAGE =
  /^(libc6|libc-bin|libc|glibc(-common|-solibs)?|musl|libgcc(-s1)?|bash|dash|coreutils|util-linux|systemd(-sysv)?|init|dpkg|apt|rpm|dnf|yum|pacman|busybox|base-files|base-passwd|login|passwd|shadow(-utils)?|sudo|mount|grub(?!-legacy).*|\^?linux-image(?:\.?\*)?(?:-(?:amd64|arm64|generic|virtual|cloud\S*|\*))?|kernel(-core|-modules|-?\*)?|linux|linux-base|linux-generic|openssh-server|filesystem|setup|perl-base|zlib1g|libpam.*|pam|e2fsprogs|kmod|udev|dbus|sysvinit.*|network-manager|NetworkManager|tar|gzip|debianutils|sed|grep|findutils|initramfs-tools|base(?:-system)?|aaa_base|aaa_glibc-solibs|@system|@world|libstdc\+\+6?|ld-linux.*|python3-minimal)(:\w+)?$/

/** Alpine's own: what else a system runs with is in busybox, and apk keeps what another package needs. */
const ESSENTIAL_TO_ALPINE =
  /^(?:musl|busybox|apk-tools|alpine-base|alpine-baselayout\S*|alpine-keys|openrc|linux-(?:lts|virt|rpi\S*))$/

/** Headers and manuals: nothing runs with them. */
const FOR_BUILDS = /-(?:dev|devel|doc|dbg)(?::\w+)?$/

/** What installs packages elsewhere is a program like others on Debian. */
const OF_OTHERS = /^(?:rpm|dnf|yum)$/

/** Words with which a package manager takes packages away; /./ for one that does nothing else. */
const REMOVES: Readonly<Record<string, RegExp>> = {
  ...table(nameList('apt apt-get'), /^(remove|purge|autoremove)$/),
  aptitude: /^(remove|purge)$/,
  dpkg: /^(-r|-P|--remove|--purge)$/,
  rpm: /^(-e\w*|--erase)$/,
  ...table(nameList('dnf yum'), /^(remove|erase|autoremove)$/),
  ...table(nameList('microdnf snap opkg slackpkg'), /^remove$/),
  ...table(nameList('zypper eopkg'), /^(remove|rm)$/),
  pacman: /^-R\w*$|^--remove$/,
  apk: /^del$/,
  'nix-env': /^(-e|--uninstall)$/,
  emerge: /^(-\w*C|--unmerge)$/,
  pkg: /^(delete|remove)$/,
  swupd: /^bundle-remove$/,
  'rpm-ostree': /^(uninstall|override)$/,
  tdnf: /^(remove|erase)$/,
  equo: /^(remove|rm|unmerge)$/,
  ...table(nameList('xbps-remove urpme removepkg pkg_delete'), /./),
}

const packages: Program = (call, name) => {
  const listed = call.argv.includes('-') ? (call.stdin ?? []).flatMap(fieldsOf) : []
  const words = [...call.args, ...listed].map(plain)
  const simulated = words.some((word) =>
    /^(-s|--simulate|--just-print|--dry-run|--recon|--no-act|-p|--print|--test|--assumeno|-d|--download-only)$/.test(
      word,
    ),
  )
  if (simulated && !(name === 'pacman' && words.includes('-d'))) return
  // The packages of another root: an image that is being built.
  if (/(?:^| )--(?:root|installroot|sysroot|instdir)[= ](?!\/+(?: |$))\S/.test(words.join(' '))) return
  const pattern = REMOVES[name]
  const verb = pattern && words.find((word) => pattern.test(word))
  const ofDebian = /^(?:apt|apt-get|aptitude|dpkg)$/.test(name)
  const essential = name === 'apk' ? ESSENTIAL_TO_ALPINE : ESSENTIAL_PACKAGE
  // `yum swap -- remove A -- install B`: B comes.
  const named = words
    .join(' ')
    .replace(/^((?:-\S+ )*swap -- .*) -- install .*/, '$1')
    .split(' ')
  const hit = named.find(
    (word) =>
      (essential.test(word.replace(/^[\w-]+\//, '')) &&
        !FOR_BUILDS.test(word) &&
        !(ofDebian && OF_OTHERS.test(word))) ||
      EVERY_PACKAGE.test(word) ||
      (name === 'pkg' && /^-\w*a|^--all$|^pkg$/.test(word)),
  )
  if (verb !== undefined && hit !== undefined) call.report('remove-essential-package', [name, verb, readable(hit)])
  // `echo libc6 deinstall | dpkg --set-selections`: the next upgrade takes it away.
  const marked = words.includes('--set-selections') ? (call.stdin ?? []).flatMap((text) => text.split('\n')) : []
  for (const line of marked)
    if (/\s(?:deinstall|purge)\s*$/.test(line) && ESSENTIAL_PACKAGE.test(fieldsOf(line)[0] ?? ''))
      call.report('remove-essential-package', [name, '--set-selections', readable(line)])
  // The files of a package, and every directory in which it has one.
  if (
    /^(?:dpkg|rpm|dpkg-query|pacman|apk)$/.test(name) &&
    words.some((word) => /^(?:-L|--listfiles|-q\w*l\w*|--list|-Q\w*l\w*|--contents)$/.test(word))
  )
    if (words.some((word) => !word.startsWith('-')) || words.some((word) => /^-q\w*a/.test(word)))
      return [`/usr\n/etc\n${words.some((word) => ESSENTIAL_PACKAGE.test(word)) ? '/bin/bash\n' : ''}`]
  return LISTS_ALL[name]?.test(words.join(' ')) ? [`${TREE}\n`] : undefined
}

/** Words that mean all that is installed. */
const EVERY_PACKAGE = new RegExp(`^(?:\\^?(?:lib)?\\.?\\*|~i|\\?installed|os-core)$|${TREE}`)

/** What makes a package manager print every package that is installed. */
const LISTS_ALL: Readonly<Record<string, RegExp>> = {
  rpm: /^-qa$/,
  pacman: /^-Qq?$/,
  dpkg: /^(?:-l|--list|--get-selections)$/,
  'dpkg-query': /^(?:-W|--show|-l|--list)(?: -f.*| --showformat.*)?$|^-f.* (?:-W|--show)$/,
  apt: /^list --installed$/,
  apk: /^info$/,
}

/** `update-initramfs -d -k all` leaves nothing to boot with. */
const initramfs: Program = (call) => {
  const given = options(call.args, { short: 'kb' })
  if (given.has('d') && given.get('k') === 'all') call.report('overwrite-critical')
}

/** Drivers of the disks that a machine runs from, and of its only network. */
const DISK_DRIVER =
  /^(?:nvme(?:_core)?|ahci|sd_mod|scsi_mod|libata|ata_piix|virtio(?:_blk|_scsi|_pci)?|mmc_block|dm_mod|xen_blkfront|hv_storvsc|megaraid_sas|mpt3sas)$/
const NETWORK_DRIVER =
  /^(?:virtio_net|e1000e?|igb|ixgbe|i40e|ice|r8169|tg3|bnx2x?|mlx[45]_core|ena|vmxnet3|hv_netvsc|xen_netfront)$/

const modules: Program = (call, name) => {
  const given = options(call.args, { short: 'Cd', long: ['config', 'dirname', 'set-version'] })
  if (given.has('n', 'dry-run', 'show') || (name === 'modprobe' && !given.has('r', 'remove'))) return
  const named = given.operands.map((word) => plain(word).replaceAll('-', '_'))
  if (named.some((module) => DISK_DRIVER.test(module))) call.report('host-down')
  else if (named.some((module) => NETWORK_DRIVER.test(module))) call.report('cut-network')
}

/** Lines of tmpfiles.d that take something away, and `--purge`, which takes what every line has made: also /home. */
const tmpfiles: Program = (call) => {
  const given = options(call.args, { long: ['prefix', 'exclude-prefix', 'root', 'image', 'replace'] })
  if (given.has('dry-run') || given.get('root', 'image') !== undefined) return
  if (given.has('purge') && given.operands.length === 0) call.report('wipe-home')
  if (!given.has('remove', 'purge')) return
  const written = [...call.shell.files].flatMap(([path, texts]) => (path.includes('/tmpfiles.d/') ? texts : []))
  const named = given.operands.flatMap((file) => (file === '-' ? (call.stdin ?? []) : call.contents(file)))
  for (const [, path = ''] of [...named, ...written].join('\n').matchAll(/^\s*[rRD][!+=~^$-]*\s+(\/\S*)/gm))
    call.effect('delete-tree', path)
}

export const MACHINE_PROGRAMS: Readonly<Record<string, Program>> = {
  ...DISK_PROGRAMS,
  ...POWER_PROGRAMS,
  ...SIGNAL_PROGRAMS,
  crontab,
  ...NETWORK_PROGRAMS,
  ...table([...Object.keys(REMOVES), 'dpkg-query'], packages),
  ...ACCOUNT_PROGRAMS,
  bootctl: reportsOn('overwrite-critical', /^remove$/),
  efibootmgr: reportsOn('overwrite-critical', /^-\w*[BO]|^--delete-boot/),
  kexec: reportsOn('host-down', /^(-e|--exec|-f|--force)$/),
  'systemd-tmpfiles': tmpfiles,
  ...table(['modprobe', 'rmmod'], modules),
  'grub-install': () => {},
  'update-initramfs': initramfs,
}

/** Resolves folded paths against a directory and says which part of the machine they name. */
import { isInside } from '../../contract/names/inside.js'
import { nameList, nameSet } from '../../contract/quote.js'
import { globMatches, isBroad } from './glob.js'
import { FAILED, hasUnknown, hasWildcard, plain, SELECTED, TREE, UNKNOWN } from './text.js'

/** Makes a path absolute and tidy. A path that begins with something unknown stays as it is. */
export function resolvePath(path: string, cwd: string): string {
  if (path === '') return ''
  const stays = path.startsWith('/') || path.startsWith(UNKNOWN) || path.startsWith(FAILED)
  const absolute = stays ? path : `${cwd}/${path}`
  if (!absolute.startsWith('/')) return absolute
  return followProc(normalise(absolute), cwd)
}

function normalise(path: string): string {
  const kept: string[] = []
  for (const component of path.split('/')) {
    if (component === '' || component === '.') continue
    if (component === '..') kept.pop()
    else if (component === TREE && kept.length > 0) kept.push((kept.pop() ?? '') + TREE)
    else kept.push(component)
  }
  return `/${kept.join('/')}`
}

/** `/proc/PID/root` is the root directory again, `/proc/PID/cwd` the current one. */
function followProc(path: string, cwd: string): string {
  const inside = /^\/proc\/(?:self|thread-self|\d+|\uFDD0|\uFDD1)(?:\/task\/[^/]+)?\/(root|cwd)(\/.*|\uFDD5)?$/.exec(
    path,
  )
  if (!inside) return path
  const root = inside[1] === 'root' || path.startsWith('/proc/1/')
  return resolvePath(`${root ? '' : cwd}/${inside[2] ?? ''}`, '/')
}

export type Place = 'root' | 'system' | 'home' | 'critical-file' | 'device' | 'kernel-switch'

export interface Located {
  readonly place: Place
  /** The directory or file that would be hit, for people. */
  readonly shown: string
  /** True when the words name everything inside it (`/etc/*`) rather than the thing itself. */
  readonly contents: boolean
}

/**
 * Directories without which the machine or its users lose everything; removing, moving or re-owning one is never meant.
 */
const SYSTEM_DIRECTORIES = nameList(`
  /bin /sbin /lib /lib32 /lib64 /libx32 /usr /etc /var /boot /home /root /dev /proc /sys /run /opt /srv /mnt /media
  /snap /nix /efi /lost+found /selinux /System /Library /Applications /Users /Volumes /private
  /private/etc /private/var
  /cores
  /usr/bin /usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libx32 /usr/libexec /usr/share /usr/include /usr/local
  /usr/etc /usr/local/bin /usr/local/sbin /usr/local/lib /usr/local/share /usr/local/etc /usr/local/include
  /usr/lib/x86_64-linux-gnu /usr/lib/aarch64-linux-gnu /usr/lib/arm-linux-gnueabihf /usr/lib/i386-linux-gnu
  /usr/lib/systemd /usr/lib/modules /usr/lib/firmware /usr/lib/grub /usr/lib/apt /usr/lib/dpkg /usr/lib/ssl
  /usr/lib/gcc /usr/lib/openssh /usr/lib/sudo /usr/lib/security /usr/lib/python3 /usr/lib/python3/dist-packages
  /usr/share/zoneinfo /usr/share/ca-certificates
  /var/lib /var/lib/dpkg /var/lib/rpm /var/lib/pacman /var/lib/systemd /var/lib/mysql /var/lib/postgresql
  /var/lib/docker /var/lib/containerd /var/lib/kubelet /var/lib/etcd /var/lib/mongodb /var/lib/redis /var/lib/libvirt
  /var/lib/pgsql /var/spool /var/spool/cron /var/spool/cron/crontabs /var/mail /var/spool/mail /var/www /var/backups
  /var/log /var/db /var/run /var/empty
  /boot/efi /boot/EFI /boot/grub /boot/grub2 /boot/loader /boot/efi/EFI
  /etc/ssh /etc/pam.d /etc/systemd /etc/systemd/system /etc/ssl /etc/init.d /etc/security /etc/sudoers.d /etc/apt
  /etc/default /etc/network /etc/netplan /etc/NetworkManager /etc/alternatives /etc/ld.so.conf.d /etc/profile.d
  /etc/rc.d /etc/selinux /etc/kubernetes /etc/pki /etc/ca-certificates /etc/cron.d /etc/cron.daily
  /etc/modprobe.d /etc/dpkg /etc/yum.repos.d /etc/grub.d /etc/iptables /etc/polkit-1 /etc/X11 /etc/udev /etc/lvm
  /etc/cryptsetup-initramfs
  /sys/firmware /sys/firmware/efi /sys/firmware/efi/efivars
  /run/systemd
  /dev/disk /dev/mapper /dev/pts
  /proc/sys
`)

/** The version of the kernel that runs: `uname -r`. */
export const RUNNING = `${UNKNOWN}running`

/** Files that a running system reads to let users in, or to boot. */
const CRITICAL_FILES = nameList(`
  /etc/passwd /etc/shadow /etc/group /etc/gshadow /etc/sudoers /etc/fstab /etc/crypttab /etc/inittab
  /etc/nologin /run/nologin /etc/nsswitch.conf /etc/login.defs /etc/ld.so.preload /etc/ssh/sshd_config
  /etc/default/grub /etc/pam.conf /etc/securetty /etc/profile /etc/bash.bashrc /etc/crontab
  /etc/master.passwd /etc/opasswd /etc/pam.d/common-auth /etc/pam.d/sudo /etc/pam.d/login
  /etc/pam.d/su /etc/pam.d/sshd /etc/pam.d/system-auth /etc/pam.d/common-account /etc/pam.d/common-password
  /lib/x86_64-linux-gnu/libc.so.6 /lib/aarch64-linux-gnu/libc.so.6
  /lib64/ld-linux-x86-64.so.2
  /lib/ld-linux-aarch64.so.1 /lib/ld-musl-x86_64.so.1
  /lib64/libc.so.6
  /lib/ld-linux.so.2 /lib/systemd/systemd /lib/libc.so.6 /lib/x86_64-linux-gnu/ld-linux-x86-64.so.2
  /lib/x86_64-linux-gnu/libpam.so.0
  /var/lib/dpkg/status /var/lib/rpm/Packages /var/lib/rpm/rpmdb.sqlite
  /vmlinuz /initrd.img /init
`)

/** Programs without which nothing can be repaired; in /bin, /sbin and their twins below /usr. */
const ESSENTIAL_PROGRAMS = nameSet(`
  python3 perl bash sh dash zsh busybox toybox ls cp mv rm cat ln mkdir chmod chown mount umount sudo su login passwd
  init systemd systemctl systemd-udevd udevadm env id sed grep ps kill tar gzip dpkg apt apt-get rpm dnf yum pacman
  apk agetty getty sshd ssh ldconfig ip modprobe insmod fsck mkfs fdisk dd shutdown reboot halt poweroff journalctl
  find date stty useradd usermod visudo pkexec doas sulogin switch_root grub-install update-initramfs
`)
const PROGRAM_DIRECTORY = /^\/(?:bin|sbin|usr\/local\/sbin)\/([^/]+)$/

const SAFE_DEVICE =
  /^\/dev\/(?:null|zero|full|u?random|stdin|stdout|stderr|tty[^/]*|console|ptmx|fuse|kvm|loop[^/]*|loop-control|log|rtc\d*|vhost[^/]*|hwrng|video\d+|tun|pty[^/]*|(?:pts|pty|fd|shm|tcp|udp|net|snd|dri|input|bus|char|mqueue|hugepages|vfio|serial|usb|virtio-ports|cpu|cpuctl|cpuset|cgroup)(?:\/.*)?)$/
const RAW_DEVICE =
  /^\/dev\/(?:[shv]d[a-z*?\[\uFDD0-\uFDD8][^/]*|xvd[^/]*|(?:a?da|vtbd|nda)\d+[^/]*|nvme[^/]*|mmcblk[^/]*|disk(?:\d[^/]*|\/.*)|rdisk\d[^/]*|mapper\/(?!\uFDD0$).*|dm-[^/]*|md\/?[^/]*|bcache[^/]*|nbd[^/]*|zd\d[^/]*|zvol\/.*|ram\d[^/]*|pmem[^/]*|dax[^/]*|mtd[^/]*|ubi[^/]*|sr\d+|sg\d+|fd\d+|cciss\/.*|vg[^/]*\/.*|[^/]*vg[^/]*\/.*|ubuntu-vg\/.*|root|mem|kmem|port|nvram|block\/.*|cdrom|dasd[^/]*|drbd[^/]*|rbd[^/]*|sda|tpm\d*)$/

/** True for a block device, a raw disk or memory: writing there destroys without asking any file system. */
export function isRawDevice(path: string): boolean {
  if (!path.startsWith('/dev/') || SAFE_DEVICE.test(path)) return false
  if (RAW_DEVICE.test(path)) return true
  const rest = path.slice('/dev/'.length)
  // Something under /dev that is not known here: a volume group (`/dev/data/root`), or `/dev/$DISK`.
  return /^[\uFDD0-\uFDD8]/.test(rest) || hasWildcard(rest) || /^[\w.-]+\/[\w.-]+$/.test(rest)
}

const KERNEL_SWITCHES =
  /^\/proc\/(?:sysrq-trigger|sys\/kernel\/sysrq|kcore|kmsg|mtrr)$|^\/sys\/(?:power\/state|firmware\/efi\/efivars\/.*|kernel\/(?:security|reboot|kexec)[^/]*(?:\/.*)?|(?:class\/)?block\/.*\/device\/(?:delete|state)|fs\/selinux\/enforce|bus\/.*\/remove|bus\/\w+\/drivers\/(?:ahci|nvme|sd|virtio[^/]*)\/unbind|class\/scsi_(?:host|device)\/.*\/(?:delete|state|host_reset))$/

/** `/bin` and `/usr/bin` are one directory on today's systems; names are compared in the short form. */
function usrMerged(path: string): string {
  return path
    .replace(/^\/usr\/(bin|sbin|lib|lib32|lib64|libx32)(?=\/|$|\uFDD5)/, '/$1')
    .replace(/^\/var\/run(?=\/|$)/, '/run')
}

const SYSTEM = new Set(SYSTEM_DIRECTORIES.map(usrMerged))
const SYSTEM_PARTS = [...SYSTEM].map((path) => path.split('/').slice(1))
const FILES = new Set<string>(CRITICAL_FILES.map(usrMerged))
const FILE_PARTS = [...FILES].map((path) => path.split('/').slice(1))

/** Below /boot, what no boot reads: symbols, settings of a build, copies set aside, own overlays, an empty image. */
const BESIDE_BOOT =
  /[^/](?:\.(?:bak|backup|old|orig|save|tmp|new|dtbo)|~)(?:\/[^/]*)?$|^\/boot\/(?:(?:overlay-user|ignition)(?:[./]|$)|(?:System\.map|config)-[^/]*(?:\/[^/]*)?$|(?:whitespace|EMPTY|zerofile)$)/

/** The dangerous place an absolute folded path names, if any. `homes` are the user's home directories. */
export function locate(path: string, homes: readonly string[]): Located | undefined {
  if (!path.startsWith('/') || path.includes(SELECTED)) return undefined
  const tree = path.endsWith(TREE)
  let parts = usrMerged(tree ? path.slice(0, -1) : path)
    .split('/')
    .filter((part) => part !== '')
  let contents = tree
  while (parts.length > 0 && isBroad(parts[parts.length - 1] ?? '')) {
    parts = parts.slice(0, -1)
    contents = true
  }
  const bare = `/${parts.join('/')}`
  const shown = plain(bare).replaceAll(UNKNOWN, '…')
  if (parts.length === 0) return { place: 'root', shown: '/', contents }
  if (parts.length === 1 && /^[\uFDD1\uFDD2]+$/.test(parts[0] ?? '')) return { place: 'root', shown, contents: true }
  if (parts.length === 1 && parts[0] === UNKNOWN) return { place: 'root', shown: '/…', contents }
  if (KERNEL_SWITCHES.test(bare)) return { place: 'kernel-switch', shown, contents }
  if (isRawDevice(bare)) return { place: 'device', shown, contents }
  if (homes.some((home) => isHome(bare, home))) return { place: 'home', shown, contents }
  if (/^\/(home|Users)\/(?!linuxbrew$)[^/.][^/]*$/.test(bare)) return { place: 'home', shown, contents }
  if (SYSTEM.has(bare) || (hasWildcard(bare) && SYSTEM_PARTS.some((known) => matches(parts, known))))
    return { place: 'system', shown, contents }
  if (bare === `/lib/modules/${RUNNING}`) return { place: 'system', shown, contents }
  if (bare.startsWith('/boot/') && !BESIDE_BOOT.test(bare)) return { place: 'critical-file', shown, contents }
  if (FILES.has(bare) || (hasWildcard(bare) && FILE_PARTS.some((known) => matches(parts, known))))
    return { place: 'critical-file', shown, contents }
  const program = PROGRAM_DIRECTORY.exec(bare)
  if (
    program &&
    (ESSENTIAL_PROGRAMS.has(program[1] ?? '') ||
      (hasWildcard(bare) && [...ESSENTIAL_PROGRAMS].some((name) => globMatches(program[1] ?? '', name))))
  )
    return { place: 'critical-file', shown, contents }
  return undefined
}

/** A home below it is one of a test: it lives no longer than what else is there. */
const TEMPORARY = /^(?:\/private)?(?:\/var)?\/tmp$/

function isHome(path: string, home: string): boolean {
  if (home === '' || home === '/') return false
  return (
    path === home ||
    (home.startsWith(`${path}/`) && !TEMPORARY.test(path)) ||
    (hasWildcard(path) && matches(path.split('/').slice(1), home.split('/').slice(1)))
  )
}

function matches(pattern: readonly string[], known: readonly string[]): boolean {
  return (
    pattern.length === known.length &&
    pattern.every(
      (part, i) =>
        part === known[i] ||
        (hasWildcard(part) &&
          !hasUnknown(part) &&
          globMatches(part, known[i] ?? '') &&
          !(known[i] ?? '').startsWith('.')),
    )
  )
}

/** Files the system needs that lie below a directory and whose name a pattern matches. */
export function criticalBelow(start: string, pattern: string): string[] {
  return start.startsWith('/')
    ? CRITICAL_FILES.filter(
        (file) =>
          (isInside(file, normalise(start)) || isInside(`/usr${file}`, normalise(start))) &&
          globMatches(pattern, file.slice(file.lastIndexOf('/') + 1)),
      )
    : []
}

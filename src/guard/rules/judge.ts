/** Decides whether an effect on a path is a catastrophe. One small table of places against kinds of effect. */
import { nameList } from '../../contract/quote.js'
import type { RuleName } from './catastrophe.js'
import type { Effect, EffectKind } from './findings.js'
import { isInside } from '../../contract/names/inside.js'
import { type Located, locate } from '../words/paths.js'
import { ASIDE, AT_HOME, EMPTY, TREE } from '../words/text.js'

export interface Judged {
  readonly rule: RuleName
  readonly shown: string
}

export interface Around {
  /** The user's own homes. */
  readonly homes: readonly string[]
  /** False when the disk says that there is no such thing. */
  mayExist(path: string): boolean
  /** The path supposes that a variable is empty. */
  readonly guessed: boolean
}

export function judgeEffect(effect: Effect, { homes, mayExist, guessed }: Around): Judged | undefined {
  const located = locate(effect.path, homes)
  if (!located) return missedDevice(effect, guessed) ?? sensitiveHomePath(effect, homes)
  const kind = spread(effect)
  // Another user's home is one where a person has lived; a pattern that misses the own home picks something else out.
  const { shown, contents } = located
  if (located.place === 'home' && !homes.some((home) => isInside(home, shown)) && shown !== '/root')
    if (/[*?[…]/.test(shown) || !LIVED_IN.some((name) => mayExist(`${shown}${name}`))) return undefined
  if (guessed && isFarFetched(kind, located, effect, homes)) return undefined
  // A new kernel or loader comes beside the others, and so does what has a name that is not known.
  if (kind === 'overwrite' && effect.mode !== EMPTY && shown.startsWith('/boot/') && !contents)
    if (shown.includes('…') || !(/[*?[]/.test(shown) || mayExist(shown))) return undefined
  const rule = ruleFor(kind, located, effect)
  return rule && { rule, shown: located.shown }
}

/**
 * Where a variable may be empty, a pattern or another owner is no sign of harm that is meant; the root itself cannot
 * be moved, and one name in it is another one than the script means.
 */
function isFarFetched(
  kind: EffectKind,
  { place, shown, contents }: Located,
  { mode = '' }: Effect,
  homes: readonly string[],
): boolean {
  if (place === 'home' && /^\/home\/./.test(shown) && !homes.includes(shown)) return true
  if (/^\/[^/]*[*?[…]/.test(shown) || (kind === 'delete' && place === 'critical-file')) return true
  if (kind === 'move' && MAY_GO.test(shown)) return true
  if (/^(?:mode|owner)/.test(kind) && !isExtreme(mode)) return true
  if (/^(?:overwrite|replace|edit)$/.test(kind) && mode !== EMPTY) return true
  return !contents && (kind === 'mode' || (kind === 'move' && (place === 'root' || shown === '/home')))
}

/** What a login leaves in a home: without any of it, `/home/www` is a directory like others. */
const LIVED_IN = nameList('/.profile /.bashrc /.bash_history /.zshrc /.ssh /.config /.cache /.local /Library')

/** An effect on each of "everything below" is an effect on the tree. */
function spread(effect: Effect): EffectKind {
  if (!effect.path.endsWith(TREE)) return effect.kind
  if (effect.kind === 'mode' || effect.kind === 'owner') return `${effect.kind}-tree`
  // Editing every file of a home directory is work; of the system it is its end.
  return /^(?:edit|append|create|mode|owner)/.test(effect.kind) ? effect.kind : 'delete-tree'
}

function ruleFor(kind: EffectKind, { place, shown, contents }: Located, effect: Effect): RuleName | undefined {
  if (place === 'kernel-switch') return isWrite(kind) ? 'kernel-switch' : undefined
  // Where messages go is a setting of many scripts: `2>> /dev/$QUIET`.
  if (shown === '/dev/…' && kind === 'append') return undefined
  if (place === 'device')
    return kind === 'create' || kind.startsWith('mode') || kind.startsWith('owner') ? undefined : 'destroy-device'
  // While /etc/nologin exists only root can log in; removing the file lets people in again.
  if (/^\/(?:etc|run)\/nologin$/.test(shown))
    return isWrite(kind) || kind === 'create' ? 'overwrite-critical' : undefined
  // Every program on the machine loads what is named there.
  if (shown === '/etc/ld.so.preload' && (isWrite(kind) || kind === 'create')) return 'overwrite-critical'
  // Old logs are cleared every day; the directory itself is what services write to.
  if (shown === '/var/log' && contents) return undefined
  switch (kind) {
    case 'delete-tree':
    case 'move':
      // The root cannot be moved, if the name behind it is empty.
      if (kind === 'move' && shown === '/…' && !contents) return undefined
      return effect.mode === ASIDE &&
        (HANDED_OUT.test(shown) || MAY_GO.test(shown) || SETTINGS.test(shown) || SERVICE_DATA.test(shown))
        ? undefined
        : wipe(place)
    case 'delete':
      // Without -r a directory itself survives, but not the files that `*` names.
      if (place === 'critical-file') return 'overwrite-critical'
      return contents && place !== 'root' && !/^\/(opt|srv|mnt|media|home|var\/www|run)$/.test(shown)
        ? wipe(place)
        : undefined
    case 'overwrite':
    case 'replace':
      if (place === 'critical-file')
        return effect.mode !== EMPTY && SETTINGS.test(shown) ? undefined : 'overwrite-critical'
      if (contents && place === 'home' && effect.mode === EMPTY) return 'wipe-home'
      return contents && (place === 'system' || place === 'root') ? 'overwrite-critical' : undefined
    case 'edit':
      if (contents && place === 'root') return 'wipe-root'
      if (contents && place === 'system' && effect.path.endsWith(TREE) && !HANDED_OUT.test(shown)) return 'wipe-system'
      return place === 'critical-file' && /^\/etc\/(passwd|shadow|group|gshadow|sudoers)$/.test(shown)
        ? 'overwrite-critical'
        : undefined
    case 'mode':
    case 'mode-tree':
      return modeRule(kind, { place, shown, contents }, effect.mode)
    case 'owner':
    case 'owner-tree':
      // What belongs to root is given back to root.
      return (kind === 'owner' || ORDINARY.test(shown)) && /^(?:root|0)?(?::(?:root|0)?)?$/.test(effect.mode ?? 'x')
        ? undefined
        : ownerRule(kind, place, shown)
    default:
      return undefined
  }
}

function isWrite(kind: EffectKind): boolean {
  return kind === 'overwrite' || kind === 'append' || kind === 'replace' || kind === 'edit'
}

function wipe(place: Located['place']): RuleName {
  if (place === 'root') return 'wipe-root'
  if (place === 'home') return 'wipe-home'
  return place === 'critical-file' ? 'overwrite-critical' : 'wipe-system'
}

/** Settings for which a script brings a new text: no boot and no login fails by another one. */
const SETTINGS = /^\/etc\/(?:nsswitch\.conf|default\/grub|securetty|login\.defs|profile|bash\.bashrc|crontab|inittab)$/

/** Without these a system starts as well. */
const MAY_GO = /^\/boot\/init|^\/etc\/ld\.so\.preload$/

/** What a service keeps: under another name beside it nothing is lost. */
const SERVICE_DATA = /^\/var\/lib\/(?:etcd|kubelet|containerd)$/

/** Places that belong to the user who installed them; changing their owner is ordinary. */
const HANDED_OUT =
  /^\/(usr\/local(\/.*)?|opt|srv|mnt|media|snap|nix|var\/www|var\/log|var\/lib\/(mysql|postgresql|redis|mongodb|pgsql|docker|libvirt)|Applications|Volumes)$/

/** Below /etc, what is the same for everybody: files with other modes than 644 or 755 are not expected there. */
const ORDINARY = /^\/etc\/(?:cron\.(?:d|daily)|init\.d|apt|default|profile\.d|skel|X11|udev|modprobe\.d|yum\.repos\.d)$/

function ownerRule(kind: EffectKind, place: Located['place'], shown: string): RuleName | undefined {
  if (place === 'home') return shown === '/home' || shown === '/Users' ? 'open-permissions' : undefined
  if (HANDED_OUT.test(shown) || shown === '/root') return undefined
  if (place === 'critical-file') return 'open-permissions'
  return kind === 'owner-tree' || place === 'root' || /^\/(etc|usr|bin|sbin|lib|lib64|var|boot)$/.test(shown)
    ? 'open-permissions'
    : undefined
}

function modeRule(kind: EffectKind, { place, shown, contents }: Located, mode = ''): RuleName | undefined {
  if (place === 'home')
    return (kind === 'mode-tree' || shown === '/home') && isExtreme(mode) ? 'open-permissions' : undefined
  if (HANDED_OUT.test(shown)) return undefined
  if (/^\/etc\/(g?shadow|sudoers)$/.test(shown) && /[1-7]$|[oa]\+|^\+/.test(mode)) return 'open-permissions'
  // Programs that run as root by design: the mode that they come with.
  if (/^\/bin\/(?:sudo|su|passwd|mount|umount|pkexec|doas)$/.test(shown) && /^(?:4[157][15][15]|u\+s)$/.test(mode))
    return undefined
  // Without the bit a program works for root only; sudo and its like do not work at all.
  if (place === 'critical-file' && /^[ugoa]*-s$/.test(mode) && !/\/(?:sudo|su|pkexec|doas)$/.test(shown))
    return undefined
  if (place === 'critical-file')
    return isExtreme(mode) || /[2367]$|^[0-7]?[0-7][2367]|[oga]\+?.*w|^[-+=]?.*s$|^[246]\d{3}$/.test(mode)
      ? 'open-permissions'
      : undefined
  if (kind === 'mode-tree')
    return ORDINARY.test(shown) && /^0?[67][45][45]$/.test(mode) ? undefined : 'open-permissions'
  // What only root or one service reads is kept from others: `chmod 700 /var/lib/etcd /boot /etc/sudoers.d`.
  const closes = !contents && closesToOthers(mode) && !PRIVATE.test(shown)
  return isExtreme(mode) || closes ? 'open-permissions' : undefined
}

const PRIVATE =
  /^\/(?:root|boot|var\/(?:lib|spool|log|backups)|etc\/(?:sudoers|cron|grub|iptables|polkit|lvm))(?:[/.-].+|$)/

export function isExtreme(mode: string): boolean {
  return (
    /^(?:[0-7]?(?:777|666|000|111|222|333|444)|0{1,2})$/.test(mode) ||
    /^a?[-=]r?w?x?$/.test(mode) ||
    /^(a|ugo|o|go|)?\+r?wx?$/.test(mode) ||
    /^(a|ugo|u|)?-[rwx]+/.test(mode) ||
    /^(?:[augo]*=,?)+$/.test(mode)
  )
}

/** A mode for a system directory that leaves others without read or search: nothing but root works any more. */
function closesToOthers(mode: string): boolean {
  const digits = /^[0-7]?[0-7][0-7]([0-7])$/.exec(mode)
  return digits ? (Number(digits[1]) & 5) !== 5 : /^(o|go|a|ugo)[-=]/.test(mode)
}

/** Every script writes to /dev/null: a plain file in its place fills the disk, and nothing at all stops them. */
function missedDevice({ kind, path }: Effect, guessed: boolean): Judged | undefined {
  return !guessed && /^(?:delete|move|replace)/.test(kind) && /^\/dev\/(?:null|zero|u?random|tty|console)$/.test(path)
    ? { rule: 'overwrite-critical', shown: path }
    : undefined
}

/** Folders in which a person keeps work: a command that removes one whole removes what cannot be made again. */
const KEPT =
  /^((?:Documents|Desktop|Pictures|Photos|Music|Videos|Movies|Library|Mail|Maildir|Dropbox|OneDrive|[Pp]rojects|repos|Developer|\.ssh|\.gnupg|\.aws|\.kube|\.password-store|\.mozilla|\.thunderbird|\.config|\.local\/share(?:\/keyrings)?))(\/?[\uFDD1\uFDD2\uFDD5]+)?$/

/** Below home, a few directories hold what cannot be made again, and the shell's history. */
function sensitiveHomePath({ kind, path, mode }: Effect, homes: readonly string[]): Judged | undefined {
  const gone = /^(?:delete|move|overwrite|replace)/.test(kind)
  if (!gone || mode === ASIDE) return undefined
  for (const home of [...homes, /^\/(?:root|home\/[^/]+)(?=\/\.ssh\/)/.exec(path)?.[0] ?? '']) {
    if (home === '' || !path.startsWith(`${home === '/' ? '' : home}/`)) continue
    const below = path.slice(home === '/' ? 1 : home.length + 1)
    if (/^\.(bash|zsh|sh|ash)_?history$/.test(below)) return { rule: 'wipe-history', shown: `~/${below}` }
    // Emptied, it locks every login from elsewhere out; a new text for it is everyday work.
    if (below === '.ssh/authorized_keys' && (!/^(?:overwrite|replace)$/.test(kind) || mode === EMPTY))
      return { rule: 'wipe-home', shown: `~/${below}` }
    const [, kept, all] = KEPT.exec(below) ?? []
    if (kept !== undefined && (kind === 'delete-tree' || (kind === 'move' ? !all && mode !== AT_HOME : all)))
      return { rule: 'wipe-home', shown: `~/${kept}` }
  }
  return undefined
}

/**
 * Mounting over a directory hides what is in it; taking a mount away, or ending all that use
 * it, takes the system's floor away.
 */
import { locate, resolvePath } from '../../words/paths.js'
import { plain, UNKNOWN } from '../../words/text.js'
import { type Call, options, type Program } from '../row/call.js'

/**
 * Directories whose contents a running system needs at every moment. Mounting a disk at /home,
 * /boot or /mnt is ordinary.
 */
const FLOOR =
  /^\/(?:usr(?:\/(?:bin|sbin|lib\w*|share|local))?|etc(?:\/(?:ssh|pam\.d|ssl|systemd))?|bin|sbin|lib\w*|var(?:\/lib)?|root|dev|etc\/(?:passwd|shadow|group|sudoers|fstab)|bin\/(?:ba)?sh)?$/

function isFloor(word: string, { shell, walker }: Call): boolean {
  // Below a variable that may be empty it is the floor of another system, which is being made.
  return !walker.guesses && shell.cwd.some((cwd) => FLOOR.test(plain(resolvePath(word, cwd)).replace(/(.)\/+$/, '$1')))
}

function isHome(word: string, { shell }: Call): boolean {
  const homes = ['/home', '/Users', ...shell.home]
  return shell.cwd.some((cwd) => homes.includes(plain(resolvePath(word, cwd)).replace(/(.)\/+$/, '$1')))
}

/** `mount --bind / x` gives a directory another name; `mount -t tmpfs none /usr` hides one. */
export const mount: Program = (call) => {
  const given = options(call.args, { short: 'otLU', long: ['options', 'types', 'source', 'target'] })
  const settings = given.all('o', 'options').join(',')
  const bind = given.has('bind', 'rbind', 'B', 'R', 'move', 'M') || /\b(r?bind)\b/.test(settings)
  const [source, target] = given.operands
  if (bind && source !== undefined && target !== undefined)
    call.walker.namesakes.stands(call.resolve(target), call.resolve(source), 'mount')
  const moved = given.has('move', 'M') && source !== undefined
  if (moved && (isFloor(source, call) || isHome(source, call)))
    call.report('wipe-system', ['mount', '--move', plain(source)])
  const same = source !== undefined && target !== undefined && plain(source) === plain(target)
  // The root's own device, asked of the system, is mounted there with other settings.
  const again = !bind && !given.has('t', 'types') && source?.includes(UNKNOWN) && plain(target ?? '') === '/'
  const devices = /^(?:devtmpfs|devpts|proc|sysfs)$/.test(given.get('t', 'types') ?? '')
  if (target !== undefined && isFloor(target, call) && !same && !again && !devices && !/\bremount\b/.test(settings))
    call.report('wipe-system', ['mount', plain(target)])
  if (/\bremount\b/.test(settings))
    remount(call, given.operands.at(-1), `${settings},${given.has('r', 'read-only') ? 'ro' : ''}`)
  // Memory over the homes: they seem empty, and what is written there is gone with the power.
  if (target !== undefined && /^(?:tmpfs|ramfs)$/.test(given.get('t', 'types') ?? '') && isHome(target, call))
    call.report('wipe-home', ['mount', plain(target)])
}

/** A system that can no longer be written to, or whose programs no longer start. */
function remount(call: Call, target: string | undefined, settings: string): void {
  if (target === undefined || !isFloor(target, call)) return
  const programs = call.shell.cwd.some((cwd) =>
    /^\/(?:(?:usr|bin|sbin|lib\w*)(?:\/|$)|$)/.test(resolvePath(target, cwd)),
  )
  if (/\bro\b/.test(settings) || (programs && /\bnoexec\b/.test(settings)))
    call.report('open-permissions', ['mount', '-o', plain(settings).replace(/,+$/, ''), plain(target)])
}

export const umount: Program = (call) => {
  const given = options(call.args, { short: 'tO', long: ['types', 'test-opts'] })
  if (given.has('help', 'version', 'fake')) return
  if (given.has('a', 'all') && given.get('t', 'types', 'O', 'test-opts') === undefined && given.operands.length === 0)
    call.report('wipe-system', ['umount', '-a'])
  for (const word of given.operands) if (isFloor(word, call)) call.report('wipe-system', ['umount', plain(word)])
}

/** A file system that takes no more writes stops every program that makes one. */
export const fsfreeze: Program = (call) => {
  const given = options(call.args)
  if (given.has('f', 'freeze') && given.operands.some((word) => isFloor(word, call) || isHome(word, call)))
    call.report('host-down', ['fsfreeze', ...given.operands.map(plain)])
}

/** `fuser -km /`: ends every process that has a file open there. */
export const fuser: Program = (call) => {
  const given = options(call.args, { short: 'nN', long: ['namespace'] })
  if (!given.has('k', 'kill')) return
  const wide = given.has('m', 'mount', 'c', 'M')
  const hit = given.operands.find((word) =>
    call.shell.cwd.some((cwd) => {
      const located = locate(resolvePath(word, cwd), call.shell.home)
      return located !== undefined && (wide ? /^(?:root|system|home)$/.test(located.place) : located.place === 'root')
    }),
  )
  if (hit !== undefined) call.report('kill-everything', ['fuser', '-k', plain(hit)])
}

/** Programs that lock people out, or switch off what protects and records the machine. */
import { nameList } from '../../../contract/quote.js'
import { hasUnknown, plain } from '../../words/text.js'
import { options, type Program, table } from '../row/call.js'

/** root, or the user who works here. */
function isVital(user: string | undefined, call: Parameters<Program>[0]): boolean {
  return user === 'root' || (user !== undefined && call.shell.get('USER').values.includes(user))
}

/** `homectl remove USER`: the account and its home. */
const homectl: Program = (call, name) => {
  const { operands } = options(call.argv.slice(1))
  if (operands[0] === 'remove') userdel({ ...call, argv: [name, ...operands.slice(1)] }, name)
  return undefined
}

const userdel: Program = (call, name) => {
  const user = options(call.argv.slice(1), { short: 'RZ' }).operands.map(plain)[0]
  if (isVital(user, call)) call.walker.report('wipe-home', [name, ...call.argv.slice(1)])
  return undefined
}

const passwd: Program = (call, name) => {
  const given = options(call.argv.slice(1), { short: 'nxwiRP', long: ['mindays', 'maxdays', 'warndays', 'inactive'] })
  const user = given.operands.map(plain)[0]
  if (given.has('d', 'delete', 'l', 'lock', 'e', 'expire') && isVital(user, call))
    call.walker.report('overwrite-critical', [name, ...call.argv.slice(1)])
  return undefined
}

const usermod: Program = (call, name) => {
  const given = options(call.argv.slice(1), {
    short: 'acdefgGlpRsuvVwWZ',
    long: ['shell', 'expiredate', 'home', 'login', 'password', 'groups', 'gid', 'uid', 'comment'],
  })
  const user = given.operands.map(plain)[0]
  const locks =
    given.has('L', 'lock') ||
    /\/(?:false|nologin|true|null)$/.test(given.get('s', 'shell') ?? '') ||
    /^(?:0|1|1970-.*)$/.test(given.get('e', 'expiredate') ?? '') ||
    given.get('p', 'password') !== undefined ||
    (user === 'root' && given.get('u', 'uid', 'd', 'home', 'l', 'login') !== undefined)
  if (locks && isVital(user, call)) call.walker.report('overwrite-critical', [name, ...call.argv.slice(1)])
  return becomesRoot(call, name)
}

/** The account gets the id 0: it is root under another name. */
const becomesRoot: Program = (call, name) => {
  const given = options(call.argv.slice(1), {
    short: 'abcdefgGkKlpRsuvVwWZ',
    long: ['uid', 'gid', 'home', 'shell', 'comment', 'password', 'groups', 'base-dir', 'home-dir'],
  })
  if (!call.walker.guesses && /^0+$/.test(given.get('u', 'uid') ?? ''))
    call.walker.report('overwrite-critical', [name, ...call.argv.slice(1)])
  return undefined
}

const chsh: Program = (call, name) => {
  const given = options(call.argv.slice(1), { short: 's', long: ['shell'] })
  const [user = call.shell.get('USER').values[0]] = given.operands.map(plain)
  if (/\/(?:false|nologin|true|null)$/.test(given.get('s', 'shell') ?? '') && isVital(user, call))
    call.walker.report('overwrite-critical', [name, ...call.argv.slice(1)])
  return undefined
}

/** vipw, vigr and visudo start $EDITOR on one file: a command that names the editor writes that file. */
const edits =
  (file: string): Program =>
  (call) => {
    const target = options(call.argv.slice(1), { short: 'f', long: ['file'] }).get('f', 'file') ?? file
    const environment = call.prefix?.shell ?? call.shell
    for (const name of ['SUDO_EDITOR', 'VISUAL', 'EDITOR'])
      for (const editor of environment.get(name).values)
        if (/\s/.test(editor) && !hasUnknown(editor)) call.walker.tryScript(`${plain(editor)} ${target}`, call.shell)
    return undefined
  }

/** `gpasswd -d USER sudo`: the user who works here may not become root any more. */
const gpasswd: Program = (call, name) => {
  const given = options(call.argv.slice(1), { short: 'adAMQ', long: ['delete'] })
  if (/^(?:sudo|wheel|admin)$/.test(plain(given.operands[0] ?? '')) && isVital(given.get('d', 'delete'), call))
    call.walker.report('overwrite-critical', [name, ...call.argv.slice(1)])
  return undefined
}

const groupdel: Program = (call, name) => {
  // `delgroup USER GROUP` takes a user out of a group.
  const { operands } = options(call.argv.slice(1))
  if (operands.length === 1 && /^(?:root|sudo|wheel|admin)$/.test(plain(operands[0] ?? '')))
    call.walker.report('overwrite-critical', [name, ...call.argv.slice(1)])
  return undefined
}

const chage: Program = (call, name) => {
  const given = options(call.argv.slice(1), { short: 'dEImMRW', long: ['expiredate', 'lastday', 'inactive'] })
  if (/^(?:0|1|1970-.*)$/.test(given.get('E', 'expiredate') ?? '') && isVital(given.operands.map(plain)[0], call))
    call.walker.report('overwrite-critical', [name, ...call.argv.slice(1)])
  return undefined
}

const setenforce: Program = (call) => {
  if (/^(?:0|permissive)$/i.test(plain(call.argv[1] ?? ''))) call.walker.report('disarm', call.argv)
  return undefined
}

const auditctl: Program = (call) => {
  const given = options(call.argv.slice(1), { short: 'beflprskaAdFSC' })
  if (given.get('e') === '0' || given.has('D')) call.walker.report('disarm', call.argv)
  return undefined
}

export const ACCOUNT_PROGRAMS: Readonly<Record<string, Program>> = {
  ...table(nameList('userdel deluser'), userdel),
  ...table(nameList('useradd adduser'), becomesRoot),
  ...table(nameList('groupdel delgroup'), groupdel),
  chsh,
  visudo: edits('/etc/sudoers'),
  vipw: edits('/etc/passwd'),
  vigr: edits('/etc/group'),
  groupmod: (call, name) => {
    const given = options(call.argv.slice(1), { short: 'gnpRP', long: ['gid', 'new-name'] })
    if (plain(given.operands[0] ?? '') === 'root')
      call.walker.report('overwrite-critical', [name, ...call.argv.slice(1)])
    return undefined
  },
  'pam-auth-update': (call, name) => {
    if (call.argv.includes('--remove') && call.argv.includes('unix'))
      call.walker.report('overwrite-critical', [name, '--remove', 'unix'])
    return undefined
  },
  gpasswd,
  passwd,
  usermod,
  chage,
  setenforce,
  auditctl,
  homectl,
}

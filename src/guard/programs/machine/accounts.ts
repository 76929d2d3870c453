/** Programs that lock people out, or switch off what protects and records the machine. */
import { nameList } from '../../../contract/quote.js'
import { hasUnknown, plain } from '../../words/text.js'
import { type Call, options, type Program, table } from '../row/call.js'

/** root, or the user who works here. */
function isVital(user: string | undefined, call: Call): boolean {
  return user === 'root' || (user !== undefined && call.shell.get('USER').values.includes(user))
}

/** A person, or all of them, cannot log in afterwards. */
function lockOut(call: Call, name: string): void {
  call.report('overwrite-critical', [name, ...call.args])
}

/** `homectl remove USER`: the account and its home. */
const homectl: Program = (call, name) => {
  const { operands } = options(call.args)
  if (operands[0] === 'remove') userdel(call.withArgv([name, ...operands.slice(1)]), name)
}

const userdel: Program = (call, name) => {
  const user = options(call.args, { short: 'RZ' }).operands.map(plain)[0]
  if (isVital(user, call)) call.report('wipe-home', [name, ...call.args])
}

const passwd: Program = (call, name) => {
  const given = options(call.args, { short: 'nxwiRP', long: ['mindays', 'maxdays', 'warndays', 'inactive'] })
  const user = given.operands.map(plain)[0]
  if (given.has('d', 'delete', 'l', 'lock', 'e', 'expire') && isVital(user, call)) lockOut(call, name)
}

const usermod: Program = (call, name) => {
  const given = options(call.args, {
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
  if (locks && isVital(user, call)) lockOut(call, name)
  return becomesRoot(call, name)
}

/** The account gets the id 0: it is root under another name. */
const becomesRoot: Program = (call, name) => {
  const given = options(call.args, {
    short: 'abcdefgGkKlpRsuvVwWZ',
    long: ['uid', 'gid', 'home', 'shell', 'comment', 'password', 'groups', 'base-dir', 'home-dir'],
  })
  if (!call.walker.guesses && /^0+$/.test(given.get('u', 'uid') ?? '')) lockOut(call, name)
}

const chsh: Program = (call, name) => {
  const given = options(call.args, { short: 's', long: ['shell'] })
  const [user = call.shell.get('USER').values[0]] = given.operands.map(plain)
  if (/\/(?:false|nologin|true|null)$/.test(given.get('s', 'shell') ?? '') && isVital(user, call)) lockOut(call, name)
}

/** vipw, vigr and visudo start $EDITOR on one file: a command that names the editor writes that file. */
const edits =
  (file: string): Program =>
  (call) => {
    const target = options(call.args, { short: 'f', long: ['file'] }).get('f', 'file') ?? file
    const environment = call.environment
    for (const name of ['SUDO_EDITOR', 'VISUAL', 'EDITOR'])
      for (const editor of environment.get(name).values)
        if (/\s/.test(editor) && !hasUnknown(editor)) call.tryScript(`${plain(editor)} ${target}`)
  }

/** `gpasswd -d USER sudo`: the user who works here may not become root any more. */
const gpasswd: Program = (call, name) => {
  const given = options(call.args, { short: 'adAMQ', long: ['delete'] })
  if (/^(?:sudo|wheel|admin)$/.test(plain(given.operands[0] ?? '')) && isVital(given.get('d', 'delete'), call))
    lockOut(call, name)
}

const groupdel: Program = (call, name) => {
  // `delgroup USER GROUP` takes a user out of a group.
  const { operands } = options(call.args)
  if (operands.length === 1 && /^(?:root|sudo|wheel|admin)$/.test(plain(operands[0] ?? ''))) lockOut(call, name)
}

const chage: Program = (call, name) => {
  const given = options(call.args, { short: 'dEImMRW', long: ['expiredate', 'lastday', 'inactive'] })
  if (/^(?:0|1|1970-.*)$/.test(given.get('E', 'expiredate') ?? '') && isVital(given.operands.map(plain)[0], call))
    lockOut(call, name)
}

const setenforce: Program = (call) => {
  if (/^(?:0|permissive)$/i.test(plain(call.argv[1] ?? ''))) call.report('disarm')
}

const auditctl: Program = (call) => {
  const given = options(call.args, { short: 'beflprskaAdFSC' })
  if (given.get('e') === '0' || given.has('D')) call.report('disarm')
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
    const given = options(call.args, { short: 'gnpRP', long: ['gid', 'new-name'] })
    if (plain(given.operands[0] ?? '') === 'root') lockOut(call, name)
  },
  'pam-auth-update': (call, name) => {
    if (call.argv.includes('--remove') && call.argv.includes('unix'))
      call.report('overwrite-critical', [name, '--remove', 'unix'])
  },
  gpasswd,
  passwd,
  usermod,
  chage,
  setenforce,
  auditctl,
  homectl,
}

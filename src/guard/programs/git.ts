/** git: aliases, settings and options that run commands, and the verbs that remove files. */
import { nameList, nameSet } from '../../contract/quote.js'
import { locate, resolvePath } from '../words/paths.js'
import { plain, unique, UNKNOWN, UNTRACKED } from '../words/text.js'
import { type Call, known, longOption, options, type Program } from './row/call.js'

/** Keys of git's configuration whose value git runs. */
const GIT_COMMAND_KEYS =
  /^(alias\..*|core\.(?:pager|editor|sshcommand|fsmonitor|askpass|gitproxy|hookspath)|sequence\.editor|diff\.external|.*\.(?:textconv|command|cmd|clean|smudge|process|driver|helper|tool|pager|program|receivepack|uploadpack|packobjectshook|sendmailcmd)|pager\..*|credential\.helper)$/i

/** Options with which a verb of git takes the place of what is there. */
const OVERWRITING = ['--hard', '--force', '--merge']

/** Options of git's verbs whose value is a command line. */
const GIT_COMMAND_OPTIONS = nameList(`
  exec extcmd open-files-in-pager tree-filter index-filter msg-filter env-filter commit-filter parent-filter
  tag-name-filter upload-pack receive-pack sendmail-cmd
`)

const GIT_COMMAND_VERBS = nameSet(`
  rebase difftool grep filter-branch fetch clone push pull ls-remote archive send-email
`)

/** Where what `git config` was given in this command, or before in its session, is found again. */
const KEPT_CONFIG = '/dev/git-config/'

export const git: Program = (call) => {
  const words = call.args.map(plain)
  const inner = call.shell.fork()
  const aliases = new Map<string, string>()
  let i = 0
  let elsewhere = false
  const enter = (path: string): void => {
    inner.cwd = unique(inner.cwd.map((cwd) => resolvePath(path, cwd)))
  }
  for (; i < words.length; i++) {
    const word = words[i] ?? ''
    const next = words[i + 1] ?? ''
    if (word === '-C' || word === '--work-tree') enter(next)
    if (word === '-c') {
      const [, alias, line] = /^alias\.([^=]+)=!(.*)$/s.exec(next) ?? []
      if (alias !== undefined) aliases.set(alias, line ?? '')
      gitConfig(next, call)
      const tree = /^core\.worktree=(.+)$/i.exec(next)?.[1]
      elsewhere ||= tree !== undefined
      if (tree !== undefined) enter(tree)
    }
    // git refuses an empty name of a directory.
    if (/^--(?:git-dir|work-tree)=$/.test(word)) return
    if (word.startsWith('--work-tree=')) enter(word.slice('--work-tree='.length))
    elsewhere ||= word.startsWith('--work-tree')
    if (/^(-C|-c|--git-dir|--work-tree|--namespace|--exec-path)$/.test(word)) i++
    else if (!word.startsWith('-')) break
  }
  const { environment } = call
  const set = (name: string): boolean => environment.get(name).values.some((value) => value !== '' && value !== UNKNOWN)
  const settings = Number(environment.get('GIT_CONFIG_COUNT').values[0]) || 0
  for (let at = 0; at < Math.min(settings, 20); at++) {
    const [key, value] = ['KEY', 'VALUE'].map((part) => environment.get(`GIT_CONFIG_${part}_${at}`).values[0] ?? '')
    if (key && known(value)) gitConfig(`${key}=${value}`, call)
  }
  for (const name of ['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_SYSTEM', 'GIT_CONFIG'])
    if (set(name)) for (const path of environment.get(name).values) gitFile(path, call)
  // What git hands to itself by the environment: `'key=value'`, or `'key'='value'`.
  for (const [, key = '', value = ''] of (environment.get('GIT_CONFIG_PARAMETERS').values[0] ?? '').matchAll(
    /'([\w.-]+)'?='?([^']*)'/g,
  ))
    gitConfig(`${key}=${value}`, call)
  const kept = [...(call.shell.files.get(`${KEPT_CONFIG}core.worktree`) ?? [])].map((value) => value.trim())
  for (const tree of [...environment.get('GIT_WORK_TREE').values, ...kept].filter((value) => value.startsWith('/'))) {
    elsewhere = true
    inner.cwd = [tree]
  }
  const [verb = '', ...rest] = words.slice(i)
  const ownDirectory = set('GIT_DIR') || words.some((word) => /^--git-dir/.test(word))
  // A work tree that is the system: what git checks out or resets takes the place of what is there.
  if (/^(?:checkout|reset|restore|clean|read-tree|stash|switch)$/.test(verb))
    for (const cwd of inner.cwd) {
      const located = locate(resolvePath('.', cwd), call.shell.home)
      const hard = verb !== 'clean' && rest.some((word) => /^(?:-f|\.)$/.test(word) || longOption(word, OVERWRITING))
      if ((located?.place === 'root' && (elsewhere || hard)) || (located?.place === 'system' && elsewhere))
        call.report(located.place === 'root' ? 'wipe-root' : 'wipe-system', ['git', verb], located.shown)
      // A repository of its own keeps what is in a home; that of a project has nothing to do there.
      if (located?.place === 'home' && elsewhere && hard && !ownDirectory)
        call.report('wipe-home', ['git', verb], located.shown)
    }
  for (const word of rest) call.tryMatches(word, /^ext::(.*)$/gs)
  for (const [at, word] of rest.entries()) {
    const file = /^--output=(.*)$/s.exec(word)?.[1] ?? (word === '--output' ? rest[at + 1] : undefined)
    if (file !== undefined) call.walker.effect('overwrite', file, inner, call.argv)
  }
  // An alias that starts with `!` gets the remaining words as its parameters.
  const alias = aliases.get(verb)
  if (alias !== undefined) {
    const shell = inner.fork()
    shell.positional = rest
    call.walker.script(`${alias} "$@"`, shell)
  }
  // Of another work tree or index it is not known what is tracked.
  const other = elsewhere || ownDirectory || set('GIT_INDEX_FILE')
  const removed = other ? undefined : UNTRACKED
  if (verb === 'clean') {
    const given = options(rest, { short: 'e', long: ['exclude'] })
    if (!given.has('n', 'dry-run') && given.has('f', 'force') && given.has('d', 'x', 'X'))
      for (const target of given.operands.length > 0 ? given.operands : ['.'])
        call.walker.effect('delete-tree', target, inner, call.argv, removed)
  } else if (verb === 'stash') {
    // What is not tracked goes into the stash, and from the disk.
    const given = options(rest, { short: 'm', long: ['message'] })
    if (given.has('u', 'a', 'include-untracked', 'all') && /^(?:push|save)?$/.test(given.operands[0] ?? ''))
      call.walker.effect('delete-tree', '.', inner, call.argv, removed)
  } else if (verb === 'worktree' && rest[0] === 'remove') {
    for (const target of options(rest.slice(1)).operands) call.walker.effect('delete-tree', target, inner, call.argv)
  } else if (verb === 'rm') {
    const given = options(rest)
    if (given.has('r') && !given.has('cached', 'n', 'dry-run'))
      for (const target of given.operands)
        call.walker.effect(target === '.' ? 'delete-tree' : 'delete', target, inner, call.argv)
  } else if (verb === 'bisect' && rest[0] === 'run') call.walker.argv(rest.slice(1), inner, null)
  else if (verb === 'submodule' && rest.includes('foreach'))
    call.walker.script(
      rest
        .slice(rest.indexOf('foreach') + 1)
        .filter((word) => word !== '--recursive')
        .join(' '),
      inner,
    )
  else if (GIT_COMMAND_VERBS.has(verb)) {
    const short = verb === 'rebase' || verb === 'difftool' ? 'x' : verb === 'grep' ? 'O' : ''
    const given = options(rest, { short, long: [...GIT_COMMAND_OPTIONS, 'config'] })
    for (const line of given.all(...short, ...GIT_COMMAND_OPTIONS)) call.walker.tryScript(line, inner)
    for (const setting of given.all('config')) gitConfig(setting, call)
    for (const word of rest) {
      const transport = /^ext::(.*)$/s.exec(word)?.[1]
      // Words are separated by blanks; `% ` is a blank inside one.
      if (transport)
        call.walker.argv(
          (transport.match(/(?:%.|[^ %])+/gs) ?? []).map((part) =>
            part.replace(/%(.)/gs, (_, code: string) => (/[ %]/.test(code) ? code : '')),
          ),
          inner,
          null,
        )
    }
  } else if (/^(?:show|cat-file)$/.test(verb)) {
    // `git show :FILE` prints a file that was added.
    const file = /:(.+)$/.exec(rest.at(-1) ?? '')?.[1]
    if (file !== undefined) return call.walker.streams.contents(file, inner)
    const batch = rest.some((word) => word.startsWith('--batch'))
    const objects = (batch ? (call.stdin ?? []).flatMap((text) => text.split('\n')) : rest).flatMap(objectOf)
    if (objects.length > 0) return objects.map((text) => (batch ? `blob\n${text}\n` : text))
    const given = rest.filter((word) => word.includes('{{'))
    return given.length > 0 ? given : undefined
  } else if (verb === 'hash-object') {
    const files = rest.filter((word) => !word.startsWith('-'))
    const texts = files.flatMap((word) => call.walker.streams.contents(word, inner))
    const input = rest.includes('--stdin') ? (call.stdin ?? []) : []
    const stored = [...input, ...texts].filter((text) => text !== UNKNOWN)
    if (stored.length > 0) return stored.map((text) => `${OBJECT}${Array.from(text, hexOf).join('')}\n`)
  } else if (verb === 'config') {
    const [key = '', value = ''] = rest.filter((word) => !word.startsWith('-') && !/^[sg]et$/.test(word))
    if (value !== '') gitConfig(`${key}=${value}`, call)
    // What it was given before in this command, or by its session, is what it prints.
    const place = `${KEPT_CONFIG}${key}`
    if (value !== '') call.shell.files.set(place, [`${value}\n`])
    else return call.shell.files.get(place)
  }
}

/** In the place of the name that `git hash-object` prints: what the object holds. */
const OBJECT = 'git-object-'

function objectOf(word: string): string[] {
  if (!word.startsWith(OBJECT)) return []
  const points = word.slice(OBJECT.length).match(/[\da-f]{6}/g) ?? []
  return [points.map((point) => String.fromCodePoint(Math.min(parseInt(point, 16), 0x10ffff))).join('')]
}

function hexOf(char: string): string {
  return (char.codePointAt(0) ?? 0).toString(16).padStart(6, '0')
}

function gitConfig(setting: string, call: Call): void {
  const at = setting.indexOf('=')
  const [key, value] = [setting.slice(0, at), setting.slice(at + 1)]
  // From then on its work is the whole file system.
  if (/^core\.worktree$/i.test(key) && value === '/') call.report('wipe-root', ['git', 'config', key, value])
  if (/^include(?:if\..*)?\.path$/i.test(key)) gitFile(value, call)
  if (at > 0 && GIT_COMMAND_KEYS.test(key)) call.tryScript(value.replace(/^!/, ''))
}

/** A file of settings that is read in the place of, or beside, the usual ones. */
function gitFile(path: string, call: Call): void {
  for (const text of call.contents(path))
    if (known(text)) for (const line of commandsOfGitConfig(plain(text))) call.tryScript(line)
}

/** The commands in the text of a git configuration. */
export function commandsOfGitConfig(text: string): string[] {
  let section = ''
  return text.split('\n').flatMap((line) => {
    const head = /^\s*\[\s*([\w.-]+)(?:\s+"([^"]*)")?\s*\](.*)$/.exec(line)
    if (head) section = head[2] === undefined ? (head[1] ?? '') : `${head[1]}.${head[2]}`
    const [, key, value = ''] = /^\s*([\w-]+)\s*=\s*"?(.*?)"?\s*$/.exec(head ? (head[3] ?? '') : line) ?? []
    return key !== undefined && GIT_COMMAND_KEYS.test(`${section}.${key}`) ? [value.replace(/^!/, '')] : []
  })
}

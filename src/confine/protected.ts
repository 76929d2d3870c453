/** Names inside a writable directory that stay read-only: what other programs of the person would run or believe later. */
import { isInside, join, parentOf } from './paths.js'
import type { Machine } from './machine.js'

/** Relative to a root. */
export const PROTECTED_NAMES: readonly string[] = [
  '.vscode',
  '.idea',
  '.envrc',
  '.mcp.json',
  '.claude',
  '.codex',
  '.cursor',
  '.gemini',
  '.github/copilot-instructions.md',
  'cerith.config.json',
]

/** Relative to the directory of a repository: what git runs, or is told to believe. */
const GIT_NAMES: readonly string[] = ['hooks', 'config', 'config.worktree', 'commondir']

/** Keys of a git configuration whose value is a file or directory that git reads or runs. */
const GIT_PATH_KEYS = /^\s*(?:hookspath|fsmonitor|path|attributesfile|excludesfile|templatedir)\s*=\s*(.*?)\s*$/i

const MAX_NESTED = 200

export interface Protection {
  /** There now: bound onto themselves, read-only. */
  readonly present: readonly string[]
  /** Not there: looked for after each command. */
  readonly absent: readonly string[]
  /** Directories outside the roots that belong to a worktree of a root, proven by the pointer back: writable but for their own protected names. */
  readonly worktrees: readonly string[]
}

export function protectionOf(roots: readonly string[], further: readonly string[], machine: Machine): Protection {
  const wanted = new Set<string>()
  const worktrees: string[] = []
  for (const root of roots) {
    for (const name of [...PROTECTED_NAMES, ...further]) wanted.add(name.startsWith('/') ? name : join(root, name))
    for (const repository of repositoriesIn(root, machine)) {
      const dot = join(repository, '.git')
      if (machine.kind(dot) !== 'file') {
        addRepository(dot, repository, wanted, machine)
        continue
      }
      wanted.add(dot)
      const directory = worktreeOf(dot, machine)
      if (!directory) continue
      const common = join(directory, machine.text(join(directory, 'commondir'))?.trim() ?? '.')
      for (const one of new Set([directory, common])) {
        if (!roots.some((other) => isInside(one, other))) worktrees.push(one)
        addRepository(one, repository, wanted, machine)
      }
    }
  }
  const present: string[] = []
  const absent: string[] = []
  for (const path of wanted) {
    const kind = machine.kind(path)
    if (kind === null) absent.push(path)
    else if (kind !== 'link') present.push(path)
    else {
      // A link is never bound by following it: its target is protected where it lies in a root, and nothing is mounted elsewhere.
      const target = machine.real(path)
      if (target && roots.some((root) => isInside(target, root))) present.push(target)
    }
  }
  return { present: [...new Set(present)].sort(), absent: absent.sort(), worktrees }
}

function addRepository(dot: string, repository: string, wanted: Set<string>, machine: Machine): void {
  for (const name of GIT_NAMES) wanted.add(join(dot, name))
  for (const module of machine.names(join(dot, 'modules')).slice(0, MAX_NESTED))
    for (const name of ['config', 'hooks']) wanted.add(join(dot, `modules/${module}/${name}`))
  for (const worktree of machine.names(join(dot, 'worktrees')).slice(0, MAX_NESTED))
    wanted.add(join(dot, `worktrees/${worktree}/config.worktree`))
  for (const name of ['config', 'config.worktree'])
    for (const path of namedByGit(machine.text(join(dot, name)) ?? '', dot, repository)) wanted.add(path)
}

/** Files and directories that a configuration names. Relative ones count from the repository, those of `include` from the file. */
export function namedByGit(text: string, dot: string, repository: string): string[] {
  const found: string[] = []
  let including = false
  for (const line of text.split('\n')) {
    const section = /^\s*\[\s*([\w-]+)/.exec(line)
    if (section) including = /^include/i.test(section[1] as string)
    const value = GIT_PATH_KEYS.exec(line.replace(/^\s*\[[^\]]*\]/, ''))?.[1]?.replace(/^"(.*)"$/, '$1')
    if (!value || value.startsWith('~') || /^(?:true|false|yes|no|on|off|0|1)$/i.test(value)) continue
    const base = including ? dot : repository
    found.push(value.startsWith('/') ? join('/', value) : join(base, value))
  }
  return found
}

/** The directory that a `.git` file names, if that directory names this file: a repository cannot claim somebody else's. */
function worktreeOf(dot: string, machine: Machine): string | null {
  const named = /^gitdir:\s*(.+?)\s*$/m.exec(machine.text(dot) ?? '')?.[1]
  if (!named) return null
  const directory = machine.real(named.startsWith('/') ? named : join(parentOf(dot), named))
  if (!directory || machine.kind(join(directory, 'HEAD')) !== 'file') return null
  const back = machine.text(join(directory, 'gitdir'))?.trim()
  return back && machine.real(back) === dot ? directory : null
}

/** The root, and directories of it up to two levels below that are repositories. */
function repositoriesIn(root: string, machine: Machine): string[] {
  const found = [root]
  const look = (directory: string, levels: number): void => {
    for (const name of machine.names(directory).slice(0, MAX_NESTED)) {
      if (name === '.git' || name === 'node_modules' || found.length > MAX_NESTED) continue
      const path = join(directory, name)
      if (machine.kind(path) !== 'directory') continue
      if (machine.kind(join(path, '.git')) !== null) found.push(path)
      if (levels > 1) look(path, levels - 1)
    }
  }
  look(root, 2)
  return found
}

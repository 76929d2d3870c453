/**
 * Names inside a writable directory that stay read-only: what other programs of the person would run or believe later.
 */
import { nameList } from '../contract/quote.js'
import { DIRECTORY_ENV, readByEnvironment } from './directory-files.js'
import { namedBySettings, readGitConfig } from './git-config.js'
import { isBelow, isInside } from '../contract/names/inside.js'
import { join, nameOf, parentOf } from './paths.js'
import type { Machine } from './machine.js'

/** Relative to a root. */
export const PROTECTED_NAMES: readonly string[] = nameList(`
  .vscode .idea .fleet .zed .helix .nvim.lua .nvimrc .exrc .vimrc .lvimrc .lazy.lua .dir-locals.el .dir-locals-2.el
  .devcontainer .devcontainer.json .envrc mise.toml .mise.toml mise.local.toml .mise.local.toml .mise mise/config.toml
  .config/mise .config/mise.toml .tool-versions .autoenv .autoenv.zsh .shadowenv.d .prototools .flox
  .Rprofile .iex.exs .ghci .ocamlinit .irbrc .pryrc .pdbrc .gdbinit .lldbinit
  .mcp.json .claude .codex .agents .agent .cursor .cursorrules .gemini .windsurf .windsurfrules .kiro .opencode
  opencode.json opencode.jsonc .crush.json crush.json .qwen .roo .kilocode .clinerules .continue .aider.conf.yml .amp
  .amazonq .augment .factory .junie .openhands .trae .crush .goose .cline .roomodes .kilocodemodes .continuerc.json
  .copilot .antigravity .pi .vibe .qoder .aiassistant .serena .idx .warp .github/copilot-instructions.md
  .github/agents .github/hooks .github/instructions .github/prompts .github/skills .github/chatmodes .pijul/config
  .hg/hgrc .hg/hgrc-not-shared .hg/sharedpath .jj/repo/config.toml .sl/config cerith.config.json
`)

/**
 * Relative to a home that lies in a root: what starts with a shell or a login, and git's configuration of all
 * repositories.
 */
const HOME_NAMES: readonly string[] = nameList(`
  .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_completion .bashrc.d .profile .inputrc
  .zshrc .zshenv .zprofile .zlogin .zlogout .oh-my-zsh .kshrc .cshrc .tcshrc .login .config/fish .config/nushell
  .config/starship.toml .config/direnv .config/mise .config/autostart .config/systemd .config/environment.d
  .config/git .gitconfig .hgrc .local/bin bin .cargo/bin .xprofile .xsession .xsessionrc .xinitrc .pam_environment
  .vimrc .vim .config/nvim .emacs .emacs.d .config/emacs .tmux.conf .config/tmux .screenrc .gdbinit .lldbinit .psqlrc
  .sqliterc .pythonrc .irbrc .Rprofile .local/share/applications .local/share/systemd .local/share/dbus-1
`)

/** Git's configuration of all repositories. */
const GIT_CONFIGS = ['.gitconfig', '.config/git/config']

/** Relative to the directory of a repository: what git runs, or is told to believe. */
const GIT_NAMES: readonly string[] = ['hooks', 'config', 'config.worktree', 'commondir', 'remotes', 'branches']

/** Hooks that managers of hooks install; which programs those run stands in files of the project. */
const HOOKS: readonly string[] = nameList(`
  pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit pre-push pre-rebase post-checkout post-merge
  post-rewrite
`)
const LEFTHOOK: readonly string[] = ['lefthook', '.lefthook', '.config/lefthook'].flatMap((name) =>
  [name, `${name}-local`].flatMap((one) => ['yml', 'yaml', 'toml', 'json', 'jsonc'].map((end) => `${one}.${end}`)),
)

/** What is looked into for repositories. Paths beyond what a room can hold are a failure there, never left out. */
const MAX_DIRECTORIES = 10_000
/** Configurations that include each other, modules in modules. */
const MAX_DEPTH = 5
/** Names on the way of a path that leads through links. */
const MAX_STEPS = 500

export interface Protection {
  /** There now: bound onto themselves, read-only. */
  readonly present: readonly string[]
  /** Not there: looked for after each command. */
  readonly absent: readonly string[]
  /**
   * Directories outside the roots that belong to a worktree of a root, proven by the pointer
   * back: writable but for their own protected names.
   */
  readonly worktrees: readonly string[]
}

export function protectionOf(
  roots: readonly string[],
  further: readonly string[],
  home: string,
  machine: Machine,
): Protection {
  const wanted = new Set<string>()
  const worktrees: string[] = []
  const everywhere = ['/etc/gitconfig', ...GIT_CONFIGS.map((name) => join(home, name))]
  for (const root of roots) {
    for (const name of [...PROTECTED_NAMES, ...further]) wanted.add(name.startsWith('/') ? name : join(root, name))
    for (const file of DIRECTORY_ENV)
      for (const path of readByEnvironment(machine.text(join(root, file)) ?? '')) wanted.add(join(root, path))
    if (isInside(home, root)) for (const name of HOME_NAMES) wanted.add(join(home, name))
    for (const repository of repositoriesIn(root, machine)) {
      // `core.hooksPath .githooks` for all repositories is a directory of each. Patterns of names start nothing.
      const named = new Set<string>()
      for (const file of everywhere) addNamed(machine.real(file) ?? file, repository, named, machine, 0)
      for (const path of named) if (!/^\.git(?:ignore|attributes)$/.test(nameOf(path))) wanted.add(path)
      // One without a directory of its own for its files: `git` in it believes its config.
      if (isBare(repository, machine)) addRepository(repository, repository, wanted, machine)
      const dot = join(repository, '.git')
      const kind = machine.kind(dot)
      // A link, and a file that leads to the repository, are believed themselves.
      if (kind === 'file' || kind === 'link') wanted.add(dot)
      if (kind !== 'file') {
        addRepository((kind === 'link' ? machine.real(dot) : null) ?? dot, repository, wanted, machine)
        continue
      }
      const directory = namedBy(dot, machine)
      if (!directory) continue
      // What lies in a root is the command's to write; elsewhere a repository cannot claim another one's.
      const isOurs = roots.some((other) => isInside(directory, other))
      if (!isOurs && !leadsBack(directory, dot, machine)) continue
      const common = join(directory, machine.text(join(directory, 'commondir'))?.trim() ?? '.')
      for (const one of new Set([directory, common])) {
        if (!roots.some((other) => isInside(one, other)) && !isOurs) worktrees.push(one)
        addRepository(one, repository, wanted, machine)
      }
    }
  }
  const present = new Set<string>()
  const absent = new Set<string>()
  for (const path of wanted) {
    // Each link on the way can be neither moved nor removed, nor can what it leads to in the
    // end; nothing is mounted outside the roots.
    for (const place of placesOf(path, machine)) (machine.kind(place) === null ? absent : present).add(place)
  }
  return { present: [...present].sort(), absent: [...absent].sort(), worktrees }
}

/** The links that are followed to reach a path, and the thing itself, each without links on its way. */
function placesOf(path: string, machine: Machine): string[] {
  const found: string[] = []
  let at = '/'
  let rest = path.split('/').filter(Boolean)
  for (let steps = 0; rest.length > 0 && steps < MAX_STEPS; steps++) {
    const [name = '', ...after] = rest
    const next = join(at, name)
    const target = machine.target(next)
    rest = target === null ? after : [...target.split('/').filter((part) => part !== '' && part !== '.'), ...after]
    if (target === null) at = next
    else found.push(next)
    if (target?.startsWith('/')) at = '/'
  }
  return at === '/' ? found : [...found, at]
}

function addRepository(dot: string, repository: string, wanted: Set<string>, machine: Machine, depth = 0): void {
  for (const name of GIT_NAMES) wanted.add(join(dot, name))
  addReadByHooks(join(dot, 'hooks'), repository, wanted, machine)
  for (const module of modulesIn(join(dot, 'modules'), machine, MAX_DEPTH))
    if (depth < MAX_DEPTH) addRepository(module, repository, wanted, machine, depth + 1)
  for (const worktree of machine.directories(join(dot, 'worktrees')))
    for (const name of ['config.worktree', 'commondir']) wanted.add(join(dot, `worktrees/${worktree}/${name}`))
  for (const name of ['config', 'config.worktree']) addNamed(join(dot, name), repository, wanted, machine, 0)
}

function addReadByHooks(hooks: string, repository: string, wanted: Set<string>, machine: Machine): void {
  for (const name of HOOKS)
    for (const path of readByHook(machine.text(join(hooks, name)) ?? ''))
      if (!path.startsWith('/') && isBelow(join(repository, path), repository)) wanted.add(join(repository, path))
}

/** What a hook that pre-commit or lefthook installed reads; without one these are files like any other. */
function readByHook(text: string): readonly string[] {
  if (/\bhook-impl\b/.test(text)) return [/--config[= ]['"]?([^\s'")]+)/.exec(text)?.[1] ?? '.pre-commit-config.yaml']
  return /\blefthook\b/.test(text) ? ['.lefthook', '.lefthook-local', ...LEFTHOOK] : []
}

/** Repositories of submodules: a name with slashes is a directory for each part. */
function modulesIn(directory: string, machine: Machine, levels: number): string[] {
  return machine.directories(directory).flatMap((name) => {
    const path = join(directory, name)
    if (machine.kind(join(path, 'HEAD')) !== null) return [path]
    return levels > 1 ? modulesIn(path, machine, levels - 1) : []
  })
}

/** What a configuration names inside of what commands can write, and what the files that it includes name. */
function addNamed(file: string, repository: string, wanted: Set<string>, machine: Machine, depth: number): void {
  for (const { path, isInclude } of namedBySettings(readGitConfig(machine.text(file) ?? '') ?? [])) {
    const named = path.startsWith('/') ? join('/', path) : join(isInclude ? parentOf(file) : repository, path)
    // Hooks that husky makes start those beside their directory.
    const wantedPath = nameOf(named) === '_' ? parentOf(named) : named
    if (wantedPath === repository || isInside(repository, wantedPath)) continue
    wanted.add(wantedPath)
    // The path of a setting may be the directory of the hooks (`core.hooksPath`).
    if (!isInclude) addReadByHooks(wantedPath, repository, wanted, machine)
    if (isInclude && depth < MAX_DEPTH) addNamed(named, repository, wanted, machine, depth + 1)
  }
}

function isBare(directory: string, machine: Machine): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => machine.kind(join(directory, name)) !== null)
}

/** The directory that a `.git` file names. */
function namedBy(dot: string, machine: Machine): string | null {
  const named = /^gitdir:\s*(.+?)\s*$/m.exec(machine.text(dot) ?? '')?.[1]
  if (!named) return null
  const directory = machine.real(named.startsWith('/') ? named : join(parentOf(dot), named))
  return directory && machine.kind(join(directory, 'HEAD')) === 'file' ? directory : null
}

function leadsBack(directory: string, dot: string, machine: Machine): boolean {
  const back = machine.text(join(directory, 'gitdir'))?.trim()
  return back !== undefined && machine.real(back) === dot
}

/** The root, directories of it up to two levels below that are repositories, and its submodules wherever they are. */
function repositoriesIn(root: string, machine: Machine): string[] {
  const found = [root]
  for (const { section, key, value } of readGitConfig(machine.text(join(root, '.gitmodules')) ?? '') ?? []) {
    const path = section === 'submodule' && key === 'path' && value ? join(root, value) : root
    if (path !== root && isInside(path, root) && !found.includes(path) && machine.real(path) === path) found.push(path)
  }
  let left = MAX_DIRECTORIES
  const look = (directory: string, levels: number): void => {
    for (const name of machine.directories(directory)) {
      if (name === '.git' || name === 'node_modules' || left-- <= 0) continue
      const path = join(directory, name)
      const isOne = machine.kind(join(path, '.git')) !== null || isBare(path, machine)
      if (isOne && !found.includes(path)) found.push(path)
      if (levels > 1) look(path, levels - 1)
    }
  }
  look(root, 2)
  return found
}

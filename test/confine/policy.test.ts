import { describe, expect, test } from 'vitest'
import { PolicyMistake, roomPolicy, type Item, type Places } from '../../src/confine/policy.js'
import type { SandboxOptions } from '../../src/contract/sandbox.js'
import { depthOf } from '../../src/confine/paths.js'
import { tree } from './tree.js'

const MACHINE = [
  '/usr/bin/bash',
  '/etc/shadow',
  '/etc/ssh/ssh_host_rsa_key',
  '/run/',
  '/home/u/.ssh/id',
  '/home/u/app/.git/config = [core]',
  '/home/u/app/.git/hooks/',
  '/home/u/app/src/',
  '/home/u/lib/.env',
  '/home/u/.local/state/cerith/vault',
  '/home/u/.local/state/cerith/rooms/1/cache/',
  '/home/other/',
]

const PLACES: Places = {
  home: '/home/u',
  accountHome: null,
  env: {},
  stateDir: '/home/u/.local/state/cerith',
  roots: ['/home/u/app'],
  cacheDir: '/home/u/.local/state/cerith/rooms/1/cache',
  given: [],
  needed: ['/usr/bin'],
  own: [],
  isRoot: false,
}

const items = (
  options: Partial<SandboxOptions> = {},
  places: Partial<Places> = {},
  more: readonly string[] = [],
): Item[] => [
  ...roomPolicy({ profile: 'workspace', ...options }, { ...PLACES, ...places }, tree([...MACHINE, ...more])).items,
]
const of = (kind: Item['kind'], list: readonly Item[]): string[] =>
  list.filter((item) => item.kind === kind).map(({ path }) => path)

describe('the policy of a room', () => {
  test('the home is a view without credentials, its projects are live, the root is writable', () => {
    const list = items()
    expect(of('view', list)).toEqual(['/home/u'])
    expect(of('blank', list)).toContain('.ssh')
    expect(of('blank', list)).toContain('.git-credentials')
    expect(of('show', list)).toEqual(['/home/u/app', '/home/u/lib'])
    expect(of('hide', list)).toContain('/home/u/lib/.env')
    expect(of('write', list)).toContain('/home/u/app')
    expect(of('protect', list)).toEqual(['/home/u/app/.git/config', '/home/u/app/.git/hooks'])
    expect(of('between', list)).toEqual(['/home/u/app/.git'])
  })

  test('what the engine needs is seen where its place is hidden, and not shown again where it lies in a root', () => {
    const needed = ['/usr/bin', '/tmp/c/native', '/var/tmp/c', '/run/c']
    const list = items({}, { needed }, ['/tmp/c/native/x', '/var/tmp/c/', '/run/c/'])
    expect(of('show', list).filter((path) => !path.startsWith('/home'))).toEqual([
      '/run/c',
      '/tmp/c/native',
      '/var/tmp/c',
    ])
    expect(of('show', items({}, { needed: ['/home/u/app/n'] }, ['/home/u/app/n/'])).at(-1)).toBe('/home/u/lib')
    // A directory that is private as a whole is never given away for one file in it.
    expect(of('show', items({}, { needed: ['/tmp'] }, ['/tmp/x']))).not.toContain('/tmp')
    const hidden = items({ hide: ['/opt'] }, { needed: ['/opt/c/native'] }, ['/opt/c/native/'])
    expect(of('show', hidden)).toContain('/opt/c/native')
  })

  test('the code of the engine cannot be written where it lies in a root, nor can what leads to it be moved', () => {
    const own = ['/home/u/app/node_modules/cerith/dist', '/usr/bin/node']
    const list = items({}, { own }, ['/home/u/app/node_modules/cerith/dist/native/helper', '/usr/bin/node'])
    expect(of('protect', list)).toContain('/home/u/app/node_modules/cerith/dist')
    expect(of('protect', list)).not.toContain('/usr/bin/node')
    expect(of('between', list)).toEqual(
      expect.arrayContaining(['/home/u/app/node_modules', '/home/u/app/node_modules/cerith']),
    )
  })

  test('credentials are hidden in the home of the person too where HOME is another one, inside it or not', () => {
    const more = ['/home/u/tmp/w/', '/home/u/.netrc', '/srv/h/app/', '/home/other/.ssh/id', '/root/.ssh/id']
    for (const home of ['/home/u/tmp', '/srv/h'])
      for (const isRoot of [false, true]) {
        const list = items({}, { home, isRoot, accountHome: '/home/u', roots: ['/srv/h/app'] }, more)
        const hidden = [...of('hide', list), ...of('blank', list).map((name) => `${home}/${name}`)]
        const isHidden = (path: string): boolean => hidden.some((one) => path === one || path.startsWith(`${one}/`))
        expect(['/home/u/.ssh/id', '/home/u/.netrc', '/home/u/lib/.env'].filter((path) => !isHidden(path))).toEqual([])
        expect(isHidden('/root/.ssh/id')).toBe(isRoot)
      }
  })

  test('credentials are hidden where variables of the person say they are, and only those', () => {
    const env = {
      KUBECONFIG: '/srv/k/one:relative:/srv/k/two',
      GOOGLE_APPLICATION_CREDENTIALS: '/home/u/app/key.json',
      XDG_CONFIG_HOME: '/srv/config/',
      DOCKER_CONFIG: '/home',
      HISTFILE: '/dev/null',
      GNUPGHOME: '/srv/not-there',
    }
    const more = ['/srv/k/one', '/srv/k/two', '/home/u/app/key.json', '/srv/config/gh/hosts.yml', '/dev/null!']
    const hidden = of('hide', items({}, { env }, more))
    expect(hidden).toEqual(
      expect.arrayContaining(['/srv/k/one', '/srv/k/two', '/home/u/app/key.json', '/srv/config/gh']),
    )
    for (const path of ['/home', '/dev/null', '/srv/not-there', '/relative']) expect(hidden).not.toContain(path)
  })

  test('seldom ones are hidden where they are there, also below a directory that a variable names', () => {
    const more = ['/home/u/.databrickscfg', '/home/u/.config/stripe/config.toml', '/srv/data/fish/fish_history']
    const list = items({}, { env: { XDG_DATA_HOME: '/srv/data' } }, more)
    expect(of('blank', list)).toEqual(expect.arrayContaining(['.databrickscfg', '.config/stripe']))
    expect(of('blank', list)).not.toContain('.config/ngrok')
    expect(of('hide', list)).toContain('/srv/data/fish/fish_history')
  })

  test('a history that is a link to a device hides the link alone', () => {
    const list = items({}, {}, ['/home/u/.bash_history -> /dev/null', '/dev/null!'])
    expect(of('hide', list)).not.toContain('/dev/null')
    expect(of('blank', list)).toContain('.bash_history')
  })

  test('a home that is hidden shows none of its projects but the root', () => {
    const list = items({ hide: ['/home/u'] })
    expect(of('view', list)).toEqual([])
    expect(of('show', list)).toEqual([])
    expect(of('hide', list)).toContain('/home/u')
    expect(of('write', list)).toContain('/home/u/app')
  })

  test('nothing is mounted over a hidden directory to protect what lies in it', () => {
    const list = items({ hide: ['/home/u/app/sub'], protect: ['sub/a'] }, {}, ['/home/u/app/sub/a'])
    expect(of('protect', list)).not.toContain('/home/u/app/sub/a')
    expect(of('between', list)).not.toContain('/home/u/app/sub')
  })

  test('what is hidden in a directory that is live in the home is covered there', () => {
    const more = ['/home/u/.data/secret', '/home/u/x']
    expect(of('hide', items({ write: ['/home/u/.data'], hide: ['/home/u/.data/secret'] }, {}, more))).toContain(
      '/home/u/.data/secret',
    )
    const shown = items({ show: ['/home/u'], hide: ['/home/u/x'] }, {}, more)
    expect(of('view', shown)).toEqual([])
    expect(of('hide', shown)).toEqual(expect.arrayContaining(['/home/u/x', '/home/u/.ssh']))
  })

  test('a protected name stays so although it is named as writable too', () => {
    const list = items({ write: ['/home/u/app/src'], protect: ['src'] })
    expect(of('protect', list)).toContain('/home/u/app/src')
  })

  test('a home that does not exist needs no view, and the room can still be built', () => {
    const list = items({}, { home: '/home/nobody-here' })
    expect(of('view', list)).toEqual([])
    expect(of('blank', list)).toEqual([])
  })

  test('shallow comes first, and blanks follow their view', () => {
    const list = items()
    const depths = list.filter(({ kind }) => kind !== 'blank').map(({ path }) => depthOf(path))
    expect(depths).toEqual([...depths].sort((a, b) => a - b))
    const view = list.findIndex(({ kind }) => kind === 'view')
    const blanks = list.map(({ kind }, at) => (kind === 'blank' ? at : -1)).filter((at) => at >= 0)
    expect(blanks[0]).toBe(view + 1)
    expect(blanks.at(-1)).toBe(view + blanks.length)
  })

  test('the state directory is hidden although it lies in the home, and holds the cache', () => {
    const list = items()
    const hidden = list.findIndex(({ kind, path }) => kind === 'hide' && path === PLACES.stateDir)
    const cache = list.findIndex(({ kind, path }) => kind === 'write' && path === PLACES.cacheDir)
    expect(hidden).toBeGreaterThan(0)
    expect(cache).toBeGreaterThan(hidden)
  })

  test('a home that is itself writable has no view; its credentials are covered one by one', () => {
    const list = items({}, { roots: ['/home/u'] })
    expect(of('view', list)).toEqual([])
    expect(of('hide', list)).toEqual(
      expect.arrayContaining(['/home/u/.ssh', '/home/u/.local/state/cerith', '/home/u/.netrc']),
    )
    const write = list.findIndex(({ kind, path }) => kind === 'write' && path === '/home/u')
    expect(list.findIndex(({ path }) => path === '/home/u/.ssh')).toBeGreaterThan(write)
  })

  test('what a hidden link leads to is hidden too', () => {
    const list = items({}, {}, ['/home/u/dotfiles/aws/credentials', '/home/u/.aws -> dotfiles/aws'])
    expect(of('hide', list)).toContain('/home/u/dotfiles/aws')
    expect(of('blank', list)).toContain('.aws')
  })

  test('a protected name that is a link is never bound by following it out of the root', () => {
    const list = items({}, {}, ['/home/u/app/.envrc -> /home/u/.ssh/id', '/home/u/app/.vscode -> src'])
    expect(of('protect', list)).not.toContain('/home/u/.ssh/id')
    expect(of('protect', list)).toContain('/home/u/app/src')
    // The links themselves stay: another directory in their place would be believed.
    expect(of('protect', list)).toEqual(expect.arrayContaining(['/home/u/app/.envrc', '/home/u/app/.vscode']))
  })

  test('every link on the way to a protected name is protected, and what it leads to may not come into being', () => {
    const list = items({}, {}, [
      '/home/u/app/.vscode -> one/code',
      '/home/u/app/one -> two',
      '/home/u/app/two/code -> ../three',
      '/home/u/app/three/',
      '/home/u/app/.claude -> later',
    ])
    expect(of('protect', list)).toEqual(
      expect.arrayContaining([
        '/home/u/app/.claude',
        '/home/u/app/.vscode',
        '/home/u/app/one',
        '/home/u/app/three',
        '/home/u/app/two/code',
      ]),
    )
    const { protection } = roomPolicy(
      { profile: 'workspace' },
      PLACES,
      tree([...MACHINE, '/home/u/app/.claude -> later']),
    )
    expect(protection.absent).toContain('/home/u/app/later')
  })

  test('submodules are protected wherever they are, and other worktrees of the repository', () => {
    const list = items({}, {}, [
      '/home/u/app/.gitmodules = [submodule "x"]\n\tpath = a/b/c/d\n[submodule "y"]\n\tpath = ../../lib',
      '/home/u/app/a/b/c/d/.git = gitdir: ../../../../.git/modules/vendor/x',
      '/home/u/app/.git/modules/vendor/x/HEAD',
      '/home/u/app/.git/modules/vendor/x/config = [core]\n\thooksPath = a/hooks',
      '/home/u/app/.git/modules/vendor/x/modules/in/HEAD',
      '/home/u/app/.git/modules/vendor/x/modules/in/hooks/',
      '/home/u/app/.git/worktrees/w/commondir = ../..',
      '/home/u/app/a/hooks/',
    ])
    expect(of('protect', list)).toEqual(
      expect.arrayContaining([
        '/home/u/app/a/b/c/d/.git',
        '/home/u/app/a/hooks',
        '/home/u/app/.git/modules/vendor/x/config',
        '/home/u/app/.git/modules/vendor/x/modules/in/hooks',
        '/home/u/app/.git/worktrees/w/commondir',
      ]),
    )
  })

  test.each(['/', '/proc', '/dev/shm', '/home/u/.local/state/cerith/jobs', '/home/u/.ssh'])(
    '%s cannot be made writable',
    (root) => {
      expect(() => items({ write: [root] })).toThrow(PolicyMistake)
    },
  )

  test('read-only has no writable directory at all', () => {
    expect(of('write', items({ profile: 'read-only' }))).toEqual([])
  })

  test('strict shows the system and the roots; for root its secrets are hidden in it', () => {
    const list = items({ profile: 'strict' }, { isRoot: true })
    expect(of('view', list)).toEqual([])
    expect(of('show', list)).toEqual(['/etc', '/usr', '/usr/bin'])
    expect(of('hide', list)).toEqual(
      expect.arrayContaining(['/etc/shadow', '/etc/ssh/ssh_host_rsa_key', '/home/other']),
    )
  })

  test('what an installed hook of pre-commit or lefthook reads is protected, and without one it is not', () => {
    const files = ['.pre-commit-config.yaml', 'ci/hooks.yaml', 'lefthook.yml', '.config/lefthook-local.toml'].map(
      (name) => `/home/u/app/${name}`,
    )
    const kept = (...more: string[]): string[] =>
      of('protect', items({}, {}, [...files, ...more])).filter((path) => files.includes(path))
    const hook = '/home/u/app/.git/hooks/'
    const impl = 'ARGS=(hook-impl'
    expect(kept()).toEqual([])
    expect(kept(`${hook}pre-commit = #!/bin/sh\nnpm test # no pre-commit`)).toEqual([])
    expect(kept(`${hook}pre-push = ${impl} --config=.pre-commit-config.yaml --hook-type=pre-push)`)).toEqual([files[0]])
    expect(kept(`${hook}commit-msg = ${impl} --config=ci/hooks.yaml)`)).toEqual([files[1]])
    expect(kept(`${hook}commit-msg = ${impl} --config=../../lib/.env)`)).toEqual([])
    expect(kept(`${hook}pre-commit = call_lefthook run "pre-commit" "$@"; lefthook run`).toSorted()).toEqual(
      files.slice(2).toSorted(),
    )
  })

  test('what git is told to run inside a root is protected', () => {
    const config = '[core]\n\thooksPath = .husky\n[include]\n\tpath = ../.gitconfig\n[core]\n fsmonitor = true'
    const list = items({}, {}, [`/home/u/app/.git/config = ${config}`, '/home/u/app/.husky/', '/home/u/app/.gitconfig'])
    expect(of('protect', list)).toEqual(expect.arrayContaining(['/home/u/app/.husky', '/home/u/app/.gitconfig']))
  })

  test('the directory of a worktree is writable only when it points back', () => {
    const worktree = (back: string): readonly string[] => [
      '/home/u/wt/.git = gitdir: /home/u/main/.git/worktrees/wt\n',
      '/home/u/main/.git/config',
      '/home/u/main/.git/hooks/',
      '/home/u/main/.git/worktrees/wt/HEAD',
      '/home/u/main/.git/worktrees/wt/commondir = ../..',
      `/home/u/main/.git/worktrees/wt/gitdir = ${back}\n`,
    ]
    const proven = items({}, { roots: ['/home/u/wt'] }, worktree('/home/u/wt/.git'))
    expect(of('write', proven)).toEqual(expect.arrayContaining(['/home/u/main/.git', '/home/u/main/.git/worktrees/wt']))
    expect(of('protect', proven)).toEqual(
      expect.arrayContaining(['/home/u/wt/.git', '/home/u/main/.git/config', '/home/u/main/.git/hooks']),
    )
    const claimed = items({}, { roots: ['/home/u/wt'] }, worktree('/home/u/elsewhere/.git'))
    expect(of('write', claimed).filter((path) => path.includes('main'))).toEqual([])
  })

  test('what the user shows by name is not hidden', () => {
    const list = items({ show: ['/home/u/.ssh'] })
    expect(of('blank', list)).not.toContain('.ssh')
    expect(of('show', list)).toContain('/home/u/.ssh')
  })
})

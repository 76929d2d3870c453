/**
 * What waits for the person: repositories, second names and late files that a command leaves where `git` or an editor
 * would believe them.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Engine } from '../../../src/index.js'
import { temporaryFolder, testEngine, until } from '../harness.js'
import { canConfine, ground, type Ground } from './harness.js'

/** A program that leaves a mark, and the way to it. */
const PLANT = `printf '#!/bin/sh\\ntouch "$RAN"\\n' >p; chmod +x p`
const WATCH = 'core.fsmonitor $PWD/p'

/** What the person does later: git in a directory. Says whether the command's program ran. */
function runsPlant({ home, work }: Ground, directory: string, ...words: string[]): boolean {
  const mark = join(home, 'ran')
  const env = { PATH: process.env['PATH'], HOME: home, RAN: mark, GIT_CONFIG_GLOBAL: '/dev/null' }
  const who = ['-c', 'user.name=a', '-c', 'user.email=a@b']
  try {
    execFileSync('git', [...who, ...words], { cwd: join(work, directory), env, stdio: 'ignore' })
  } catch {
    // It may refuse; what counts is what it ran.
  }
  return existsSync(mark)
}

/** Another engine for the same workspace: what is there now is protected in its rooms. */
async function later({ home, work }: Ground): Promise<Engine> {
  return testEngine({ cwd: work, env: { ...process.env, HOME: home }, sandbox: { profile: 'workspace' } })
}

/** Times of files tell two commands apart only when there is some between them. */
async function pass(ms: number): Promise<void> {
  const over = Date.now() + ms
  await until(() => Date.now() > over)
}

function repositoryIn(directory: string): void {
  mkdirSync(directory, { recursive: true })
  execFileSync('git', ['init', '-q', '.'], { cwd: directory })
}

describe.skipIf(!canConfine)('planted by a command', () => {
  test.each(['its stop', 'the end of its job', 'the end of the engine'])(
    'again and again until %s leaves nothing',
    async (end) => {
      const { engine, work } = await ground()
      const command = 'while :; do mkdir -p .cursor; echo {} >.cursor/mcp.json; touch made; done 2>/dev/null'
      const isMade = (): boolean => existsSync(join(work, 'made'))
      if (end === 'its stop') {
        const stop = new AbortController()
        const call = engine.run({ command, signal: stop.signal })
        await until(isMade)
        stop.abort()
        await call
      } else {
        const job = await engine.start({ command })
        await until(isMade)
        if (end === 'the end of the engine') await engine.close()
        else {
          await job.kill()
          // The look behind a job comes by itself, at the latest with the next command.
          await engine.run({ command: 'true' })
        }
      }
      expect(existsSync(join(work, '.cursor/mcp.json'))).toBe(false)
    },
  )

  test('between commands: what a session and a job left running make is set aside soon, and told with the next outcome', async () => {
    const { engine, work } = await ground()
    const session = await engine.session()
    await session.run({
      command: '(while [ ! -e go ]; do sleep 0.05; done; echo evil >.envrc; touch done) >/dev/null 2>&1 & disown',
    })
    await engine.start({ command: 'while [ ! -e go ]; do sleep 0.05; done; mkdir .vscode; sleep 1000' })
    writeFileSync(join(work, 'go'), '')
    await until(() => existsSync(join(work, 'done')))
    await until(() => !existsSync(join(work, '.envrc')) && !existsSync(join(work, '.vscode')), 'the look')
    const told = (await session.run({ command: 'true' })).notes.map(({ text }) => text).join('\n')
    expect([told.includes('/.envrc aside'), told.includes('/.vscode aside')]).toEqual([true, true])
  })

  test.each([
    [
      'a name below a directory',
      'mkdir -p stash/mise; echo evil >stash/mise/config.toml',
      'mv stash .config',
      '.config/mise',
    ],
    [
      'a name below a directory that came first',
      'mkdir -p s/hooks; echo evil >s/hooks/x',
      'mv s .github',
      '.github/hooks',
    ],
    [
      'the same, one by one',
      'mkdir -p s; echo evil >s/config.toml',
      'mkdir .jj; mv s .jj/repo',
      '.jj/repo/config.toml',
    ],
  ])('%s that is older than the command that moves it in', async (_, first, second, name) => {
    const { engine, work } = await ground()
    await engine.run({ command: first })
    await pass(200)
    const { notes } = await engine.run({ command: second })
    expect([existsSync(join(work, name)), notes.map(({ text }) => text).join()]).toEqual([
      false,
      expect.stringContaining('aside'),
    ])
  })

  test.each([
    ['a repository', 'a/b/c/r', 'mv a/b/c/r r', 'r'],
    ['a directory with one', 'a/b/c/d/r', 'mv a/b/c/d d', 'd/r'],
    ['the inside of one that a command made', 'a/b/c/r', 'git init -q r; rm -rf r/.git; mv a/b/c/r/.git r/.git', 'r'],
    ['the hooks of one', 'a/b/c/r', 'git init -q r; rm -rf r/.git/hooks; mv a/b/c/r/.git/hooks r/.git/hooks', 'r'],
  ])('%s is older than the command that moves it in', async (_, deep, second, directory) => {
    const place = await ground()
    const arm = `git -C ${deep} config ${WATCH}; cp p ${deep}/.git/hooks/post-checkout`
    await place.engine.run({ command: `${PLANT}; mkdir -p ${deep}; git init -q ${deep}; ${arm}` })
    await place.engine.close()
    await pass(200)
    const engine = await later(place)
    await engine.run({ command: second })
    await engine.close()
    expect([runsPlant(place, directory, 'status'), runsPlant(place, directory, 'checkout', '-b', 'x')]).toEqual([
      false,
      false,
    ])
  })

  test.each(['.', 'a/b'])(
    'a second name of the configuration of a new repository (%s) does not lead to it',
    async (at) => {
      const place = await ground()
      await place.engine.run({ command: `mkdir -p ${at}; git init -q ${at}; ln ${at}/.git/config x; ${PLANT}` })
      await place.engine.close()
      const engine = await later(place)
      await engine.run({ command: `printf '[core]\\nfsmonitor=%s/p\\n' $PWD >>x` })
      expect(runsPlant(place, at, 'status')).toBe(false)
    },
  )

  test('a new repository does not send a checkout out of the workspace; submodules work', async () => {
    const place = await ground()
    const commit = 'git -c user.name=a -c user.email=a@b commit -qm s'
    await place.engine.run({
      command: `git init -q sub; cd sub; echo evil >rc; git add .; ${commit}; git config core.worktree ${place.home}`,
    })
    await place.engine.close()
    execFileSync('git', ['checkout', '-qf', 'HEAD'], { cwd: join(place.work, 'sub') })
    expect(existsSync(join(place.home, 'rc'))).toBe(false)
    const engine = await later(place)
    const added = await engine.run({
      command: `git init -q .; git -c protocol.file.allow=always submodule --quiet add ./sub lib && ${commit} && git -C lib log --format=%s`,
    })
    expect(added.stdout).toBe('s\n')
    expect(readFileSync(join(place.work, '.git/modules/lib/config'), 'utf8')).toContain('worktree = ../../../lib')
  })

  test('a repository without a .git of its own is disarmed in a directory below, and protected where it is there already', async () => {
    const place = await ground()
    const arm = `git -C b config core.bare false; git -C b config core.worktree $PWD/src; git -C b config ${WATCH}`
    await place.engine.run({ command: `${PLANT}; git init -q --bare b; ${arm}; cp p b/hooks/pre-receive` })
    await place.engine.close()
    expect([runsPlant(place, 'b', 'status'), existsSync(join(place.work, 'b/hooks/pre-receive'))]).toEqual([
      false,
      false,
    ])
    const engine = await later(place)
    await engine.run({
      command: `${arm}; printf '[core]\\nfsmonitor=%s/p\\n' $PWD >>b/config; cp p b/hooks/pre-receive`,
    })
    expect([runsPlant(place, 'b', 'status'), existsSync(join(place.work, 'b/hooks/pre-receive'))]).toEqual([
      false,
      false,
    ])
  })

  test('the repository that a .git file in the workspace names is protected, and so is a workspace that is one itself', async () => {
    for (const isRoot of [false, true]) {
      const place = await ground()
      await place.engine.close()
      const dot = isRoot ? place.work : join(place.work, '.bare')
      mkdirSync(dot, { recursive: true })
      execFileSync('git', ['init', '-q', '--bare', dot])
      execFileSync('git', ['-C', dot, 'config', 'core.bare', 'false'])
      if (!isRoot) writeFileSync(join(place.work, '.git'), 'gitdir: ./.bare\n')
      const engine = await later(place)
      await engine.run({
        command: `${PLANT}; printf '[core]\\nworktree=%s\\nfsmonitor=%s/p\\n' $PWD $PWD >>${dot}/config`,
      })
      expect(runsPlant(place, '.', 'status')).toBe(false)
    }
  })

  test.each(['.', 'sub'])(
    'the .git of a new repository (%s) that becomes a file leads to nothing that runs',
    async (at) => {
      const place = await ground()
      await place.engine.run({
        command: `mkdir -p q/w/e ${at}; git init -q ${at}; git init -q --bare q/w/e/ev; ${PLANT}`,
      })
      await place.engine.run({
        command: `export GIT_DIR=q/w/e/ev; git config core.bare false; git config ${WATCH}; rm -rf ${at}/.git; echo "gitdir: $PWD/q/w/e/ev" >${at}/.git`,
      })
      await place.engine.close()
      expect(runsPlant(place, at, 'status')).toBe(false)
    },
  )

  test('old names of remotes do not lead a push to hooks', async () => {
    const place = await ground()
    await place.engine.close()
    repositoryIn(place.work)
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x'], {
      cwd: place.work,
    })
    const engine = await later(place)
    for (const way of [
      `mkdir .git/remotes; echo "URL: $PWD/q/w/e/b" >.git/remotes/origin`,
      `echo $PWD/q/w/e/b >.git/branches/origin`,
    ])
      await engine.run({
        command: `${PLANT}; mkdir -p q/w/e; git init -q --bare q/w/e/b; cp p q/w/e/b/hooks/pre-receive; ${way}`,
      })
    expect(runsPlant(place, '.', 'push', '-q', 'origin', 'HEAD:refs/heads/x')).toBe(false)
  })

  test('repositories are protected among more than 200 directories', async () => {
    const place = await ground()
    await place.engine.close()
    for (let at = 0; at < 250; at++) mkdirSync(join(place.work, `d${at}`))
    const all = ['d7', 'd120', 'd201', 'd249']
    for (const name of all) repositoryIn(join(place.work, name))
    const engine = await later(place)
    await engine.run({ command: `for d in ${all.join(' ')}; do echo '[evil]' >>$d/.git/config; done` })
    expect(all.filter((name) => readFileSync(join(place.work, name, '.git/config'), 'utf8').includes('evil'))).toEqual(
      [],
    )
  })

  test('a process that stands in what is set aside sees nothing of a state directory in its root', async () => {
    const { home } = await ground()
    const stateDir = join(home, '.local/state/cerith')
    const engine = await testEngine({
      cwd: home,
      stateDir,
      env: { ...process.env, HOME: home },
      sandbox: { profile: 'workspace' },
    })
    const session = await engine.session()
    await session.run({ command: 'mkdir .idea; cd .idea; touch y' })
    const seen = await session.run({ command: 'ls; pwd -P; : >../planted' })
    expect(seen.stdout).toMatch(/^y\n.*\/home\/\.idea\.quarantined-\S+\n$/)
    expect([existsSync(join(home, '.idea')), existsSync(join(home, 'planted'))]).toEqual([false, true])
  })
})

describe.skipIf(!canConfine)('a directory on the way to a protected name', () => {
  test.each(['there before', 'made by a command'])('that was %s is not exchanged for a link', async (when) => {
    const { engine, work } = await ground()
    if (when === 'there before') mkdirSync(join(work, '.github', 'workflows'), { recursive: true })
    else await engine.run({ command: 'mkdir .github' })
    const outcome = await engine.run({
      command: 'mkdir evil; echo bad >evil/copilot-instructions.md; mv .github old; ln -s evil .github',
    })
    expect(existsSync(join(work, '.github', 'copilot-instructions.md'))).toBe(false)
    expect(outcome.notes.map(({ text }) => text).join('\n')).toContain('/.github aside')
  })
})

describe.skipIf(!canConfine)('what programs of the person start by themselves', () => {
  test('hooks in the directory that git’s configuration of all repositories names', async () => {
    const place = await ground()
    writeFileSync(join(place.home, '.gitconfig'), '[core]\n\thooksPath = .githooks\n')
    repositoryIn(place.work)
    await place.engine.run({ command: `${PLANT}; mkdir .githooks; cp p .githooks/pre-commit` })
    const env = { PATH: process.env['PATH'], HOME: place.home, RAN: join(place.home, 'ran') }
    const words = ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x']
    execFileSync('git', words, { cwd: place.work, env })
    expect(existsSync(env.RAN)).toBe(false)
  })

  test('start-up files of a home that is the workspace', async () => {
    const { home } = await ground()
    writeFileSync(join(home, '.bashrc'), 'original\n')
    const engine = await testEngine({
      cwd: home,
      env: { ...process.env, HOME: home },
      sandbox: { profile: 'workspace' },
    })
    await engine.run({ command: 'echo evil >>.bashrc; echo evil >.zshrc; mkdir -p .config/autostart; echo note >todo' })
    const made = ['.zshrc', '.config/autostart', 'todo'].map((name) => existsSync(join(home, name)))
    expect([readFileSync(join(home, '.bashrc'), 'utf8'), made]).toEqual(['original\n', [false, false, true]])
  })

  test.each([
    '.helix/languages.toml',
    '.vimrc',
    '.agents/skills/x/SKILL.md',
    '.openhands/setup.sh',
    '.github/agents/x.md',
    'mise.toml',
    '.config/mise/conf.d/x.toml',
    '.tool-versions',
    '.hg/sharedpath',
    '.nvim.lua',
    'opencode.json',
    '.jj/repo/config.toml',
    '.sl/config',
    '.hg/hgrc-not-shared',
  ])('%s is set aside', async (name) => {
    const { engine, work } = await ground()
    await engine.run({ command: `mkdir -p $(dirname ${name}); echo evil >${name}` })
    expect(existsSync(join(work, name))).toBe(false)
  })
})

describe.skipIf(!canConfine)('with a directory', () => {
  test('files that direnv and mise read because an allowed file says so are protected', async () => {
    const place = await ground()
    await place.engine.close()
    const at = (name: string): string => join(place.work, name)
    writeFileSync(at('.envrc'), 'dotenv\nif true; then source_env env.local; fi\n. ./setup.sh\n')
    writeFileSync(at('mise.toml'), '[env]\n_.file = ["first.env", "second.env"]\n_.source = "{{config_root}}/m.sh"\n')
    writeFileSync(at('setup.sh'), ':\n')
    const names = ['.env', 'env.local', 'setup.sh', 'first.env', 'second.env', 'm.sh']
    const engine = await later(place)
    await engine.run({ command: `for f in ${names.join(' ')} other; do echo evil >>$f; done` })
    const believed = names.filter((name) => existsSync(at(name)) && readFileSync(at(name), 'utf8').includes('evil'))
    expect([believed, existsSync(at('other'))]).toEqual([[], true])
  })

  test.each([
    ['a root whose own .git is made invalid', '.', 'rm .git/HEAD'],
    ['a directory with an empty .git', 'sub', 'mkdir -p sub/.git; cd sub'],
  ])('%s is not believed as a repository itself', async (_, at, begin) => {
    const place = await ground()
    execFileSync('git', ['init', '-q'], { cwd: place.work })
    const bare = 'mkdir -p objects refs; echo ref: refs/heads/x >HEAD; git config -f config core.worktree $PWD'
    await place.engine.run({
      command: `${PLANT}; p=$PWD/p; ${begin}; ${bare}; git config -f config core.bare false; git config -f config core.fsmonitor $p`,
    })
    expect(runsPlant(place, at, 'status')).toBe(false)
  })

  test('a .git file that leads to another repository later is followed there', async () => {
    const place = await ground()
    execFileSync('git', ['init', '-q'], { cwd: place.work })
    const make = 'git init -q --separate-git-dir=a/b/c/one sub'
    await place.engine.run({ command: `${PLANT}; mkdir -p a/b/c; ${make}` })
    await place.engine.run({
      command:
        'git init -q --bare a/b/c/two; git --git-dir=a/b/c/two config core.bare false; git --git-dir=a/b/c/two config core.fsmonitor $PWD/p; echo "gitdir: $PWD/a/b/c/two" >sub/.git',
    })
    await place.engine.close()
    expect(runsPlant(place, 'sub', 'status')).toBe(false)
  })
})

describe.skipIf(!canConfine)('out of the workspace', () => {
  test('variables of a directory are not read through a link that a command made', async () => {
    const home = join(temporaryFolder(), 'home')
    const [work, other] = [join(home, 'work'), join(home, 'other')]
    for (const directory of [join(work, 'sub'), other]) mkdirSync(directory, { recursive: true })
    writeFileSync(join(other, '.env'), 'TOKEN_OF_OTHER=stolen\n')
    writeFileSync(join(work, 'sub', '.env'), 'OWN=1\n')
    const engine = await testEngine({
      cwd: work,
      env: { ...process.env, HOME: home },
      sandbox: { profile: 'workspace' },
      directoryEnv: { dotenv: [work, join(work, 'sub')] },
    })
    const session = await engine.session()
    const own = await session.run({ command: 'cd sub; echo $OWN' })
    await session.run({ command: `cd ..; ln -s ${other}/.env .env; mv sub real; ln -s ${other} sub` })
    const seen = []
    for (const directory of ['.', 'real', '../work', 'sub'])
      seen.push((await session.run({ command: `cd ${work}/${directory}; env | grep -c stolen` })).stdout)
    expect([own.exitCode, seen]).toEqual([0, ['0\n', '0\n', '0\n', '0\n']])
    expect((await session.run({ command: 'env | grep -c stolen' })).stdout).toBe('0\n')
  })

  test('a daemon of the person that listens in the workspace is out of reach; a socket of the room is not', async () => {
    const { engine, work } = await ground()
    const server = createServer((socket) => socket.end('reached')).listen(join(work, 'daemon.sock'))
    await once(server, 'listening')
    const ask = (name: string): string =>
      `node -e "require('net').connect('${name}').on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code))"`
    expect((await engine.run({ command: ask('daemon.sock') })).stdout).toMatch(/^E[A-Z]+\n$/)
    server.close()
    const job = await engine.start({
      command: [
        'node',
        '-e',
        `require('net').createServer((s) => s.end('own')).listen('own.sock', () => console.log('up'))`,
      ],
    })
    await job.wait({ until: /up/, timeoutMs: 20_000 })
    expect((await engine.run({ command: ask('own.sock') })).stdout).toBe('own\n')
  })

  test('a root that was exchanged for a link is no root any more', async () => {
    const { engine, home, work } = await ground()
    await engine.run({ command: 'true' })
    mkdirSync(join(home, 'other'))
    renameSync(work, `${work}.old`)
    symlinkSync(join(home, 'other'), work)
    const stricter = { command: `: >${home}/other/evil`, cwd: '/', sandbox: { profile: 'strict' } } as const
    await expect(engine.run(stricter)).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
    expect(existsSync(join(home, 'other/evil'))).toBe(false)
  })

  test('a directory in the place of a root is the root of the next command, also while a session stands in the other', async () => {
    const { engine, work } = await ground()
    const session = await engine.session()
    await session.run({ command: 'true' })
    renameSync(work, `${work}.old`)
    mkdirSync(work)
    await engine.run({ command: 'echo new >file; mkdir .vscode' })
    expect(readFileSync(join(work, 'file'), 'utf8')).toBe('new\n')
    expect([existsSync(`${work}.old/file`), existsSync(join(work, '.vscode'))]).toEqual([false, false])
    // The shell of the session stands where it stood, as every shell does.
    await session.run({ command: 'echo old >file' })
    expect(readFileSync(`${work}.old/file`, 'utf8')).toBe('old\n')
  })
})

/** Interactive programs driven through a real terminal, as an agent would: send, wait, look. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Job } from '../../src/contract/job.js'
import { createEngine, type Engine } from '../../src/index.js'
import { findHelper } from '../../src/os/helper/file.js'
import { commandLine, descendantsOf, processFacts } from '../../src/os/process/proc.js'
import { startSshd, type LocalSshd } from './local-sshd.js'
import { AGENT, namespaceScript } from './other-user.js'
import { temporaryFolder } from '../fixtures/folder.js'

/** The process group that has the terminal: field 8 of stat. */
const terminalGroup = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[5])
const has = (name: string): boolean => spawnSync('bash', ['-c', `command -v ${name}`]).status === 0

describe.skipIf(!findHelper())('interactive programs', () => {
  const root = temporaryFolder('interactive')
  const namespace = namespaceScript(root)
  let engine: Engine
  let sshd: LocalSshd | null = null

  beforeAll(async () => {
    chmodSync(root, 0o755)
    engine = await createEngine({ cwd: root, stateDir: join(root, 'state'), ask: async () => 'once' })
    engine.secrets.set('agent-password', AGENT.password)
    sshd = namespace ? await startSshd(root, namespace) : null
  })
  afterAll(async () => {
    await engine.close()
    sshd?.close()
  })

  /**
   * Starts a command on a terminal and gives the two verbs of an agent: type this, wait until that shows (in what came
   * since).
   */
  const drive = async (
    command: string,
    env: Record<string, string> = {},
  ): Promise<{
    job: Job
    type(what: string | { keys: string[] }): Promise<void>
    shows(pattern: RegExp): Promise<void>
    ends(): Promise<number | null>
    all(): Promise<string>
  }> => {
    const job = await engine.start({ command, pty: { cols: 100, rows: 30 }, env })
    let since = 0
    return {
      job,
      async type(what) {
        since = (await job.info()).bytes.total
        await job.send(typeof what === 'string' ? { text: what, enter: true } : what)
      },
      async shows(pattern) {
        const { reason } = await job.wait({ until: pattern, since, timeoutMs: 30_000 })
        if (reason !== 'until')
          throw new Error(`${pattern} never came (${reason}):\n${(await job.read({ ansi: 'strip' })).text}`)
      },
      ends: async () => {
        const { reason, info } = await job.wait({ timeoutMs: 30_000 })
        if (reason !== 'exit') throw new Error(`it did not end:\n${(await job.screen()).text}`)
        return info.exitCode
      },
      all: async () => (await job.read({ ansi: 'strip' })).text,
    }
  }

  test('python3: a REPL remembers, and exit() ends it', async ({ skip }) => {
    skip(!has('python3'), 'python3 is not here')
    const python = await drive('python3 -q')
    await python.shows(/>>> /)
    await python.type('x = 6 * 7')
    await python.shows(/>>> $/)
    await python.type('print(f"it is {x}")')
    await python.shows(/^it is 42/)
    await python.type({ keys: ['C-d'] })
    expect(await python.ends()).toBe(0)
  })

  test('bash -i: history, C-c and job control', async () => {
    const bash = await drive(`HISTFILE= PS1='ready$ ' bash --norc --noprofile -i`)
    // A key pressed before the program has the terminal goes to the shell.
    const running = async (command: string): Promise<void> => {
      const { pid } = await bash.job.info()
      while (
        !descendantsOf(pid as number).some(
          (child) =>
            commandLine(child) === command &&
            processFacts(child)?.state === 'S' &&
            terminalGroup(child) === processFacts(child)?.group,
        )
      )
        await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await bash.shows(/ready\$ $/)
    await bash.type('sleep 60')
    await running('sleep 60')
    await bash.type({ keys: ['C-c'] })
    await bash.shows(/ready\$ $/)
    await bash.type('echo first-$((40 + 2))')
    await bash.shows(/^first-42/)
    await bash.type({ keys: ['up', 'enter'] })
    await bash.shows(/^first-42/)
    await bash.type('sleep 50')
    await running('sleep 50')
    await bash.type({ keys: ['C-z'] })
    await bash.shows(/Stopped\s+sleep 50/)
    await bash.type('fg')
    await running('sleep 50')
    await bash.type({ keys: ['C-c'] })
    await bash.shows(/ready\$ $/)
    await bash.type('exit 5')
    expect(await bash.ends()).toBe(5)
  })

  test('less: pages, searches and quits', async ({ skip }) => {
    skip(!has('less'), 'less is not here')
    writeFileSync(join(root, 'book'), Array.from({ length: 300 }, (_, at) => `page line ${at + 1}\n`).join(''))
    const less = await drive('less book', { LESS: '' })
    await less.shows(/page line 29/)
    expect((await less.job.screen()).text.split('\n')[0]).toBe('page line 1')
    await less.type({ keys: ['pagedown'] })
    await less.shows(/page line 58/)
    await less.type('/line 222')
    await less.shows(/page line 250/)
    expect(await less.job.screen()).toMatchObject({ alternate: true, text: expect.stringMatching(/^page line 222\n/) })
    await less.type({ keys: ['down'] })
    await less.shows(/page line 251/)
    await less.type({ keys: ['q'] })
    expect(await less.ends()).toBe(0)
  })

  test('vim: open, insert, save, quit', async ({ skip }) => {
    skip(!has('vim'), 'vim is not here')
    const vim = await drive('vim -u NONE -N --cmd "set showmode ttimeout ttimeoutlen=10" -n poem.txt')
    await vim.shows(/\[New\]|New File/)
    expect((await vim.job.screen()).alternate).toBe(true)
    await vim.type({ keys: ['i'] })
    await vim.shows(/INSERT/)
    await vim.type('roses are red')
    await vim.job.send({ text: 'violets are blue', keys: ['escape'] })
    await expect
      .poll(() => vim.job.screen(), { timeout: 30_000 })
      .toMatchObject({
        text: expect.stringMatching(/^roses are red\nviolets are blue\n~/),
        cursor: { row: 1, col: 15 },
      })
    await vim.type(':wq')
    expect(await vim.ends()).toBe(0)
    expect(readFileSync(join(root, 'poem.txt'), 'utf8')).toBe('roses are red\nviolets are blue\n')
  })

  test('git rebase -i: two commits are swapped in the editor', async ({ skip }) => {
    skip(!has('vim') || !has('git'), 'vim or git is not here')
    spawnSync(
      'bash',
      [
        '-c',
        'git init -q rebase && cd rebase && git config user.email a@b.c && git config user.name n && for i in one two three; do echo $i >$i; git add $i; git commit -qm "commit $i"; done',
      ],
      { cwd: root },
    )
    const git = await drive('git -C rebase rebase -i HEAD~2', {
      GIT_SEQUENCE_EDITOR: "vim -u NONE -n --cmd 'set shortmess+=F'",
    })
    await git.shows(/pick [0-9a-f]+ commit two/)
    await git.job.send({ text: 'ddp' })
    await git.type(':wq')
    expect(await git.ends()).toBe(0)
    expect(spawnSync('git', ['log', '--format=%s'], { cwd: join(root, 'rebase'), encoding: 'utf8' }).stdout).toBe(
      'commit two\ncommit three\ncommit one\n',
    )
  })

  test('npm init: questions are answered one by one', async ({ skip }) => {
    skip(!has('npm'), 'npm is not here')
    mkdirSync(join(root, 'pack'))
    const npm = await drive('npm --prefix pack init; true', { npm_config_update_notifier: 'false' })
    await npm.shows(/package name:/)
    await npm.type('answered-by-an-agent')
    for (const [question, answer] of [
      [/version:/, '2.0.0'],
      [/description:/, 'typed'],
      [/entry point:/, ''],
      [/test command:/, ''],
      [/git repository:/, ''],
      [/keywords:/, ''],
      [/author:/, ''],
      [/license:/, ''],
      [/(?:type:|OK\?)/, ''],
    ] as const) {
      await npm.shows(question)
      await npm.type(answer)
    }
    if (
      (await npm.job.wait({ until: /OK\?/, timeoutMs: 30_000 })).reason === 'until' &&
      (await npm.job.info()).isRunning
    )
      await npm.job.send({ enter: true }).catch(() => {})
    await npm.ends()
    const made = [join(root, 'pack', 'package.json'), join(root, 'package.json')].find(existsSync) as string
    expect(JSON.parse(readFileSync(made, 'utf8'))).toMatchObject({
      name: 'answered-by-an-agent',
      version: '2.0.0',
      description: 'typed',
    })
  })

  test('top: redraws in place, quits with q', async ({ skip }) => {
    skip(!has('top'), 'top is not here')
    const top = await drive('top -d 0.3')
    await top.shows(/PID\s+USER/)
    const first = await top.job.screen()
    expect(first.text).toMatch(/^top - .*\nTasks:/)
    await expect.poll(async () => (await top.job.screen()).version, { timeout: 30_000 }).toBeGreaterThan(first.version)
    const second = await top.job.screen({ since: first.version })
    expect(second.version).toBeGreaterThan(first.version)
    expect(second.text.split('\n').length).toBeLessThanOrEqual(30)
    await top.type({ keys: ['q'] })
    expect(await top.ends()).toBe(0)
  })

  test('ssh: a password typed as a secret opens the door and never shows', async ({ skip }) => {
    skip(sshd === null, 'no sshd that may run here')
    const ssh = await drive(
      `ssh -p ${sshd?.port} -o UserKnownHostsFile=${root}/known -o StrictHostKeyChecking=no -o PubkeyAuthentication=no -o LogLevel=ERROR ${AGENT.name}@127.0.0.1 'echo "in as $(id -un)"; read -r a; echo "said $a"'`,
    )
    await ssh.shows(/password: $/)
    await ssh.type('not the password')
    await ssh.shows(/password: $/)
    await ssh.type('{{secret:agent-password}}')
    await ssh.shows(/^in as cerith-agent/)
    await ssh.type('{{secret:agent-password}}')
    expect(await ssh.ends()).toBe(0)
    expect(await ssh.all()).toContain('said [secret:agent-password]')
    expect(readFileSync((await ssh.job.info()).outputFile, 'utf8')).not.toContain(AGENT.password)
    const notes = readFileSync(join((await ssh.job.info()).outputFile, '..', 'input.jsonl'), 'utf8')
    expect(notes).not.toContain(AGENT.password)
    expect(notes).not.toContain('not the password')
    expect(notes).toContain('{{secret:agent-password}}')
  })

  test('sudo: by its prompt, and by sudo -A without one', async ({ skip }) => {
    skip(namespace === null || !has('sudo'), 'needs root, unshare and sudo')
    const become = `unshare -m ${namespace} setpriv --reuid=${AGENT.uid} --regid=${AGENT.uid} --clear-groups`
    const asked = await drive(`${become} sudo id -u`)
    await asked.shows(/password for cerith-agent: ?$/)
    await asked.type('{{secret:agent-password}}')
    expect(await asked.ends()).toBe(0)
    expect((await asked.all()).trim()).toMatch(/\n0$/)
    writeFileSync(join(root, 'askpass'), '#!/bin/sh\necho "$AGENT_PASSWORD"\n', { mode: 0o755 })
    const helped = await drive(
      `AGENT_PASSWORD={{secret:agent-password}} SUDO_ASKPASS=${join(root, 'askpass')} ${become} sudo -A id -u`,
    )
    expect([await helped.ends(), await helped.all()]).toEqual([0, '0\n'])
  })
})

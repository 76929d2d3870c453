/**
 * The user's own world, where it was asked for: the login shell's set-up and the variables of directories, with real
 * shells and a real direnv.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readLoginShell } from '../../../src/os/user/login-shell.js'
import { temporaryFolder, testEngine } from '../harness.js'

const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
const BASH = realpathSync('/bin/bash')

interface Home {
  readonly dir: string
  readonly state: string
  put(name: string, text: string): void
  open(shell?: string, extra?: Parameters<typeof testEngine>[0]): ReturnType<typeof testEngine>
}

function home(): Home {
  const dir = temporaryFolder()
  const state = join(temporaryFolder(), 'state')
  return {
    dir,
    state,
    put(name, text) {
      mkdirSync(join(dir, name, '..'), { recursive: true })
      writeFileSync(join(dir, name), text)
    },
    open: (shell = BASH, extra = {}) =>
      testEngine({
        loginShell: true,
        stateDir: state,
        env: { HOME: dir, SHELL: shell, PATH: '/usr/bin:/bin', HOST_ONLY: 'yes' },
        ...extra,
      }),
  }
}

describe('the login shell', () => {
  test('its PATH and variables reach every command, its functions and aliases reach sessions, their jobs and terminals', async () => {
    const at = home()
    at.put('.profile', '. "$HOME/.bashrc"\nexport NVM_DIR="$HOME/.nvm"\n')
    at.put('.bashrc', `export PATH="$HOME/tools:$PATH"\nnvm() { echo "nvm says $1 'quoted' é"; }\nalias ll='ls -la'\n`)
    at.put('tools/mytool', '#!/bin/sh\necho tool\n')
    chmodSync(join(at.dir, 'tools/mytool'), 0o755)
    const engine = await at.open()
    expect((await engine.run({ command: 'mytool; echo "$NVM_DIR $HOST_ONLY"' })).stdout).toBe(
      `tool\n${at.dir}/.nvm yes\n`,
    )
    const session = await engine.session()
    expect((await session.run({ command: 'nvm use' })).stdout).toBe("nvm says use 'quoted' é\n")
    expect((await session.run({ command: 'type ll' })).stdout).toContain('ls -la')
    const job = await engine.start({ command: 'nvm job', session: 'main' })
    await job.wait({ timeoutMs: 20_000 })
    expect((await job.read()).text).toContain('nvm says job')
    // A session that is restarted begins with it again, and the guard sees through an alias of the user's.
    await session.restart()
    expect((await session.run({ command: 'nvm again' })).stdout).toContain('nvm says again')
  })

  test('it is asked once, kept without secrets, and asked again when a start-up file changes', async () => {
    const at = home()
    at.put(
      '.profile',
      `echo x >> "$HOME/asked"\nexport MODE=one GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789\ndeploy() { API_TOKEN=abcdef0123456789abcdef curl example.org; }\nfine() { :; }\nalias rm='rm -i'\n`,
    )
    const first = await at.open()
    expect((await first.run({ command: 'echo "$MODE [$GITHUB_TOKEN]"' })).stdout).toBe('one []\n')
    await at.open()
    expect(readFileSync(join(at.dir, 'asked'), 'utf8')).toBe('x\n')
    const kept = readLoginShell(at.state)
    expect(kept?.left).toEqual(['GITHUB_TOKEN', 'deploy()', 'alias rm'])
    expect(Object.keys(kept?.functions ?? {})).toEqual(['fine'])
    expect(readFileSync(join(at.state, 'login-shell.json'), 'utf8')).not.toMatch(/ghp_|abcdef0123456789abcdef/)
    at.put('.profile', 'export MODE=two\n')
    const later = await at.open()
    expect((await later.run({ command: 'echo $MODE' })).stdout).toBe('two\n')
  })

  test.each([
    ['prints a lot', 'for i in $(seq 2000); do echo noise; echo more >&2; done\n'],
    ['waits for input', 'read -p "Sure? " answer; read other < /dev/tty\n'],
    ['closes and moves descriptors', 'exec >/dev/null 2>&1 3>&- 9>/tmp/cerith-world-9; rm -f /tmp/cerith-world-9\n'],
    ['sets a prompt command', 'PROMPT_COMMAND="echo prompt; exit 3"; export PROMPT_COMMAND\n'],
    ['fails half-way', 'no-such-program-at-all; false; (exit 7)\n'],
    ['shadows builtins', 'printf() { :; }; declare() { :; }; alias() { :; }; env() { :; }\n'],
  ])('a start-up file that %s is survived', async (_, text) => {
    const at = home()
    at.put('.profile', `export BEFORE=1\n${text}\nexport AFTER=2\n`)
    const engine = await at.open()
    expect((await engine.run({ command: 'echo "$BEFORE$AFTER"' })).stdout).toBe('12\n')
    const session = await engine.session()
    expect((await session.run({ command: 'echo "$BEFORE$AFTER"' })).stdout).toBe('12\n')
  })

  test('one that leaves the shell or replaces it when it is interactive is asked in another way, and that is said', async () => {
    for (const leave of ['exit 0', 'exec cat']) {
      const at = home()
      at.put('.profile', `export LOGIN=1\ncase $- in *i*) ${leave} ;; esac\n`)
      const engine = await at.open()
      expect((await engine.run({ command: 'echo "[$LOGIN]"' })).stdout).toBe('[1]\n')
      expect(readLoginShell(at.state)?.notes.join('\n')).toMatch(
        /-l -i never came to its prompt.*exit, exec[^]*With -l it did/,
      )
    }
  })

  test('one that always leaves, never ends or is huge costs its set-up, not the engine, and that is said', async () => {
    const gone = home()
    gone.put('.profile', 'exit 0\n')
    gone.put('.bashrc', 'exit 0\n')
    const without = await gone.open()
    expect((await without.run({ command: 'echo works' })).stdout).toBe('works\n')
    expect(readLoginShell(gone.state)?.notes.at(-1)).toBe('Nothing of it is used.')
    const slow = home()
    slow.put('.profile', 'sleep 600\n')
    const started = performance.now()
    const engine = await slow.open()
    expect((await engine.run({ command: 'echo works' })).stdout).toBe('works\n')
    expect(performance.now() - started).toBeLessThan(60_000)
    expect(readLoginShell(slow.state)?.notes.join('\n')).toContain('did not come to its prompt within 5 s')
    const huge = home()
    huge.put(
      '.profile',
      `${Array.from({ length: 300 }, (_, i) => `f${i}() { echo ${'x'.repeat(5_000)}; }`).join('\n')}\n`,
    )
    await huge.open()
    expect(readLoginShell(huge.state)).toMatchObject({
      functions: {},
      notes: [expect.stringMatching(/1\.5 MB of code/)],
    })
  }, 90_000)

  test.skipIf(!has('zsh'))(
    'of zsh the variables and aliases are taken, and it says that functions are not',
    async () => {
      const at = home()
      at.put('.zshrc', `export ZED=1\nalias gs='git status'\nzfun() { echo no }\n`)
      const engine = await at.open('/usr/bin/zsh')
      expect((await engine.run({ command: 'echo $ZED' })).stdout).toBe('1\n')
      const session = await engine.session()
      expect((await session.run({ command: 'type gs' })).stdout).toContain('git status')
      expect(readLoginShell(at.state)?.notes.join('\n')).toContain("Functions of zsh are not bash's")
    },
  )

  test.skipIf(!has('fish'))('of fish the variables are taken', async () => {
    const at = home()
    at.put('.config/fish/config.fish', 'set -gx FROM_FISH 1\n')
    const engine = await at.open('/usr/bin/fish')
    expect((await engine.run({ command: 'echo $FROM_FISH' })).stdout).toBe('1\n')
  })
})

describe('variables of a directory', () => {
  test('.env is read where it was configured, data only, and is gone elsewhere', async () => {
    const dir = temporaryFolder()
    for (const name of ['app/src', 'other']) mkdirSync(join(dir, name), { recursive: true })
    writeFileSync(
      join(dir, 'app/.env'),
      `# comment\nexport NAME='single $HOME'\nPORT = 3000 # said\nLINES_="a\\nb"\nRUN=$(touch ${dir}/ran)\nDB_PASSWORD=correct-horse-battery\nLD_PRELOAD=/evil.so\nnot a line\n`,
    )
    writeFileSync(join(dir, 'other/.env'), 'NAME=other\n')
    const engine = await testEngine({ cwd: dir, directoryEnv: { dotenv: [join(dir, 'app')] } })
    const fresh = await engine.run({
      command: 'echo "$NAME|$PORT|$RUN|$DB_PASSWORD|$LD_PRELOAD"',
      cwd: join(dir, 'app/src'),
    })
    expect(fresh.stdout).toBe(`single $HOME|3000|$(touch ${dir}/ran)|[secret:DB_PASSWORD]|\n`)
    expect(fresh.notes.map(({ text }) => text).join('\n')).toMatch(/not NAME=VALUE in line 8[^]*Not set: LD_PRELOAD/)
    expect(existsSync(join(dir, 'ran'))).toBe(false)
    const session = await engine.session()
    expect((await session.run({ command: 'echo "[$NAME]"' })).stdout).toBe('[]\n')
    await session.run({ command: 'cd app; PORT=mine' })
    expect((await session.run({ command: 'echo "[$NAME|$PORT|$LINES_]"' })).stdout).toBe('[single $HOME|3000|a\nb]\n')
    await session.run({ command: 'export PORT=4000; cd ../other' })
    expect((await session.run({ command: 'echo "[${NAME-gone}|$PORT]"' })).stdout, 'what a command set stays').toBe(
      '[gone|4000]\n',
    )
    const job = await engine.start({ command: 'echo "job $PORT"', cwd: join(dir, 'app') })
    await job.wait({ timeoutMs: 20_000 })
    expect((await job.read()).text).toContain('job 3000')
  })

  test.skipIf(!has('direnv'))(
    'direnv: only what it allows, said when it does not, taken back when the directory is left',
    async () => {
      const home = temporaryFolder()
      const dir = temporaryFolder()
      mkdirSync(join(dir, 'bin'))
      writeFileSync(join(dir, '.envrc'), 'export STAGE=dev\nPATH_add bin\nunset FROM_HOST\n')
      const env = { HOME: home, PATH: '/usr/bin:/bin', FROM_HOST: '1' }
      const engine = await testEngine({ env, directoryEnv: { direnv: true } })
      const session = await engine.session()
      const blocked = await session
        .run({ command: `cd ${dir}` })
        .then(() => session.run({ command: 'echo "[$STAGE]"' }))
      expect(blocked.stdout).toBe('[]\n')
      expect(blocked.notes.map(({ text }) => text).join('\n')).toMatch(
        /direnv does not trust .* The person can allow it: direnv allow/,
      )
      expect((await session.run({ command: 'echo once' })).notes, 'said once').toEqual([])
      expect(spawnSync('direnv', ['allow', dir], { env }).status).toBe(0)
      expect(
        (await session.run({ command: 'export PATH=/mine:$PATH; echo "[$STAGE|${FROM_HOST-gone}]"' })).stdout,
      ).toBe('[dev|gone]\n')
      expect((await session.run({ command: 'echo ${PATH%%:/usr*}' })).stdout).toBe(`/mine:${dir}/bin\n`)
      await session.run({ command: 'cd /' })
      expect((await session.run({ command: 'echo "[${STAGE-gone}|$FROM_HOST]"' })).stdout).toBe('[gone|1]\n')
      expect((await engine.run({ command: 'echo $STAGE', cwd: dir })).stdout).toBe('dev\n')
    },
  )

  test('mise: what it prints is used, what it does not trust is said', async () => {
    const dir = temporaryFolder()
    const bin = temporaryFolder()
    writeFileSync(join(dir, 'mise.toml'), '[env]\nA = "1"\n')
    // Answers as mise does; the real one is no package of the distribution.
    writeFileSync(
      join(bin, 'mise'),
      `#!/bin/sh\n[ "$*" = "env --json" ] || exit 2\nif [ -e ${dir}/trusted ]; then echo '{"TOOL":"mise","PATH":"${bin}/node:'$PATH'"}'; else echo "mise ERROR Config files in ${dir}/mise.toml are not trusted." >&2; exit 1; fi\n`,
      { mode: 0o755 },
    )
    const engine = await testEngine({ env: { PATH: `${bin}:/usr/bin:/bin`, HOME: bin }, directoryEnv: { mise: true } })
    const refused = await engine.run({ command: 'echo "[$TOOL]"', cwd: dir })
    expect(refused.stdout).toBe('[]\n')
    expect(refused.notes.map(({ text }) => text).join('\n')).toMatch(/mise does not trust .*mise trust/)
    writeFileSync(join(dir, 'trusted'), '')
    writeFileSync(join(dir, 'mise.toml'), '[env]\nA = "12"\n')
    expect((await engine.run({ command: 'echo $TOOL ${PATH%%:*}', cwd: dir })).stdout).toBe(`mise ${bin}/node\n`)
    expect((await engine.run({ command: 'echo "[$TOOL]"', cwd: bin })).stdout).toBe('[]\n')
  })

  test('direnv and mise do not go with a sandbox, because they run outside it', async () => {
    await expect(testEngine({ directoryEnv: { direnv: true }, sandbox: { profile: 'workspace' } })).rejects.toThrow(
      'direnv and mise run code outside the sandbox',
    )
    const engine = await testEngine({ directoryEnv: { direnv: true } })
    await expect(engine.run({ command: 'true', sandbox: { profile: 'workspace' } })).rejects.toThrow(
      'direnv and mise run code outside the sandbox',
    )
  })
})

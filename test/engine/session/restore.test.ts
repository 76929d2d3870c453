/** What a successor gets: everything that `docs/sessions.md` does not name as left behind. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Engine, type EngineOptions, type Outcome, type RunRequest, type Session } from '../../../src/index.js'
import { isAlive, processFacts } from '../../../src/os/process/proc.js'
import { temporaryFolder, testEngine, until } from '../harness.js'

type Do = (command: string, more?: Partial<RunRequest>) => Promise<Outcome>

async function opened(options: EngineOptions = {}): Promise<{ engine: Engine; session: Session; run: Do }> {
  const engine = await testEngine(options)
  const session = await engine.session()
  return { engine, session, run: (command, more = {}) => session.run({ command, timeoutMs: 20_000, ...more }) }
}

describe('a successor has', () => {
  /** What is set up, how it is looked at, and what is to be seen; null: the same as before. */
  const rows: readonly [what: string, setUp: string, look: string][] = [
    ['disabled builtins', 'enable -n echo logout', 'enable -n'],
    ['remembered places of programs', 'hash -p /bin/true "odd name"; hash -p "/tmp/with space/x" other; ls /dev/null >/dev/null', 'hash -l | sort'],
    ['completions', `complete -W $'one\\ncomplete two' foo; _c() { :; }; complete -F _c -o nospace bar`, 'complete -p | sort'],
    ['the options that make bash behave differently at a prompt', 'set -b; set -p; set -H; set -o ignoreeof', 'set +o | grep -v errexit'],
    ['all of shopt', 'shopt -s huponexit checkwinsize checkjobs histappend cdspell; shopt -u cmdhist progcomp promptvars', 'shopt -p'],
    ['relative places on the stack of directories', 'mkdir -p a "b c"; pushd -n a; pushd -n "b c"; pushd -n ../x', 'dirs -l -p'],
    ['a directory that is no UTF-8', `mkdir -p $'d\\377x'; cd $'d\\377x'`, 'pwd | od -An -c'],
    ['a function whose body is no UTF-8', `eval $'f() { echo "caf\\351 \\303\\251"; }'`, 'f | od -An -c'],
    ['plain functions under set -a', 'f() { :; }; export -f f; g() { :; }; set -a', 'declare -F; set +a'],
    ['dotglob beside GLOBIGNORE', 'GLOBIGNORE="*.o"; shopt -u dotglob', 'shopt -p dotglob; echo $GLOBIGNORE'],
    ['dotglob that was switched on beside it', 'GLOBIGNORE="*.o"', 'shopt -p dotglob; echo $GLOBIGNORE'],
    ['a variable that is no longer exported', 'export -n HOME; declare +x LANG', 'declare -p HOME LANG'],
    ['a variable of the environment that was unset', 'unset HOME LANG', 'echo ${HOME-gone} ${LANG-gone}'],
    ['namerefs, integers, arrays and cases', `declare -n r=t; t=1; declare -i n=5; declare -u up=abc; declare -a l=("a)b" $'x\\ny' '$(z)'); declare -A m=(["k ]"]=v [$'\\n']=2); declare -ra ro=(1 2); declare -x un; declare -a none`, 'declare -p r t n up l m ro un none'],
    ['text that looks like a declaration', `v=$'x\\ndeclare -- y="z"\\n'; w='"'; z="'"`, 'declare -p v w z; echo ${y-none}'],
    ['functions with odd names', 'function a-b { echo 1; }; function x.y { cat <<E\nq () \n{\nE\n}; function time { :; }; function é { :; }', 'declare -f a-b x.y time é'],
    ['a function that needs extglob', 'shopt -s extglob\nf() { case $1 in @(a|b)) echo yes ;; esac; }', 'f a'],
    ['one whose extglob is off again', 'shopt -s extglob\nf() { case $1 in !(a|b)) echo yes ;; esac; }\nshopt -u extglob', 'f c; ! shopt extglob'],
    ['aliases of any text', `alias a='echo "it'"'"'s"' b=$'x\\ny' c-d='z '`, 'alias -p'],
    ['signal traps, also ignored ones', `trap 'echo "it'"'"'s"' USR1; trap '' HUP; trap 'x' ERR; trap 'y' XFSZ`, 'trap -p USR1 HUP ERR XFSZ'],
    ['a DEBUG trap', 'trap "d=1" DEBUG', 'trap -p DEBUG'],
    ['a RETURN trap', 'trap "r=1" RETURN', 'trap -p RETURN'],
    ['positional parameters', `set -- a '' $'n\\nl' "-x" '*'`, `printf '<%s>' "$@"`],
    ['what getopts and compatibility need', 'OPTERR=0; OPTIND=3; BASH_COMPAT=4.4', 'echo $OPTERR $OPTIND $BASH_COMPAT'],
    ['that IFS is unset', 'unset IFS OPTIND', 'echo ${IFS-none} ${OPTIND-none}'],
    ['IFS, also exported', 'export IFS=,', 'declare -p IFS'],
  ] // prettier-ignore
  test.each(rows)('%s', async (_, setUp, look) => {
    const { session, run } = await opened()
    await run(setUp)
    const before = await run(look)
    expect(before.exitCode, before.stderr).toBe(0)
    await run('kill -9 $$')
    const after = await run(look)
    expect(after.notes).toEqual([])
    expect(after.stdout).toBe(before.stdout)
    expect((await session.info()).restarts).toBe(1)
  })

  test.each(rows)('%s, where the old one was killed right behind the call', async (_, setUp, look) => {
    const { session, run } = await opened()
    await run(setUp)
    const before = await run(look)
    await session.restart()
    await run(setUp)
    const { pid } = await session.info()
    const start = processFacts(pid as number)?.start
    process.kill(pid as number, 'SIGKILL')
    await until(() => !isAlive(pid as number, start))
    const after = await run(look)
    expect(after.notes.map(({ text }) => text)).toEqual([
      expect.stringMatching(/in a new shell with its state restored\.$/),
    ])
    expect(after.stdout).toBe(before.stdout)
  })

  test('a clock that goes on', async () => {
    const { run } = await opened()
    await run('SECONDS=1000')
    await run('kill -9 $$')
    const { stdout } = await run('echo $SECONDS')
    expect(Number(stdout)).toBeGreaterThanOrEqual(1000)
    expect(Number(stdout)).toBeLessThan(1300)
  })
})

describe('what the agent exported belongs to its session', () => {
  const LOOK = 'echo "${DB_PASSWORD-} ${PYTHONPATH-} ${NODE_OPTIONS-} ${API_TOKEN-} $GIT_EDITOR $PAGER"'
  const SEEN = 'pw /x --max-old-space-size=99 tok vim less'

  async function furnished(options: EngineOptions = {}): Promise<{ engine: Engine; run: Do }> {
    const { engine, run } = await opened({
      env: { ...process.env, HOST_TOKEN: 'of-the-host', HOST_PASSWORD: 'x', LD_LIBRARY_PATH: '/host' },
      ...options,
    })
    await run('export DB_PASSWORD=pw PYTHONPATH=/x GIT_EDITOR=vim PAGER=less NODE_OPTIONS=--max-old-space-size=99')
    await run('printf "API_TOKEN=tok\\n" >.env; set -a; . ./.env; set +a')
    await run('export LD_LIBRARY_PATH=/mine BASH_ENV=/nowhere')
    expect((await run(LOOK)).stdout).toBe(`${SEEN}\n`)
    return { engine, run }
  }

  test('its jobs have it, and say which hooks they do not have', async () => {
    const { engine } = await furnished()
    const job = await engine.start({
      command: `${LOOK}; echo "\${HOST_TOKEN-none} \${HOST_PASSWORD-none} \${LD_LIBRARY_PATH-none} \${BASH_ENV-none}"`,
      session: 'main',
    })
    expect((await job.wait({ timeoutMs: 20_000 })).info.notes.map(({ text }) => text).join()).toMatch(
      /except BASH_ENV, LD_LIBRARY_PATH/,
    )
    expect((await job.read()).text).toBe(`${SEEN}\nnone none none none\n`)
  })

  test('what is given for one job wins over it', async () => {
    const { engine } = await furnished()
    const job = await engine.start({ command: 'echo $DB_PASSWORD', session: 'main', env: { DB_PASSWORD: 'given' } })
    await job.wait({ timeoutMs: 20_000 })
    expect((await job.read()).text).toBe('given\n')
  })

  test('its terminals have it', async () => {
    const { run } = await furnished()
    const outcome = await run(`${LOOK}; export ADDED=1; unset PYTHONPATH; export -n API_TOKEN`, { pty: true })
    expect(outcome.output).toBe(`${SEEN}\r\n`)
    expect(outcome.notes.map(({ text }) => text).join()).toMatch(/except BASH_ENV, LD_LIBRARY_PATH/)
    // The living shell has what it had, and what the terminal changed.
    const after = await run('echo "$ADDED ${PYTHONPATH-gone} $LD_LIBRARY_PATH"; declare -p API_TOKEN')
    expect(after.stdout).toBe('1 gone /mine\ndeclare -- API_TOKEN="tok"\n')
  })

  test('its successors have it', async () => {
    const { run } = await furnished()
    expect((await run('exit 3')).notes.map(({ text }) => text).join()).toMatch(/except BASH_ENV, LD_LIBRARY_PATH/)
    expect((await run(`${LOOK}; echo "\${HOST_TOKEN-none} \${LD_LIBRARY_PATH-none}"`)).stdout).toBe(
      `${SEEN}\nnone none\n`,
    )
  })

  test('later processes of the session have it', async () => {
    const stateDir = join(temporaryFolder(), 'state')
    const { engine } = await furnished({ stateDir, persistSessions: true })
    await engine.close()
    const { run } = await opened({ stateDir, persistSessions: true })
    const next = await run(LOOK)
    expect(next.stdout).toBe(`${SEEN}\n`)
    expect(next.notes.map(({ text }) => text).join()).toMatch(/BASH_ENV, LD_LIBRARY_PATH/)
    expect((await run(LOOK)).notes).toEqual([])
  })
})

test('a terminal that unset, undefined or untrapped something is believed', async () => {
  const { run } = await opened()
  await run(
    'a=1; b=2; f() { :; }; g() { :; }; alias x=y z=w; trap "echo u" USR1; set -f; shopt -s nullglob; mkdir -p d',
  )
  await run('unset a; unset -f f; unalias x; trap - USR1; set +f; shopt -u nullglob; pushd -n d >/dev/null', {
    pty: true,
  })
  expect(
    (
      await run(
        'echo "${a-gone} $b $-"; declare -F; alias -p; trap -p USR1; shopt -q nullglob || echo off; dirs -p | wc -l',
      )
    ).stdout,
  ).toMatch(/^gone 2 [^f]*\ndeclare -f g\nalias z='w'\noff\n2\n$/)
})

test('a state that cannot be restored whole is said to be so', async () => {
  const { run } = await opened()
  const dir = temporaryFolder()
  mkdirSync(join(dir, 'sub'))
  await run('declare -r kept=1; odd=2')
  await run('kill -9 $$')
  expect((await run('echo $kept $odd')).notes).toEqual([])
})

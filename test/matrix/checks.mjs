// What must be true on every machine, by the package as it is installed there. Runs inside a cell; prints one line of
// JSON per check.
//   node checks.mjs FOLDER [BASH]     FOLDER holds node_modules/cerith
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [folder, bash] = process.argv.slice(2)
const packageDir = join(folder, 'node_modules', 'cerith')
const home = mkdtempSync(join(folder, 'home-'))
const env = { ...process.env, HOME: home, CERITH_HOME: join(home, 'state') }
const { createEngine } = await import(pathToFileURL(join(packageDir, 'dist/index.js')).href)
const ofBash = bash ? { bash } : {}
const WORKSPACE = { profile: 'workspace' }
const engine = await createEngine({ cwd: home, stateDir: join(home, 'state'), ...ofBash }).catch((error) => {
  console.log(JSON.stringify({ name: 'an engine is made', ok: false, why: `${error.code ?? ''} ${error.message}` }))
  process.exit(1)
})

const session = await engine.session('matrix')
/** Without its native helper. */
const isLower = process.env['LOWER_TIER'] === '1'
const run = (command, more = {}) => engine.run({ command, ...more })
const say = (command, more = {}) => session.run({ command, ...more })
/**
 * One that has ended and is never waited for has ended: the first process of a cell may be Node, which takes no
 * orphans.
 */
const alive = (pid) => {
  try {
    process.kill(pid, 0)
    return !existsSync('/proc/self') || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}
const ended = async (pid) => {
  for (let turn = 0; turn < 200 && alive(pid); turn++) await new Promise((resolve) => setTimeout(resolve, 50))
  return !alive(pid)
}
const long = process.env['SLOW_MACHINE'] ? 10 : 1

const CHECKS = {
  'the shell of a session is known': async () => {
    const { stdout } = await say('echo $BASH_VERSION $$')
    const [version, pid] = stdout.trim().split(' ')
    const builtin = existsSync('/proc/self') && readFileSync(`/proc/${pid}/maps`, 'utf8').includes('cerith-bash')
    const runtime = `${process.versions.bun ? `Bun ${process.versions.bun}` : `Node ${process.versions.node}`} ${process.arch}`
    const helper = isLower ? 'lower tier' : `helper ${builtin ? 'and' : 'without'} builtin`
    return { about: `${runtime}, bash ${version}, ${helper}`, ok: Number(pid) > 0 }
  },
  'a run has output and an exit code': async () => {
    const { stdout, stderr, exitCode, status } = await run('echo out; echo err >&2; exit 3')
    return { stdout, stderr, exitCode, status, ok: stdout === 'out\n' && stderr === 'err\n' && exitCode === 3 }
  },
  'a run reads what it is given': async () => {
    const { stdout } = await run('cat; wc -c <<< "äöü"', { input: 'line\n' })
    return { stdout, ok: stdout === 'line\n7\n' }
  },
  'a program that does not exist is 127, one that is no program 126': async () => {
    const [a, b] = [await run('./nothing-here'), await run('printf x > f; ./f')]
    return { codes: [a.exitCode, b.exitCode], ok: a.exitCode === 127 && b.exitCode === 126 }
  },
  'a run that a signal ended is no success': async () => {
    const { status, exitCode, signal } = await run('kill -9 $$')
    return { status, exitCode, signal, ok: status !== 'completed' && signal === 'SIGKILL' }
  },
  'a deadline ends everything below a run': async () => {
    const { status, stdout } = await run('sleep 600 & echo $!; wait', { timeoutMs: 500 * long })
    return { status, ok: status === 'timeout' && (await ended(Number(stdout))) }
  },
  'output beyond the limit is kept whole in a file': async () => {
    const outcome = await run('seq 1 200000')
    const size = outcome.outputFile ? statSync(outcome.outputFile).size : 0
    return { size, ok: size === 1_288_895 && outcome.truncated && outcome.stdout.length < 40_000 }
  },
  'a background process does not hold a run': async () => {
    const { stdout, status } = await run('sleep 600 >/dev/null 2>&1 & echo $!')
    const wasThere = alive(Number(stdout))
    process.kill(Number(stdout))
    return { status, ok: status === 'completed' && wasThere }
  },
  'a session keeps directory, variables, functions, aliases, options': async () => {
    await say(
      'mkdir -p deep/er; cd deep/er; x="a b"; export Y=1; f() { echo "f $1"; }; alias g="echo g"; set -o noclobber',
    )
    const { stdout } = await say('pwd; echo "$x $Y"; f 2; g; set -o | grep noclobber')
    return { stdout, ok: stdout.replace(/\s+/g, ' ') === `${home}/deep/er a b 1 f 2 g noclobber on ` }
  },
  'a session keeps arrays, traps and $?': async () => {
    await say('a=(1 "2 3"); declare -A m=([k]=v); trap "echo bye" USR1; (exit 7)')
    const { stdout } = await say('echo $? "${a[1]}" "${m[k]}"; kill -USR1 $$')
    return { stdout, ok: stdout === '7 2 3 v\nbye\n' }
  },
  'a session runs texts of several lines': async () => {
    const { stdout } = await say("cat <<'EOF' | tr a-z A-Z\nhere $x\nEOF\nfor i in 1 2 3; do\n  echo $((i * i))\ndone")
    return { stdout, ok: stdout === 'HERE $X\n1\n4\n9\n' }
  },
  'a mistake of syntax is said and the session goes on': async () => {
    const bad = await say('if true; then')
    const { stdout } = await say('echo on')
    return { status: bad.status, exitCode: bad.exitCode, stdout, ok: bad.exitCode !== 0 && stdout === 'on\n' }
  },
  'a session does not wait for what it left running': async () => {
    const { stdout } = await say('sleep 600 & echo $!')
    const next = await say('echo next')
    const wasThere = alive(Number(stdout))
    process.kill(Number(stdout))
    return { stdout, ok: wasThere && next.stdout === 'next\n' }
  },
  'a deadline ends a command of a session, and the state stays': async () => {
    const shell = (await say('kept=yes; echo $$')).stdout
    const { status } = await say('sleep 600', { timeoutMs: 500 * long })
    const { stdout } = await say('echo $kept $$')
    return { status, stdout, ok: status === 'timeout' && stdout === `yes ${shell}` }
  },
  'exit in a session is told, and the next command has the state': async () => {
    await say('earlier=1')
    const { exitCode } = await say('exit 5')
    const { stdout } = await say('echo $earlier')
    return { exitCode, stdout, ok: exitCode === 5 && stdout === '1\n' }
  },
  'set -e in a session does not lose it': async () => {
    const { exitCode } = await say('set -e; false; echo not reached')
    const { stdout } = await say('set +e; echo here')
    return { exitCode, stdout, ok: exitCode === 1 && stdout === 'here\n' }
  },
  'posix mode': async () => {
    await say('set -o posix; p=1')
    const { stdout } = await say('echo $p; set -o | grep posix; set +o posix')
    return { stdout, ok: /^1\nposix\s+on\n$/.test(stdout) }
  },
  'sh -c and bash --posix inside': async () => {
    const { stdout } = await run(`sh -c 'echo sh'; "$BASH" --posix -c 'echo posix'`)
    return { stdout, ok: stdout === 'sh\nposix\n' }
  },
  'two hundred commands in a row': async () => {
    for (let at = 0; at < 200; at++) {
      const { stdout } = await say(at % 2 ? `echo ${at}` : `v=${at}; /bin/echo $v`)
      if (stdout !== `${at}\n`) return { at, stdout, ok: false }
    }
    return { ok: true }
  },
  'a terminal, or words why there is none': async () => {
    const pty = { cols: 77, rows: 11 }
    const { output, code } = await run('test -t 0 && test -t 1 && stty size', { pty }).catch((error) => error)
    return { output, code, ok: isLower ? code === 'PTY_UNAVAILABLE' : output?.trim() === '11 77' }
  },
  'a sandbox confines, or nothing is started': async () => {
    const outside = join(folder, 'outside')
    const command = `echo in > inside; cat inside; echo out > ${outside} || echo kept`
    const { stdout, code, sandbox } = await createEngine({
      cwd: home,
      stateDir: `${home}/walled`,
      sandbox: WORKSPACE,
      ...ofBash,
    })
      .then((walled) => walled.run({ command }).finally(() => walled.close()))
      .catch((error) => error)
    // Below /tmp a room has files of its own: what is written there succeeds, and does not come out. A bash from there
    // is not in it either.
    const isConfined = sandbox !== undefined && stdout?.startsWith('in\n')
    const about = isConfined ? 'sandbox' : 'no sandbox'
    const ok = !existsSync(outside) && (isConfined || code === 'SANDBOX_UNAVAILABLE' || code === 'SPAWN_FAILED')
    return { about, stdout, code, sandbox, ok }
  },
  'a job is started, read, waited for': async () => {
    const job = await engine.start({ command: 'echo first; sleep 0.2; echo second; exit 4' })
    const { info } = await job.wait({ exit: true })
    const { text } = await job.read()
    return { text, info, ok: text === 'first\nsecond\n' && info.exitCode === 4 }
  },
  'what takes long goes on as a job, from a run and from a session': async () => {
    const command = 'echo begun; while [ ! -e go-on ]; do sleep 0.1; done; echo over; (exit 5)'
    const ends = []
    for (const start of [run, say]) {
      rmSync(join(home, 'go-on'), { force: true })
      const outcome = await start(`cd '${home}'; ${command}`, { yieldMs: 400 * long })
      writeFileSync(join(home, 'go-on'), '')
      if (outcome.status !== 'running') return { outcome, ok: false }
      const job = await engine.job(outcome.id)
      const { info } = await job.wait({ exit: true })
      ends.push(`${info.exitCode} ${(await job.read()).text}`)
    }
    return { ends, ok: ends.every((end) => end === '5 begun\nover\n') }
  },
  'a job is killed with everything below it': async () => {
    const job = await engine.start({ command: '(sleep 600 & echo $!; wait) & wait' })
    await job.wait({ until: /\d+\n/, timeoutMs: 20_000 })
    const pid = Number((await job.read()).text)
    await job.kill()
    return { pid, ok: pid > 0 && (await ended(pid)) }
  },
  'a secret reaches the command and not the output': async () => {
    engine.secrets.set('KEY', 'correct-horse-battery')
    const { stdout } = await run('x={{secret:KEY}}; echo ${#x} $x')
    return { stdout, ok: stdout.startsWith('21 ') && !stdout.includes('correct-horse') }
  },
  'the guard judges': async () => {
    const [bad, good] = [await engine.check('rm -rf /'), await engine.check('ls -la')]
    return { bad: bad.decision, good: good.decision, ok: bad.decision === 'deny' && good.decision === 'allow' }
  },
  'the command line': async () => {
    const cli = (...words) =>
      spawnSync(process.execPath, [join(packageDir, 'dist/cli.cjs'), ...words], { env, encoding: 'utf8', cwd: home })
    const plain = cli('run', 'echo cli; exit 6')
    const first = cli('run', '--session', 's', 'c=1; cd /')
    const again = cli('run', '--session', 's', 'echo $c $PWD')
    return {
      plain: [plain.status, plain.stdout, plain.stderr],
      again: [first.status, again.stdout, again.stderr],
      ok: plain.status === 6 && plain.stdout === 'cli\n' && again.stdout === '1 /\n',
    }
  },
  'a job of the command line outlives it, and is ended by it': async () => {
    const cli = (...words) =>
      spawnSync(process.execPath, [join(packageDir, 'dist/cli.cjs'), ...words], { env, encoding: 'utf8', cwd: home })
    const id = cli('run', '--background', 'echo $$; sleep 600').stdout.trim()
    const began = cli('wait', id, '--until', '[0-9]+')
    const [pid, list] = [Number(cli('read', id).stdout), cli('ps').stdout]
    const killed = cli('kill', id)
    const ok = began.status === 0 && list.includes(id) && killed.status === 0 && pid > 0 && (await ended(pid))
    return { id, pid, list, killed: [killed.stdout, killed.stderr], ok }
  },
  'the doctor finds nothing wrong': async () => {
    const doctor = spawnSync(process.execPath, [join(packageDir, 'dist/cli.cjs'), 'doctor'], { env, encoding: 'utf8' })
    return {
      status: doctor.status,
      ok: doctor.status === 0,
      said: doctor.status === 0 ? '' : doctor.stdout.slice(-800),
    }
  },
  'closing leaves no process': async () => {
    const { stdout } = await say('sleep 600 & echo $! $$')
    await engine.close()
    const ends = await Promise.all(
      stdout
        .trim()
        .split(' ')
        .map((pid) => ended(Number(pid))),
    )
    return { stdout, ok: ends.every(Boolean) }
  },
}

let failed = 0
for (const [name, check] of Object.entries(CHECKS)) {
  let result
  try {
    result = await check()
  } catch (error) {
    result = { ok: false, why: `${error.code ?? ''} ${error.message}` }
  }
  if (!result.ok) failed++
  console.log(JSON.stringify({ name, ...result }))
}
await engine.close().catch(() => {})
rmSync(home, { recursive: true, force: true })
process.exit(failed === 0 ? 0 : 1)

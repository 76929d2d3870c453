/** Rules of reach that no other file shows: each of these fails when its rule is broken. */
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { arrive } from '../../src/reach/arrive/arrive.js'
import { arrivalScript } from '../../src/reach/arrive/script.js'
import type { Place } from '../../src/reach/places/place.js'
import { placeAt } from '../../src/reach/places/places.js'
import { sweepPlaces } from '../../src/reach/reach.js'
import { recordsIn } from '../../src/reach/records.js'
import { linked, processesOf, runDirectory, temporaryFolder } from './harness.js'

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

  test('code is named by its whole digest and its kind of machine; names in shared directories by user and a random part', async () => {
    const uploadDir = join(temporaryFolder(), 'code')
    await linked({ reach: { uploadDir } })
    expect(readdirSync(uploadDir).some((name) => /^[0-9a-f]{64}-\w+$/.test(name))).toBe(true)
    const salts = [1, 2].map(() => recordsIn(join(temporaryFolder(), 'state')).salt())
    expect(salts[0]).not.toBe(salts[1])
    const settings = { marker: 'm', code: 'c', runtime: 'r', name: 'n', leaseMs: 1, uploadDir: '', use: 'auto' }
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

  test('no runtime goes to another kind of machine: there is none that was checked for it', async () => {
    const dir = temporaryFolder()
    writeFileSync(join(dir, 'uname'), '#!/bin/sh\ncase $1 in -m) echo aarch64;; *) echo Linux;; esac\n', {
      mode: 0o755,
    })
    const other = place(['/usr/bin/env', `PATH=${dir}:${path}`, '/bin/sh', '-c', 'read -r n; eval "$(head -c "$n")"'])
    const error = (await arrive(about(other, Buffer.alloc(32), 'send'), 30_000).catch((e: unknown) => e)) as Error
    expect(error).toMatchObject({
      code: 'PLACE_UNFIT',
      message: expect.stringMatching(/is for x64|no helper for arm64/),
    })
  })
})

test('a command there has the umask of the login, and its files are not private by our doing', async () => {
  const before = process.umask(0o027)
  onTestFinished(() => void process.umask(before))
  const link = await linked()
  expect((await link.engine.run({ command: 'umask; touch made; stat -c %a made' })).stdout).toBe('0027\n640\n')
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

  test('Slurm: neither our environment nor a file of output goes with the job', async () => {
    const words = inPlaceOf('sbatch', 'echo 17')
    inPlaceOf('squeue', 'echo RUNNING')
    await at('slurm://agents')
      .acquire()
      .catch(() => {})
    expect(words().join('\n')).toMatch(/--export=NONE .*--output=\/dev\/null --error=\/dev\/null/)
  })

  test('containers that are made have no socket, no privileges and no namespaces of their host', async () => {
    const words = inPlaceOf('docker', 'echo 0123456789ab')
    await at('docker://?image=i&memory=1g').acquire()
    expect(words().join('\n')).toMatch(/^run -d .*--memory 1g/)
    expect(words().join('\n')).not.toMatch(/privileged|-v |--volume|--mount|docker\.sock|--pid|--ipc|host|--cap-add/)
    for (const network of ['host', 'container:other'])
      expect(() => at(`docker://?image=i&network=${network}`)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }))
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
})

/** What is made for an engine (a container, a pod, an allocation) is never left over unseen, whoever dies when. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { placeAt } from '../../src/reach/places/places.js'
import { createReachEngine, madePlaces, sweepPlaces } from '../../src/reach/reach.js'
import { recordsIn } from '../../src/reach/records.js'
import { thisWorld } from '../../src/os/process/world.js'
import { temporaryFolder, until } from './harness.js'

const path = process.env['PATH']
afterEach(() => {
  process.env['PATH'] = path
})

/** A client of this name, in a directory of its own; each call is a line of `words`. */
function standIn(program: string, body: string) {
  const dir = temporaryFolder()
  writeFileSync(join(dir, 'words'), '')
  writeFileSync(join(dir, program), `#!/bin/sh\ncd ${dir}\necho "$*" >> words\n${body}\n`, { mode: 0o755 })
  process.env['PATH'] = `${dir}:${process.env['PATH']}`
  return {
    words: () => readFileSync(join(dir, 'words'), 'utf8').trim().split('\n'),
    has: (file: string) => existsSync(join(dir, file)),
    text: (file: string) => readFileSync(join(dir, file), 'utf8'),
    put: (file: string) => writeFileSync(join(dir, file), ''),
  }
}

function memory(before: Record<string, string> | null = null) {
  let record = before
  return {
    read: () => record,
    write: (given: Record<string, string>) => void (record = given),
    forget: () => void (record = null),
  }
}

const at = (url: string, made: ReturnType<typeof memory>) => placeAt(url, { reach: {}, name: 'n', made, batch: '' })
const reach = { uploadDir: join(tmpdir(), 'reach-code'), leaseMs: 20_000 }

/** The process that wrote it is gone. */
function orphaned(stateDir: string, name: string): void {
  const file = join(stateDir, 'reach', `made-${name}.json`)
  writeFileSync(file, readFileSync(file, 'utf8').replace(/"start":"\d+"/, '"start":"1"'))
}

describe('a container', () => {
  test('is written down before it is there, so that one whose maker was killed is swept once it is', async () => {
    const docker = standIn(
      'docker',
      'case $1 in run) touch began; while [ ! -e go ]; do sleep 0.02; done; echo id-1;; esac',
    )
    const made = memory()
    const making = at('docker://?image=i', made).acquire()
    await until(() => docker.has('began'), 'it is being made')
    const asWritten = made.read() as Record<string, string>
    expect(asWritten).toMatchObject({ kind: 'docker', id: 'cerith-n' })
    docker.put('go')
    await making
    expect(made.read()).toEqual({ kind: 'docker', id: 'id-1' })

    const later = standIn('docker', 'if [ -e there ]; then exit 0; fi; echo "Error: No such container: $3" >&2; exit 1')
    const killed = memory(asWritten)
    await at('docker://?image=i', killed).release()
    // Its client may still be at work.
    expect(killed.read()).toEqual(asWritten)
    later.put('there')
    await at('docker://?image=i', killed).release()
    expect(killed.read()).toBeNull()
    expect(later.words()).toEqual(['rm -f cerith-n', 'rm -f cerith-n'])
    const late = memory({ ...asWritten, until: String(Date.now() - 1) })
    await at('docker://?image=i', late).release()
    expect(late.read()).toBeNull()
  })

  test('that could not be started does not stay', async () => {
    const docker = standIn(
      'docker',
      'case $1 in run) echo id-1; echo "sh: executable file not found" >&2; exit 127;; esac',
    )
    const made = memory()
    await expect(at('docker://?image=i', made).acquire()).rejects.toMatchObject({ code: 'PLACE_REFUSED' })
    expect(docker.words().at(-1)).toBe('rm -f cerith-n')
    expect(made.read()).toBeNull()
  })

  test('of another with our name is not removed', async () => {
    const docker = standIn('docker', 'echo "The container name /cerith-n is already in use" >&2; exit 125')
    await expect(at('docker://?image=i', memory()).acquire()).rejects.toMatchObject({ code: 'PLACE_REFUSED' })
    expect(docker.words()).toHaveLength(1)
  })

  test('that cannot be removed stays written down, and both closing and sweeping say so', async () => {
    const docker = standIn(
      'docker',
      'case $1 in run) echo id-1;; exec) shift 3; exec "$@";; rm) [ -e up ] || { echo "Cannot connect to the Docker daemon" >&2; exit 1; };; esac',
    )
    const stateDir = join(temporaryFolder(), 'state')
    const engine = await createReachEngine({ at: 'docker://?image=i', stateDir, reach })
    await expect(engine.close()).rejects.toMatchObject({
      code: 'PLACE_UNREACHABLE',
      message: 'The container id-1 could not be removed: Cannot connect to the Docker daemon',
    })
    const [{ name } = { name: '' }] = madePlaces(stateDir)
    orphaned(stateDir, name)
    recordsIn(stateDir)
      .made('aa', { url: 'docker://?image=i', clientArgs: [], labels: {}, keptMs: 0 })
      .write({ id: 'two' })
    orphaned(stateDir, 'aa')
    expect((await sweepPlaces(stateDir)).map(({ problem }) => problem)).toEqual([
      expect.stringContaining('could not be removed'),
      expect.stringContaining('could not be removed'),
    ])
    expect(madePlaces(stateDir)).toHaveLength(2)
    docker.put('up')
    expect((await sweepPlaces(stateDir)).map(({ problem }) => problem)).toEqual([null, null])
    expect(madePlaces(stateDir)).toEqual([])
  })

  test('that another process is about to use again is not swept', async () => {
    const docker = standIn('docker', 'exit 0')
    const stateDir = join(temporaryFolder(), 'state')
    const records = recordsIn(stateDir)
    const about = { url: 'docker://?image=i', clientArgs: [], labels: {}, keptMs: 0 }
    const made = records.made('aa', about)
    made.write({ id: 'one' })
    orphaned(stateDir, 'aa')
    const lock = await records.lock('aa')
    expect(await sweepPlaces(stateDir)).toEqual([])
    lock.release()
    expect(docker.words()).toEqual([''])
    expect((await sweepPlaces(stateDir)).map(({ problem }) => problem)).toEqual([null])
  })

  test('that another process makes anew, or removes, is not written down by one that leaves', async () => {
    standIn('docker', 'case $1 in run) echo id-1;; exec) shift 3; exec "$@";; esac')
    const stateDir = join(temporaryFolder(), 'state')
    const engine = await createReachEngine({ at: 'docker://?image=i', stateDir, reach: { ...reach, keep: 'k' } })
    const [{ name } = { name: '' }] = madePlaces(stateDir)
    const records = recordsIn(stateDir)
    const lock = await records.lock(name)
    const before = madePlaces(stateDir)
    const { pid } = engine.place as { pid: number }
    await engine.close()
    expect(madePlaces(stateDir)).toEqual(before)
    lock.release()
    process.kill(pid, 'SIGTERM')
  })

  test('that was made on another machine which shares this home is left to that machine', async () => {
    const docker = standIn('docker', 'exit 0')
    const stateDir = join(temporaryFolder(), 'state')
    const about = { url: 'docker://?image=i', clientArgs: [], labels: {}, keptMs: 0 }
    recordsIn(stateDir).made('aa', about).write({ id: 'one' })
    const file = join(stateDir, 'reach', 'made-aa.json')
    const { boot, host } = thisWorld()
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(boot, 'another-boot').replaceAll(host, 'another-host'))
    orphaned(stateDir, 'aa')
    expect(await sweepPlaces(stateDir)).toEqual([])
    // A process here that joins it keeps it listed for the other one.
    recordsIn(stateDir).made('aa', about).write({ id: 'one' })
    expect(madePlaces(stateDir).map(({ users }) => users.map((user) => user.host))).toEqual([['another-host', host]])
    expect(docker.words()).toEqual([''])
  })

  test('is not made again by a link that was tried while its engine was closed', async () => {
    // The second link waits until the container was removed.
    const docker = standIn(
      'docker',
      `case $1 in
run) echo "id$$";;
rm) touch removed;;
exec) mkdir first 2>/dev/null || { touch trying; while [ ! -e removed ]; do sleep 0.02; done; echo "No such container" >&2; exit 1; }
  shift 3; exec "$@";;
esac`,
    )
    const stateDir = join(temporaryFolder(), 'state')
    const engine = await createReachEngine({ at: 'docker://?image=i', stateDir, reach })
    const downs: string[] = []
    engine.onLink(({ kind }) => downs.push(kind))
    process.kill(engine.place?.pid as number, 'SIGKILL')
    await until(() => docker.has('trying'), 'the next link is tried')
    await engine.close()
    await until(() => downs.includes('gone'), 'trying has ended')
    expect(docker.words().filter((line) => line.startsWith('run'))).toHaveLength(1)
    expect(madePlaces(stateDir)).toEqual([])
  })
})

test('an allocation that still waits for its turn is waited for, not asked for again', async () => {
  const sbatch = standIn('sbatch', 'echo 18')
  standIn('squeue', 'mkdir once 2>/dev/null && echo PENDING || echo RUNNING')
  const made = memory({ kind: 'slurm', job: '17' })
  const place = at('slurm://agents', made)
  await place.acquire()
  expect(sbatch.words()).toEqual([''])
  expect(place.argv(['true'])).toContain('17')
  const scancel = standIn('scancel', 'echo "Unable to contact slurm controller" >&2; exit 1')
  await expect(place.release()).rejects.toMatchObject({ code: 'PLACE_UNREACHABLE' })
  expect(made.read()).toEqual({ kind: 'slurm', job: '17' })
  expect(scancel.words()).toEqual(['17'])
  standIn('scancel', 'echo "Invalid job id specified" >&2; exit 1')
  await place.release()
  expect(made.read()).toBeNull()
})

test('a pod that has ended, or was never ready, gives its name back before the next one is made', async () => {
  const pod = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: {} })
  const kubectl = standIn(
    'kubectl',
    `case "$*" in
*"delete --raw"*) cat > deleted; touch free;;
*dry-run*) echo '${pod}';;
*"create -f - "*) [ -e free ] || { echo AlreadyExists >&2; exit 1; }; echo uid-2;;
*"get pod"*status.phase*) echo uid-1 Failed;;
*"get pod"*) echo uid-2;;
esac`,
  )
  const where = '/api/v1/namespaces/agents/pods/cerith-n'
  const made = memory({ kind: 'k8s', path: where, uid: 'uid-1', pod: 'cerith-n', podUid: 'uid-1' })
  await at('k8s://agents/?template=pod.yaml', made).acquire()
  expect(made.read()).toMatchObject({ uid: 'uid-2', podUid: 'uid-2' })
  expect(kubectl.words().some((line) => line.includes(`delete --raw ${where}`))).toBe(true)
})

test('a pod is written down before it is there, so that one whose maker was killed is swept once it is', async () => {
  const pod = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: {} })
  const making = `case "$*" in
*dry-run*) echo '${pod}';;
*"create -f - "*) cat > body; touch began; while [ ! -e go ]; do sleep 0.02; done; echo uid-1;;
*"get pod"*) echo uid-1;;
esac`
  const kubectl = standIn('kubectl', making)
  const made = memory()
  const acquired = at('k8s://agents/?template=pod.yaml', made).acquire()
  await until(() => kubectl.has('began'), 'it is being made')
  const asWritten = made.read() as Record<string, string>
  kubectl.put('go')
  await acquired
  expect(made.read()).toMatchObject({ path: asWritten['path'], uid: 'uid-1', podUid: 'uid-1' })

  const there = (name: string): string =>
    JSON.stringify({ kind: 'Pod', metadata: { uid: 'uid-1', labels: { 'cerith/name': name } } })
  const looking = (name: string): string => `case "$*" in
*"get --raw"*) [ -e there ] && echo '${there(name)}' || { echo "Error from server (NotFound)" >&2; exit 1; };;
*"delete --raw"*) cat > deleted;;
esac`
  const later = standIn('kubectl', looking('n'))
  const release = async (record: Record<string, string>) => {
    const killed = memory(record)
    await at('k8s://agents/?template=pod.yaml', killed).release()
    return killed.read()
  }
  // Its client may still be at work.
  expect(await release(asWritten)).toEqual(asWritten)
  expect(later.has('deleted')).toBe(false)
  later.put('there')
  expect(await release(asWritten)).toBeNull()
  expect(later.words().at(-1)).toBe(`delete --raw ${asWritten['path']} -f -`)
  expect(later.text('deleted')).toContain('"uid":"uid-1"')
  const late = standIn('kubectl', looking('n'))
  expect(await release({ ...asWritten, until: '1' })).toBeNull()
  const others = standIn('kubectl', looking('another'))
  others.put('there')
  expect(await release(asWritten)).toBeNull()
  expect([late, others].map(({ has }) => has('deleted'))).toEqual([false, false])
  standIn('kubectl', 'echo "Unable to connect to the server" >&2; exit 1')
  await expect(release(asWritten)).rejects.toMatchObject({ code: 'PLACE_UNREACHABLE' })
})

test('a pod whose making was not answered is removed, or stays written down', async () => {
  const pod = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: {} })
  const there = JSON.stringify({ kind: 'Pod', metadata: { uid: 'uid-1', labels: { 'cerith/name': 'n' } } })
  const client = (get: string): string => `case "$*" in
*dry-run*) echo '${pod}';;
*"create -f - "*) echo "Unable to connect to the server: net/http: TLS handshake timeout" >&2; exit 1;;
*"get --raw"*) ${get};;
*"delete --raw"*) cat > deleted;;
esac`
  const kubectl = standIn('kubectl', client(`echo '${there}'`))
  const made = memory()
  await expect(at('k8s://agents/?template=pod.yaml', made).acquire()).rejects.toMatchObject({
    code: 'PLACE_UNREACHABLE',
  })
  expect(kubectl.has('deleted')).toBe(true)
  expect(made.read()).toBeNull()
  standIn('kubectl', client('echo "Unable to connect to the server" >&2; exit 1'))
  await expect(at('k8s://agents/?template=pod.yaml', made).acquire()).rejects.toThrow(/TLS handshake timeout/)
  expect(made.read()).toMatchObject({ kind: 'k8s', path: '/api/v1/namespaces/agents/pods/cerith-n' })
})

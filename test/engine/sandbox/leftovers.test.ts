/**
 * After `engine.close()`, and after the host was killed, no process, mount, namespace, control group or file of a room
 * is left.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { createEngine } from '../../../src/index.js'
import { processFacts, signalProcess } from '../../../src/os/process/proc.js'
import { temporaryFolder, until } from '../harness.js'
import { canConfine, ground } from './harness.js'

/** Namespaces of the processes below this one. */
function spacesBelow(pid: number): Set<string> {
  const found = new Set<string>()
  const look = (one: number): void => {
    for (const kind of ['mnt', 'net', 'pid_for_children', 'ipc'])
      try {
        found.add(readlinkSync(`/proc/${one}/ns/${kind}`))
      } catch {
        // Gone meanwhile.
      }
    for (const child of childrenOf(one)) look(child)
  }
  for (const child of childrenOf(pid)) look(child)
  return found
}

function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

/** Namespaces in which any process of the machine is. */
function spacesInUse(): Set<string> {
  const found = new Set<string>()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    for (const kind of ['mnt', 'net', 'pid', 'ipc'])
      try {
        found.add(readlinkSync(`/proc/${pid}/ns/${kind}`))
      } catch {
        // Gone, or another user's.
      }
  return found
}

const own = (): Set<string> =>
  new Set(['mnt', 'net', 'pid', 'ipc'].map((kind) => readlinkSync(`/proc/self/ns/${kind}`)))
const without = (all: Set<string>, these: Set<string>): string[] => [...all].filter((one) => !these.has(one))
/** Mounts of the machine with the names that a room gives to its own; other programs mount theirs meanwhile. */
const mounts = (): string[] =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => / - (?:tmpfs (?:stage|room|own)|overlay (?:view|cerith-try)) /.test(line))

/**
 * What holds on to a folder or lies about: mounts, working directories and descriptors of any process, files in places
 * for temporary ones.
 */
function traces(folder: string): string[] {
  const found: string[] = []
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const look = (what: string, text: () => string): void => {
      try {
        if (text().includes(folder)) found.push(`${pid} ${what}`)
      } catch {
        // Gone, or another user's.
      }
    }
    look('mountinfo', () => readFileSync(`/proc/${pid}/mountinfo`, 'utf8'))
    look('environment', () => readFileSync(`/proc/${pid}/environ`, 'utf8'))
    for (const name of ['cwd', 'root', 'exe']) look(name, () => readlinkSync(`/proc/${pid}/${name}`))
    look('descriptors', () => {
      const all = readdirSync(`/proc/${pid}/fd`).map((fd) => {
        try {
          return readlinkSync(`/proc/${pid}/fd/${fd}`)
        } catch {
          return ''
        }
      })
      return all.join('\n')
    })
  }
  return found
}

/** Names that begin with cerith, where every program may leave some; other tests make theirs meanwhile. */
const lying = (id: string): string[] =>
  ['/tmp', '/var/tmp', '/dev/shm', '/run'].flatMap((place) =>
    readdirSync(place).flatMap((name) => (name.includes(id) ? [join(place, name)] : [])),
  )

describe.skipIf(!canConfine)('nothing is left', () => {
  test('after close: sessions, jobs, a proxy, a port, a stricter call, limits', async () => {
    const before = mounts()
    const port = 31_000 + (process.pid % 900)
    const { engine, home, work } = await ground({
      network: 'allow-list',
      domains: ['a.test'],
      ports: [port],
      limits: { processes: 500, tmpBytes: 1 << 24 },
    })
    await (await engine.session()).run({ command: '(sleep 1000 &) ; echo a >/tmp/a' })
    await engine.start({ command: 'sleep 1000' })
    await engine.run({ command: 'true', sandbox: { profile: 'read-only' } })
    const made = without(spacesBelow(process.pid), own())
    expect(made.length).toBeGreaterThan(3)
    await engine.close()
    await until(() => made.every((space) => !spacesInUse().has(space)), 'the end of the namespaces')
    expect(mounts()).toEqual(before)
    expect(readdirSync(work)).toEqual(['src'])
    expect(readdirSync(home)).toEqual(['work'])
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
    expect(groups(engine.id)).toEqual([])
    await until(() => traces(home).length === 0, 'the end of the last traces')
    expect(lying(engine.id)).toEqual([])
  })

  test('before the first room nothing is made that a killed host would leave', async () => {
    const { engine } = await ground({})
    expect(lying(engine.id)).toEqual([])
    await engine.run({ command: 'true' })
    expect(lying(engine.id)).toEqual([join('/dev/shm', `cerith-${engine.id}`)])
    await engine.close()
    expect(lying(engine.id)).toEqual([])
  })

  test.each([
    { network: 'allow-list', domains: ['a.test'], ports: [32_000 + (process.pid % 900)], limits: { processes: 500 } },
    { try: true },
  ])('after the host was killed, with %j', async (options) => {
    const before = mounts()
    const folder = temporaryFolder()
    const script = join(folder, 'host.mjs')
    const work = join(folder, 'work')
    mkdirSync(work)
    const library = fileURLToPath(new URL('../../../dist/index.js', import.meta.url))
    writeFileSync(
      script,
      `import { createEngine } from ${JSON.stringify(library)}
      const engine = await createEngine({ cwd: ${JSON.stringify(work)}, stateDir: ${JSON.stringify(join(folder, 'state'))}, sandbox: ${JSON.stringify({ profile: 'workspace', ...options })} })
      // So much state that the shell may still write it down while its pipes are removed.
      await (await engine.session()).run({ command: '(setsid sleep 1000 &); for i in {1..300}; do declare V$i=$i; done' })
      await engine.start({ command: 'sleep 1000' })
      console.log('up ' + engine.id)
      setInterval(() => {}, 1000)`,
    )
    const host = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(host.stdout, 'data')) as [Buffer]
    expect(line.toString()).toContain('up ')
    const made = without(spacesBelow(host.pid ?? 0), own())
    expect(made.length).toBeGreaterThan(2)
    host.kill('SIGKILL')
    await once(host, 'exit')
    await until(() => made.every((space) => !spacesInUse().has(space)), 'the end of the namespaces')
    expect(readdirSync(folder).sort()).toEqual(['host.mjs', 'state', 'work'])
    expect([mounts(), readdirSync(work)]).toEqual([before, []])
    await until(() => traces(folder).length === 0, 'the end of the last traces')
    for (const port of options.ports ?? []) await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow()
    const killed = line.toString().trim().slice('up '.length)
    await until(() => lying(killed).length === 0, 'the end of the pipes')
    // The next engine of that state directory removes the control groups of one that was killed.
    const limits = { processes: 500 }
    const sandbox = { profile: 'workspace', limits } as const
    const next = await createEngine({ cwd: work, stateDir: join(folder, 'state'), sandbox })
    await next.run({ command: 'true' })
    await next.close()
    expect([groups(killed), lying(killed)]).toEqual([[], []])
    // What a state directory keeps is of no engine any more.
    expect(readdirSync(join(folder, 'state', 'run'))).toEqual([])
    expect(traces(folder)).toEqual([])
  })

  test('after the host was killed a detached job lives on in its room, and everything goes with it', async () => {
    const before = mounts()
    const folder = temporaryFolder()
    const work = join(folder, 'work')
    const stateDir = join(folder, 'state')
    mkdirSync(work)
    const library = fileURLToPath(new URL('../../../dist/index.js', import.meta.url))
    const script = join(folder, 'host.mjs')
    const command = `while sleep 0.05; do echo tick; echo x >${folder}/escaped; rm go; done 2>/dev/null`
    writeFileSync(
      script,
      `import { createEngine } from ${JSON.stringify(library)}
      const engine = await createEngine({ cwd: ${JSON.stringify(work)}, stateDir: ${JSON.stringify(stateDir)}, sandbox: { profile: 'workspace' } })
      await engine.run({ command: 'true' })
      const job = await engine.start({ command: ${JSON.stringify(command)}, owner: 'detached' })
      console.log(job.id)
      setInterval(() => {}, 1000)`,
    )
    const host = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(host.stdout, 'data')) as [Buffer]
    const made = without(spacesBelow(host.pid ?? 0), own())
    host.kill('SIGKILL')
    await once(host, 'exit')
    const next = await createEngine({ cwd: work, stateDir })
    const job = await next.job(line.toString().trim())
    // It runs on, in the same walls, and what it says is kept.
    writeFileSync(join(work, 'go'), 'x')
    await until(() => !existsSync(join(work, 'go')), 'the job')
    expect((await job.read({ since: 0 })).text).toMatch(/^(tick\n)+$/)
    expect(existsSync(join(folder, 'escaped'))).toBe(false)
    expect(made.some((space) => spacesInUse().has(space))).toBe(true)
    await job.kill()
    await until(() => made.every((space) => !spacesInUse().has(space)), 'the end of the namespaces')
    expect([mounts(), readdirSync(work), readdirSync(folder).sort()]).toEqual([
      before,
      [],
      ['host.mjs', 'state', 'work'],
    ])
    await next.close()
  })
})

/** Control groups with the name of an engine. */
function groups(engine: string): string[] {
  const found: string[] = []
  const look = (path: string, levels: number): void => {
    if (!existsSync(path)) return
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (!entry.isDirectory()) continue
      if (entry.name.includes(engine)) found.push(join(path, entry.name))
      else if (levels > 0) look(join(path, entry.name), levels - 1)
    }
  }
  look('/sys/fs/cgroup', 2)
  return found
}

/** The processes that bring a command of this host into its room, while they are on their way; others look alike. */
function portersHere(): number[] {
  const isOurs = (pid: number): boolean => /^cerith-(?:warden|spare)$/.test(processFacts(pid)?.name ?? '')
  const launchers = childrenOf(process.pid).filter((pid) => processFacts(pid)?.name.startsWith('cerith-launch'))
  return launchers.flatMap(childrenOf).filter(isOurs).flatMap(childrenOf).filter(isOurs)
}

test.skipIf(!canConfine)(
  'a porter that is killed takes its command along: outside of the room nothing begins',
  async () => {
    const { engine } = await ground()
    await engine.run({ command: ':' })
    const outside = readlinkSync('/proc/self/ns/pid')
    const said: string[] = []
    for (let round = 0; round < 400 && said.filter((one) => one.includes('could not enter')).length < 3; round++) {
      const began = performance.now()
      let isOver = false
      const run = engine
        .run({ command: 'readlink /proc/self/ns/pid' })
        .then(({ stdout }) => stdout.trim())
        .catch((error: Error) => error.message)
        .finally(() => (isOver = true))
      while (!isOver) {
        for (const pid of portersHere()) signalProcess(pid, 'SIGKILL')
        await new Promise((resolve) => setImmediate(resolve))
      }
      said.push(await run)
      // What waits for an answer that never comes gives up after ten seconds.
      expect(performance.now() - began).toBeLessThan(9_000)
    }
    expect(said).not.toContain(outside)
    expect(said.filter((one) => one.includes('could not enter'))).toHaveLength(3)
  },
)

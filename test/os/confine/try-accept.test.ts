/**
 * Accepting against odds: killed in between, two at once, no room on the disk, another file system, and whatever a
 * random command did.
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { createEngine } from '../../../src/index.js'
import { acceptFrom, changesOf, discardTry, intentOf } from '../../../src/os/confine/try-changes.js'
import { acceptEntries, scanTry } from '../../../src/os/confine/try-helper.js'
import { findHelper } from '../../../src/os/helper/file.js'
import { listTries, saveTry, type TryFolder } from '../../../src/os/confine/try-store.js'
import { canConfine } from '../../engine/sandbox/harness.js'
import { temporaryFolder } from '../../engine/harness.js'

/** More of them in `npm run test:sandbox`. */
const SEEDS = Number(process.env['CERITH_TRY_SEEDS'] ?? 3)

const made: string[] = []
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

/** A directory on another file system than the temporary one; null where there is none. */
function elsewhere(): string | null {
  const here = statSync(tmpdir()).dev
  for (const base of ['/dev/shm', '/var/tmp', '/tmp'])
    if (existsSync(base) && statSync(base).dev !== here) {
      const folder = realpathSync(mkdtempSync(join(base, 'cerith-try-')))
      made.push(folder)
      return folder
    }
  return null
}

/** What commands wrote over `work`, after their engine is gone. */
async function tried(work: string, stateDir: string, command: string): Promise<TryFolder & { readonly saw: string }> {
  const engine = await createEngine({ cwd: work, stateDir, sandbox: { profile: 'workspace', try: true } })
  const { stdout, stderr, exitCode } = await engine.run({ command: `${command}\n${LISTING}`, timeoutMs: 60_000 })
  await engine.close()
  expect([exitCode, stderr]).toEqual([0, ''])
  const [folder] = listTries(stateDir)
  return { ...folder!, saw: stdout }
}

/** Everything that can be seen of a tree, but for times. */
const LISTING = `find . -type d -printf '%p d %#m\\n' -o -printf '%p %y %#m %n %l\\n' | grep -v '^[.] ' | LC_ALL=C sort; find . -type f -exec md5sum {} + | LC_ALL=C sort -k 2`
const lookAt = (work: string): string => spawnSync('bash', ['-c', LISTING], { cwd: work, encoding: 'utf8' }).stdout
const all = { force: true, protected: true }

async function acceptAll(folder: TryFolder, paths?: readonly string[]) {
  const intent = await intentOf(folder, { ...all, ...(paths ? { paths } : {}) }, '/')
  return acceptFrom(folder, intent, { force: true, isGoingOn: true })
}

function random(seed: number): (below: number) => number {
  let state = seed
  // The upper bits: the lower ones of such a generator come round again soon.
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

/** Something to begin with under every name. */
const BEGIN = 'mkdir -p d/e f; for n in a b c d/a d/b d/e/a f/a f/b; do echo $n >$n; done; '

/** Commands that make, change, move and remove things under few names, so that they meet. */
function randomCommand(next: (below: number) => number, steps: number): string {
  const name = (): string => ['a', 'b', 'c', 'd/a', 'd/b', 'd/e/a', 'd/e', 'd', 'f/a', 'f'][next(10)]!
  const lines = Array.from({ length: steps }, () => {
    const [one, two] = [name(), name()]
    return [
      `echo ${next(1000)} >${one}`,
      `rm -rf ${one}`,
      `mkdir -p ${one}`,
      `rm -rf ${one}; mkdir -p ${one}; echo ${next(9)} >${one}/a`,
      `mv ${one} ${two}`,
      `ln -sfn ${two} ${one}`,
      `ln ${one} ${two}`,
      `chmod ${['700', '755', '750', '600'][next(4)]} ${one}`,
      `cp -r ${one} ${two}`,
      `echo ${next(1000)} >>${one}`,
    ][next(10)]
  })
  return `{ ${lines.join('\n')}\n} 2>/dev/null; chmod -R u+rwX . 2>/dev/null; true`
}

describe.skipIf(!canConfine)('accepting', () => {
  const other = canConfine ? elsewhere() : null
  test.each([
    ['on the same file system', () => join(temporaryFolder(), 'state')],
    ['from another file system', () => (other === null ? null : join(other, `state-${Math.random()}`))],
  ])(
    'makes of the original what a random command saw, in one step or in parts, %s',
    async (_, place) => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        const next = random(seed * 7919)
        const work = temporaryFolder()
        const stateDir = place()
        if (stateDir === null) return
        spawnSync('bash', ['-c', `${BEGIN}${randomCommand(next, 6)}`], { cwd: work })
        const before = lookAt(work)
        const folder = await tried(work, stateDir, randomCommand(next, 12))
        expect([seed, lookAt(work)]).toEqual([seed, before])
        if (seed % 2 === 0)
          for (const path of ['d/e', 'a', 'f/a', 'd']) {
            const part = await acceptAll(folder, [join(work, path)])
            // Not every command changes each of them.
            const kept = part.kept.filter(({ reason }) => reason !== 'nothing of this name was changed')
            expect([seed, path, kept]).toEqual([seed, path, []])
            // What is left of the try shows the same as before.
            const engine = await createEngine({ cwd: work, stateDir, sandbox: { profile: 'workspace', try: true } })
            expect([seed, path, withoutLinks((await engine.run({ command: LISTING })).stdout)]).toEqual([
              seed,
              path,
              withoutLinks(folder.saw),
            ])
            await engine.close()
            if (listTries(stateDir).length === 0) break
          }
        if (listTries(stateDir).length > 0) expect([seed, (await acceptAll(folder)).kept]).toEqual([seed, []])
        // Names of one file that are accepted one by one become several.
        const same = seed % 2 === 0 ? withoutLinks : (text: string): string => text
        expect([seed, same(lookAt(work))]).toEqual([seed, same(folder.saw)])
        expect(readdirSync(work, { recursive: true }).filter((name) => String(name).includes('.cerith'))).toEqual([])
      }
    },
    SEEDS * 30_000,
  )

  test.each([
    ['on the same file system', () => join(temporaryFolder(), 'state')],
    ['from another file system', () => (other === null ? null : join(other, `state-${Math.random()}`))],
  ])(
    'that is killed again and again leaves every file whole, and is finished by the next, %s',
    async (_, place) => {
      const work = temporaryFolder()
      const stateDir = place()
      if (stateDir === null) return
      for (const dir of ['d', 'gone']) mkdirSync(join(work, dir))
      for (let at = 0; at < 80; at++) writeFileSync(join(work, 'd', `f${at}`), `old ${at}\n`.repeat(500))
      writeFileSync(join(work, 'gone/x'), 'x')
      const folder = await tried(
        work,
        stateDir,
        `for i in $(seq 0 79); do yes "new $i" | head -n 3000 >d/f$i; done; rm -r gone; mkdir n; for i in $(seq 25); do echo $i >n/$i; ln n/$i n/l$i; done; rm d/f7; mkdir d/f7`,
      )
      let kills = 0
      for (let round = 0; round < 60; round++) {
        const entries = await scanTry(folder)
        if (entries.length === 0) break
        const child = acceptProcess(folder)
        child.stdin.end(
          Buffer.from(
            entries.map(({ index, bytes, upper, lower }) => `${index} f ${upper} ${lower}\0${bytes}\0`).join(''),
            'latin1',
          ),
        )
        // After a few answers, wherever it is then.
        let answers = 0
        child.stdout.on('data', (chunk: Buffer) => {
          answers += chunk.toString('latin1').split('\0').length >> 1
          if (answers > 4 + (round % 5)) child.kill('SIGKILL')
        })
        const signal = await new Promise<string | null>((resolve) => child.on('close', (_code, how) => resolve(how)))
        if (signal === 'SIGKILL') kills += 1
        for (const name of readdirSync(join(work, 'd'))) {
          if (name.startsWith('.cerith') || name === 'f7') continue
          const text = readFileSync(join(work, 'd', name), 'utf8')
          const number = name.slice(1)
          expect([`old ${number}\n`.repeat(500), `new ${number}\n`.repeat(3000)].includes(text)).toBe(true)
        }
      }
      expect(kills).toBeGreaterThan(5)
      expect((await acceptAll(folder)).left).toBe(0)
      expect(withoutLinks(lookAt(work))).toBe(withoutLinks(folder.saw))
    },
    120_000,
  )

  test('that was killed at the worst moment is finished, or undone, by the next look', async () => {
    const work = temporaryFolder()
    const stateDir = join(temporaryFolder(), 'state')
    for (const name of ['x', 'c', 'early', 'd', 'other']) writeFileSync(join(work, name), `old ${name}\n`)
    const folder = await tried(work, stateDir, 'for n in x c early; do echo new $n >$n; done; rm d other')
    const upper = (name: string): string => join(folder.dir, '0/upper', name)
    const fresh = join(work, `.cerith-${folder.record.id}.new`)
    const aside = join(work, `.cerith-${folder.record.id}.old`)
    const journal = (way: string, { dev, ino }: { dev: number; ino: number }, path: string): void =>
      writeFileSync(join(folder.dir, '0/journal'), `${way} ${dev} ${ino} ${path}\0`)
    const changes = async (): Promise<string[]> => (await scanTry(folder)).map(({ bytes }) => bytes)
    // Exchanged, and what it took the place of is still in the layer.
    journal('x', statSync(upper('x')), 'x')
    renameSync(join(work, 'x'), fresh)
    renameSync(upper('x'), join(work, 'x'))
    renameSync(fresh, upper('x'))
    expect(await changes()).toEqual(['c', 'd', 'early', 'other'])
    expect([existsSync(upper('x')), readFileSync(join(work, 'x'), 'utf8')]).toEqual([false, 'new x\n'])
    // Copied and exchanged, with the old one beside it and the copy's source in the layer.
    renameSync(join(work, 'c'), fresh)
    writeFileSync(join(work, 'c'), 'new c\n')
    journal('c', statSync(join(work, 'c')), 'c')
    expect(await changes()).toEqual(['d', 'early', 'other'])
    expect([existsSync(fresh), readFileSync(join(work, 'c'), 'utf8')]).toEqual([false, 'new c\n'])
    // Copied, but not yet in its place.
    writeFileSync(fresh, 'new ea')
    journal('c', { dev: 0, ino: 0 }, 'early')
    expect(await changes()).toEqual(['d', 'early', 'other'])
    expect([existsSync(fresh), readFileSync(join(work, 'early'), 'utf8')]).toEqual([false, 'old early\n'])
    // Moved aside to be removed; and another that is not the one that was meant.
    journal('d', statSync(join(work, 'd')), 'd')
    renameSync(join(work, 'd'), aside)
    expect(await changes()).toEqual(['early', 'other'])
    expect(existsSync(aside)).toBe(false)
    journal('d', { dev: 1, ino: 1 }, 'other')
    renameSync(join(work, 'other'), aside)
    expect(await changes()).toEqual(['early', 'other'])
    expect([existsSync(aside), readFileSync(join(work, 'other'), 'utf8')]).toEqual([false, 'old other\n'])
    expect(existsSync(join(folder.dir, '0/journal'))).toBe(false)
  })

  test('is no change underneath, also where the clock has not moved on since', async () => {
    const work = temporaryFolder()
    const stateDir = join(temporaryFolder(), 'state')
    const folder = await tried(work, stateDir, 'mkdir d; echo a >d/f')
    expect((await acceptAll(folder)).left).toBe(0)
    const [again] = listTries(stateDir)
    saveTry({ dir: again!.dir, record: { ...again!.record, since: '1' } })
    const next = await tried(work, stateDir, 'echo b >>d/f')
    expect((await scanTry(next)).map(({ bytes, change }) => [bytes, change.conflict])).toEqual([['d/f', null]])
  })

  test('by two at once is done by one of them at a time', async () => {
    const work = temporaryFolder()
    const stateDir = join(temporaryFolder(), 'state')
    const folder = await tried(work, stateDir, 'for i in $(seq 200); do echo $i >$i; done')
    const entries = await scanTry(folder)
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => acceptEntries(folder, entries, false)))
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'TRY_BUSY' })
    expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true)
    await acceptAll(folder).catch(() => {})
    expect(lookAt(work)).toBe(folder.saw)
  })

  test('onto a full disk keeps what finds no room, says so, and goes on when there is room again', async () => {
    const work = temporaryFolder()
    const stateDir = join(temporaryFolder(), 'state')
    const program = fileURLToPath(new URL('full-disk.mjs', import.meta.url))
    // A small file system of the test's own, in namespaces of its own: it goes with the process.
    const played = spawnSync(
      'unshare',
      [
        '-rm',
        'bash',
        '-c',
        `mount -t tmpfs -o size=2m small ${work} && cd / && exec ${process.execPath} ${program} ${work} ${stateDir}`,
      ],
      { encoding: 'utf8', cwd: fileURLToPath(new URL('../../..', import.meta.url)) },
    )
    if (/unshare: unshare failed|not permitted/.test(played.stderr)) return
    expect(played.stderr).toBe('')
    expect(JSON.parse(played.stdout)).toEqual({ full: true, whole: true, leftovers: [], resumed: true })
  }, 60_000)

  test('and discarding removes directories that nobody may read, and trees that are deeper than a path', async () => {
    const work = temporaryFolder()
    const stateDir = join(temporaryFolder(), 'state')
    const engine = await createEngine({ cwd: work, stateDir, sandbox: { profile: 'workspace', try: true } })
    await engine.run({
      command:
        'mkdir -p x/y; echo z >x/y/z; chmod 0 x/y x; far=$(printf "aaaa/%.0s" $(seq 400)); for i in 1 2 3; do mkdir -p $far; cd $far; done; echo end >end',
    })
    await engine.close()
    const [folder] = listTries(stateDir)
    const { changes } = await changesOf(folder!, {}, work)
    expect(changes.some(({ refused }) => refused?.includes('too deep'))).toBe(true)
    expect(changes.map(({ path }) => path)).toContain(join(work, 'x/y/z'))
    await discardTry(folder!)
    expect(readdirSync(join(stateDir, 'tries'))).toEqual([])
    expect(readdirSync(work)).toEqual([])
  })
})

function withoutLinks(text: string): string {
  return text.replace(/^(\S+ [fl] \S+) \d+/gm, '$1')
}

function acceptProcess({ dir, record }: TryFolder) {
  const since = BigInt(record.since)
  const roots = record.roots.map(({ path, dev, ino }) => `${dev}:${ino}:${path}`)
  const words = ['try', 'accept', dir, String(since / 1_000_000_000n), String(since % 1_000_000_000n), ...roots]
  return spawn(findHelper()!, words, { stdio: ['pipe', 'pipe', 'inherit'] })
}

/**
 * Random policies over random trees: what a command can read and write, and what is mounted, is what the policy says.
 * The oracle is the rule in one sentence (the deepest rule that holds a path decides), not the code that makes the
 * mounts. A failure names its seed:
 * `CERITH_SEED=n CERITH_FUZZ_RUNS=1 npm run test:sandbox -- fuzz`.
 */
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { SandboxOptions, SandboxProfile } from '../../src/contract/sandbox.js'
import { createEngine, ShellError } from '../../src/index.js'
import { canConfine } from '../engine/sandbox/harness.js'

const RUNS = Number(process.env['CERITH_FUZZ_RUNS'] ?? 40)
const SEED = Number(process.env['CERITH_SEED'] ?? Date.now() % 1_000_000)
const CANARY = 'canary'

type Access = 'hidden' | 'read' | 'write'
type Kind = 'show' | 'hide' | 'write' | 'protect'
/** At the same depth the later one wins. */
const ORDER: readonly Kind[] = ['show', 'hide', 'write', 'protect']

/** A small generator with a seed (mulberry32). */
function generator(seed: number) {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    chance: (share: number) => next() < share,
    below: (most: number) => Math.floor(next() * most),
    pick: <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)] as T,
    some: <T>(list: readonly T[], most: number): T[] =>
      list.length === 0
        ? []
        : Array.from({ length: Math.floor(next() * (most + 1)) }, () => list[Math.floor(next() * list.length)] as T),
  }
}

interface Story {
  readonly base: string
  readonly home: string
  readonly cwd: string
  readonly files: readonly string[]
  readonly links: readonly string[]
  readonly options: SandboxOptions
}

const NAMES = ['a', 'b', 'src', 'data', 'x y', '.cfg', '.hidden', 'deep']
const SPECIAL = ['.ssh', '.netrc', '.vscode', '.envrc', 'cerith.config.json', '.aws', '.claude']

function makeStory(seed: number, base: string): Story {
  const { chance, below, pick, some } = generator(seed)
  const home = join(base, 'home')
  const directories = [home, join(base, 'other'), join(home, 'work'), join(home, 'work', 'sub'), join(home, 'next')]
  const files: string[] = []
  const links: string[] = []
  const entries = new Set(directories)
  for (let count = 10 + below(15); count > 0; count--) {
    const path = join(pick(directories), chance(0.25) ? pick(SPECIAL) : pick(NAMES))
    if (entries.has(path)) continue
    entries.add(path)
    if (chance(0.55)) directories.push(path)
    else if (chance(0.7)) files.push(path)
    else links.push(path)
  }
  for (const directory of directories) {
    mkdirSync(directory, { recursive: true })
    if (!entries.has(join(directory, 'file'))) files.push(join(directory, 'file'))
  }
  for (const file of files) writeFileSync(file, `${CANARY}\n`)
  const targets = [...files, ...directories, join(base, 'nowhere')]
  for (const link of links) symlinkSync(pick(targets), link)
  const paths = [...directories, ...files, ...links]
  const options: SandboxOptions = {
    profile: pick<SandboxProfile>(['workspace', 'workspace', 'read-only', 'strict']),
    hide: some(paths, 3),
    show: some(paths, 2),
    write: some(directories, 2),
    protect: some([...NAMES, ...SPECIAL, 'sub/a', 'deep/b'], 3),
  }
  return { base, home, cwd: join(home, 'work'), files, links, options }
}

/** What the policy says about a path that exists, in one rule. */
function oracle({ home, cwd, options }: Story): (path: string) => Access {
  const canonical = (path: string): string => join(realOr(dirname(path)), path.slice(path.lastIndexOf('/') + 1))
  const rules: { readonly kind: Kind; readonly path: string }[] = []
  const add = (kind: Kind, path: string): void => void rules.push({ kind, path })
  const roots = options.profile === 'read-only' ? [] : [cwd, ...(options.write ?? [])].map(realOr)
  const shown = (options.show ?? []).map(realOr)
  const credentials = ['.ssh', '.aws', '.netrc', '.claude'].map((name) => join(home, name))
  for (const path of [...(options.hide ?? []), ...credentials])
    for (const one of new Set([canonical(path), isLink(path) ? realOr(path) : canonical(path)]))
      if (!shown.includes(one)) add('hide', one)
  for (const path of shown) add('show', path)
  for (const path of roots) add('write', path)
  const deepest = (path: string): { kind: Kind; path: string } | null => {
    const holding = rules.filter((rule) => path === rule.path || path.startsWith(`${rule.path}/`))
    holding.sort((a, b) => a.path.length - b.path.length || ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
    return holding.at(-1) ?? null
  }
  const names = ['.vscode', '.envrc', 'cerith.config.json', '.claude', ...(options.protect ?? [])]
  const kept = new Set(
    roots.flatMap((root) =>
      names.flatMap((name) => {
        const path = join(root, name)
        if (!exists(path)) return []
        const place = isLink(path) ? realOr(path) : canonical(path)
        return roots.some((one) => place.startsWith(`${one}/`)) && deepest(place)?.kind === 'write' ? [place] : []
      }),
    ),
  )
  for (const path of kept) add('protect', path)
  return (path) => {
    const rule = deepest(path)
    if (rule === null) return options.profile === 'strict' ? 'hidden' : 'read'
    return { show: 'read', hide: 'hidden', write: 'write', protect: 'read' }[rule.kind] as Access
  }
}

const PROBE = `while IFS= read -r path; do
  r=-; w=-
  { IFS= read -r line <"$path"; } 2>/dev/null && [ "$line" = ${CANARY} ] && r=r
  { : >>"$path"; } 2>/dev/null && w=w
  printf '%s%s %s\\n' "$r" "$w" "$path"
done; echo; cat /proc/self/mountinfo`

test.skipIf(!canConfine)(
  `${RUNS} random policies from seed ${SEED} mean what they say`,
  { timeout: 600_000 },
  async () => {
    const tally = { built: 0, refused: 0, paths: 0, hidden: 0, read: 0, write: 0 }
    for (let run = 0; run < RUNS; run++) {
      const seed = SEED + run
      // Not in /tmp: that is the room's own.
      const base = realpathSync(mkdtempSync(join(homedir(), 'cerith-fuzz-')))
      chmodSync(base, 0o755)
      try {
        const story = makeStory(seed, base)
        const about = `seed ${seed}: ${JSON.stringify(story.options)}`
        const stateDir = join(base, 'home', '.local', 'state', 'cerith')
        const engine = await createEngine({
          cwd: story.cwd,
          stateDir,
          env: { PATH: process.env['PATH'], HOME: story.home },
          sandbox: story.options,
        })
        try {
          const all = [...story.files, ...story.links]
          const outcome = await engine.run({ command: PROBE, input: `${all.join('\n')}\n`, timeoutMs: 60_000 })
          expect(outcome.exitCode, `${about}\n${outcome.stderr}`).toBe(0)
          const [answers = '', mounts = ''] = outcome.stdout.split('\n\n')
          const saw = new Map(answers.split('\n').map((line) => [line.slice(3), line.slice(0, 2)] as const))
          const meant = oracle(story)
          for (const file of story.files) {
            const wanted = meant(realOr(file))
            tally.paths += 1
            tally[wanted] += 1
            expect(saw.get(file), `${file} is to be ${wanted}; ${about}`).toBe(
              { hidden: '--', read: 'r-', write: 'rw' }[wanted],
            )
          }
          for (const link of story.links) {
            const target = exists(link) && realpathOf(link)
            const [read, write] = saw.get(link) ?? '--'
            const most = target && lstatSync(target).isFile() ? meant(target) : null
            // A link gives no more than what it leads to; a dangling one may be filled where its target may be written.
            if (most === 'hidden') expect(read, `${link} leads to ${target}; ${about}`).toBe('-')
            if (most === 'hidden' || most === 'read') expect(write, `${link} leads to ${target}; ${about}`).toBe('-')
          }
          const writable = (await engine.sandboxPolicy())?.writable ?? []
          for (const line of mounts.split('\n').filter(Boolean)) {
            const [, , , , point = '', flags = ''] = line.split(' ')
            const place = point.replaceAll('\\040', ' ')
            if (!place.startsWith(`${base}/`) || !flags.split(',').includes('rw')) continue
            const allowed =
              place.startsWith(`${stateDir}/`) ||
              writable.some((root) => place === root || place.startsWith(`${root}/`))
            expect(allowed, `${place} is mounted writable; ${about}`).toBe(true)
          }
          tally.built += 1
        } catch (error) {
          // Roots that hold credentials or are hidden themselves cannot be meant; anything else is a failure.
          if (!ShellError.is(error)) throw new Error(about, { cause: error })
          if (error.code === 'CWD_NOT_ACCESSIBLE') expect(oracle(story)(story.cwd), about).toBe('hidden')
          else if (error.code === 'BAD_REQUEST') expect(error.message).toMatch(/holds credentials|holds the state/)
          else throw new Error(about, { cause: error })
          tally.refused += 1
        } finally {
          await engine.close()
        }
      } finally {
        rmSync(base, { recursive: true, force: true })
      }
    }
    console.log(`policies from seed ${SEED}: ${JSON.stringify(tally)}`)
    expect(tally.built).toBeGreaterThan(RUNS / 4)
  },
)

function realOr(path: string): string {
  return realpathOf(path) ?? path
}

function realpathOf(path: string): string | null {
  try {
    return realpathSync(path)
  } catch {
    return null
  }
}

function exists(path: string): boolean {
  return isLink(path) || realpathOf(path) !== null
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink()
  } catch {
    return false
  }
}

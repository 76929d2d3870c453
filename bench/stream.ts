/**
 * What an agent does: a stream of different everyday commands, each run once, in a session, in a bare bash over a pipe,
 * and in a bash that is spawned for it. One command at a time in all three, in changing order, so that a busy machine
 * slows all of them alike. There are two streams: a list, and one that is put together by chance from other words
 * (SEED=...), for which nothing has been tuned.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEngine } from './lib/built.js'
import { mixed } from './lib/mixed.js'

const VARIANTS = Number(process.env['VARIANTS'] ?? 8)

/** Each line is one command; `N` is a number that makes it different from the others of its kind. */
const KINDS = String.raw`
git status --short
git log --oneline -N
git log -N --format=%s -- src
git diff --stat HEAD~1 -- src/fileN.ts
git show HEAD:src/fileN.ts | head -5
git branch topicN
git rev-parse --short HEAD~0
git ls-files src | grep fileN
grep -rn "line N" src
grep -c export src/fileN.ts
grep -rln "value N" src | sort | head -3
sed -n 'N,20p' src/fileN.ts
sed -i 's/value N/value 1N/' src/fileN.ts
find src -name 'file*N.ts' -type f
find . -maxdepth 2 -name '*N*' -not -path './.git/*' | wc -l
ls -la src | head -N
ls | wc -l; echo N
cat src/fileN.ts
head -n N README.md
tail -n 3 src/fileN.ts | cut -c1-N
wc -l src/fileN.ts README.md
sort src/fileN.ts | uniq -c | sort -rn | head -2
awk '{ n += NF } END { print n, N }' src/fileN.ts
echo "step N done"
echo "entry N" >> notes.txt
printf '%s\n' alpha beta N > listN.txt
COUNT=N
export STAGE=stageN
NAME="file$COUNT-N"; echo "$NAME"
cd src && ls fileN.ts && cd ..
cd src
cd ..
mkdir -p out/dirN && touch out/dirN/a.txt
cp README.md out/copyN.md
mv out/copyN.md out/movedN.md
rm -f out/movedN.md
for f in src/fileN.ts README.md; do wc -c "$f"; done
if [ -f src/fileN.ts ]; then echo "has N"; else echo none; fi
test -d src && echo "dir N"
V=$(grep -c line src/fileN.ts); echo "$V of N"
`
  .trim()
  .split('\n')

function listed(): string[] {
  const all: string[] = []
  for (let variant = 1; variant <= VARIANTS; variant++)
    for (const kind of KINDS) all.push(kind.replaceAll(/(?<![A-Z])N(?![AFR])/g, String(variant)))
  return all
}

function workspace(root: string, name: string): string {
  const folder = join(root, name)
  mkdirSync(join(folder, 'src'), { recursive: true })
  for (let at = 1; at <= 20; at++)
    writeFileSync(
      join(folder, 'src', `file${at}.ts`),
      Array.from({ length: 30 }, (_, line) => `export const name${line} = 'line ${line} value ${at}'\n`).join(''),
    )
  writeFileSync(join(folder, 'README.md'), '# A project\n\nWith some words in it.\n'.repeat(10))
  const git = (...args: string[]): void =>
    void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder, stdio: 'ignore' })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  writeFileSync(join(folder, 'notes.txt'), 'notes\n')
  git('add', '.')
  git('commit', '-qm', 'second')
  return folder
}

/** A bash that reads commands from a pipe and says when each is done: the least that a live shell can cost. */
class BareBash {
  readonly #child: ChildProcess
  #seen = ''
  #done: (() => void) | null = null

  constructor(cwd: string) {
    this.#child = spawn('bash', ['--norc', '--noprofile'], { cwd, stdio: ['pipe', 'pipe', 'pipe'] })
    this.#child.stderr?.resume()
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      this.#seen += chunk
      if (!/@done \d+\n$/.test(this.#seen)) return
      this.#seen = ''
      this.#done?.()
    })
  }

  run(command: string): Promise<void> {
    return new Promise((resolve) => {
      this.#done = resolve
      this.#child.stdin?.write(`{ ${command}\n} </dev/null; echo "@done $?"\n`)
    })
  }

  end(): void {
    this.#child.stdin?.end()
  }
}

function spawned(command: string, cwd: string): Promise<unknown> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', command], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', () => {})
    child.stderr.on('data', () => {})
    child.on('close', resolve)
  })
}

/** Without the slowest hundredth, which is the machine's. */
function sum(values: readonly number[]): number {
  const kept = [...values].sort((a, b) => a - b).slice(0, Math.ceil(values.length * 0.99))
  return kept.reduce((all, one) => all + one, 0)
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}

async function measure(title: string, commands: readonly string[]): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'cerith-stream-'))
  const engine = await createEngine({ stateDir: join(root, 'state'), cwd: workspace(root, 'session') })
  const session = await engine.session()
  const bare = new BareBash(workspace(root, 'bare'))
  const plainFolder = workspace(root, 'spawn')
  let place = plainFolder
  const ways: readonly (readonly [string, (command: string) => Promise<unknown>])[] = [
    ['spawn for each', (command) => spawned(command, place)],
    ['bare bash over a pipe', (command) => bare.run(command)],
    ['session', (command) => session.run({ command })],
  ]
  const times = ways.map((): number[] => [])
  const over = new Map<string, number[]>()
  for (const command of ['true', 'ls', 'cd .', 'x=1', 'echo a | cat']) for (const [, run] of ways) await run(command)
  for (const [at, command] of commands.entries()) {
    const took: number[] = []
    for (let turn = 0; turn < ways.length; turn++) {
      const which = (at + turn) % ways.length
      const began = performance.now()
      await ways[which]?.[1](command)
      took[which] = performance.now() - began
      times[which]?.push(took[which] as number)
    }
    if (command === 'cd src') place = join(plainFolder, 'src')
    if (command === 'cd ..') place = plainFolder
    const kind = command.replaceAll(/\d+/g, 'N')
    over.set(kind, [...(over.get(kind) ?? []), (took[2] ?? 0) - (took[1] ?? 0)])
  }
  const [base = 1, bareSum = 1] = times.map(sum)
  console.log(`\n${title}: ${commands.length} different commands, one after the other`)
  for (const [index, [name]] of ways.entries()) {
    const all = times[index] as number[]
    const total = sum(all)
    console.log(
      `  ${name.padEnd(24)} ${(total / all.length).toFixed(3).padStart(8)} ms each   ${(total / base).toFixed(3)}x of spawn   ${(total / bareSum).toFixed(3)}x of bare`,
    )
  }
  if (process.env['DETAIL'])
    for (const [kind, values] of [...over].sort((a, b) => median(b[1]) - median(a[1])).slice(0, 60))
      console.log(`  ${median(values).toFixed(2).padStart(7)} ms over bare   ${kind}`)
  bare.end()
  await engine.close()
  rmSync(root, { recursive: true, force: true })
}

const seed = Number(process.env['SEED'] ?? 1)
if (process.env['STREAM'] !== 'mixed') await measure('A list', listed())
if (process.env['STREAM'] !== 'list') await measure(`By chance (seed ${seed})`, mixed(seed, VARIANTS * 40))
